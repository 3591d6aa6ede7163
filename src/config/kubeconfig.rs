use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use self::document::{Entry, Kubeconfigs};
use super::environment::Environment;
use super::{ClientCert, Config, Credential, Pem, Server, read};
use crate::error::{ConfigError, ConfigField, ConfigProblem};

mod document;

/// Which kubeconfig, and which context of it.
///
/// | | here | kubectl |
/// |---|---|---|
/// | `KUBECONFIG` with several paths | merged: for a name the first file wins, whole entry by whole entry; `current-context` is the first that is not empty | the same |
/// | a file of that list that does not exist | skipped | the same |
/// | a file that is broken | an error | the same |
/// | relative paths | relative to the file that holds the entry | the same |
/// | an empty string or null | not set | the same |
/// | `insecure-skip-tls-verify` | honoured; an error beside a CA | the same |
/// | `tokenFile` beside `token` | the file, if it can be read | the same |
/// | a `server` without a scheme | an error | `http://`, without credentials |
/// | a credential for an `http://` server | an error | silently not sent |
/// | a context that names a missing cluster | an error | `localhost:8080`, or the pod |
/// | a context that names a missing user | anonymous requests | the same |
///
/// Exec plugins, auth providers, basic auth, impersonation, `proxy-url` and `tls-server-name` are
/// an error that says so; they are never left out in silence.
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

        let mut config = cluster_settings(&cluster)?;
        config.default_namespace = context.string("namespace")?;
        if let Some(user) = context.string("user")? {
            // A user that is in no file is an anonymous one, to kubectl and here.
            if let Some(user) = kubeconfigs.entry("users", "user", &user)? {
                user_settings(&user, &mut config)?;
            }
        }
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

fn cluster_settings(cluster: &Entry<'_>) -> Result<Config, ConfigError> {
    for field in ["proxy-url", "tls-server-name"] {
        cluster.refuse(field)?;
    }
    let server = cluster.string("server")?.ok_or_else(|| cluster.needed("server"))?;
    let server =
        Server::parse(&server).ok_or_else(|| cluster.invalid("server", ConfigProblem::NotAUrl))?;
    let mut config = Config::of(server);
    config.ca = pem(cluster, "certificate-authority")?;
    config.insecure = cluster.boolean("insecure-skip-tls-verify")?;
    if let (true, Some(ca)) = (config.insecure, &config.ca) {
        let problem = ConfigProblem::Beside { other: "insecure-skip-tls-verify" };
        return Err(ConfigError::Invalid { field: ca.field.clone(), problem });
    }
    Ok(config)
}

fn user_settings(user: &Entry<'_>, config: &mut Config) -> Result<(), ConfigError> {
    for field in [
        "exec",
        "auth-provider",
        "username",
        "password",
        "as",
        "as-uid",
        "as-groups",
        "as-user-extra",
    ] {
        user.refuse(field)?;
    }
    config.credential = credential(user)?.map(Arc::new);
    // A key without a certificate is nothing to log in with, and ignored.
    if let Some(cert) = pem(user, "client-certificate")? {
        let key = pem(user, "client-key")?.ok_or_else(|| user.needed("client-key"))?;
        config.client_cert = Some(ClientCert { cert, key });
    }
    config.check()
}

/// The file wins over the token when it can be read.
fn credential(user: &Entry<'_>) -> Result<Option<Credential>, ConfigError> {
    let token = user.string("token")?;
    if let Some(file) = user.path("tokenFile")? {
        match (Credential::token_file(file, user.field("tokenFile")), &token) {
            (Ok(credential), _) => return Ok(Some(credential)),
            (Err(error), None) => return Err(error),
            (Err(_), Some(_)) => {}
        }
    }
    Ok(token.map(|token| Credential::token(&token, user.field("token"))))
}

/// A file, or the same thing in base64 in the field that ends in `-data`.
fn pem(entry: &Entry<'_>, file_field: &'static str) -> Result<Option<Pem>, ConfigError> {
    let data_field = format!("{file_field}-data");
    let field = entry.field(&data_field);
    match (entry.path(file_field)?, entry.string(&data_field)?) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(ConfigError::Invalid {
            field,
            problem: ConfigProblem::Beside { other: file_field },
        }),
        (Some(path), None) => {
            let field = entry.field(file_field);
            Ok(Some(Pem { text: read(path, Some(field.clone()))?, field }))
        }
        (None, Some(data)) => {
            let data: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            let text = STANDARD.decode(data).map_err(|_| ConfigError::Invalid {
                field: field.clone(),
                problem: ConfigProblem::NotBase64,
            })?;
            Ok(Some(Pem { text, field }))
        }
    }
}

/// A path in an entry is relative to the file that the entry stands in.
fn beside(file: &Path, path: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(path)
}

impl Entry<'_> {
    fn path(&self, name: &str) -> Result<Option<PathBuf>, ConfigError> {
        Ok(self.string(name)?.map(|path| beside(self.file(), &path)))
    }

    fn needed(&self, name: &str) -> ConfigError {
        self.invalid(name, ConfigProblem::Needed)
    }

    fn invalid(&self, name: &str, problem: ConfigProblem) -> ConfigError {
        ConfigError::Invalid { field: self.field(name), problem }
    }

    fn refuse(&self, name: &str) -> Result<(), ConfigError> {
        if self.is_set(name) {
            return Err(self.invalid(name, ConfigProblem::NotSupportedYet));
        }
        Ok(())
    }

    fn field(&self, name: &str) -> ConfigField {
        ConfigField::in_file(self.file().to_owned(), self.label(), name)
    }
}

#[cfg(test)]
mod tests;
