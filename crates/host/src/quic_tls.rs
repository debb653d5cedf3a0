//! The certificate for tests, and the cryptography that QUIC stacks are given.

use std::sync::{Arc, LazyLock};

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The name in the certificate.
pub(crate) const SERVER_NAME: &str = "forebay.example";

/// A certificate of fixed length, valid until 2120, of which anybody has the key.
pub(crate) static CERTIFICATE: LazyLock<CertificateDer<'static>> = LazyLock::new(|| {
    let text = include_bytes!("../certificates/certificate.pem");
    CertificateDer::from_pem_slice(text).expect("the file has a certificate")
});

/// Its key.
pub(crate) static KEY: LazyLock<PrivateKeyDer<'static>> = LazyLock::new(|| {
    let text = include_bytes!("../certificates/key.pem");
    PrivateKeyDer::from_pem_slice(text).expect("the file has a key")
});

/// Algorithms of TLS.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
