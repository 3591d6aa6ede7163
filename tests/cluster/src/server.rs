//! Sockets and threads: one thread that accepts, one for each connection, and their end.

use std::collections::HashMap;
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rustls::{HandshakeKind, ServerConnection, StreamOwned};

use crate::api::Api;
use crate::fault::{Action, Faults};
use crate::http::{ReadError, Reader, Request, Response};
use crate::journal::Journal;
use crate::pki::Pki;
use crate::status;

/// What the connections share.
pub(crate) struct Shared {
    pub(crate) pki: Pki,
    pub(crate) api: Api,
    pub(crate) journal: Journal,
    pub(crate) faults: Faults,
    pub(crate) connections: AtomicU64,
    closing: AtomicBool,
    open: Mutex<HashMap<u64, TcpStream>>,
}

impl Shared {
    pub(crate) fn new(pki: Pki, api: Api) -> Self {
        Self {
            pki,
            api,
            journal: Journal::default(),
            faults: Faults::default(),
            connections: AtomicU64::new(0),
            closing: AtomicBool::new(false),
            open: Mutex::default(),
        }
    }

    fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        self.faults.close();
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in open.values() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// A connection that arrives while the server ends is refused, so that none is left waiting.
    fn enter(&self, id: u64, stream: &TcpStream) -> bool {
        let Ok(stream) = stream.try_clone() else {
            return false;
        };
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if self.closing.load(Ordering::SeqCst) {
            return false;
        }
        open.insert(id, stream);
        true
    }

    fn leave(&self, id: u64) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&id);
    }
}

/// A listening server; dropping it ends every thread it started.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(listener: TcpListener, shared: Arc<Shared>) -> Self {
        let address = listener.local_addr().expect("a listener has an address");
        let accepted = Arc::clone(&shared);
        let accepting = thread::spawn(move || accept(&listener, &accepted));
        Self { address, shared, accepting: Some(accepting) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.close();
        // The thread waits in accept: a connection is what wakes it.
        let woken = TcpStream::connect(self.address);
        if let (Ok(_), Some(accepting)) = (woken, self.accepting.take()) {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    for stream in listener.incoming() {
        if shared.closing.load(Ordering::SeqCst) {
            break;
        }
        let Ok(stream) = stream else { continue };
        let id = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
        if !shared.enter(id, &stream) {
            continue;
        }
        let shared = Arc::clone(shared);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread::spawn(move || {
            serve(&shared, id, stream);
            shared.leave(id);
        }));
    }
    for thread in threads {
        let _ = thread.join();
    }
}

/// Whether the connection lives on.
#[derive(PartialEq)]
enum Next {
    Keep,
    Close,
}

fn serve(shared: &Shared, id: u64, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let Ok(tls) = ServerConnection::new(Arc::clone(&shared.pki.tls)) else {
        return;
    };
    let mut stream = StreamOwned::new(tls, stream);
    let mut reader = Reader::new();
    loop {
        match reader.next(&mut stream) {
            Ok(request) => {
                if exchange(shared, id, &mut stream, &request) == Next::Close {
                    return;
                }
            }
            Err(ReadError::Closed) => return,
            Err(ReadError::Malformed(raw)) => {
                let request = Request {
                    method: String::new(),
                    target: String::new(),
                    headers: vec![("Connection".to_owned(), "close".to_owned())],
                    body: Vec::new(),
                    raw,
                };
                let serial = shared.journal.record(id, is_resumed(&stream), None, &request);
                let answer =
                    Response::new(400, "text/plain; charset=utf-8", b"400 Bad Request".to_vec());
                shared.journal.answered(serial, answer.status);
                finish(&mut stream, &answer.encode(&request).0);
                return;
            }
        }
    }
}

fn is_resumed(stream: &StreamOwned<ServerConnection, TcpStream>) -> bool {
    stream.conn.handshake_kind() == Some(HandshakeKind::Resumed)
}

fn exchange(
    shared: &Shared,
    id: u64,
    stream: &mut StreamOwned<ServerConnection, TcpStream>,
    request: &Request,
) -> Next {
    let certificate_user = stream
        .conn
        .peer_certificates()
        .and_then(<[_]>::first)
        .and_then(|certificate| shared.pki.user(certificate));
    let user = shared.api.authenticate(request, certificate_user);
    let serial = shared.journal.record(id, is_resumed(stream), user.as_deref(), request);
    let plan = shared.faults.plan(&request.method, &request.target);
    if let Some(delay) = plan.delay {
        shared.faults.wait(delay);
    }
    let process = || {
        let handle = AssertUnwindSafe(|| shared.api.handle(request, user.as_deref()));
        panic::catch_unwind(handle).unwrap_or_else(|_| status::panicked())
    };
    let (answer, cut, silent_close) = match plan.action {
        Action::DropBefore => return Next::Close,
        Action::DropAfter => {
            process();
            return Next::Close;
        }
        Action::AnswerRaw(bytes) => {
            finish(stream, &bytes);
            return Next::Close;
        }
        Action::Answer { status, content_type, body, headers } => {
            let mut answer = Response::new(status, &content_type, body);
            answer.headers.extend(headers);
            (answer, None, false)
        }
        Action::Truncate(bytes) => (process(), Some(bytes), false),
        Action::CloseAfterAnswer => (process(), None, true),
        Action::Process => (process(), None, false),
    };
    let status = answer.status;
    let (bytes, close) = answer.encode(request);
    // Noted first: a client that has its answer may read the journal at once.
    shared.journal.answered(serial, status);
    if let Some(cut) = cut {
        let _ = stream.write_all(bytes.get(..cut).unwrap_or(&bytes));
        let _ = stream.flush();
        return Next::Close;
    }
    if close || silent_close {
        finish(stream, &bytes);
        return Next::Close;
    }
    match stream.write_all(&bytes).and_then(|()| stream.flush()) {
        Ok(()) => Next::Keep,
        Err(_) => Next::Close,
    }
}

/// Writes the last bytes and ends the TLS session properly, as Go's server does. Both leave in one
/// piece: a client has the end of the session in hand when it has the answer.
fn finish(stream: &mut StreamOwned<ServerConnection, TcpStream>, bytes: &[u8]) {
    let mut records = Vec::new();
    for piece in bytes.chunks(16 * 1024) {
        let _ = stream.conn.writer().write_all(piece);
        while stream.conn.wants_write() && stream.conn.write_tls(&mut records).is_ok() {}
    }
    stream.conn.send_close_notify();
    while stream.conn.wants_write() && stream.conn.write_tls(&mut records).is_ok() {}
    let _ = stream.sock.write_all(&records);
}
