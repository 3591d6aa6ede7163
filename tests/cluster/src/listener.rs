//! Who is let in: the listening socket, and what becomes of connections before any request.

use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// What becomes of new connections, before any request.
///
/// ```
/// use openshift_templates_testing::{Cluster, Reception};
///
/// let cluster = Cluster::start();
/// cluster.receive(Reception::Silent);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reception {
    /// They are served.
    #[default]
    Served,
    /// TCP refuses them. Needs Linux.
    Refused,
    /// TCP never answers them, as when a firewall drops what it does not like. Needs Linux.
    Unanswered,
    /// They are accepted, and then nothing is read or written: TLS is never answered.
    Silent,
    /// The server's part of the TLS handshake comes byte by byte, with this pause before each.
    Dripping(Duration),
}

/// Enough for whatever a test does at once.
const BACKLOG: i32 = 1024;

pub(crate) struct Listener {
    socket: Socket,
    address: SocketAddr,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    reception: Reception,
    /// What takes the only place of the queue, so that nothing else gets in.
    filler: Option<TcpStream>,
    /// Whether the accepting thread waits for a change, and so is not in `accept`.
    is_waiting: bool,
    is_closed: bool,
}

impl Listener {
    /// Listens on a free port of 127.0.0.1.
    pub(crate) fn open() -> std::io::Result<Self> {
        let any = bound(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let chosen = any.local_addr()?.as_socket().ok_or(std::io::ErrorKind::Unsupported)?;
        // Linux keeps a port for a socket that stops listening only when it was asked for by number.
        let socket = bound(chosen).unwrap_or(any);
        socket.listen(BACKLOG)?;
        Ok(Self { socket, address: chosen, state: Mutex::default(), changed: Condvar::new() })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection that gets so far; `None` once the listener is closed.
    pub(crate) fn accept(&self) -> Option<(TcpStream, Reception)> {
        loop {
            let mut state = self.lock();
            while is_shut(state.reception) && !state.is_closed {
                state.is_waiting = true;
                self.changed.notify_all();
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.is_waiting = false;
            if state.is_closed {
                return None;
            }
            drop(state);
            if let Ok((socket, _)) = self.socket.accept() {
                let state = self.lock();
                return (!state.is_closed).then(|| (socket.into(), state.reception));
            }
        }
    }

    /// Takes effect for every connection made after this returns.
    pub(crate) fn receive(&self, reception: Reception) {
        let mut state = self.lock();
        if state.is_closed {
            return;
        }
        let before = std::mem::replace(&mut state.reception, reception);
        if !is_shut(before) && !is_shut(reception) {
            return;
        }
        // A socket that does not listen refuses, keeps its port, and wakes who waits in `accept`.
        state.filler = None;
        if before != Reception::Refused {
            self.socket.shutdown(Shutdown::Both).expect("Linux shuts a listening socket");
        }
        if is_shut(reception) {
            while !state.is_waiting {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        match reception {
            Reception::Refused => {}
            Reception::Unanswered => {
                self.socket.listen(0).expect("the port is still this socket's");
                state.filler = TcpStream::connect(self.address).ok();
            }
            _ => self.socket.listen(BACKLOG).expect("the port is still this socket's"),
        }
        self.changed.notify_all();
    }

    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        state.filler = None;
        self.changed.notify_all();
        drop(state);
        // The thread may wait in `accept`: a connection is what wakes it anywhere.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn bound(address: SocketAddr) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

fn is_shut(reception: Reception) -> bool {
    matches!(reception, Reception::Refused | Reception::Unanswered)
}
