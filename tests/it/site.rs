//! A cluster to test on: the one that `OPENSHIFT_TEMPLATES_TEST_KUBECONFIG` names, or else an
//! embedded one. Each test has a namespace of its own there.
//!
//! The kubeconfig needs a context `admin`, who may do everything, with a token.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openshift_templates::{Client, Config, Kubeconfig, Namespace};
use openshift_templates_testing::Cluster;
use serde_json::{Value, json};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

pub(crate) struct Site {
    kubeconfig: PathBuf,
    name: String,
    embedded: Option<Cluster>,
}

impl Site {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let given = std::env::var_os("OPENSHIFT_TEMPLATES_TEST_KUBECONFIG").map(PathBuf::from);
        let embedded = given.is_none().then(Cluster::start);
        let own = || embedded.as_ref().map(|cluster| cluster.kubeconfig().to_owned());
        let kubeconfig = given.or_else(own).unwrap();
        let name = format!("templates-test-{}-{number}", std::process::id());
        let site = Self { kubeconfig, name, embedded };
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": site.name}});
        let (status, _) = site.admin("POST", "/api/v1/namespaces", &namespace);
        assert_eq!(status, 201, "the admin makes a namespace");
        site
    }

    pub(crate) fn is_embedded(&self) -> bool {
        self.embedded.is_some()
    }

    pub(crate) fn client(&self, context: &str) -> Client {
        let source = Kubeconfig::file(&self.kubeconfig).context(context);
        Client::connect(Config::from_kubeconfig(source).unwrap()).unwrap()
    }

    /// The test's own namespace, as the admin.
    pub(crate) fn namespace(&self) -> Namespace {
        self.client("admin").namespace(&self.name).unwrap()
    }

    /// The server's version.
    pub(crate) fn version(&self) -> String {
        let (_, version) = self.admin("GET", "/version", &Value::Null);
        version["gitVersion"].as_str().unwrap_or("?").to_owned()
    }

    /// A request that the library does not make.
    pub(crate) fn admin(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let text = std::fs::read_to_string(&self.kubeconfig).unwrap();
        let kubeconfig: Value = serde_yaml::from_str(&text).unwrap();
        let entry = |list: &str, name: &Value| {
            let entries = kubeconfig[list].as_array().unwrap();
            entries.iter().find(|entry| entry["name"] == *name).unwrap().clone()
        };
        let context = &entry("contexts", &json!("admin"))["context"];
        let cluster = &entry("clusters", &context["cluster"])["cluster"];
        let user = &entry("users", &context["user"])["user"];
        let ca = STANDARD.decode(cluster["certificate-authority-data"].as_str().unwrap()).unwrap();
        let ca = Certificate::from_pem(&ca).unwrap();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::new_with_certs(&[ca]))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let agent = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .proxy(None)
            .build()
            .new_agent();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", cluster["server"].as_str().unwrap()))
            .header("Authorization", format!("Bearer {}", user["token"].as_str().unwrap()))
            .header("Content-Type", "application/json")
            .body(body)
            .unwrap();
        let mut answer = agent.run(request).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
    }
}

/// Nothing waits for the namespace to be gone: where no controllers run, it never is.
impl Drop for Site {
    fn drop(&mut self) {
        if !self.is_embedded() {
            self.admin("DELETE", &format!("/api/v1/namespaces/{}", self.name), &Value::Null);
        }
    }
}
