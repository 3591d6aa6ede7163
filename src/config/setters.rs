//! What a program can set on a configuration, and ask it.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use super::{ClientCert, Config, Credential, Impersonation, Pem, Proxy};
use crate::error::ConfigField;
use crate::{Result, Timeouts};

impl Config {
    /// Bounds on each request. Defaults to [`Timeouts::default`].
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The most bytes of an answer that are taken, counted after they were decompressed: what a
    /// hostile or broken server can make this process hold of one answer, before it is parsed into
    /// a multiple of it. A longer one is an error with an
    /// [`exceeded_limit`](crate::TransportError::exceeded_limit). Defaults to 64 MiB.
    ///
    /// ```
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?.answer_limit(256 * 1024 * 1024);
    /// # let _ = config;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    #[must_use]
    pub fn answer_limit(mut self, bytes: u64) -> Self {
        self.answer_limit = bytes;
        self
    }

    /// The CAs to verify the server with, in PEM, instead of the system's roots. One server's own
    /// certificate will do. Defaults to what the kubeconfig says
    /// (`certificate-authority`), else to the system's roots.
    ///
    /// ```
    /// # fn run(pem: &str) -> openshift_templates::Result<()> {
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?.ca_pem(pem);
    /// # let _ = config;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn ca_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca = Some(Pem::given(pem, ConfigField::setter("ca_pem")));
        self
    }

    /// The name that the server's certificate has to be for, and that is sent as SNI, instead of
    /// the server's host. Defaults to what the kubeconfig says (`tls-server-name`), else to the
    /// host. It does not concern a proxy.
    ///
    /// ```
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://10.0.0.1:6443")?.tls_server_name("api.example.com");
    /// # let _ = config;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    #[must_use]
    pub fn tls_server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some((name.into(), ConfigField::setter("tls_server_name")));
        self
    }

    /// A bearer token, instead of whatever credential is configured but a client certificate. A
    /// line break at its end is taken off.
    ///
    /// ```
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?.bearer_token("sha256~..");
    /// # let _ = config;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    #[must_use]
    pub fn bearer_token(mut self, token: impl Into<String>) -> Self {
        let field = ConfigField::setter("bearer_token");
        self.credential = Some(Arc::new(Credential::token(&token.into(), field)));
        self
    }

    /// A function that gives the bearer token, instead of whatever credential is configured but a
    /// client certificate. It is called before every request, on the thread that makes it, so it
    /// should keep a token that is still good; and once more when the server answers 401, after
    /// which the request is sent again if the token is another one.
    ///
    /// An error of it is [`ConfigError::TokenCallback`](crate::ConfigError::TokenCallback), with
    /// the error as its source: nothing was sent.
    ///
    /// ```
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?
    ///     .bearer_token_with(|| Ok(std::fs::read_to_string("/run/vault/token")?));
    /// # let _ = config;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    #[must_use]
    pub fn bearer_token_with(
        mut self,
        token: impl Fn() -> Result<String, Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
    ) -> Self {
        let field = ConfigField::setter("bearer_token_with");
        self.credential = Some(Arc::new(Credential::callback(Box::new(token), field)));
        self
    }

    /// A file that holds the bearer token, instead of whatever credential is configured but a
    /// client certificate. It is read now, and again every 50 seconds and after a 401; what cannot
    /// be read later leaves the last token in use.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config) when the file cannot be read or is empty.
    ///
    /// ```no_run
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?.bearer_token_file("/run/token")?;
    /// # let _ = config;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn bearer_token_file(mut self, path: impl Into<PathBuf>) -> Result<Self> {
        let field = ConfigField::setter("bearer_token_file");
        self.credential = Some(Arc::new(Credential::token_file(path.into(), field)?));
        Ok(self)
    }

    /// Basic authentication, instead of whatever credential is configured but a client
    /// certificate. OpenShift's API takes none: there a user and a password are exchanged for a
    /// token, by `oc login`.
    ///
    /// ```
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?.basic_auth("user", "password");
    /// assert!(!format!("{config:?}").contains("password\""));
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    #[must_use]
    pub fn basic_auth(mut self, username: &str, password: &str) -> Self {
        let field = ConfigField::setter("basic_auth");
        self.credential = Some(Arc::new(Credential::basic(username, password, field)));
        self
    }

    /// A client certificate, followed by its chain, and its private key, both in PEM. It is sent
    /// beside a token, when there is one; the server decides which counts.
    ///
    /// ```
    /// # fn run(cert: &str, key: &str) -> openshift_templates::Result<()> {
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?.client_cert_pem(cert, key);
    /// # let _ = config;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn client_cert_pem(mut self, cert: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        let field = ConfigField::setter("client_cert_pem");
        self.client_cert =
            Some(ClientCert { cert: Pem::given(cert, field.clone()), key: Pem::given(key, field) });
        self
    }

    /// Whom to make requests as. Defaults to what the kubeconfig says (`as` and its companions),
    /// else to nobody but who logs in.
    #[must_use]
    pub fn impersonate(mut self, impersonation: Impersonation) -> Self {
        self.impersonation = Some(impersonation);
        self
    }

    /// The proxy to go through: `http://`, `https://` or `socks5://`, with a percent-encoded
    /// `user:password@` if it needs one. Defaults to what the kubeconfig says (`proxy-url`), else
    /// to what the environment says. `NO_PROXY` does not apply to it.
    ///
    /// Names are resolved by the proxy. One with `https://` is verified by its own name with the
    /// system's roots and the cluster's CA, and never sees the client certificate.
    ///
    /// # Errors
    ///
    /// [`Error::Config`](crate::Error::Config) when it is no such URL.
    ///
    /// ```
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?.proxy("socks5://localhost:1080")?;
    /// # let _ = config;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn proxy(mut self, url: &str) -> Result<Self> {
        self.proxy = Some(Proxy::parse(url, ConfigField::setter("proxy"))?);
        Ok(self)
    }

    /// Whether to ask for answers as they are, instead of compressed with gzip. Defaults to what
    /// the kubeconfig says (`disable-compression`), else `false`.
    #[must_use]
    pub fn disable_compression(mut self, disable: bool) -> Self {
        self.compression = !disable;
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
    /// their default; `default` when neither names one, as with kubectl. None when the program
    /// made the configuration. No operation takes it by itself.
    ///
    /// ```
    /// use openshift_templates::Config;
    ///
    /// let config = Config::new("https://api.example.com:6443")?;
    /// assert_eq!(config.default_namespace(), None);
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    #[must_use]
    pub fn default_namespace(&self) -> Option<&str> {
        self.default_namespace.as_deref()
    }
}
