use std::time::{Duration, Instant};

use serde_json::Value;

use super::document::Entry;
use super::pem::pem;
use crate::config::environment::Environment;
use crate::config::exec::ClusterInfo;
use crate::config::{Config, Proxy, Server};
use crate::error::{ConfigError, ConfigProblem};

/// A CA lives for years, and a new one is announced beside the old one.
const CA_READ_AGAIN_AFTER: Duration = Duration::from_secs(60);

pub(super) fn settings(
    cluster: &Entry<'_>,
    environment: &Environment,
) -> Result<Config, ConfigError> {
    let server = cluster.string("server")?.ok_or_else(|| cluster.needed("server"))?;
    let server =
        Server::parse(&server).ok_or_else(|| cluster.invalid("server", ConfigProblem::NotAUrl))?;
    let proxy = match cluster.string("proxy-url")? {
        Some(url) => Some(Proxy::parse(&url, cluster.field("proxy-url"))?),
        None => Proxy::of_environment(environment, &server)?,
    };
    let mut config = Config::of(server, proxy);
    config.ca = pem(cluster, "certificate-authority", CA_READ_AGAIN_AFTER)?;
    config.insecure = cluster.boolean("insecure-skip-tls-verify")?;
    if let (true, Some(ca)) = (config.insecure, &config.ca) {
        let problem = ConfigProblem::Beside { other: "insecure-skip-tls-verify" };
        return Err(ConfigError::Invalid { field: ca.field.clone(), problem });
    }
    config.server_name =
        cluster.string("tls-server-name")?.map(|name| (name, cluster.field("tls-server-name")));
    config.compression = !cluster.boolean("disable-compression")?;
    Ok(config)
}

/// What a credential plugin is told about the cluster when it asks for it.
pub(super) fn info(cluster: &Entry<'_>, config: &Config) -> Result<ClusterInfo, ConfigError> {
    let mut extension = Value::Null;
    for entry in cluster.mappings("extensions")? {
        if entry.string("name")?.as_deref() == Some("client.authentication.k8s.io/exec") {
            extension = entry.get("extension").cloned().unwrap_or_default();
        }
    }
    Ok(ClusterInfo {
        server: cluster.string("server")?.unwrap_or_default(),
        tls_server_name: cluster.string("tls-server-name")?,
        insecure_skip_tls_verify: config.insecure,
        certificate_authority_data: config.ca.as_ref().map(|ca| ca.text(Instant::now()).to_vec()),
        proxy_url: cluster.string("proxy-url")?,
        disable_compression: !config.compression,
        config: extension,
    })
}
