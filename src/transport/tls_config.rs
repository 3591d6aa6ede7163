use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, InconsistentKeys};

use super::private_key::private_key;
use super::roots::certificates;
use super::session::{Material, Pair};
use super::tls::TlsConnector;
use super::verifier::{Trust, Verifier};
use crate::config::{Config, ProxyScheme};
use crate::error::{ConfigError, ConfigField, ConfigProblem};

/// One configuration for all connections to the server, so that TLS sessions are resumed, and one
/// of its own for an HTTPS proxy: other roots, no client certificate.
pub(super) fn connector(config: &Config, material: &Material) -> Result<TlsConnector, ConfigError> {
    // A program that needs what ring lacks (P-521, FIPS) installs another provider.
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(rustls::crypto::ring::default_provider()));
    let cas = cas(config, material)?;
    let trusted = match (&config.ca, &cas) {
        (Some(pem), Some(cas)) => format!("the {} of {}", count(cas.len()), pem.field),
        _ => "the system's roots".to_owned(),
    };
    let trust = match &cas {
        _ if config.insecure => Trust::Anyone,
        Some(cas) => Trust::Certificates(cas.clone()),
        None => Trust::System(Vec::new()),
    };
    let verifier = Verifier::new("the server", trust, trusted, provider.clone());
    let mut tls = client_config(verifier, provider.clone())?;
    if let Some(pair) = client_key(config, material, &provider)? {
        tls.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(Arc::new(pair)));
    }
    let proxy = match &config.proxy {
        Some(proxy) if proxy.scheme == ProxyScheme::Https => {
            let trust = Trust::System(cas.unwrap_or_default());
            let trusted = "the system's roots and the cluster's CAs".to_owned();
            let verifier = Verifier::new("the proxy", trust, trusted, provider.clone());
            Some(client_config(verifier, provider)?)
        }
        _ => None,
    };
    Ok(TlsConnector::new(tls, server_name(config)?, proxy))
}

fn client_config(
    verifier: Verifier,
    provider: Arc<CryptoProvider>,
) -> Result<ClientConfig, ConfigError> {
    let mut tls = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(rustls::DEFAULT_VERSIONS)
        .map_err(|_| {
            invalid(&ConfigField::setter("the TLS provider"), ConfigProblem::NoTlsVersion)
        })?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}

fn server_name(config: &Config) -> Result<Option<ServerName<'static>>, ConfigError> {
    let Some((name, field)) = &config.server_name else { return Ok(None) };
    ServerName::try_from(name.clone())
        .map(Some)
        .map_err(|_| invalid(field, ConfigProblem::NotAServerName))
}

/// Of a bundle, what can be read counts; a bundle of which nothing can is a mistake.
fn cas(
    config: &Config,
    material: &Material,
) -> Result<Option<Vec<CertificateDer<'static>>>, ConfigError> {
    let (Some(pem), Some(text)) = (&config.ca, &material.ca) else { return Ok(None) };
    let found = certificates(text);
    if found.is_empty() {
        return Err(invalid(&pem.field, ConfigProblem::NoCertificate));
    }
    Ok(Some(found))
}

fn count(certificates: usize) -> String {
    if certificates == 1 { "certificate".into() } else { format!("{certificates} certificates") }
}

/// rustls' own way refuses X.509 v1 client certificates, which some distributions hand out. Only a
/// definite mismatch of key and certificate is fatal here.
fn client_key(
    config: &Config,
    material: &Material,
    provider: &CryptoProvider,
) -> Result<Option<CertifiedKey>, ConfigError> {
    let Some(Pair { cert, key }) = &material.client_cert else { return Ok(None) };
    let (cert_field, key_field) = match (&config.client_cert, &config.credential) {
        (Some(pair), _) => (pair.cert.field.clone(), pair.key.field.clone()),
        (None, Some(plugin)) => (
            plugin.field().within("status.clientCertificateData"),
            plugin.field().within("status.clientKeyData"),
        ),
        (None, None) => return Ok(None),
    };
    let chain = certificates(cert);
    if chain.is_empty() {
        return Err(invalid(&cert_field, ConfigProblem::NoCertificate));
    }
    let signer = private_key(key, provider).map_err(|problem| invalid(&key_field, problem))?;
    let certified = CertifiedKey::new(chain, signer);
    match certified.keys_match() {
        Err(rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
            Err(invalid(&key_field, ConfigProblem::KeyMismatch))
        }
        _ => Ok(Some(certified)),
    }
}

fn invalid(field: &ConfigField, problem: ConfigProblem) -> ConfigError {
    ConfigError::Invalid { field: field.clone(), problem }
}
