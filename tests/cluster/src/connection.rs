//! One connection: its requests read, answered, or struck by a fault, until it ends.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use rustls::{HandshakeKind, ServerConnection, StreamOwned};
use socket2::SockRef;

use crate::fault::{Action, Cut, Form, Then};
use crate::http::{ReadError, Reader, Request, Response};
use crate::listener::Reception;
use crate::server::Shared;
use crate::status;
use crate::wire::Wire;

type Stream<'a> = StreamOwned<ServerConnection, Wire<'a>>;

pub(crate) fn serve(shared: &Shared, id: u64, stream: TcpStream, reception: Reception) {
    let _ = stream.set_nodelay(true);
    if reception == Reception::Silent {
        swallow(&stream);
        return;
    }
    let Ok(tls) = ServerConnection::new(Arc::clone(&shared.pki.tls)) else {
        return;
    };
    let mut stream = StreamOwned::new(tls, Wire::new(stream, &shared.faults));
    if let Reception::Dripping(pause) = reception {
        stream.sock.drip(Some(pause));
        let shaken = stream.conn.complete_io(&mut stream.sock);
        stream.sock.drip(None);
        if shaken.is_err() {
            return;
        }
    }
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
                finish(&mut stream, &answer.encode(&request, &Form::default()).0);
                return;
            }
        }
    }
}

fn is_resumed(stream: &Stream<'_>) -> bool {
    stream.conn.handshake_kind() == Some(HandshakeKind::Resumed)
}

/// Whether the connection lives on.
#[derive(PartialEq)]
enum Next {
    Keep,
    Close,
}

fn exchange(shared: &Shared, id: u64, stream: &mut Stream<'_>, request: &Request) -> Next {
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
    if plan.is_reset {
        // A socket that does not linger is closed by a reset.
        let _ = SockRef::from(stream.sock.socket()).set_linger(Some(Duration::ZERO));
    }
    let process = || {
        let handle = AssertUnwindSafe(|| shared.api.handle(request, user.as_deref()));
        panic::catch_unwind(handle).unwrap_or_else(|_| status::panicked())
    };
    let answer = match plan.action {
        Action::DropBefore => return Next::Close,
        Action::DropAfter => {
            process();
            return Next::Close;
        }
        Action::AnswerRaw(bytes) => {
            write(shared, stream, &bytes, plan.drip, true);
            return Next::Close;
        }
        Action::Answer { status, content_type, body, headers } => {
            let mut answer = Response::new(status, &content_type, body);
            answer.headers.extend(headers);
            answer
        }
        Action::Process => process(),
    };
    if let Then::CloseAndReceive(reception) = plan.then {
        shared.listener.receive(reception);
    }
    let status = answer.status;
    let (mut bytes, wants_close) = answer.encode(request, &plan.form);
    match plan.cut {
        None => {}
        Some(Cut::After(count)) => bytes.truncate(count),
        Some(Cut::AllBut(count)) => bytes.truncate(bytes.len().saturating_sub(count)),
    }
    // Noted first: a client that has its answer may read the journal at once.
    shared.journal.answered(serial, status);
    let is_abrupt = plan.is_reset || plan.cut.is_some();
    let closes = wants_close || matches!(plan.then, Then::Close | Then::CloseAndReceive(_));
    let written = write(shared, stream, &bytes, plan.drip, closes && !is_abrupt);
    if matches!(plan.then, Then::CloseAtNext) {
        let _ = stream.sock.socket().peek(&mut [0]);
        if !plan.is_reset {
            finish(stream, &[]);
            let _ = stream.sock.socket().shutdown(Shutdown::Write);
            swallow(stream.sock.socket());
        }
        return Next::Close;
    }
    if written && !closes && !is_abrupt { Next::Keep } else { Next::Close }
}

/// Returns whether the connection can be used further.
fn write(
    shared: &Shared,
    stream: &mut Stream<'_>,
    mut bytes: &[u8],
    drip: Option<Duration>,
    ends: bool,
) -> bool {
    if let Some(pause) = drip {
        for byte in std::mem::take(&mut bytes) {
            shared.faults.wait(pause);
            let written = stream.write_all(&[*byte]).and_then(|()| stream.flush());
            if written.is_err() || shared.is_closing() {
                return false;
            }
        }
    }
    if ends {
        finish(stream, bytes);
        return false;
    }
    stream.write_all(bytes).and_then(|()| stream.flush()).is_ok()
}

/// Writes the last bytes and ends the TLS session properly, as Go's server does. Both leave in one
/// piece: a client has the end of the session in hand when it has the answer.
fn finish(stream: &mut Stream<'_>, bytes: &[u8]) {
    let mut records = Vec::new();
    for piece in bytes.chunks(16 * 1024) {
        let _ = stream.conn.writer().write_all(piece);
        while stream.conn.wants_write() && stream.conn.write_tls(&mut records).is_ok() {}
    }
    stream.conn.send_close_notify();
    while stream.conn.wants_write() && stream.conn.write_tls(&mut records).is_ok() {}
    let _ = stream.sock.write_all(&records);
}

/// Takes what still comes: a connection with bytes unread would end by a reset.
fn swallow(mut stream: &TcpStream) {
    while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}
}
