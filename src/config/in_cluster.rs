use std::sync::Arc;

use super::environment::Environment;
use super::{Config, Credential, Pem, Server, read};
use crate::error::{ConfigError, ConfigField, ConfigProblem};

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
    let mut config = Config::of(server);
    let field = |name: &str| {
        ConfigField::in_file(mounted.join(name), "the service account".to_owned(), name)
    };
    config.credential = Some(Arc::new(Credential::token_file(token, field("token"))?));
    // Without a CA of its own the cluster is verified with the system's roots, as client-go does.
    let ca = mounted.join("ca.crt");
    if ca.is_file() {
        let text = read(ca, Some(field("ca.crt")))?;
        config.ca = Some(Pem { text, field: field("ca.crt") });
    }
    config.default_namespace =
        environment.pod_namespace.clone().filter(|name| !name.is_empty()).or_else(|| {
            let text = std::fs::read_to_string(mounted.join("namespace")).ok()?;
            Some(text.trim().to_owned()).filter(|name| !name.is_empty())
        });
    Ok(config)
}
