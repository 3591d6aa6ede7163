//! What the `log` crate is told. It has one logger a process: hence a binary of its own.
#![allow(clippy::unwrap_used, reason = "this is a test, and fails by panicking")]

use std::sync::{Mutex, PoisonError};

use log::{Level, LevelFilter, Log, Metadata, Record};
use openshift_templates::{Client, Config, Kubeconfig, Template};
use openshift_templates_testing::{Cluster, Fault};

struct Kept(Mutex<Vec<String>>);

static KEPT: Kept = Kept(Mutex::new(Vec::new()));

impl Log for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("openshift_templates::")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let mut line = format!("{} {}", record.level(), record.args());
            if record.level() == Level::Debug {
                // How long it took differs.
                let time = line.rfind(" in ").or_else(|| line.rfind(", after ")).unwrap();
                line.truncate(time);
            }
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }

    fn flush(&self) {}
}

fn take() -> Vec<String> {
    std::mem::take(&mut *KEPT.0.lock().unwrap_or_else(PoisonError::into_inner))
}

#[test]
fn requests_and_warnings_are_recorded_and_nothing_of_their_content() {
    log::set_logger(&KEPT).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let cluster = Cluster::start();
    let kubeconfig = Kubeconfig::file(cluster.kubeconfig()).context("worker");
    let client = Client::new(Config::from_kubeconfig(kubeconfig).unwrap()).unwrap();
    let workers = client.namespace("workers").unwrap();
    let job = Template::new("worker-template")
        .in_namespace("infra")
        .parameter("VM_NAME", "worker-001")
        .parameter("IMAGE_TAG", "MARK");
    let body = r#"{"kind":"Template","objects":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"MARK"}}]}"#;
    let rendering = Fault::on("POST", "/processedtemplates").answer(201, "application/json", body);
    cluster.fault(rendering.header("Warning", "299 - \"two\tlines\""));
    cluster.fault(Fault::on("DELETE", "/configmaps/").drop_after());

    workers.create(&job).unwrap();
    let templates = "/apis/template.openshift.io/v1/namespaces";
    assert_eq!(
        take(),
        [
            format!("DEBUG GET {templates}/infra/templates/worker-template: 200"),
            format!("DEBUG POST {templates}/workers/processedtemplates: 201"),
            "WARN create processedtemplates in namespace \"workers\": the server warns: two\\tlines"
                .to_owned(),
            "DEBUG GET /api/v1: 200".to_owned(),
            "DEBUG PATCH /api/v1/namespaces/workers/configmaps/a: 201".to_owned(),
        ]
    );
    let config_map = [openshift_templates::ResourceRef::new("v1", "ConfigMap", "a")];
    workers.delete(&config_map).unwrap_err();
    assert_eq!(take(), ["DEBUG DELETE /api/v1/namespaces/workers/configmaps/a: no answer"]);
}
