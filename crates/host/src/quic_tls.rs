//! The certificate for tests, and the cryptography that QUIC stacks are given.

use std::sync::{Arc, LazyLock};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The certificate for tests.
pub(crate) static CERTIFICATE: LazyLock<CertificateDer<'static>> = LazyLock::new(|| {
    let text = crate::CERTIFICATE.as_bytes();
    CertificateDer::from_pem_slice(text).expect("the file has a certificate")
});

/// Its key.
pub(crate) static KEY: LazyLock<PrivateKeyDer<'static>> = LazyLock::new(|| {
    PrivateKeyDer::from_pem_slice(crate::KEY.as_bytes()).expect("the file has a key")
});

/// Algorithms of TLS.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
