//! How many requests, connections, handshakes and bytes things take: exact, so that a change of them
//! is noticed.

use std::collections::BTreeSet;

use openshift_templates::{Client, Config, ResourceRef};
use openshift_templates_testing::{Exchange, User};
use serde_json::{Value, json};

use crate::relay::Relay;
use crate::support::{World, job};

fn config_map(number: usize, size: usize) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("worker-{number}")},
        "data": {"a": "x".repeat(size)}})
}

fn targets(journal: &[Exchange]) -> Vec<String> {
    journal.iter().map(|e| format!("{} {}", e.method, e.target)).collect()
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
fn kinds_of_one_group_version_take_one_request_whatever_their_number() {
    let world = World::start();
    let named = |api_version: &str, kind: &str| json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "worker-1"}});
    let objects = [
        named("v1", "ConfigMap"),
        named("v1", "Secret"),
        named("v1", "ServiceAccount"),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "worker-1"}, "rules": []}),
        named("v1", "ConfigMap"),
    ];
    let mut objects = Vec::from(objects);
    objects[4]["metadata"]["name"] = "worker-2".into();
    world.render(&json!(objects));
    world.workers("admin").create(&job("worker-001")).unwrap();
    // Without `Client::connect`, one less than N + G + 3.
    assert_eq!(world.cluster.journal().len(), objects.len() + 2 + 2);
}

#[test]
fn what_else_a_cluster_has_costs_nothing() {
    let cold_create = |groups| {
        let world = World::start();
        world.cluster.add_groups(groups);
        let relay = Relay::to(world.cluster.port());
        let config = Config::new(&relay.url()).unwrap().ca_pem(world.cluster.ca_pem());
        let config = config.bearer_token(world.cluster.token(User::Worker));
        let workers = Client::connect(config).unwrap().namespace("workers").unwrap();
        // The kinds as well: nothing but discovery answers alike to the byte.
        let references = [
            ResourceRef::new("v1", "ConfigMap", "a"),
            ResourceRef::new("kubevirt.io/v1", "VirtualMachine", "a"),
        ];
        workers.delete(&references).unwrap();
        (targets(&world.cluster.journal()), relay.take().bytes_received)
    };
    let (few, many) = (cold_create(0), cold_create(200));
    assert_eq!(few.0, many.0);
    // Handshakes differ by some bytes: signatures are of no fixed length.
    assert!(few.1.abs_diff(many.1) < 64, "{} bytes against {}", few.1, many.1);
    let asked = |targets: &[String]| targets.iter().filter(|t| !t.contains("/namespaces/")).count();
    assert_eq!(asked(&many.0), 3, "the template API and two group versions: {:?}", many.0);
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

#[test]
fn threads_keep_their_connections() {
    let world = World::start();
    let workers = world.workers("worker");
    let reference = [ResourceRef::new("v1", "ConfigMap", "a")];
    workers.delete(&reference).unwrap();
    // Each thread has a request in flight before any of them has an answer.
    let together = std::sync::Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    together.wait();
                    workers.delete(&reference).unwrap();
                }
            });
        }
    });
    let connections = world.cluster.connections();
    assert!(connections <= 8, "{connections} connections for 8 threads");
}

#[test]
fn a_connection_that_ended_is_replaced_by_one_that_resumes_its_session() {
    let world = World::start();
    let workers = world.workers("worker");
    let reference = [ResourceRef::new("v1", "ConfigMap", "a")];
    for _ in 0..5 {
        let end = openshift_templates_testing::Fault::on("DELETE", "/configmaps/");
        world.cluster.fault(end.close_after_answer());
        workers.delete(&reference).unwrap();
    }
    let journal = world.cluster.journal();
    let handshakes: BTreeSet<_> = journal.iter().map(|e| (e.connection, e.resumed)).collect();
    assert_eq!(handshakes.len(), 5, "one for each connection: {handshakes:?}");
    assert_eq!(handshakes.iter().filter(|(_, resumed)| !resumed).count(), 1, "{handshakes:?}");
}

#[test]
fn a_request_and_its_body_leave_in_one_write() {
    let world = World::start();
    let relay = Relay::to(world.cluster.port());
    let config = Config::new(&relay.url()).unwrap().ca_pem(world.cluster.ca_pem());
    let config = config.bearer_token(world.cluster.token(User::Worker));
    let workers = Client::connect(config).unwrap().namespace("workers").unwrap();
    workers.create(&job("worker-001")).unwrap();
    relay.take();
    world.cluster.clear_journal();
    world.render(&json!([config_map(1, 10), config_map(2, 10_000)]));
    let references = workers.create(&job("worker-002")).unwrap();
    workers.delete(&references).unwrap();
    let journal = world.cluster.journal();
    let passed = relay.take();
    // Each write makes at least one record: as many records as requests are as many writes.
    assert_eq!(passed.records_sent, journal.len());
    // What TLS adds to a record: head, content type and tag.
    let plain: usize = journal.iter().map(|e| e.raw.len()).sum();
    assert_eq!(passed.bytes_sent, plain + journal.len() * (5 + 1 + 16));
}

#[test]
fn a_large_body_fills_its_records_from_the_head_on() {
    let world = World::start();
    let relay = Relay::to(world.cluster.port());
    let config = Config::new(&relay.url()).unwrap().ca_pem(world.cluster.ca_pem());
    let config = config.bearer_token(world.cluster.token(User::Worker));
    let workers = Client::connect(config).unwrap().namespace("workers").unwrap();
    workers.create(&job("worker-001")).unwrap();
    world.render(&json!([config_map(1, 100_000)]));
    relay.take();
    world.cluster.clear_journal();
    workers.create(&job("worker-002")).unwrap();
    // A record holds 16 KiB at most.
    let records = |e: &Exchange| e.raw.len().div_ceil(16 * 1024);
    let needed: usize = world.cluster.journal().iter().map(records).sum();
    assert_eq!(relay.take().records_sent, needed);
}

#[test]
fn a_request_has_few_bytes_besides_its_body() {
    let world = World::start();
    world.workers("worker").create(&job("worker-001")).unwrap();
    for exchange in world.cluster.journal() {
        let (own, token) =
            (exchange.raw.len() - exchange.body.len(), exchange.header("authorization"));
        let told = exchange.target.len() + token.unwrap_or_default().len();
        assert!(
            own - told <= 260,
            "{} bytes: {}",
            own - told,
            String::from_utf8_lossy(&exchange.raw)
        );
    }
}
