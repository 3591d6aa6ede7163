//! A relay between a client and the embedded cluster that notes what passes, below TLS.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The records that clients sent, without those of the handshake; the bytes in both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub(crate) records_sent: usize,
    pub(crate) bytes_sent: usize,
    pub(crate) bytes_received: usize,
}

pub(crate) struct Relay {
    address: SocketAddr,
    passed: Arc<Mutex<Passed>>,
}

impl Relay {
    /// Passes everything on to a port of this machine, until the test's process ends.
    pub(crate) fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let passed: Arc<Mutex<Passed>> = Arc::default();
        let noted = Arc::clone(&passed);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
                let both = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let sent = Arc::clone(&noted);
                thread::spawn(move || {
                    let mut records = Records::default();
                    pass(client, server, |bytes| {
                        let mut passed = sent.lock().unwrap();
                        passed.bytes_sent += bytes.len();
                        passed.records_sent += records.count(bytes);
                    });
                });
                let received = Arc::clone(&noted);
                thread::spawn(move || {
                    pass(both.1, both.0, |bytes| {
                        received.lock().unwrap().bytes_received += bytes.len();
                    });
                });
            }
        });
        Self { address, passed }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.address)
    }

    /// What passed since this was last asked. Whatever a client has an answer to was noted.
    pub(crate) fn take(&self) -> Passed {
        std::mem::take(&mut self.passed.lock().unwrap())
    }
}

/// Notes before it passes on, so that no answer can come before its note.
fn pass(mut from: TcpStream, mut to: TcpStream, mut note: impl FnMut(&[u8])) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        note(&buffer[..n]);
        if to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Finds the heads of TLS records, however the stream comes in pieces.
#[derive(Default)]
struct Records {
    head: Vec<u8>,
    left: usize,
}

impl Records {
    const APPLICATION_DATA: u8 = 23;

    fn count(&mut self, mut bytes: &[u8]) -> usize {
        let mut found = 0;
        while !bytes.is_empty() {
            if self.left == 0 {
                let (byte, rest) = bytes.split_at(1);
                self.head.extend(byte);
                bytes = rest;
                if let [kind, _, _, high, low] = self.head[..] {
                    self.left = usize::from(u16::from_be_bytes([high, low]));
                    found += usize::from(kind == Self::APPLICATION_DATA);
                    self.head.clear();
                }
                continue;
            }
            let (_, rest) = bytes.split_at(self.left.min(bytes.len()));
            self.left -= bytes.len() - rest.len();
            bytes = rest;
        }
        found
    }
}
