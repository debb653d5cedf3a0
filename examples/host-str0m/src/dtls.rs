//! DTLS of str0m with messages whose sizes do not depend on random numbers.

use std::iter;
use std::sync::Once;

use dimpl::certificate::generate_self_signed_certificate;
use dimpl::crypto::aws_lc_rs::default_provider;
use dimpl::crypto::{Buf, CryptoProvider, KeyProvider, SigningKey};
use dimpl::{CryptoError, HashAlgorithm, SignatureAlgorithm};
use str0m::config::DtlsCert;

/// The length that half of all signatures by P-256 have: two integers of 32 bytes in DER, one of
/// which begins with a set bit and so has a byte more. 70 and 72 bytes have a quarter each.
const SIGNATURE: usize = 71;
/// The length that more certificates of dimpl have than any other, two of five.
const CERTIFICATE: usize = 326;

/// Have DTLS of this process sign as said here. Done once; it stays so.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let provider = CryptoProvider { key_provider: &Keys, ..default_provider() };
        CryptoProvider::install_default(provider);
    });
}

/// A new certificate, which is as long as any other made here.
pub(crate) fn certificate() -> DtlsCert {
    let all = iter::repeat_with(|| generate_self_signed_certificate().expect("there is P-256"));
    let mut even = all.filter(|made| made.certificate.len() == CERTIFICATE).take(1);
    even.next().expect("certificates do not end")
}

/// Keys of aws-lc whose signatures have one length.
#[derive(Debug)]
struct Keys;

impl KeyProvider for Keys {
    fn load_private_key(&self, der: &[u8]) -> Result<Box<dyn SigningKey>, CryptoError> {
        let key = default_provider().key_provider.load_private_key(der)?;
        Ok(Box::new(Even(key)))
    }
}

/// A key that signs again until the signature has the usual length.
#[derive(Debug)]
struct Even(Box<dyn SigningKey>);

impl SigningKey for Even {
    fn sign(&mut self, data: &[u8], hash: HashAlgorithm, out: &mut Buf) -> Result<(), CryptoError> {
        loop {
            self.0.sign(data, hash, out)?;
            if out.len() == SIGNATURE {
                return Ok(());
            }
        }
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }

    fn hash_algorithm(&self) -> HashAlgorithm {
        self.0.hash_algorithm()
    }

    fn supported_hash_algorithms(&self) -> &[HashAlgorithm] {
        self.0.supported_hash_algorithms()
    }
}
