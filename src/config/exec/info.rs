use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::Version;

/// What a plugin is told in `KUBERNETES_EXEC_INFO`, in the order and spelling of client-go.
#[derive(Serialize)]
pub(in crate::config) struct Info<'a> {
    kind: &'static str,
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    spec: Spec<'a>,
}

#[derive(Serialize)]
struct Spec<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a ClusterInfo>,
    interactive: bool,
}

/// The cluster as the kubeconfig describes it; proxies of the environment are no part of it.
#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::config) struct ClusterInfo {
    pub(in crate::config) server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::config) tls_server_name: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::config) insecure_skip_tls_verify: bool,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "base64")]
    pub(in crate::config) certificate_authority_data: Option<Vec<u8>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::config) proxy_url: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::config) disable_compression: bool,
    /// The extension named `client.authentication.k8s.io/exec`, else null.
    pub(in crate::config) config: Value,
}

#[allow(clippy::ref_option, reason = "serde asks for this signature")]
fn base64<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes.as_deref().unwrap_or_default()))
}

impl<'a> Info<'a> {
    pub(in crate::config) fn new(
        version: Version,
        cluster: Option<&'a ClusterInfo>,
        interactive: bool,
    ) -> Self {
        let spec = Spec { cluster, interactive };
        Self { kind: "ExecCredential", api_version: version.name(), spec }
    }

    pub(in crate::config) fn to_json(&self) -> String {
        // Every key is a string and there is no IO, so this does not fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}
