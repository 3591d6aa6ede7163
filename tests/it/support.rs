//! Where the tests take their cluster from, and what they look at.

use std::error::Error as _;
use std::time::{Duration, Instant};

use openshift_templates::{Client, Config, Error, Kubeconfig, Manifest, Namespace, Template};
use openshift_templates_testing::{Cluster, Exchange, Fault};
use serde_json::{Value, json};

pub(crate) const PROCESS: &str = "/processedtemplates";

pub(crate) struct World {
    pub(crate) cluster: Cluster,
}

impl World {
    pub(crate) fn start() -> Self {
        Self { cluster: Cluster::start() }
    }

    pub(crate) fn config(&self, context: &str) -> Config {
        Config::from_kubeconfig(Kubeconfig::file(self.cluster.kubeconfig()).context(context))
            .unwrap()
    }

    /// The namespace `workers` as a user of the kubeconfig, over a client that has not sent
    /// anything.
    pub(crate) fn workers(&self, context: &str) -> Namespace {
        Client::new(self.config(context)).unwrap().namespace("workers").unwrap()
    }

    /// Has the server answer the next rendering with these objects.
    pub(crate) fn render(&self, objects: &Value) {
        let body = json!({
            "kind": "Template", "apiVersion": "template.openshift.io/v1",
            "metadata": {"name": "worker-template"}, "objects": objects,
        });
        let answer = Fault::on("POST", PROCESS).answer(201, "application/json", body.to_string());
        self.cluster.fault(answer);
    }

    /// Everything received but discovery.
    pub(crate) fn requests(&self) -> Vec<Exchange> {
        let is_discovery = |e: &Exchange| !e.target.contains("/namespaces/");
        self.cluster.journal().into_iter().filter(|e| !is_discovery(e)).collect()
    }

    /// Method and target of each request but discovery.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.requests().iter().map(|e| format!("{} {}", e.method, e.target)).collect()
    }

    /// How many requests could have changed something that is stored.
    pub(crate) fn mutations(&self) -> usize {
        let changes = |e: &Exchange| e.method != "GET" && !e.target.ends_with(PROCESS);
        self.requests().iter().filter(|e| changes(e)).count()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let objects = self.cluster.objects("workers");
        let mut names: Vec<_> = objects
            .iter()
            .map(|o| format!("{}/{}", text(&o["kind"]), text(&o["metadata"]["name"])))
            .filter(|name| name.contains("worker-"))
            .collect();
        names.sort();
        names
    }
}

/// Far longer than anything here takes: who waits for this, hangs.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Waits for a condition.
pub(crate) fn until(what: &str, condition: impl Fn() -> bool) {
    let limit = Instant::now() + LONG;
    while !condition() {
        assert!(Instant::now() < limit, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// The job of the recordings.
pub(crate) fn job(name: &str) -> Template {
    Template::new("worker-template").in_namespace("infra").parameter("VM_NAME", name).parameters([
        ("IMAGE_TAG", "1.2.3"),
        ("DEBUG", "true"),
        ("CORES", "4"),
    ])
}

pub(crate) fn body(exchange: &Exchange) -> Value {
    serde_json::from_slice(&exchange.body).unwrap()
}

pub(crate) fn identities(manifests: &[Manifest]) -> Vec<String> {
    manifests.iter().map(|m| m.reference().unwrap().to_string()).collect()
}

/// An error as a log would show it: each level once, and Debug.
pub(crate) fn shown(error: &Error) -> String {
    let mut text = format!("{error:?}\n{error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.extend(["\n", &cause.to_string(), "\n", &format!("{cause:?}")]);
        source = cause.source();
    }
    text
}
