//! Templates from elsewhere, parameters from files, labels, and reading a Template's parameters.

use openshift_templates::{Error, InvalidInput, Manifest, Template};
use serde_json::json;

use crate::support::{World, body, identities, job};

fn inline() -> Template {
    let manifest: Manifest = serde_json::from_value(json!({
        "apiVersion": "v1", "kind": "Template", "metadata": {"name": "own", "namespace": "elsewhere"},
        "parameters": [{"name": "N", "value": 3}],
        "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "worker-${N}"}}],
    }))
    .unwrap();
    Template::inline(manifest).unwrap()
}

#[test]
fn a_template_that_the_caller_has_is_rendered_and_replayed() {
    let world = World::start();
    let workers = world.workers("worker");
    assert_eq!(identities(workers.process(&inline()).unwrap().manifests()), ["ConfigMap/worker-3"]);
    let posted = body(&world.requests()[0]);
    assert_eq!(posted["metadata"], json!({"name": "own"}));
    assert_eq!(posted["apiVersion"], "template.openshift.io/v1");

    workers.create(&inline().parameter("N", 4)).unwrap();
    assert_eq!(world.names(), ["ConfigMap/worker-4"]);
    workers.delete(&inline().parameter("N", 4)).unwrap();
    assert!(world.names().is_empty());
    assert!(world.lines().iter().all(|line| !line.contains("/templates/")), "nothing is read");
}

#[test]
fn a_template_in_a_file_is_the_same() {
    let world = World::start();
    let path = world.cluster.kubeconfig().with_file_name("template.yaml");
    std::fs::write(
        &path,
        "apiVersion: v1\nkind: Template\nparameters:\n- {name: N, value: 3}\nobjects:\n\
         - {apiVersion: v1, kind: ConfigMap, metadata: {name: 'worker-${N}'}, data: {a: &a '1', b: *a}}\n",
    )
    .unwrap();
    let template = Template::from_file(&path).unwrap();
    let processed = world.workers("worker").process(&template).unwrap();
    assert_eq!(processed.manifests()[0].name(), Some("worker-3"));
    assert_eq!(processed.manifests()[0].as_map()["data"], json!({"a": "1", "b": "1"}));
}

#[test]
fn a_namespace_for_what_is_not_stored_is_an_error() {
    let world = World::start();
    let error = world.workers("worker").process(&inline().in_namespace("infra")).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(InvalidInput::NotStored)), "{error:?}");
    assert!(world.cluster.journal().is_empty());
}

#[test]
fn parameters_from_a_file_are_sent_and_explicit_ones_win() {
    let world = World::start();
    let path = world.cluster.kubeconfig().with_file_name("job.env");
    std::fs::write(&path, "VM_NAME=from-file\nexport CORES: 8\nTOKEN='a b'\n").unwrap();
    let template = Template::new("worker-template")
        .in_namespace("infra")
        .parameter("VM_NAME", "explicit")
        .parameters_from_file(&path)
        .unwrap();
    let processed = world.workers("worker").process(&template).unwrap();
    let manifests = processed.manifests();
    assert_eq!(manifests[0].name(), Some("explicit-config"));
    assert_eq!(manifests[1].as_map()["stringData"], json!({"token": "a b"}));
    let cores = &manifests[2].as_map()["spec"]["template"]["spec"]["domain"]["cpu"]["cores"];
    assert_eq!(cores, 8);
}

#[test]
fn unknown_parameters_are_left_out_only_when_asked() {
    let world = World::start();
    let template = job("worker-001").parameter("VMNAME", "x");
    let error = world.workers("worker").process(&template).unwrap_err().to_string();
    assert!(error.contains("VM_NAME for VMNAME?"), "{error}");
    let template = template.ignore_unknown_parameters(true);
    assert_eq!(world.workers("worker").process(&template).unwrap().manifests().len(), 3);
    let sent = body(world.requests().last().unwrap());
    assert!(!sent.to_string().contains("VMNAME"));
}

#[test]
fn labels_go_onto_every_object_and_win() {
    let world = World::start();
    let template = job("worker-001").label("job", "own").label("example.com/run", "7");
    let processed = world.workers("worker").process(&template).unwrap();
    for manifest in processed.manifests() {
        let labels = &manifest.as_map()["metadata"]["labels"];
        assert_eq!(labels, &json!({"job": "own", "example.com/run": "7"}), "{manifest:?}");
    }
}

#[test]
fn parameters_can_be_read_without_rendering() {
    let world = World::start();
    let template = Template::new("worker-template").in_namespace("infra");
    let parameters = world.workers("worker").parameters(&template).unwrap();
    let names: Vec<_> = parameters.iter().map(openshift_templates::Parameter::name).collect();
    assert_eq!(names, ["VM_NAME", "IMAGE_TAG", "DEBUG", "CORES", "TOKEN"]);
    assert!(parameters[0].is_required() && parameters[0].value().is_none());
    assert_eq!(parameters[3].value(), Some("2"));
    assert!(!format!("{parameters:?}").contains("s3cr3t"), "a default can be a secret");
    let generated = Template::new("generated-template").in_namespace("infra");
    let parameters = world.workers("admin").parameters(&generated).unwrap();
    assert!(parameters.iter().any(|p| p.name() == "PASSWORD" && p.is_generated()));
    assert!(world.lines().iter().all(|line| line.starts_with("GET")));
}
