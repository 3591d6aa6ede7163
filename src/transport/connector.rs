//! How a connection comes about.

use std::sync::{Arc, Mutex, PoisonError};

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    ConnectProxyConnector, ConnectionDetails, Connector, NextTimeout, SocksConnector, TcpConnector,
};
use ureq::{Agent, Error};

use super::line::{self, Line};
use super::tls::TlsConnector;

pub(super) fn agent(settings: Config, tls: TlsConnector) -> Agent {
    let chain =
        ().chain(SocksConnector::default())
            .chain(ConnectProxyConnector::default())
            .chain(TcpConnector::default());
    let outermost = Outermost { inner: chain, dns: DefaultResolver::default(), tls };
    Agent::with_parts(settings, outermost, NoResolver)
}

/// Resolves names only when a connection has to be made, and within the time that connecting may
/// take. ureq would resolve before every request, pooled or not, and without a bound.
#[derive(Debug)]
struct Outermost<C> {
    inner: C,
    dns: DefaultResolver,
    tls: TlsConnector,
}

impl<C: Connector> Connector for Outermost<C> {
    type Out = <TlsConnector as Connector<Line<C::Out>>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        _: Option<()>,
    ) -> Result<Option<Self::Out>, Error> {
        line::connecting(*details.timeout.after, || {
            // A proxy is asked for the server by name. Its own address is here already when it is
            // what is connected to.
            let addrs = if details.config.proxy().is_some() || !details.addrs.is_empty() {
                details.addrs.clone()
            } else {
                self.dns.resolve(details.uri, details.config, line::capped(details.timeout)?)?
            };
            let handle = Arc::new(Mutex::new(None));
            let (keep, register) = (handle.clone(), details.register_shutdown.clone());
            let details = ConnectionDetails {
                uri: details.uri,
                addrs,
                config: details.config,
                request_level: details.request_level,
                resolver: &self.dns,
                now: (details.current_time)(),
                timeout: line::capped(details.timeout)?,
                current_time: details.current_time.clone(),
                run_connector: details.run_connector.clone(),
                register_shutdown: Arc::new(move |handle| {
                    *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle.clone());
                    register(handle)
                }),
            };
            let Some(connected) = self.inner.connect(&details, None)? else { return Ok(None) };
            let handle = handle.lock().unwrap_or_else(PoisonError::into_inner).take();
            self.tls.connect(&details, Some(Line::new(connected, handle)))
        })
    }
}

/// What ureq asks before it looks into its pool: nothing to be done yet.
#[derive(Debug)]
struct NoResolver;

impl Resolver for NoResolver {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        Ok(self.empty())
    }
}
