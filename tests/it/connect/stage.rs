//! A cluster, a folder for kubeconfigs, and ways to say what becomes of one.

use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openshift_templates::{Client, Config, Kubeconfig};
use openshift_templates_testing::{Cluster, Exchange, Fault};
use serde_json::{Value, json};

use crate::support::shown;

pub(super) fn base64(text: impl AsRef<[u8]>) -> String {
    STANDARD.encode(text)
}

/// A kubeconfig with one cluster and one user.
pub(super) fn kubeconfig(cluster: &Value, user: &Value) -> Value {
    json!({
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    })
}

/// A cluster that nobody connects to.
pub(super) fn elsewhere() -> Value {
    json!({"server": "https://h:6443"})
}

pub(super) struct Folder(tempfile::TempDir);

impl Folder {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// An executable shell script.
    pub(super) fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.write(name, format!("#!/bin/sh\n{text}\n"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        path
    }

    pub(super) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// What becomes of a kubeconfig of this text: a configuration, or an error as it is shown.
    pub(super) fn load(&self, text: impl AsRef<[u8]>) -> Result<Config, String> {
        load(&self.write("config", text))
    }
}

pub(super) fn load(path: &Path) -> Result<Config, String> {
    Config::from_kubeconfig(Kubeconfig::file(path)).map_err(|error| shown(&error))
}

/// What becomes of a kubeconfig, from its text alone.
pub(super) fn load_text(text: impl AsRef<[u8]>) -> Result<Config, String> {
    Folder::new().load(text)
}

/// The error for a user that is refused.
pub(super) fn refused(user: &Value) -> String {
    let config = load_text(kubeconfig(&elsewhere(), user).to_string());
    config
        .and_then(|config| connect(config).map_err(|e| e + " (only when connecting)"))
        .unwrap_err()
}

/// The error for a cluster that is refused.
pub(super) fn refused_cluster(cluster: &Value) -> String {
    load_text(kubeconfig(cluster, &json!({})).to_string()).unwrap_err()
}

pub(super) fn connect(config: Config) -> Result<Client, String> {
    Client::connect(config).map_err(|error| shown(&error))
}

pub(super) struct Stage {
    pub(super) cluster: Cluster,
    pub(super) folder: Folder,
}

impl Stage {
    /// A cluster that takes every token, and has nothing.
    pub(super) fn lenient() -> Self {
        let stage = Self::strict();
        let found = Fault::on("*", "/").answer(404, "text/plain", "no such API");
        stage.cluster.fault(found.always());
        stage
    }

    pub(super) fn strict() -> Self {
        Self { cluster: Cluster::start(), folder: Folder::new() }
    }

    pub(super) fn server(&self) -> Value {
        json!({
            "server": self.cluster.url(),
            "certificate-authority-data": base64(self.cluster.ca_pem()),
        })
    }

    pub(super) fn server_with(&self, more: &Value) -> Value {
        let mut server = self.server();
        for (name, value) in more.as_object().unwrap() {
            server[name] = value.clone();
        }
        server
    }

    /// Writes a kubeconfig for the cluster and this user.
    pub(super) fn write(&self, user: &Value) -> PathBuf {
        self.folder.write("config", kubeconfig(&self.server(), user).to_string())
    }

    pub(super) fn client(&self, user: &Value) -> Result<Client, String> {
        load(&self.write(user)).and_then(connect)
    }

    /// The one request that connecting as this user sends.
    pub(super) fn sent(&self, user: &Value) -> Exchange {
        self.sent_to(&self.server(), user)
    }

    pub(super) fn sent_to(&self, cluster: &Value, user: &Value) -> Exchange {
        self.cluster.clear_journal();
        let config = self.folder.load(kubeconfig(cluster, user).to_string()).unwrap();
        connect(config).unwrap();
        let journal = self.cluster.journal();
        assert_eq!(journal.len(), 1);
        journal[0].clone()
    }

    pub(super) fn authorization(&self, user: &Value) -> Option<String> {
        self.sent(user).header("authorization").map(str::to_owned)
    }
}

/// Runs this very test binary once more, with this environment and nothing else, and has it infer
/// a configuration and, if asked for, connect. What it prints is the outcome.
pub(super) fn child(action: &str, environment: &[(&str, &str)]) -> Result<String, String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["connect::child", "--exact", "--ignored", "--nocapture"])
        .env_clear()
        .env("HOME", "/nonexistent")
        .envs(environment.iter().copied())
        .env("CONNECT_CHILD", action)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let outcome = text.split_once("<<<").and_then(|(_, rest)| rest.split_once(">>>"));
    let Some((outcome, _)) = outcome else { panic!("{text} {output:?}") };
    match outcome.split_once(' ').unwrap() {
        ("ok", text) => Ok(text.to_owned()),
        (_, text) => Err(text.to_owned()),
    }
}

/// What the child does.
pub(super) fn act(action: &str) -> String {
    let config = match action {
        "provider" => {
            let provider = rustls::crypto::CryptoProvider {
                kx_groups: Vec::new(),
                ..rustls::crypto::ring::default_provider()
            };
            provider.install_default().unwrap();
            Config::infer()
        }
        _ => Config::infer(),
    };
    let outcome = config.map_err(|error| shown(&error)).and_then(|config| {
        let text = format!("{config:?}");
        if action == "load" { Ok(text) } else { connect(config).map(|_| text) }
    });
    match outcome {
        Ok(text) => format!("<<<ok {text}>>>"),
        Err(text) => format!("<<<err {text}>>>"),
    }
}
