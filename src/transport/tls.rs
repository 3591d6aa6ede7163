//! TLS over ureq's transport, with one rustls configuration for all connections.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::mem;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
    TransportAdapter,
};

pub(super) struct TlsConnector {
    server: Arc<ClientConfig>,
    /// What stands in for the server's host.
    server_name: Option<ServerName<'static>>,
    /// For the connection to an HTTPS proxy itself, within which the one to the server is made.
    proxy: Option<Arc<ClientConfig>>,
}

impl TlsConnector {
    pub(super) fn new(
        server: ClientConfig,
        server_name: Option<ServerName<'static>>,
        proxy: Option<ClientConfig>,
    ) -> Self {
        Self { server: Arc::new(server), server_name, proxy: proxy.map(Arc::new) }
    }

    /// ureq connects to a proxy with the settings that it has for the server, but for the proxy.
    fn side(
        &self,
        details: &ConnectionDetails<'_>,
    ) -> Result<(Arc<ClientConfig>, ServerName<'static>), Error> {
        match (&self.proxy, &self.server_name) {
            (Some(proxy), _) if details.config.proxy().is_none() => {
                Ok((proxy.clone(), host(details)?))
            }
            (_, Some(name)) => Ok((self.server.clone(), name.clone())),
            (_, None) => Ok((self.server.clone(), host(details)?)),
        }
    }
}

impl fmt::Debug for TlsConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsConnector")
    }
}

impl<In: Transport> Connector<In> for TlsConnector {
    type Out = Either<In, TlsTransport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let (config, name) = self.side(details)?;
        let mut connection = ClientConnection::new(config, name)?;
        let mut socket = TransportAdapter::new(transport.boxed(), details.current_time.clone());
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket)?;
        let (input, output) =
            (details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Either::B(TlsTransport {
            stream: StreamOwned::new(connection, socket),
            buffers: LazyBuffers::new(input, output),
            pending: Vec::new(),
            write_error: None,
        })))
    }
}

fn host(details: &ConnectionDetails<'_>) -> Result<ServerName<'static>, Error> {
    let host = details.uri.host().unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
    ServerName::try_from(host.to_owned())
        .map_err(|_| Error::Tls("the host is neither a DNS name nor an IP address"))
}

pub(super) struct TlsTransport {
    stream: Stream,
    buffers: LazyBuffers,
    /// Output held back until the answer is waited for, so that header and body share a packet.
    pending: Vec<u8>,
    /// A server can answer (413, 429, 401) and close before the whole request arrived. The answer
    /// counts more than the failure to send.
    write_error: Option<io::Error>,
}

/// What still fits into one TLS record with room to spare.
const COALESCE: usize = 15_000;

impl TlsTransport {
    fn flush_pending(&mut self) -> Result<(), Error> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let pending = mem::take(&mut self.pending);
        let result = send(&mut self.stream, &mut self.write_error, [&pending, &[]]);
        // The next request needs as much.
        self.pending = pending;
        self.pending.clear();
        result
    }

    /// Reads without writing first, as `StreamOwned` would do, and fail at.
    fn read_only(&mut self) -> io::Result<usize> {
        loop {
            match self.stream.conn.reader().read(self.buffers.input_append_buf()) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                result => return result,
            }
            if self.stream.conn.read_tls(&mut self.stream.sock)? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.stream.conn.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

type Stream = StreamOwned<ClientConnection, TransportAdapter>;

/// Writes both pieces as one, unless the peer is known to take nothing any more.
fn send(
    stream: &mut Stream,
    write_error: &mut Option<io::Error>,
    pieces: [&[u8]; 2],
) -> Result<(), Error> {
    if write_error.is_some() {
        return Ok(());
    }
    match write_all(stream, &mut pieces.map(IoSlice::new)) {
        Err(error)
            if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) =>
        {
            *write_error = Some(error);
            Ok(())
        }
        result => Ok(result?),
    }
}

/// `StreamOwned`'s own writing leaves the failure of the last piece to be found by the next call,
/// which would be a read: an early answer would be lost, and a timeout waited for twice.
fn write_all(stream: &mut Stream, mut pieces: &mut [IoSlice<'_>]) -> io::Result<()> {
    IoSlice::advance_slices(&mut pieces, 0);
    while !pieces.is_empty() {
        let accepted = stream.conn.writer().write_vectored(pieces)?;
        IoSlice::advance_slices(&mut pieces, accepted);
        while stream.conn.wants_write() {
            stream.conn.write_tls(&mut stream.sock)?;
        }
    }
    Ok(())
}

impl Transport for TlsTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.get_mut().set_timeout(timeout);
        let Some(output) = self.buffers.output().get(..amount) else {
            return Err(Error::Tls("more output than the buffer holds"));
        };
        if self.pending.len() + output.len() <= COALESCE {
            self.pending.extend_from_slice(output);
            return Ok(());
        }
        let result = send(&mut self.stream, &mut self.write_error, [&self.pending, output]);
        self.pending.clear();
        result
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.get_mut().set_timeout(timeout);
        self.flush_pending()?;
        let n = match &self.write_error {
            None => self.stream.read(self.buffers.input_append_buf())?,
            // Without an answer to be had, the failure to send is what happened. A TLS alert says
            // more than that.
            Some(write_error) => {
                let write_error = write_error.kind();
                self.read_only().map_err(|error| match error.kind() {
                    ErrorKind::Other => error,
                    _ => write_error.into(),
                })?
            }
        };
        self.buffers.input_appended(n);
        Ok(n > 0)
    }

    /// The end of the connection can have come in the same read as the last answer. It is then in
    /// rustls or in the inner buffer, where a look at the socket does not find it.
    fn is_open(&mut self) -> bool {
        if self.write_error.is_some() || !self.pending.is_empty() {
            return false;
        }
        loop {
            match self.stream.conn.process_new_packets() {
                Ok(state) if !state.peer_has_closed() && state.plaintext_bytes_to_read() == 0 => {}
                _ => return false,
            }
            if !self.stream.sock.get_mut().buffers().can_use_input() {
                return self.stream.sock.get_mut().is_open();
            }
            match self.stream.conn.read_tls(&mut self.stream.sock) {
                Ok(n) if n > 0 => {}
                _ => return false,
            }
        }
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for TlsTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsTransport")
    }
}
