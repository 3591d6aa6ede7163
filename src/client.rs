use std::fmt;
use std::sync::Arc;

use crate::discovery::Discovery;
use crate::template::{API_VERSION, check_namespace};
use crate::transport::{Limits, Transport};
use crate::{Config, Error, Namespace, Result, Timeouts};

/// A connection to one cluster as one identity.
///
/// Clones are cheap and share connections and what was discovered; all of it can be used by many
/// threads at once. The connections close when the last clone is dropped.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    transport: Transport,
    discovery: Discovery,
    timeouts: Timeouts,
}

impl Client {
    /// A client that is known to reach its cluster: the template API is asked for once.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] as for [`new`](Self::new); [`Error::Transport`] when there is no
    /// connection or TLS fails; [`Error::Api`] when the credentials are not accepted (401). A 403,
    /// a 404 or a 5xx for the template API is none: it shows at the first operation with a
    /// Template, and references work without it.
    ///
    /// ```no_run
    /// use openshift_templates::{Client, Config};
    ///
    /// let workers = Client::connect(Config::infer()?)?.namespace("workers")?;
    /// # let _ = workers;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn connect(config: Config) -> Result<Self> {
        let client = Self::new(config)?;
        let limits = Limits { timeouts: client.inner.timeouts, ..Limits::default() };
        match client.discovery().ask(client.transport(), &limits, API_VERSION) {
            Err(Error::Api(error)) if matches!(error.code(), 403 | 404 | 500..=599) => Ok(client),
            Err(error) => Err(error),
            Ok(()) => Ok(client),
        }
    }

    /// A client that has not connected yet. No IO is done.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] when a certificate or key cannot be used, or a credential is meant for an
    /// `http://` server.
    pub fn new(config: Config) -> Result<Self> {
        config.check()?;
        let timeouts = config.timeouts;
        let (transport, discovery) = (Transport::new(config)?, Discovery::default());
        Ok(Self { inner: Arc::new(Inner { transport, discovery, timeouts }) })
    }

    /// A handle for one namespace, beyond which none of its operations reaches.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::Namespace`](crate::InvalidInput::Namespace) when `name` is no DNS label of
    /// at most 63 characters.
    pub fn namespace(&self, name: impl Into<String>) -> Result<Namespace> {
        let name = name.into();
        check_namespace("namespace", &name)?;
        Ok(Namespace::new(self.clone(), name, self.inner.timeouts))
    }

    pub(crate) fn transport(&self) -> &Transport {
        &self.inner.transport
    }

    pub(crate) fn discovery(&self) -> &Discovery {
        &self.inner.discovery
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.inner.transport.server())
            .finish_non_exhaustive()
    }
}
