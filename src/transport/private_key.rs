use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{PemObject, SectionKind};
use rustls::pki_types::{PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer};
use rustls::sign::SigningKey;

use super::der;
use crate::error::ConfigProblem;

/// The first private key of a PEM text, whatever its label says it is: tools mix the three
/// encodings up, and Go tries one after the other.
pub(super) fn private_key(
    text: &[u8],
    provider: &CryptoProvider,
) -> Result<Arc<dyn SigningKey>, ConfigProblem> {
    let is_key = |kind: SectionKind| {
        matches!(
            kind,
            SectionKind::PrivateKey | SectionKind::RsaPrivateKey | SectionKind::EcPrivateKey
        )
    };
    let first = <(SectionKind, Vec<u8>)>::pem_slice_iter(text)
        .filter_map(Result::ok)
        .find(|(kind, _)| is_key(*kind));
    let Some((_, der)) = first else {
        let text = String::from_utf8_lossy(text);
        let encrypted =
            text.contains("ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED");
        return Err(if encrypted {
            ConfigProblem::EncryptedKey
        } else {
            ConfigProblem::NoPrivateKey
        });
    };
    let encodings = [
        PrivatePkcs8KeyDer::from(&*der).clone_key().into(),
        PrivatePkcs1KeyDer::from(&*der).clone_key().into(),
        PrivateSec1KeyDer::from(&*der).clone_key().into(),
    ];
    encodings
        .into_iter()
        .find_map(|key| provider.key_provider.load_private_key(key).ok())
        .ok_or_else(|| ConfigProblem::UnsupportedKey { kind: kind(&der) })
}

/// What there is to say about a key that the provider does not take.
fn kind(key: &[u8]) -> Option<String> {
    const P_521: &[u8] = &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23];
    const SECP256K1: &[u8] = &[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x0a];
    let names = |curve: &[u8]| key.windows(curve.len()).any(|window| window == curve);
    if names(P_521) {
        return Some("P-521".to_owned());
    }
    if names(SECP256K1) {
        return Some("secp256k1".to_owned());
    }
    let bits = rsa_bits(key).or_else(|| rsa_bits(der::pkcs8_key(key)?))?;
    Some(format!("RSA of {bits} bits"))
}

/// The length of the modulus of an RSA key in PKCS#1.
fn rsa_bits(key: &[u8]) -> Option<usize> {
    let (sequence, _) = der::expect(key, der::SEQUENCE)?;
    let (version, rest) = der::expect(sequence, der::INTEGER)?;
    let (modulus, _) = der::expect(rest, der::INTEGER)?;
    let significant = modulus.iter().skip_while(|byte| **byte == 0);
    (version.len() == 1 && modulus.len() > 32).then(|| significant.count() * 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_key_is_told_apart() {
        let provider = rustls::crypto::ring::default_provider();
        let problem = |text: &str| private_key(text.as_bytes(), &provider).err().unwrap();
        assert_eq!(problem(""), ConfigProblem::NoPrivateKey);
        assert_eq!(
            problem(
                "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n"
            ),
            ConfigProblem::EncryptedKey
        );
        assert_eq!(
            problem(
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAA==\n-----END RSA PRIVATE KEY-----\n"
            ),
            ConfigProblem::EncryptedKey
        );
        assert_eq!(
            problem("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n"),
            ConfigProblem::UnsupportedKey { kind: None }
        );
    }
}
