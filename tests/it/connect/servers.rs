//! A TLS server that answers 404 to everything, and proxies of three kinds.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    DigitallySignedStruct, DistinguishedName, ServerConfig, ServerConnection, SignatureScheme,
    StreamOwned, SupportedProtocolVersion,
};

use super::pki::Leaf;

type Noted<T> = Arc<Mutex<Vec<T>>>;

/// A listener whose connections are handled by threads of their own; dropping it ends it.
struct Listening {
    address: SocketAddr,
    closing: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    fn start(handle: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let closing = Arc::new(AtomicBool::new(false));
        let (closes, handle) = (closing.clone(), Arc::new(handle));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if closes.load(Ordering::SeqCst) {
                    return;
                }
                let handle = handle.clone();
                std::thread::spawn(move || handle(stream));
            }
        });
        Self { address, closing, thread: Some(thread) }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::SeqCst);
        if TcpStream::connect(self.address).is_ok() {
            let _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

pub(super) fn tls(
    chain: &[&Leaf],
    versions: &[&'static SupportedProtocolVersion],
) -> Arc<ServerConfig> {
    let certificates = chain.iter().map(|leaf| leaf.der.clone()).collect();
    let key = PrivateKeyDer::Pkcs8(chain[0].key_der.clone().into());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_client_cert_verifier(Arc::new(AnyClient))
        .with_single_cert(certificates, key)
        .unwrap();
    Arc::new(config)
}

/// Takes whatever certificate comes, or none.
#[derive(Debug)]
struct AnyClient;

impl ClientCertVerifier for AnyClient {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// What one request came with.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) sni: Option<String>,
    pub(super) client_certs: Vec<CertificateDer<'static>>,
    pub(super) head: String,
}

/// A server with a certificate of its own.
pub(super) struct Server {
    listening: Listening,
    seen: Noted<Seen>,
}

impl Server {
    pub(super) fn start(chain: &[&Leaf]) -> Self {
        Self::with(tls(chain, rustls::DEFAULT_VERSIONS))
    }

    pub(super) fn with(config: Arc<ServerConfig>) -> Self {
        let seen = Noted::default();
        let notes: Noted<Seen> = seen.clone();
        let listening = Listening::start(move |stream| {
            let mut tls = accept(stream, &config)?;
            loop {
                let head = head(&mut tls)?;
                let sni = tls.conn.server_name().map(str::to_owned);
                let client_certs = tls.conn.peer_certificates().unwrap_or_default();
                let client_certs = client_certs.iter().map(|c| c.clone().into_owned()).collect();
                notes.lock().unwrap().push(Seen { sni, client_certs, head });
                tls.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
                tls.flush()?;
            }
        });
        Self { listening, seen }
    }

    pub(super) fn port(&self) -> u16 {
        self.listening.address.port()
    }

    pub(super) fn url(&self) -> String {
        format!("https://{}", self.listening.address)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

fn accept(
    stream: TcpStream,
    config: &Arc<ServerConfig>,
) -> io::Result<StreamOwned<ServerConnection, TcpStream>> {
    let connection = ServerConnection::new(config.clone()).map_err(io::Error::other)?;
    let mut tls = StreamOwned::new(connection, stream);
    while tls.conn.is_handshaking() {
        tls.conn.complete_io(&mut tls.sock)?;
    }
    Ok(tls)
}

/// Everything up to the empty line.
fn head(stream: &mut impl Read) -> io::Result<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// A proxy. Wherever it is asked to connect to, it connects to one address: it resolves names.
pub(super) struct Proxy {
    listening: Listening,
    /// For HTTP the whole request, for SOCKS the login and the address asked for.
    asked: Noted<String>,
    pub(super) client_certs: Noted<CertificateDer<'static>>,
}

impl Proxy {
    pub(super) fn http(upstream: SocketAddr) -> Self {
        Self::start(move |mut stream, asked, _| {
            asked.lock().unwrap().push(head(&mut stream)?);
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            relay(stream, upstream)
        })
    }

    pub(super) fn https(upstream: SocketAddr, leaf: &Leaf) -> Self {
        let config = tls(&[leaf], rustls::DEFAULT_VERSIONS);
        Self::start(move |stream, asked, certificates| {
            let mut stream = accept(stream, &config)?;
            let found = stream.conn.peer_certificates().unwrap_or_default();
            certificates.lock().unwrap().extend(found.iter().map(|c| c.clone().into_owned()));
            asked.lock().unwrap().push(head(&mut stream)?);
            stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            relay(stream, upstream)
        })
    }

    pub(super) fn refusing() -> Self {
        Self::start(move |mut stream, asked, _| {
            asked.lock().unwrap().push(head(&mut stream)?);
            stream.write_all(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            )
        })
    }

    pub(super) fn socks5(upstream: SocketAddr) -> Self {
        Self::start(move |mut stream, asked, _| {
            let bytes = |stream: &mut TcpStream, n: usize| {
                let mut bytes = vec![0; n];
                stream.read_exact(&mut bytes).map(|()| bytes)
            };
            let text = |stream: &mut TcpStream| {
                let length = bytes(stream, 1)?[0];
                let text = bytes(stream, length.into())?;
                io::Result::Ok(String::from_utf8_lossy(&text).into_owned())
            };
            let methods = bytes(&mut stream, 2)?[1];
            let methods = bytes(&mut stream, methods.into())?;
            let mut login = String::new();
            if methods.contains(&2) {
                stream.write_all(&[5, 2])?;
                bytes(&mut stream, 1)?;
                login = format!("{}:{}@", text(&mut stream)?, text(&mut stream)?);
                stream.write_all(&[1, 0])?;
            } else {
                stream.write_all(&[5, 0])?;
            }
            let kind = bytes(&mut stream, 4)?[3];
            let host = match kind {
                3 => text(&mut stream)?,
                1 => format!("{:?}", bytes(&mut stream, 4)?),
                _ => format!("{:?}", bytes(&mut stream, 16)?),
            };
            bytes(&mut stream, 2)?;
            asked.lock().unwrap().push(format!("{login}{host}"));
            stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
            relay(stream, upstream)
        })
    }

    fn start(
        handle: impl Fn(TcpStream, &Noted<String>, &Noted<CertificateDer<'static>>) -> io::Result<()>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let (asked, client_certs) = (Noted::default(), Noted::default());
        let notes = (asked.clone(), client_certs.clone());
        let listening = Listening::start(move |stream| handle(stream, &notes.0, &notes.1));
        Self { listening, asked, client_certs }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.listening.address
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// A stream that can be asked without waiting for ever.
trait Side: Read + Write {
    fn socket(&self) -> &TcpStream;
}

impl Side for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }
}

impl Side for StreamOwned<ServerConnection, TcpStream> {
    fn socket(&self) -> &TcpStream {
        &self.sock
    }
}

fn relay(mut near: impl Side, upstream: SocketAddr) -> io::Result<()> {
    let mut far = TcpStream::connect(upstream)?;
    for socket in [near.socket(), &far] {
        socket.set_read_timeout(Some(Duration::from_millis(2)))?;
        socket.set_nodelay(true)?;
    }
    loop {
        if !(pass(&mut near, &mut far)? && pass(&mut far, &mut near)?) {
            return Ok(());
        }
    }
}

/// Hands on what there is; false at the end.
fn pass(from: &mut impl Read, to: &mut impl Write) -> io::Result<bool> {
    let mut buffer = [0; 16 * 1024];
    match from.read(&mut buffer) {
        Ok(0) => Ok(false),
        Ok(n) => {
            to.write_all(&buffer[..n])?;
            to.flush()?;
            Ok(true)
        }
        Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
            Ok(true)
        }
        Err(e) => Err(e),
    }
}
