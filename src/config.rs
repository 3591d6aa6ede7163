use std::fmt;
use std::sync::Arc;

use crate::error::{ConfigError, ConfigField, ConfigProblem};
use crate::{Result, Timeouts};

mod credential;
mod environment;
mod exec;
mod file;
mod id_token;
mod impersonation;
mod in_cluster;
mod kubeconfig;
mod no_proxy;
mod pem;
mod proxy;
mod secret;
mod server;
mod setters;

pub(crate) use credential::{Credential, Login};
use environment::Environment;
pub use impersonation::Impersonation;
pub use kubeconfig::Kubeconfig;
pub(crate) use pem::{ClientCert, Pem};
pub(crate) use proxy::{Proxy, ProxyScheme};
pub(crate) use secret::Secret;
pub(crate) use server::Server;

/// One cluster and one identity there.
///
/// ```no_run
/// use openshift_templates::{Client, Config, Kubeconfig};
///
/// let config = Config::from_kubeconfig(Kubeconfig::file("/etc/scheduler/kubeconfig").context("dev"))?;
/// let client = Client::connect(config)?;
/// # let _ = client;
/// # Ok::<(), openshift_templates::Error>(())
/// ```
///
/// Two constructors name the source of the credentials and never fall back to the other;
/// [`infer`](Self::infer) alone chooses. Nothing is ever written to disk. `Debug` shows what is
/// set, and no secret.
#[derive(Clone)]
pub struct Config {
    pub(crate) server: Server,
    pub(crate) timeouts: Timeouts,
    pub(crate) answer_limit: u64,
    pub(crate) ca: Option<Pem>,
    pub(crate) insecure: bool,
    pub(crate) server_name: Option<(String, ConfigField)>,
    pub(crate) client_cert: Option<ClientCert>,
    pub(crate) credential: Option<Arc<Credential>>,
    pub(crate) impersonation: Option<Impersonation>,
    pub(crate) proxy: Option<Proxy>,
    pub(crate) compression: bool,
    default_namespace: Option<String>,
}

/// An object is at most 3 MiB at the API server, a rendered Template can be some of them.
const ANSWER_LIMIT: u64 = 64 * 1024 * 1024;

impl Config {
    /// A server, with no credentials, the system's roots, default [timeouts](Timeouts) and, as
    /// kubectl has it, the proxy that `HTTPS_PROXY` or `HTTP_PROXY` names.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config) when `server` is no absolute `https://` or
    /// `http://` URL, or the proxy's is none. A path in `server` is kept as a prefix; a query, a
    /// fragment and a login are dropped.
    ///
    /// ```
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?.bearer_token("sha256~..");
    /// assert!(!format!("{config:?}").contains("sha256"));
    /// assert!(Config::new("api.example.com:6443").is_err());
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn new(server: &str) -> Result<Self> {
        let Some(server) = Server::parse(server) else {
            let field = ConfigField::setter("server");
            return Err(ConfigError::Invalid { field, problem: ConfigProblem::NotAUrl }.into());
        };
        let proxy = Proxy::of_environment(&Environment::of_process(), &server)?;
        Ok(Self::of(server, proxy))
    }

    fn of(server: Server, proxy: Option<Proxy>) -> Self {
        Self {
            server,
            timeouts: Timeouts::default(),
            answer_limit: ANSWER_LIMIT,
            ca: None,
            insecure: false,
            server_name: None,
            client_cert: None,
            credential: None,
            impersonation: None,
            proxy,
            compression: true,
            default_namespace: None,
        }
    }

    /// The context of a kubeconfig; see [`Kubeconfig`] for which, and for what is read.
    ///
    /// Every file that the chosen entries name is read now, and again while the client lives when
    /// it can be rotated: certificates, keys and CAs when they change, a `tokenFile` every 50
    /// seconds. A credential plugin is run when the first request is made.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config), naming file, entry and field. It never falls back
    /// to a pod's credentials, nor to an anonymous request.
    pub fn from_kubeconfig(source: Kubeconfig) -> Result<Self> {
        Ok(source.load(&Environment::of_process())?.in_some_namespace())
    }

    /// The service account of the pod that this process runs in: the server from
    /// `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`, the token, CA and namespace from
    /// `/var/run/secrets/kubernetes.io/serviceaccount`. The token and the CA are read again as
    /// they are rotated.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config) when this is no pod, or its service account is not
    /// mounted.
    ///
    /// ```no_run
    /// use openshift_templates::{Client, Config};
    ///
    /// let client = Client::connect(Config::in_cluster()?)?;
    /// # let _ = client;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn in_cluster() -> Result<Self> {
        Ok(in_cluster::load(&Environment::of_process())?)
    }

    /// What kubectl would use: the kubeconfig ([`Kubeconfig::search`]), and only when none is
    /// configured at all (no file, or none that names a context to use) the pod's service account.
    ///
    /// In a pod, a context that names no namespace is in the pod's.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config): a kubeconfig that is there and broken is an error,
    /// also inside a pod.
    ///
    /// ```no_run
    /// use openshift_templates::{Client, Config};
    ///
    /// let client = Client::connect(Config::infer()?)?;
    /// # let _ = client;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn infer() -> Result<Self> {
        Ok(Self::infer_in(&Environment::of_process())?)
    }

    fn infer_in(environment: &Environment) -> Result<Self, ConfigError> {
        match Kubeconfig::search().load(environment) {
            Err(not_configured @ ConfigError::NotConfigured { .. }) => {
                match in_cluster::load(environment) {
                    // Outside a pod the missing kubeconfig is what the user has to mend.
                    Err(ConfigError::NotInCluster { .. }) => Err(not_configured),
                    other => other,
                }
            }
            Ok(mut config) => {
                if config.default_namespace.is_none() && in_cluster::is_pod(environment) {
                    config.default_namespace = in_cluster::namespace(environment);
                }
                Ok(config.in_some_namespace())
            }
            broken => broken,
        }
    }

    /// kubectl's namespace for what names none.
    fn in_some_namespace(mut self) -> Self {
        self.default_namespace.get_or_insert_with(|| "default".to_owned());
        self
    }

    /// What can be refused before a client is made of it.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if let Some(credential) = &self.credential {
            credential.check()?;
        }
        if let Some(impersonation) = &self.impersonation {
            impersonation.check()?;
        }
        if self.server.is_https() {
            return Ok(());
        }
        let credential = self.credential.as_ref().map(|c| c.field());
        if let Some(field) = credential.or(self.client_cert.as_ref().map(|c| &c.cert.field)) {
            let (field, problem) = (field.clone(), ConfigProblem::NeedsHttps);
            return Err(ConfigError::Invalid { field, problem });
        }
        match &self.proxy {
            Some(proxy) if proxy.scheme != ProxyScheme::Socks5 => {
                let (field, problem) = (proxy.field.clone(), ConfigProblem::HttpProxyWithoutTls);
                Err(ConfigError::Invalid { field, problem })
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("server", &self.server)
            .field("timeouts", &self.timeouts)
            .field("answer_limit", &self.answer_limit)
            .field("ca", &self.ca.as_ref().map(|pem| &pem.field))
            .field("accepts_invalid_certs", &self.insecure)
            .field("tls_server_name", &self.server_name.as_ref().map(|(name, _)| name))
            .field("client_cert", &self.client_cert.as_ref().map(|c| &c.cert.field))
            .field("credential", &self.credential.as_ref().map(|c| c.field()))
            .field("impersonation", &self.impersonation)
            .field("proxy", &self.proxy)
            .field("compression", &self.compression)
            .field("default_namespace", &self.default_namespace)
            .finish()
    }
}
