//! The certificates, made anew for each cluster so that none of them can expire.

use std::collections::HashMap;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, crypto::ring};

/// A certificate and its key, as PEM text.
#[derive(Clone, Default)]
pub(crate) struct Pair {
    pub(crate) cert_pem: String,
    pub(crate) key_pem: String,
}

/// One authority, the server's certificate and one client certificate for each user.
pub(crate) struct Pki {
    pub(crate) ca_pem: String,
    pub(crate) clients: HashMap<String, Pair>,
    pub(crate) tls: Arc<ServerConfig>,
    users: HashMap<Vec<u8>, String>,
}

impl Pki {
    pub(crate) fn new(users: &[&str]) -> Self {
        let authority = Authority::new();
        let mut clients = HashMap::new();
        let mut by_certificate = HashMap::new();
        for user in users {
            let leaf = authority.issue(user, &[], ExtendedKeyUsagePurpose::ClientAuth);
            by_certificate.insert(leaf.der.to_vec(), (*user).to_owned());
            clients.insert((*user).to_owned(), leaf.pair);
        }
        Self {
            tls: authority.server_config(),
            ca_pem: authority.pem,
            clients,
            users: by_certificate,
        }
    }

    /// The user whom this certificate was issued for: its common name.
    pub(crate) fn user(&self, certificate: &[u8]) -> Option<&str> {
        self.users.get(certificate).map(String::as_str)
    }
}

struct Leaf {
    pair: Pair,
    der: CertificateDer<'static>,
    key: KeyPair,
}

struct Authority {
    pem: String,
    der: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "embedded-cluster-ca");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be generated");
        let certificate = params.self_signed(&key).expect("the authority signs itself");
        Self {
            pem: certificate.pem(),
            der: certificate.der().clone(),
            issuer: Issuer::new(params, key),
        }
    }

    fn issue(&self, name: &str, subjects: &[&str], usage: ExtendedKeyUsagePurpose) -> Leaf {
        let subjects: Vec<String> = subjects.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(subjects).expect("the names are valid");
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages.push(usage);
        let key = KeyPair::generate().expect("a key can be generated");
        let certificate = params.signed_by(&key, &self.issuer).expect("the authority signs");
        Leaf {
            pair: Pair { cert_pem: certificate.pem(), key_pem: key.serialize_pem() },
            der: certificate.der().clone(),
            key,
        }
    }

    /// Client certificates are optional, as on a real API server: whoever sends none may still have a token.
    fn server_config(&self) -> Arc<ServerConfig> {
        let names = ["127.0.0.1", "::1", "localhost"];
        let leaf = self.issue("embedded-cluster", &names, ExtendedKeyUsagePurpose::ServerAuth);
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).expect("the authority is a root");
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .allow_unauthenticated()
                .build()
                .expect("the roots are not empty");
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider knows the protocol versions")
            .with_client_cert_verifier(verifier)
            .with_single_cert(vec![leaf.der], PrivateKeyDer::Pkcs8(leaf.key.serialize_der().into()))
            .expect("the key is the certificate's");
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Arc::new(config)
    }
}
