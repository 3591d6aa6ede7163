//! A server that presents whatever it is told to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, LazyLock, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openshift_templates::{Client, Config, Kubeconfig};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SigningKey};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

#[derive(Debug)]
struct Impostor {
    key: Arc<dyn SigningKey>,
    presented: Mutex<Vec<u8>>,
}

impl ResolvesServerCert for Impostor {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let certificate = CertificateDer::from(self.presented.lock().unwrap().clone());
        Some(Arc::new(CertifiedKey::new(vec![certificate], Arc::clone(&self.key))))
    }
}

static SERVER: LazyLock<(SocketAddr, Arc<Impostor>)> = LazyLock::new(|| {
    let key = PrivatePkcs8KeyDer::from(rcgen::KeyPair::generate().unwrap().serialize_der());
    let key = ring::sign::any_supported_type(&key.into()).unwrap();
    let impostor = Arc::new(Impostor { key, presented: Mutex::default() });
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(impostor.clone());
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").unwrap());
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        }
    });
    (address, impostor)
});

/// What a server presents, and a kubeconfig holds as its authority.
pub(super) fn present(bytes: &[u8]) {
    let (address, impostor) = &*SERVER;
    bytes.clone_into(&mut impostor.presented.lock().unwrap());
    let pem = format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        STANDARD.encode(bytes)
    );
    let kubeconfig = json!({
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "users": [{"name": "x", "user": {}}],
        "clusters": [{"name": "x", "cluster": {
            "server": format!("https://{address}"),
            "certificate-authority-data": STANDARD.encode(pem),
        }}],
    });
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(kubeconfig.to_string().as_bytes()).unwrap();
    match Config::from_kubeconfig(Kubeconfig::file(file.path())).and_then(Client::connect) {
        Ok(_) => panic!("a server without the template API was accepted"),
        Err(error) => super::show(&error),
    }
}
