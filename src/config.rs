use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{ConfigError, ConfigField, ConfigProblem};
use crate::{Result, Timeouts};

mod credential;
mod environment;
mod in_cluster;
mod kubeconfig;
mod server;

pub(crate) use credential::Credential;
use environment::Environment;
pub use kubeconfig::Kubeconfig;
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
    pub(crate) ca: Option<Pem>,
    pub(crate) client_cert: Option<ClientCert>,
    pub(crate) credential: Option<Arc<Credential>>,
    pub(crate) insecure: bool,
    default_namespace: Option<String>,
}

/// PEM text, and the setting to name when it turns out to be of no use.
#[derive(Clone)]
pub(crate) struct Pem {
    pub(crate) text: Vec<u8>,
    pub(crate) field: ConfigField,
}

/// A client certificate, with its chain, and its private key.
#[derive(Clone)]
pub(crate) struct ClientCert {
    pub(crate) cert: Pem,
    pub(crate) key: Pem,
}

impl Config {
    /// A server, with no credentials, the system's roots and default [timeouts](Timeouts).
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config) when `server` is no absolute `https://` or
    /// `http://` URL. A path in it is kept as a prefix; a query and a fragment are dropped.
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
        Ok(Self::of(server))
    }

    fn of(server: Server) -> Self {
        Self {
            server,
            timeouts: Timeouts::default(),
            ca: None,
            client_cert: None,
            credential: None,
            insecure: false,
            default_namespace: None,
        }
    }

    /// The context of a kubeconfig; see [`Kubeconfig`] for which, and for what is read.
    ///
    /// Every file that the chosen entries name is read now, but for a `tokenFile`, which is read
    /// again while the client lives.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config), naming file, entry and field. It never falls back
    /// to a pod's credentials, nor to an anonymous request.
    pub fn from_kubeconfig(source: Kubeconfig) -> Result<Self> {
        Ok(source.load(&Environment::of_process())?)
    }

    /// The service account of the pod that this process runs in: the server from
    /// `KUBERNETES_SERVICE_HOST` and `KUBERNETES_SERVICE_PORT`, the token, CA and namespace from
    /// `/var/run/secrets/kubernetes.io/serviceaccount`. The token is read again as it is rotated.
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
            other => other,
        }
    }

    /// Bounds on each request. Defaults to [`Timeouts::default`].
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The CAs to verify the server with, in PEM, instead of the system's roots. One server's own
    /// certificate will do.
    #[must_use]
    pub fn ca_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca = Some(Pem { text: pem.into(), field: ConfigField::setter("ca_pem") });
        self
    }

    /// A bearer token, instead of the one configured.
    #[must_use]
    pub fn bearer_token(mut self, token: impl Into<String>) -> Self {
        let field = ConfigField::setter("bearer_token");
        self.credential = Some(Arc::new(Credential::token(&token.into(), field)));
        self
    }

    /// A client certificate (with its chain) and its private key, both in PEM.
    #[must_use]
    pub fn client_cert_pem(mut self, cert: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        let field = ConfigField::setter("client_cert_pem");
        self.client_cert = Some(ClientCert {
            cert: Pem { text: cert.into(), field: field.clone() },
            key: Pem { text: key.into(), field },
        });
        self
    }

    /// Whether to talk to a server without verifying who it is: whoever sits in between reads the
    /// credentials and answers as they like. Defaults to what the kubeconfig says
    /// (`insecure-skip-tls-verify`), else `false`.
    #[must_use]
    pub fn danger_accept_invalid_certs(mut self, accept: bool) -> Self {
        self.insecure = accept;
        self
    }

    /// Whether the server's certificate is accepted unseen.
    #[must_use]
    pub fn accepts_invalid_certs(&self) -> bool {
        self.insecure
    }

    /// The namespace that the kubeconfig's context or the pod names, for programs that want it as
    /// their default. No operation takes it by itself.
    #[must_use]
    pub fn default_namespace(&self) -> Option<&str> {
        self.default_namespace.as_deref()
    }

    /// What can be refused before a client is made of it.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if let Some(credential) = &self.credential {
            credential.check()?;
        }
        if !self.server.is_https() {
            let credential = self.credential.as_ref().map(|c| c.field());
            let field = credential.or(self.client_cert.as_ref().map(|c| &c.cert.field));
            if let Some(field) = field.cloned() {
                return Err(ConfigError::Invalid { field, problem: ConfigProblem::NeedsHttps });
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("server", &self.server)
            .field("timeouts", &self.timeouts)
            .field("ca", &self.ca.as_ref().map(|pem| &pem.field))
            .field("client_cert", &self.client_cert.as_ref().map(|c| &c.cert.field))
            .field("credential", &self.credential.as_ref().map(|c| c.field()))
            .field("accepts_invalid_certs", &self.insecure)
            .field("default_namespace", &self.default_namespace)
            .finish()
    }
}

/// Reads a file that a setting names.
fn read(path: PathBuf, field: Option<ConfigField>) -> Result<Vec<u8>, ConfigError> {
    std::fs::read(&path).map_err(|source| ConfigError::Read { path, field, source })
}
