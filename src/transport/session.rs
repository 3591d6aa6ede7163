//! Connections as one identity: when a certificate, a key or a CA is replaced, new connections are
//! made with the new one, and no TLS session of the old identity is resumed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::connector;
use super::tls_config;
use crate::config::{Config, Login, Proxy, ProxyScheme, Secret};
use crate::error::{ConfigError, ConfigProblem};

/// A header has to fit into the buffer with room to spare, or its length is never complained of:
/// ureq takes at most 64 KiB of headers.
const BUFFER: usize = 128 * 1024;

pub(super) struct Sessions {
    config: Config,
    current: Mutex<Session>,
}

/// A pool of connections, and what they were made with.
struct Session {
    agent: ureq::Agent,
    material: Material,
}

/// The PEM texts that TLS is set up with. Two of them are the same when their texts are.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Material {
    pub(super) ca: Option<Arc<[u8]>>,
    pub(super) client_cert: Option<Pair>,
}

/// A certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) cert: Arc<[u8]>,
    pub(super) key: Arc<[u8]>,
}

impl Sessions {
    /// Opens no connection.
    pub(super) fn new(config: Config) -> Result<Self, ConfigError> {
        let material = Material::of(&config, &Login::default(), Instant::now());
        let current = Mutex::new(Session::open(&config, material)?);
        Ok(Self { config, current })
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// The pool for a request that logs in like this.
    pub(super) fn agent(&self, login: &Login, now: Instant) -> Result<ureq::Agent, ConfigError> {
        let material = Material::of(&self.config, login, now);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.material != material {
            match Session::open(&self.config, material) {
                Ok(session) => *current = session,
                Err(error) if login.certificate.is_some() => return Err(error),
                // A pair of files can be seen half replaced: the next request looks again.
                Err(_) => {}
            }
        }
        Ok(current.agent.clone())
    }
}

impl Material {
    fn of(config: &Config, login: &Login, now: Instant) -> Self {
        let issued = login.certificate.as_ref().map(|issued| Pair {
            cert: issued.cert.as_bytes().into(),
            key: issued.key.expose().as_bytes().into(),
        });
        let configured = || {
            let pair = config.client_cert.as_ref()?;
            Some(Pair { cert: pair.cert.text(now), key: pair.key.text(now) })
        };
        Self {
            ca: config.ca.as_ref().map(|ca| ca.text(now)),
            client_cert: issued.or_else(configured),
        }
    }
}

impl Session {
    fn open(config: &Config, material: Material) -> Result<Self, ConfigError> {
        let tls = tls_config::connector(config, &material)?;
        let proxy = config.proxy.as_ref().map(proxy).transpose()?;
        let mut settings = ureq::Agent::config_builder()
            .proxy(proxy)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_idle_connections(16)
            .max_idle_connections_per_host(16)
            .max_idle_age(IDLE_FOR_READS)
            .input_buffer_size(BUFFER)
            .output_buffer_size(BUFFER)
            .no_delay(true)
            .user_agent(concat!("openshift-templates/", env!("CARGO_PKG_VERSION")));
        if !config.compression {
            settings = settings.accept_encoding("");
        }
        Ok(Self { agent: connector::agent(settings.build(), tls), material })
    }
}

/// An idle connection this old is not used again. Load balancers close idle ones after a minute or
/// more.
pub(super) const IDLE_FOR_READS: Duration = Duration::from_secs(15);

/// Names are left to the proxy: it may be the only one that knows them.
fn proxy(proxy: &Proxy) -> Result<ureq::Proxy, ConfigError> {
    let mut builder = ureq::Proxy::builder(match proxy.scheme {
        ProxyScheme::Http => ureq::ProxyProtocol::Http,
        ProxyScheme::Https => ureq::ProxyProtocol::Https,
        ProxyScheme::Socks5 => ureq::ProxyProtocol::Socks5h,
    })
    .resolve_target(false)
    .host(&proxy.host);
    if let Some(port) = proxy.port {
        builder = builder.port(port);
    }
    if let Some(user) = &proxy.user {
        builder = builder.username(user.expose());
    }
    if let Some(password) = proxy.password.as_ref().map(Secret::expose) {
        builder = builder.password(password);
    }
    builder.build().map_err(|_| ConfigError::Invalid {
        field: proxy.field.clone(),
        problem: ConfigProblem::NotAProxyUrl,
    })
}
