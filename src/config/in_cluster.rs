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
    Ok(config)
}

/// What client-go takes for a pod: the variables and the token are there.
pub(super) fn is_pod(environment: &Environment) -> bool {
    let is_set = |value: &Option<String>| value.as_ref().is_some_and(|value| !value.is_empty());
    is_set(&environment.service_host)
        && is_set(&environment.service_port)
        && environment.service_account.join("token").is_file()
}

pub(super) fn namespace(environment: &Environment) -> Option<String> {
    let text = |text: String| Some(text.trim().to_owned()).filter(|name| !name.is_empty());
    environment
        .pod_namespace
        .clone()
        .and_then(text)
        .or_else(|| {
            std::fs::read_to_string(environment.service_account.join("namespace"))
                .ok()
                .and_then(text)
        })
        .or_else(|| Some("default".to_owned()))
}

#[cfg(test)]
mod tests {
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
