use std::path::{Path, PathBuf};

use self::document::{Entry, Kubeconfigs};
use super::Config;
use super::environment::Environment;
use crate::error::ConfigError;

mod cluster;
mod document;
mod exec;
mod pem;
mod user;

/// Which kubeconfig, and which context of it.
///
/// A kubeconfig that works with kubectl works here. What is refused is refused with an error that
/// names file, entry and field. No file is ever written. This is how it compares with kubectl:
///
/// | files | here | kubectl |
/// |---|---|---|
/// | `KUBECONFIG` unset or empty | `~/.kube/config` | the same |
/// | `KUBECONFIG` with several paths | merged: for a name the first file wins, whole entry by whole entry; `current-context` is the first that is not empty. Empty paths and repeated ones are skipped, `~` is not expanded | the same |
/// | a path in that list that does not exist | skipped | the same |
/// | a file that is asked for and does not exist, or any that cannot be read or is no YAML | an error | the same |
/// | relative paths | relative to the file that holds the entry; a plugin's command only when it has a separator | the same |
/// | UTF-8, with or without byte order mark, UTF-16LE with one, CRLF, JSON, tabs in JSON, empty | read | the same |
/// | several documents | the first | the same |
/// | anchors, merge keys, `!!binary`, a key twice in a mapping (the last counts) | read | the same |
/// | absent, null and empty (`""`, `[]`, `{}`) | all mean "not set" | the same |
/// | unknown fields | ignored | the same |
/// | a name twice in one list | an error when it is the one to be used | always an error |
/// | wrong types and bad base64 in entries that are not used | ignored | an error |
/// | `apiVersion`, `kind` | absent, or `v1` and `Config` | the same |
/// | an integer for text, such as `token: 12345` | its digits | an error |
/// | `yes`, `on`, `y` for true | true, quoted or not | true when not quoted |
/// | larger than 4 MiB, deeper than 128, or grown more than tenfold by aliases | an error | read, or a limit of its own |
///
/// | selection | here | kubectl |
/// |---|---|---|
/// | no `current-context` | an error; in [`Config::infer`] the pod's service account, when there is one | the pod's, else `localhost:8080` |
/// | a context that is missing | an error, in a pod too | the same |
/// | a context whose cluster is missing | an error | the pod's service account, or `localhost:8080` |
/// | a context whose user is missing, or that names none | anonymous requests | the same, or asks for a name |
/// | no namespace | `default`; in [`Config::infer`] in a pod, the pod's | the same |
/// | a `server` without `http://` or `https://` | an error | `http://`, and so no credentials |
/// | a login, query or fragment in `server` | dropped | the same |
/// | a path in `server` | a prefix of every request, cleaned | the same |
/// | `KUBERNETES_MASTER` | not looked at | the last resort |
///
/// | TLS | here | kubectl |
/// |---|---|---|
/// | no `certificate-authority` | the system's roots: `SSL_CERT_FILE` and `SSL_CERT_DIR`, else the usual bundles | the same |
/// | a bundle with text, other blocks or bad certificates in it | what can be read counts; nothing readable is an error | the same |
/// | the server's own certificate, CA or not, as its CA | accepted, when name and dates fit | the same |
/// | a CA's certificate, used by a server, signed by another CA | refused ("is a CA's, which only serves when ..") | accepted |
/// | a certificate with a common name only | refused | the same |
/// | an expired CA | accepted | refused |
/// | `insecure-skip-tls-verify` | honoured; an error beside a CA | the same |
/// | `tls-server-name` | checked and sent as SNI | the same, and used for an HTTPS proxy too |
/// | file and `-data` for the same thing | an error | the same |
/// | client keys | PKCS#1, SEC 1 and PKCS#8 whatever the label; RSA of 2048 to 4096 bits, P-256, P-384, Ed25519 | P-521 and other RSA too |
/// | P-521, other RSA | an error that names it ("holds a private key of an unsupported kind (P-521)"), unless the program installs another [`rustls` `CryptoProvider`](https://docs.rs/rustls/0.23/rustls/crypto/struct.CryptoProvider.html) as the process's default; a server's such certificate fails the handshake | accepted |
/// | encrypted keys | an error that says so | an error |
/// | X.509 v1 client certificates; key and certificate in one file | work | the same |
/// | a certificate without its key; a key without its certificate | an error; ignored | the same |
/// | files of certificates, keys and CAs | read again when they change: no oftener than every second, CAs every minute; then new connections are made | the same, CAs every five minutes |
///
/// | credentials | here | kubectl |
/// |---|---|---|
/// | any of them for an `http://` server | an error | silently not sent |
/// | `tokenFile` beside `token` | the file, if it can be read | the same |
/// | `tokenFile` | trimmed; read again after 50 s, and after a 401; the last good token is kept | the same, but not after a 401 |
/// | a line break at the end of `token` | taken off | an error |
/// | `username`, `password` | Basic, if either is set. OpenShift's API takes none: use `oc login` | the same |
/// | token beside Basic; `exec` beside `auth-provider` | an error | the same |
/// | a token beside a client certificate | both are sent | the same |
/// | `exec` beside a token, Basic or a client certificate | not run, but checked | the same |
/// | `exec`, v1 and v1beta1 | run without a shell, with `KUBERNETES_EXEC_INFO`, `env` and `provideClusterInfo`, at the first request; kept until 10 s before `expirationTimestamp`; once for all threads. It has 60 s, or 5 minutes where it can ask somebody | kept until `expirationTimestamp`; no limit |
/// | `exec`, v1alpha1 | an error | the same |
/// | `interactiveMode` | needed in v1; standard input is handed on only if it is a terminal; `Always` without one is an error | the same |
/// | a plugin that fails, or is not found | an error, with its `installHint`; nothing is sent | the same |
/// | a 401 | the token file is read, the plugin run, the program's function called once more; the request is sent again only if the credential is another one | the plugin is run once more, and the 401 returned |
/// | `auth-provider` `oidc` | `id-token` while it is valid, then an error | refreshed, and the file rewritten |
/// | `auth-provider` `gcp`, `azure`, others | an error that names the plugin to use | the same |
/// | `as`, `as-uid`, `as-groups`, `as-user-extra` | the `Impersonate-` headers; the others without `as` are an error | the same |
/// | `disable-compression` | honoured | the same |
///
/// | proxies | here | kubectl |
/// |---|---|---|
/// | `proxy-url` | `http`, `https`, `socks5` (and `socks5h`), with a percent-encoded login; wins over the environment, `NO_PROXY` included | the same |
/// | the environment | `HTTPS_PROXY` or `https_proxy` for `https://` servers, `HTTP_PROXY` or `http_proxy` for others; never for this machine | the same |
/// | `NO_PROXY`, `no_proxy` | names and their subdomains, `.suffix`, `*.suffix`, addresses, CIDR, each with a port if need be, `*` | the same |
/// | names of servers | resolved by the proxy | the same |
/// | an `https` proxy | verified by its own name, with the system's roots and the cluster's CA; it never sees the client certificate | verified as the cluster is, with `tls-server-name` |
/// | an `http://` server by way of an HTTP proxy | an error ("is an HTTP proxy for an http:// server") | works |
///
/// ```no_run
/// use openshift_templates::{Client, Config, Kubeconfig};
///
/// let source = Kubeconfig::file("/etc/scheduler/kubeconfig").context("dev");
/// let client = Client::connect(Config::from_kubeconfig(source)?)?;
/// # let _ = client;
/// # Ok::<(), openshift_templates::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kubeconfig {
    file: Option<PathBuf>,
    context: Option<String>,
}

