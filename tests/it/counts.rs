//! How many requests and connections things take: exact, so that a change of them is noticed.

use openshift_templates::{Client, ResourceRef};
use serde_json::{Value, json};

use crate::support::{World, job};

fn config_map(number: usize, size: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("worker-{number}")},
        "data": {"a": "x".repeat(size)}})
}

#[test]
fn a_cold_create_takes_a_request_an_object_one_a_group_version_and_three() {
    let world = World::start();
    let client = Client::connect(world.config("worker")).unwrap();
    let workers = client.namespace("workers").unwrap();
    workers.create(&job("worker-001")).unwrap();
    let (objects, group_versions) = (3, 2);
    assert_eq!(world.cluster.journal().len(), objects + group_versions + 3);
    assert_eq!(world.cluster.connections(), 1);

    world.cluster.clear_journal();
    workers.create(&job("worker-002")).unwrap();
    assert_eq!(world.cluster.journal().len(), objects + 2);

    world.cluster.clear_journal();
    workers.get(&job("worker-002")).unwrap();
    workers.delete(&job("worker-002")).unwrap();
    assert_eq!(world.cluster.journal().len(), 2 * (objects + 2));
    assert_eq!(world.cluster.connections(), 1);
}

#[test]
fn references_take_no_rendering() {
    let world = World::start();
    let workers = world.workers("worker");
    let references =
        [ResourceRef::new("v1", "ConfigMap", "a"), ResourceRef::new("v1", "Secret", "a")];
    workers.delete(&references).unwrap();
    let lines: Vec<_> = world.cluster.journal().into_iter().map(|e| e.target).collect();
    assert_eq!(
        lines,
        [
            "/api/v1",
            "/api/v1/namespaces/workers/secrets/a",
            "/api/v1/namespaces/workers/configmaps/a"
        ]
    );
}

#[test]
fn a_thousand_objects_are_a_thousand_requests_over_one_connection() {
    let world = World::start();
    let objects: Vec<_> = (0..1000).map(|number| config_map(number, 10)).collect();
    world.render(&json!(objects));
    let workers = world.workers("worker");
    let references = workers.create(&job("worker-001")).unwrap();
    assert_eq!(references.len(), 1000);
    assert_eq!(world.cluster.journal().len(), 1000 + 1 + 2);
    assert_eq!(world.cluster.connections(), 1);
    assert_eq!(workers.delete(&references).unwrap().len(), 1000);
    assert!(world.names().is_empty());
}

#[test]
fn a_rendered_answer_of_ten_mebibytes_is_taken() {
    let world = World::start();
    let objects: Vec<_> = (0..20).map(|number| config_map(number, 512 * 1024)).collect();
    world.render(&json!(objects));
    let references = world.workers("worker").create(&job("worker-001")).unwrap();
    assert_eq!(references.len(), 20);
}
