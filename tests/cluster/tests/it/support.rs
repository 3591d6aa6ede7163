//! A client that sends what it is told and hides nothing: no retries, no pool, no redirects.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use openshift_templates_testing::{Cluster, User};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::ring};
use serde_json::Value;

/// A server that hangs fails the test instead of stopping it.
const LIMIT: Duration = Duration::from_secs(20);

/// An answer, its body as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("the answer is text")
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// One connection.
pub(crate) struct Connection {
    stream: StreamOwned<ClientConnection, TcpStream>,
}

impl Connection {
    pub(crate) fn open(cluster: &Cluster) -> Self {
        Self::with(cluster, "127.0.0.1", None)
    }

    pub(crate) fn with(
        cluster: &Cluster,
        name: &'static str,
        certificate_of: Option<User>,
    ) -> Self {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(cluster.ca_pem().as_bytes()).unwrap()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let config = match certificate_of {
            None => config.with_no_client_auth(),
            Some(user) => {
                let (cert, key) = cluster.client_cert(user);
                let cert = CertificateDer::from_pem_slice(cert.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
                config.with_client_auth_cert(vec![cert], key).unwrap()
            }
        };
        let tls =
            ClientConnection::new(Arc::new(config), ServerName::try_from(name).unwrap()).unwrap();
        let socket = TcpStream::connect((cluster.host(), cluster.port())).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        Self { stream: StreamOwned::new(tls, socket) }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
        self.stream.flush().unwrap();
    }

    pub(crate) fn request(
        &mut self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> io::Result<Answer> {
        let length = body.map(|body| body.len().to_string());
        let length = length.as_deref().map(|length| ("Content-Length", length));
        let mut head = vec![format!("{method} {target} HTTP/1.1\r\nHost: cluster\r\n")];
        head.extend(
            headers
                .iter()
                .copied()
                .chain(length)
                .map(|(name, value)| format!("{name}: {value}\r\n")),
        );
        let mut bytes = (head.concat() + "\r\n").into_bytes();
        bytes.extend_from_slice(body.unwrap_or_default());
        self.stream.write_all(&bytes)?;
        self.stream.flush()?;
        self.answer()
    }

    pub(crate) fn answer(&mut self) -> io::Result<Answer> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.byte()?);
        }
        let head = String::from_utf8(head).expect("the head is text");
        let mut lines = head.lines();
        let status =
            lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|text| text.parse().ok());
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let mut answer = Answer { status: status.expect("a status"), headers, body: Vec::new() };
        let length =
            answer.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        answer.body = vec![0; length];
        self.stream.read_exact(&mut answer.body)?;
        Ok(answer)
    }

    /// Everything until the end of the stream, and how it ended.
    pub(crate) fn rest(&mut self) -> (Vec<u8>, io::Result<()>) {
        let mut bytes = Vec::new();
        let end = self.stream.read_to_end(&mut bytes).map(|_| ());
        (bytes, end)
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.stream.read_exact(&mut byte)?;
        Ok(byte[0])
    }
}

pub(crate) fn bearer(cluster: &Cluster, user: User) -> String {
    format!("Bearer {}", cluster.token(user))
}

/// One request as a user, on a connection of its own.
pub(crate) fn send(
    cluster: &Cluster,
    user: User,
    method: &str,
    target: &str,
    content_type: &str,
    body: &str,
) -> Answer {
    let authorization = bearer(cluster, user);
    let mut headers = vec![("Authorization", authorization.as_str()), ("User-Agent", "tests/1.0")];
    if !content_type.is_empty() {
        headers.push(("Content-Type", content_type));
    }
    let body = (!body.is_empty()).then_some(body.as_bytes());
    Connection::open(cluster).request(method, target, &headers, body).unwrap()
}

pub(crate) fn get(cluster: &Cluster, target: &str) -> Answer {
    send(cluster, User::Admin, "GET", target, "", "")
}

pub(crate) fn post(cluster: &Cluster, target: &str, body: &Value) -> Answer {
    send(cluster, User::Admin, "POST", target, "application/json", &body.to_string())
}

pub(crate) fn apply(cluster: &Cluster, target: &str, manager: &str, body: &Value) -> Answer {
    let target = format!("{target}?fieldManager={manager}");
    send(cluster, User::Admin, "PATCH", &target, "application/apply-patch+yaml", &body.to_string())
}
