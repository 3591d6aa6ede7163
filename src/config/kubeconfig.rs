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
