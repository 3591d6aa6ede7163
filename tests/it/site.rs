//! A cluster to test on: the one that `OPENSHIFT_TEMPLATES_TEST_KUBECONFIG` names, or else an
//! embedded one. Each test has a namespace of its own there.
//!
//! The kubeconfig needs a context `admin`, who may do everything, with a token.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openshift_templates::{
    Access, Client, Config, Impersonation, Kubeconfig, Namespace, ResourceRef,
};
use openshift_templates_testing::{Cluster, Fault};
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

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    fn kubeconfig_document(&self) -> Value {
        serde_yaml::from_str(&std::fs::read_to_string(&self.kubeconfig).unwrap()).unwrap()
    }

    /// Host and port of the server.
    pub(crate) fn address(&self) -> String {
        let server = self.kubeconfig_document()["clusters"][0]["cluster"]["server"].clone();
        server.as_str().unwrap().trim_start_matches("https://").trim_end_matches('/').to_owned()
    }

    /// A kubeconfig for another process: the admin in the test's own namespace, by this address.
    pub(crate) fn write_kubeconfig(&self, path: &Path, address: &str) {
        let mut kubeconfig = self.kubeconfig_document();
        let host = self.address().rsplit_once(':').unwrap().0.to_owned();
        kubeconfig["current-context"] = json!("admin");
        for entry in kubeconfig["contexts"].as_array_mut().unwrap() {
            entry["context"]["namespace"] = json!(self.name);
        }
        for entry in kubeconfig["clusters"].as_array_mut().unwrap() {
            entry["cluster"]["server"] = json!(format!("https://{address}"));
            if host != "127.0.0.1" {
                entry["cluster"]["tls-server-name"] = json!(host);
            }
        }
        std::fs::write(path, kubeconfig.to_string()).unwrap();
    }

    fn path(&self, api_version: &str, resource: &str) -> String {
        let root = if api_version.contains('/') { "apis" } else { "api" };
        format!("/{root}/{api_version}/namespaces/{}/{resource}", self.name)
    }

    /// What an object's controller does.
    pub(crate) fn set_status(&self, api_version: &str, resource: &str, name: &str, status: &Value) {
        if let Some(cluster) = &self.embedded {
            cluster.set_status(api_version, resource, Some(&self.name), name, status.clone());
            return;
        }
        let path = format!("{}/{name}", self.path(api_version, resource));
        let (_, mut live) = self.admin("GET", &path, &Value::Null);
        live["status"] = status.clone();
        let (code, answer) = self.admin("PUT", &format!("{path}/status"), &live);
        assert_eq!(code, 200, "{answer}");
    }

    /// From here on no Secret fits into the namespace.
    pub(crate) fn refuse_secrets_by_quota(&self) {
        if self.refuse("/secrets/", "exceeded quota: none, requested: count/secrets=1") {
            return;
        }
        let hard = json!({"count/secrets": "0"});
        let mut quota = json!({"apiVersion": "v1", "kind": "ResourceQuota",
            "metadata": {"name": "none"}, "spec": {"hard": hard}});
        let path = self.path("v1", "resourcequotas");
        assert_eq!(self.admin("POST", &path, &quota).0, 201);
        // What counts is the status, which a controller fills in where one runs.
        quota["status"] = json!({"hard": hard, "used": {"count/secrets": "0"}});
        assert_eq!(self.admin("PUT", &format!("{path}/none/status"), &quota).0, 200);
    }

    /// From here on admission refuses Pods in the host's network.
    pub(crate) fn refuse_pods_on_the_host(&self) {
        if self.refuse("/pods/", "violates PodSecurity \"restricted:latest\"") {
            return;
        }
        let label =
            json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
        let (code, _) = self.admin("PATCH", &format!("/api/v1/namespaces/{}", self.name), &label);
        assert_eq!(code, 200);
    }

    /// The embedded server has neither quotas nor security standards: it is told to refuse.
    fn refuse(&self, path: &str, message: &str) -> bool {
        let Some(cluster) = &self.embedded else { return false };
        let status = json!({"apiVersion": "v1", "kind": "Status", "status": "Failure",
            "reason": "Forbidden", "message": message, "code": 403});
        let refusal = Fault::on("PATCH", path).answer(403, "application/json", status.to_string());
        cluster.fault(refusal.always());
        true
    }

    /// An object of which nothing says who made it.
    pub(crate) fn object_without_managers(&self) -> ResourceRef {
        if self.is_embedded() {
            // OpenShift's front forgets the managers with every apply to what is there.
            let path = self.path("authorization.openshift.io/v1", "rolebindings");
            let binding = json!({"apiVersion": "authorization.openshift.io/v1",
                "kind": "RoleBinding", "metadata": {"name": "b"}, "roleRef": {"name": "edit"}});
            assert_eq!(self.admin("POST", &path, &binding).0, 201);
            let path = format!("{path}/b?fieldManager=mini-scheduler");
            assert_eq!(self.admin("PATCH", &path, &binding).0, 200);
            return ResourceRef::new("authorization.openshift.io/v1", "RoleBinding", "b");
        }
        let path = self.path("v1", "configmaps");
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}});
        assert_eq!(self.admin("POST", &path, &object).0, 201);
        // The API's way of forgetting them: a list with one empty entry.
        let forget = json!({"metadata": {"managedFields": [{}]}});
        let (code, answer) = self.admin("PATCH", &format!("{path}/b"), &forget);
        assert_eq!((code, &answer["metadata"]["managedFields"]), (200, &Value::Null));
        ResourceRef::new("v1", "ConfigMap", "b")
    }

    /// Somebody who has these rights and no others. The embedded server has one such identity, the
    /// worker, whose rights are those of the recorded job.
    pub(crate) fn identity_with(&self, access: &Access) -> Identity<'_> {
        if self.is_embedded() {
            return Identity { site: self, name: "worker".to_owned(), paths: Vec::new() };
        }
        let name = format!("{}-somebody", self.name);
        let mut paths = Vec::new();
        for role in access.roles(&name) {
            let group = "rbac.authorization.k8s.io";
            let root = format!("/apis/{group}/v1/namespaces/{}", role.namespace().unwrap());
            let binding = json!({
                "apiVersion": format!("{group}/v1"), "kind": "RoleBinding", "metadata": {"name": name},
                "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
                "subjects": [{"apiGroup": group, "kind": "User", "name": name}],
            });
            for (resource, object) in [("roles", json!(role)), ("rolebindings", binding)] {
                let (code, answer) = self.admin("POST", &format!("{root}/{resource}"), &object);
                assert_eq!(code, 201, "{answer}");
                paths.push(format!("{root}/{resource}/{name}"));
            }
        }
        Identity { site: self, name, paths }
    }

    /// A request that the library does not make. A PATCH of the embedded server is an apply, the only
    /// one that it has, and else a merge patch.
    pub(crate) fn admin(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let media_type = match (method, self.is_embedded()) {
            ("PATCH", true) => "application/apply-patch+yaml",
            ("PATCH", false) => "application/merge-patch+json",
            _ => "application/json",
        };
        let kubeconfig = self.kubeconfig_document();
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
            .header("Content-Type", media_type)
            .body(body)
            .unwrap();
        let mut answer = agent.run(request).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        (answer.status().as_u16(), serde_json::from_str(&text).unwrap_or_default())
    }
}

/// Somebody whose rights end with the test.
pub(crate) struct Identity<'a> {
    site: &'a Site,
    name: String,
    paths: Vec<String>,
}

impl Identity<'_> {
    pub(crate) fn client(&self) -> Client {
        if self.site.is_embedded() {
            return self.site.client(&self.name);
        }
        let source = Kubeconfig::file(&self.site.kubeconfig).context("admin");
        // The group is what lets anybody discover, and ask about himself.
        let user = Impersonation::user(&self.name).group("system:authenticated");
        Client::connect(Config::from_kubeconfig(source).unwrap().impersonate(user)).unwrap()
    }
}

impl Drop for Identity<'_> {
    fn drop(&mut self) {
        for path in &self.paths {
            self.site.admin("DELETE", path, &Value::Null);
        }
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
