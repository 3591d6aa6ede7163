use std::sync::Arc;
use std::time::Duration;

use super::environment::Environment;
use super::{Config, Credential, Pem, Proxy, Server};
use crate::error::{ConfigError, ConfigField, ConfigProblem};

/// New connections are made with a new CA this long after it is there, at the latest.
const CA_READ_AGAIN_AFTER: Duration = Duration::from_secs(60);

pub(super) fn load(environment: &Environment) -> Result<Config, ConfigError> {
    let variable = |value: &Option<String>, name: &str| {
        value.clone().filter(|value| !value.is_empty()).ok_or_else(|| ConfigError::NotInCluster {
            missing: format!("the environment variable {name}"),
        })
    };
    let host = variable(&environment.service_host, "KUBERNETES_SERVICE_HOST")?;
    let port = variable(&environment.service_port, "KUBERNETES_SERVICE_PORT")?;
    let mounted = &environment.service_account;
    let token = mounted.join("token");
    if !token.is_file() {
        return Err(ConfigError::NotInCluster { missing: token.display().to_string() });
    }

    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let server = Server::parse(&format!("https://{host}:{port}")).ok_or_else(|| {
        let field = ConfigField::setter("KUBERNETES_SERVICE_HOST");
        ConfigError::Invalid { field, problem: ConfigProblem::NotAUrl }
    })?;
    let proxy = Proxy::of_environment(environment, &server)?;
    let mut config = Config::of(server, proxy);
    let field = |name: &str| {
        ConfigField::in_file(mounted.join(name), "the service account".to_owned(), name)
    };
    config.credential = Some(Arc::new(Credential::token_file(token, field("token"))?));
    // Without a CA of its own the cluster is verified with the system's roots, as client-go does.
    config.ca = Pem::file(mounted.join("ca.crt"), field("ca.crt"), CA_READ_AGAIN_AFTER)
        .ok()
        .filter(Pem::holds_a_certificate);
    config.default_namespace = namespace(environment);
    Ok(config.in_some_namespace())
}

/// What client-go takes for a pod: the variables and the token are there.
pub(super) fn is_pod(environment: &Environment) -> bool {
    let is_set = |value: &Option<String>| value.as_ref().is_some_and(|value| !value.is_empty());
    is_set(&environment.service_host)
        && is_set(&environment.service_port)
        && environment.service_account.join("token").is_file()
}

