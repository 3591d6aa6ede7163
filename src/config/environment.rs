use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

/// What the surroundings of the process say, as a value, so that a test can say it too.
#[derive(Clone, Default)]
pub(super) struct Environment {
    pub(super) kubeconfig: Option<OsString>,
    pub(super) home: Option<PathBuf>,
    pub(super) service_host: Option<String>,
    pub(super) service_port: Option<String>,
    pub(super) service_account: PathBuf,
    pub(super) pod_namespace: Option<String>,
    pub(super) https_proxy: Option<(&'static str, String)>,
    pub(super) http_proxy: Option<(&'static str, String)>,
    pub(super) no_proxy: Option<String>,
    /// Whether there is somebody at standard input whom a plugin could ask.
    pub(super) terminal: bool,
}

impl Environment {
    pub(super) fn of_process() -> Self {
        let text = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        // Go looks at the upper case first.
        let first =
            |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, text(name)?)));
        Self {
            kubeconfig: std::env::var_os("KUBECONFIG"),
            home: home::home_dir(),
            service_host: text("KUBERNETES_SERVICE_HOST"),
            service_port: text("KUBERNETES_SERVICE_PORT"),
            service_account: PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount"),
            pod_namespace: text("POD_NAMESPACE"),
            https_proxy: first(["HTTPS_PROXY", "https_proxy"]),
            http_proxy: first(["HTTP_PROXY", "http_proxy"]),
            no_proxy: first(["NO_PROXY", "no_proxy"]).map(|(_, value)| value),
            terminal: std::io::stdin().is_terminal(),
        }
    }
}
