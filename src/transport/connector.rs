//! How a connection comes about, and the mark on every error that happened before one was there.

use std::fmt;

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::time::{Duration, Instant};
use ureq::unversioned::transport::{
    ConnectProxyConnector, ConnectionDetails, Connector, NextTimeout, SocksConnector, TcpConnector,
};
use ureq::{Agent, Error};

use super::tls::TlsConnector;

pub(super) fn agent(settings: Config, tls: TlsConnector) -> Agent {
    let chain =
        ().chain(SocksConnector::default())
            .chain(ConnectProxyConnector::default())
            .chain(TcpConnector::default())
            .chain(tls);
    let outermost = Outermost { inner: chain, dns: DefaultResolver::default() };
    Agent::with_parts(settings, outermost, NoResolver)
}

/// Wraps what happened while connecting: nothing of the request was sent.
#[derive(Debug)]
pub(super) struct NotSent(Error);

impl NotSent {
    /// The error within, or the same error when it is not of this kind.
    pub(super) fn unwrap(error: Error) -> Result<Error, Error> {
        match error {
            Error::Other(other) => match other.downcast::<Self>() {
                Ok(not_sent) => Ok(not_sent.0),
                Err(other) => Err(Error::Other(other)),
            },
            error => Err(error),
        }
    }
}

impl fmt::Display for NotSent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for NotSent {}

pub(super) fn not_sent(error: Error) -> Error {
    match NotSent::unwrap(error) {
        Ok(inner) | Err(inner) => Error::Other(Box::new(NotSent(inner))),
    }
}

/// Resolves names only when a connection has to be made, and within the time that connecting may
/// take. ureq would resolve before every request, pooled or not, and without a bound.
#[derive(Debug)]
struct Outermost<C> {
    inner: C,
    dns: DefaultResolver,
}

impl<C: Connector> Connector for Outermost<C> {
    type Out = C::Out;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<()>,
    ) -> Result<Option<Self::Out>, Error> {
        let connect = || {
            // A proxy is asked for the server by name. Its own address is here already when it is
            // what is connected to.
            let addrs = if details.config.proxy().is_some() || !details.addrs.is_empty() {
                details.addrs.clone()
            } else {
                self.dns.resolve(details.uri, details.config, details.timeout)?
            };
            let details = ConnectionDetails {
                uri: details.uri,
                addrs,
                config: details.config,
                request_level: details.request_level,
                resolver: &self.dns,
                now: (details.current_time)(),
                timeout: remaining(details),
                current_time: details.current_time.clone(),
                run_connector: details.run_connector.clone(),
                register_shutdown: details.register_shutdown.clone(),
            };
            self.inner.connect(&details, chained)
        };
        connect().map_err(not_sent)
    }
}

/// What is left of the time for connecting.
pub(super) fn remaining(details: &ConnectionDetails<'_>) -> NextTimeout {
    let mut timeout = details.timeout;
    if let (Duration::Exact(after), Instant::Exact(start)) = (timeout.after, details.now) {
        timeout.after = Duration::Exact(after.saturating_sub(start.elapsed()));
    }
    timeout
}

/// What ureq asks before it looks into its pool: nothing to be done yet.
#[derive(Debug)]
struct NoResolver;

impl Resolver for NoResolver {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        Ok(self.empty())
    }
}
