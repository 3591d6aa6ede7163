use std::ffi::OsString;
use std::path::PathBuf;

/// What the surroundings of the process say, as a value, so that a test can say it too.
#[derive(Default)]
pub(super) struct Environment {
    pub(super) kubeconfig: Option<OsString>,
    pub(super) home: Option<PathBuf>,
    pub(super) service_host: Option<String>,
    pub(super) service_port: Option<String>,
    pub(super) service_account: PathBuf,
    pub(super) pod_namespace: Option<String>,
}

impl Environment {
    pub(super) fn of_process() -> Self {
        let text = |name| std::env::var(name).ok();
        Self {
            kubeconfig: std::env::var_os("KUBECONFIG"),
            home: home::home_dir(),
            service_host: text("KUBERNETES_SERVICE_HOST"),
            service_port: text("KUBERNETES_SERVICE_PORT"),
            service_account: PathBuf::from("/var/run/secrets/kubernetes.io/serviceaccount"),
            pod_namespace: text("POD_NAMESPACE"),
        }
    }
}
