//! Threads: one that accepts, one for each connection, and their end.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::api::Api;
use crate::connection;
use crate::fault::Faults;
use crate::journal::Journal;
use crate::listener::Listener;
use crate::pki::Pki;

/// What the connections share.
pub(crate) struct Shared {
    pub(crate) listener: Listener,
    pub(crate) pki: Pki,
    pub(crate) api: Api,
    pub(crate) journal: Journal,
    pub(crate) faults: Faults,
    pub(crate) connections: AtomicU64,
    closing: AtomicBool,
    open: Mutex<HashMap<u64, TcpStream>>,
}

impl Shared {
    pub(crate) fn new(listener: Listener, pki: Pki, api: Api) -> Self {
        Self {
            listener,
            pki,
            api,
            journal: Journal::default(),
            faults: Faults::default(),
            connections: AtomicU64::new(0),
            closing: AtomicBool::new(false),
            open: Mutex::default(),
        }
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        self.faults.close();
        self.listener.close();
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

    pub(crate) fn open_connections(&self) -> usize {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn leave(&self, id: u64) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&id);
    }
}

/// A listening server; dropping it ends every thread it started.
pub(crate) struct Server {
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(shared: Arc<Shared>) -> Self {
        let accepted = Arc::clone(&shared);
        let accepting = thread::spawn(move || accept(&accepted));
        Self { shared, accepting: Some(accepting) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.close();
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn accept(shared: &Arc<Shared>) {
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    while let Some((stream, reception)) = shared.listener.accept() {
        let id = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
        if !shared.enter(id, &stream) {
            continue;
        }
        let shared = Arc::clone(shared);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread::spawn(move || {
            connection::serve(&shared, id, stream, reception);
            shared.leave(id);
        }));
    }
    for thread in threads {
        let _ = thread.join();
    }
}
