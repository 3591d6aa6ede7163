//! The socket below TLS, which can be made to write slowly.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::fault::Faults;

pub(crate) struct Wire<'a> {
    socket: TcpStream,
    pause: Option<Duration>,
    faults: &'a Faults,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(socket: TcpStream, faults: &'a Faults) -> Self {
        Self { socket, pause: None, faults }
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// From now on each byte is written by itself, after this pause.
    pub(crate) fn drip(&mut self, pause: Option<Duration>) {
        self.pause = pause;
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.read(buffer)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (self.pause, bytes) {
            (Some(pause), [byte, ..]) => {
                self.faults.wait(pause);
                self.socket.write(&[*byte])
            }
            _ => self.socket.write(bytes),
        }
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        match (self.pause, pieces.iter().find(|piece| !piece.is_empty())) {
            (Some(_), Some(piece)) => self.write(piece),
            _ => self.socket.write_vectored(pieces),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