impl Kubeconfig {
    /// Where kubectl looks: the paths in `KUBECONFIG`, or without it `~/.kube/config`.
    ///
    /// ```
    /// use openshift_templates::Kubeconfig;
    ///
    /// let source = Kubeconfig::search().context("dev");
    /// # let _ = source;
    /// ```
    #[must_use]
    pub fn search() -> Self {
        Self::default()
    }

    /// One file, which has to exist.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { file: Some(path.into()), context: None }
    }

    /// The context to use. Defaults to the `current-context`.
    #[must_use]
    pub fn context(mut self, name: impl Into<String>) -> Self {
        self.context = Some(name.into());
        self
    }

    pub(super) fn load(self, environment: &Environment) -> Result<Config, ConfigError> {
        let kubeconfigs = match self.file {
            Some(file) => Kubeconfigs::read(vec![file], true)?,
            None => Kubeconfigs::read(searched(environment), false)?,
        };
        let name = match self.context.filter(|name| !name.is_empty()) {
            Some(name) => name,
            None => match kubeconfigs.current_context()? {
                Some(name) => name,
                None => return Err(ConfigError::NotConfigured { files: kubeconfigs.files() }),
            },
        };
        let missing = |kind, name: &str| ConfigError::Missing {
            kind,
            name: name.to_owned(),
            files: kubeconfigs.files(),
        };
        let context = kubeconfigs
            .entry("contexts", "context", &name)?
            .ok_or_else(|| missing("context", &name))?;
        let cluster_name = context.string("cluster")?.ok_or_else(|| context.needed("cluster"))?;
        let cluster = kubeconfigs
            .entry("clusters", "cluster", &cluster_name)?
            .ok_or_else(|| missing("cluster", &cluster_name))?;

        let mut config = cluster::settings(&cluster, environment)?;
        config.default_namespace = context.string("namespace")?;
        if let Some(user) = context.string("user")? {
            // A user that is in no file is an anonymous one, to kubectl and here.
            if let Some(user) = kubeconfigs.entry("users", "user", &user)? {
                user::apply(&user, &cluster, environment, &mut config)?;
            }
        }
        config.check()?;
        Ok(config)
    }
}

/// `KUBECONFIG` set to anything but nothing counts, even to a list of empty names.
fn searched(environment: &Environment) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    match environment.kubeconfig.as_ref().filter(|list| !list.is_empty()) {
        Some(list) => {
            for file in std::env::split_paths(list) {
                if !file.as_os_str().is_empty() && !files.contains(&file) {
                    files.push(file);
                }
            }
        }
        None => files.extend(environment.home.as_ref().map(|home| home.join(".kube/config"))),
    }
    files
}

/// A path in an entry is relative to the file that the entry stands in, and stays what it is when
/// the program changes its folder.
fn beside(file: &Path, path: &str) -> PathBuf {
    let path = file.parent().unwrap_or(Path::new("")).join(path);
    std::path::absolute(&path).unwrap_or(path)
}

impl Entry<'_> {
    fn path(&self, name: &str) -> Result<Option<PathBuf>, ConfigError> {
        Ok(self.string(name)?.map(|path| beside(self.file(), &path)))
    }
}

#[cfg(test)]
mod tests;
