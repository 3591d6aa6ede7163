//! A relay between a process and its server that lets so much pass and no more, below TLS: what the
//! process was about to do stays undone, and what was answered stays unheard.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

pub(crate) struct Gate {
    address: SocketAddr,
    shut: Arc<AtomicBool>,
}

impl Gate {
    /// Passes so many pieces (what one read gives) in either direction, and then nothing, until the
    /// test's process ends.
    pub(crate) fn to(server: &str, pieces: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (left, shut) = (Arc::new(AtomicUsize::new(pieces)), Arc::new(AtomicBool::new(false)));
        let (server, closes) = (server.to_owned(), Arc::clone(&shut));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(&server).unwrap();
                let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
                for (from, to) in [(client, server), back] {
                    let (left, closes) = (Arc::clone(&left), Arc::clone(&closes));
                    thread::spawn(move || pass(from, to, &left, &closes));
                }
            }
        });
        Self { address, shut }
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// Whether something came that may not pass.
    pub(crate) fn is_shut(&self) -> bool {
        self.shut.load(Ordering::SeqCst)
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, left: &AtomicUsize, shut: &AtomicBool) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        let one_less = |left: usize| left.checked_sub(1);
        if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
            shut.store(true, Ordering::SeqCst);
            return;
        }
        if to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