pub(super) fn namespace(environment: &Environment) -> Option<String> {
    let some = |text: String| Some(text.trim().to_owned()).filter(|name| !name.is_empty());
    let mounted = || std::fs::read_to_string(environment.service_account.join("namespace")).ok();
    environment.pod_namespace.clone().and_then(some).or_else(|| mounted().and_then(some))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Instant;

    use openshift_templates_testing::Cluster;

    use super::*;
    use crate::{Client, Template};

    fn pod(cluster: &Cluster) -> Environment {
        Environment {
            service_host: Some(cluster.host().to_string()),
            service_port: Some(cluster.port().to_string()),
            service_account: cluster.service_account_dir().to_owned(),
            ..Environment::default()
        }
    }

    #[test]
    fn a_pods_service_account_reaches_its_cluster() {
        let cluster = Cluster::start();
        let config = load(&pod(&cluster)).unwrap();
        assert_eq!(config.default_namespace(), Some("workers"));
        let workers = Client::connect(config).unwrap().namespace("workers").unwrap();
        let job = Template::new("worker-template").in_namespace("infra").parameter("VM_NAME", "a");
        assert_eq!(workers.process(&job).unwrap().manifests().len(), 3);
        assert!(
            cluster.journal().iter().all(|exchange| exchange.user.as_deref() == Some("worker"))
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let cluster = Cluster::start();
        let missing = |change: fn(&mut Environment)| {
            let mut environment = pod(&cluster);
            change(&mut environment);
            match load(&environment) {
                Err(ConfigError::NotInCluster { missing }) => missing,
                other => panic!("{other:?}"),
            }
        };
        assert!(missing(|e| e.service_host = None).contains("KUBERNETES_SERVICE_HOST"));
        assert!(
            missing(|e| e.service_port = Some(String::new())).contains("KUBERNETES_SERVICE_PORT")
        );
        assert!(missing(|e| e.service_account.push("nothing")).contains("token"));
    }

    #[test]
    fn addresses_of_both_kinds_make_a_url() {
        let cluster = Cluster::start();
        for (host, url) in
            [("10.0.0.1", "https://10.0.0.1:443"), ("fd00::1", "https://[fd00::1]:443")]
        {
            let mut environment = pod(&cluster);
            environment.service_host = Some(host.to_owned());
            environment.service_port = Some("443".to_owned());
            assert_eq!(load(&environment).unwrap().server.to_string(), url);
        }
    }

    /// A pod of its own, whose files can be changed.
    fn copied(cluster: &Cluster, dir: &Path) -> Environment {
        for name in ["token", "ca.crt", "namespace"] {
            std::fs::copy(cluster.service_account_dir().join(name), dir.join(name)).unwrap();
        }
        Environment { service_account: dir.to_owned(), ..pod(cluster) }
    }

    #[test]
    fn a_pods_token_and_ca_are_read_again() {
        let (cluster, dir) = (Cluster::start(), tempfile::tempdir().unwrap());
        let config = load(&copied(&cluster, dir.path())).unwrap();
        std::fs::write(dir.path().join("token"), "second\n").unwrap();
        std::fs::write(dir.path().join("ca.crt"), "another").unwrap();
        let start = Instant::now();
        let token = |seconds| {
            let now = start + Duration::from_secs(seconds);
            let login = config.credential.as_ref().unwrap().login(now).unwrap();
            login.authorization.unwrap().expose().to_owned()
        };
        assert_ne!(token(40), "Bearer second");
        assert_eq!(token(51), "Bearer second");
        let ca = |seconds| {
            config.ca.as_ref().unwrap().text(start + Duration::from_secs(seconds)).to_vec()
        };
        assert_ne!(ca(50), b"another");
        assert_eq!(ca(61), b"another");
    }

    #[test]
    fn a_new_ca_is_used_for_new_connections_and_a_broken_one_is_not() {
        let (cluster, dir) = (Cluster::start(), tempfile::tempdir().unwrap());
        let environment = copied(&cluster, dir.path());
        let other = Cluster::start();
        std::fs::write(dir.path().join("ca.crt"), other.ca_pem()).unwrap();
        let mut config = load(&environment).unwrap();
        // As if the minute had passed each time.
        let field = ConfigField::setter("ca.crt");
        config.ca = Some(Pem::file(dir.path().join("ca.crt"), field, Duration::ZERO).unwrap());
        let client = Client::new(config).unwrap();
        let workers = client.namespace("workers").unwrap();
        let reference = [crate::ResourceRef::new("v1", "ConfigMap", "a")];
        assert!(matches!(workers.get(&reference).unwrap_err(), crate::Error::Transport(_)));
        std::fs::write(dir.path().join("ca.crt"), cluster.ca_pem()).unwrap();
        assert!(workers.get(&reference).unwrap_err().is_not_found());
        std::fs::write(dir.path().join("ca.crt"), "half a certif").unwrap();
        assert!(workers.get(&reference).unwrap_err().is_not_found());
    }

    #[test]
    fn without_a_ca_the_systems_roots_count() {
        let (cluster, dir) = (Cluster::start(), tempfile::tempdir().unwrap());
        let environment = copied(&cluster, dir.path());
        std::fs::write(dir.path().join("ca.crt"), "no certificate").unwrap();
        assert!(load(&environment).unwrap().ca.is_none());
        std::fs::remove_file(dir.path().join("ca.crt")).unwrap();
        assert!(load(&environment).unwrap().ca.is_none());
    }

    #[test]
    fn a_pods_namespace_is_looked_for() {
        let (cluster, dir) = (Cluster::start(), tempfile::tempdir().unwrap());
        let mut environment = copied(&cluster, dir.path());
        let namespace = |environment: &Environment| {
            load(environment).unwrap().default_namespace().unwrap().to_owned()
        };
        std::fs::write(dir.path().join("namespace"), "from-file\n").unwrap();
        assert_eq!(namespace(&environment), "from-file");
        environment.pod_namespace = Some("from-variable".to_owned());
        assert_eq!(namespace(&environment), "from-variable");
        environment.pod_namespace = None;
        std::fs::remove_file(dir.path().join("namespace")).unwrap();
        assert_eq!(namespace(&environment), "default");
        // A kubeconfig's context that names none is in the pod's, when what to use was inferred.
        let path = dir.path().join("config");
        let text = "current-context: x\nclusters: [{name: c, cluster: {server: https://h}}]\ncontexts: [{name: x, context: {cluster: c}}]\n";
        std::fs::write(&path, text).unwrap();
        environment.kubeconfig = Some(path.into());
        environment.pod_namespace = Some("from-variable".to_owned());
        let config = Config::infer_in(&environment).unwrap();
        assert_eq!(config.default_namespace(), Some("from-variable"));
    }

    #[test]
    fn a_pod_can_have_a_proxy() {
        let cluster = Cluster::start();
        let mut environment = pod(&cluster);
        environment.https_proxy = Some(("HTTPS_PROXY", "http://p.example:1".to_owned()));
        assert!(load(&environment).unwrap().proxy.is_none(), "it is on this machine");
        environment.service_host = Some("10.0.0.1".to_owned());
        let proxy = load(&environment).unwrap().proxy.unwrap();
        assert_eq!(proxy.to_string(), "http://p.example:1");
        environment.no_proxy = Some("10.0.0.0/8".to_owned());
        assert!(load(&environment).unwrap().proxy.is_none());
    }

    #[test]
    fn a_missing_kubeconfig_does_not_hide_the_pod() {
        let cluster = Cluster::start();
        let environment = Environment { kubeconfig: Some("/nowhere".into()), ..pod(&cluster) };
        let config = Config::infer_in(&environment).unwrap();
        assert_eq!(config.server.to_string(), cluster.url());
    }

    #[test]
    fn a_pod_is_inferred_only_when_no_kubeconfig_is_configured() {
        let cluster = Cluster::start();
        let dir = tempfile::tempdir().unwrap();
        let kubeconfig = |text: &str| {
            let path = dir.path().join("config");
            std::fs::write(&path, text).unwrap();
            Environment { kubeconfig: Some(path.into()), ..pod(&cluster) }
        };
        let in_pod = |environment: &Environment| {
            Config::infer_in(environment).map(|config| config.server.to_string() == cluster.url())
        };
        assert!(in_pod(&pod(&cluster)).unwrap(), "there is no kubeconfig");
        assert!(in_pod(&kubeconfig("")).unwrap(), "it says nothing");
        let other = "current-context: x\nclusters: [{name: c, cluster: {server: https://other}}]\ncontexts: [{name: x, context: {cluster: c}}]\n";
        assert!(!in_pod(&kubeconfig(other)).unwrap(), "the kubeconfig counts");
        assert!(in_pod(&kubeconfig("a: [")).is_err(), "a broken one is an error");
        assert!(in_pod(&kubeconfig("current-context: gone")).is_err(), "so is a wrong one");
        let nowhere = Environment { home: None, ..Environment::default() };
        let error = Config::infer_in(&nowhere).unwrap_err();
        assert!(matches!(error, ConfigError::NotConfigured { .. }), "{error:?}");
    }
}
