use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, InconsistentKeys};

use super::roots::certificates;
use super::verifier::{Trust, Verifier};
use crate::config::{ClientCert, Config, Pem};
use crate::error::{ConfigError, ConfigField, ConfigProblem};

/// One configuration for all connections of a client, so that TLS sessions are resumed.
pub(super) fn client_config(config: &Config) -> Result<ClientConfig, ConfigError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trust = match &config.ca {
        _ if config.insecure => Trust::Anyone,
        None => Trust::System,
        Some(pem) => {
            let certificates = certificates(&pem.text);
            if certificates.is_empty() {
                return Err(invalid(pem, ConfigProblem::NoCertificate));
            }
            Trust::Certificates(certificates)
        }
    };
    let verifier = Verifier::new(trust, provider.clone());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(rustls::DEFAULT_VERSIONS)
        .map_err(|_| ConfigError::Invalid {
            field: ConfigField::setter("the TLS provider"),
            problem: ConfigProblem::NoTlsVersion,
        })?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut tls = match &config.client_cert {
        None => builder.with_no_client_auth(),
        Some(client_cert) => {
            let key = Arc::new(certified_key(client_cert, &provider)?);
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
        }
    };
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}

/// rustls' own way refuses X.509 v1 client certificates, which some distributions hand out. Only a
/// definite mismatch of key and certificate is fatal here.
fn certified_key(
    ClientCert { cert, key }: &ClientCert,
    provider: &CryptoProvider,
) -> Result<CertifiedKey, ConfigError> {
    let chain = certificates(&cert.text);
    if chain.is_empty() {
        return Err(invalid(cert, ConfigProblem::NoCertificate));
    }
    let der = PrivateKeyDer::from_pem_slice(&key.text).map_err(|_| {
        let text = String::from_utf8_lossy(&key.text);
        let encrypted =
            text.contains("ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED");
        let problem =
            if encrypted { ConfigProblem::EncryptedKey } else { ConfigProblem::NoPrivateKey };
        invalid(key, problem)
    })?;
    let signer = provider
        .key_provider
        .load_private_key(der)
        .map_err(|_| invalid(key, ConfigProblem::NoPrivateKey))?;
    let certified = CertifiedKey::new(chain, signer);
    match certified.keys_match() {
        Err(rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err(invalid(key, ConfigProblem::KeyMismatch))
        }
        _ => Ok(certified),
    }
}

fn invalid(pem: &Pem, problem: ConfigProblem) -> ConfigError {
    ConfigError::Invalid { field: pem.field.clone(), problem }
}
