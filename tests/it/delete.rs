use openshift_templates::{DeleteOptions, Error, Outcome, PropagationPolicy, ResourceRef};
use openshift_templates_testing::Fault;
use serde_json::json;

use crate::support::{World, body, job};

fn shown(references: &[ResourceRef]) -> Vec<String> {
    references.iter().map(ToString::to_string).collect()
}

const REVERSED: [&str; 3] =
    ["VirtualMachine/worker-001", "Secret/worker-001-secret", "ConfigMap/worker-001-config"];

#[test]
fn a_fresh_client_finds_everything_again_and_deletes_it_in_reverse() {
    let world = World::start();
    world.workers("worker").create(&job("worker-001")).unwrap();
    let deleted = world.workers("worker").delete(&job("worker-001")).unwrap();
    assert_eq!(shown(&deleted), REVERSED);
    assert!(deleted.iter().all(|reference| reference.uid().is_none()));
    assert!(world.names().is_empty());

    let again = world.workers("worker").delete(&job("worker-001")).unwrap();
    assert_eq!(deleted, again, "what is gone already counts as deleted");
}

#[test]
fn the_uid_of_a_reference_is_a_precondition() {
    let world = World::start();
    let workers = world.workers("worker");
    let old = workers.create(&job("worker-001")).unwrap();
    workers.delete(&job("worker-001")).unwrap();
    workers.create(&job("worker-001")).unwrap();

    let error = workers.delete(&old).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.failures().len(), 3);
    for failure in operation.failures() {
        assert!(failure.error().is_conflict());
        assert_eq!(failure.outcome(), Outcome::Rejected);
    }
    assert_eq!(world.names().len(), 3, "another job's objects are left alone");
}

#[test]
fn an_empty_uid_is_no_precondition() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    let reference =
        ResourceRef::new("v1", "ConfigMap", "worker-001-config").with_uid("").with_namespace("");
    workers.delete(&[reference.clone(), reference]).unwrap();
    assert!(!world.names().contains(&"ConfigMap/worker-001-config".to_owned()));
    let sent = body(world.requests().last().unwrap());
    assert_eq!(
        sent,
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"})
    );
}

#[test]
fn a_uid_that_a_template_renders_is_not_used() {
    let world = World::start();
    let workers = world.workers("worker");
    world.render(&json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "worker-a", "uid": "exported"}}]));
    let deleted = workers.delete(&job("worker-001")).unwrap();
    assert_eq!(deleted[0].uid(), None);
    assert!(body(world.requests().last().unwrap()).get("preconditions").is_none());
}

#[test]
fn options_go_into_the_body() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    let options = DeleteOptions::new().dry_run(true).propagation(PropagationPolicy::Orphan);
    workers.delete_with(&job("worker-001"), &options).unwrap();
    assert_eq!(world.names().len(), 3, "a dry run deletes nothing");
    let requests = world.requests();
    let delete = requests.last().unwrap();
    assert!(!delete.target.contains('?'), "{}", delete.target);
    assert_eq!(body(delete)["dryRun"], json!(["All"]));
    assert_eq!(body(delete)["propagationPolicy"], "Orphan");
}

#[test]
fn every_target_is_tried_and_failures_are_collected() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    world.cluster.fault(Fault::on("DELETE", "/secrets/").answer(500, "text/plain", "no"));
    world.cluster.fault(Fault::on("DELETE", "/virtualmachines/").answer(
        403,
        "application/json",
        r#"{"kind":"Status","reason":"Forbidden","code":403}"#,
    ));
    let error = workers.delete(&job("worker-001")).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(shown(operation.completed()), ["ConfigMap/worker-001-config"]);
    let failed: Vec<_> =
        operation.failures().iter().map(|f| (f.resource().to_string(), f.outcome())).collect();
    assert_eq!(
        failed,
        [(REVERSED[0].to_owned(), Outcome::Rejected), (REVERSED[1].to_owned(), Outcome::Unknown)]
    );
    assert!(error.is_forbidden(), "predicates speak of the first failure");
}

#[test]
fn only_a_404_about_the_object_itself_counts_as_gone() {
    let status = |details: serde_json::Value| {
        let body = json!({"kind": "Status", "reason": "NotFound", "details": details, "code": 404});
        ("application/json", body.to_string())
    };
    let cases = [
        (status(json!({"name": "a", "kind": "configmaps"})), true),
        (status(json!({"name": "a", "group": "", "kind": "configmaps"})), true),
        (status(json!({"name": "a", "group": "apps", "kind": "configmaps"})), false),
        (status(json!({"name": "b", "kind": "configmaps"})), false),
        (status(json!({"name": "a", "kind": "namespaces"})), false),
        (status(json!({})), false),
        (("text/plain", "404 page not found\n".to_owned()), false),
        (("text/html", "<html>".to_owned()), false),
    ];
    for ((content_type, text), gone) in cases {
        let world = World::start();
        world.cluster.fault(Fault::on("DELETE", "").answer(404, content_type, text.clone()));
        let result = world.workers("worker").delete(&[ResourceRef::new("v1", "ConfigMap", "a")]);
        match result {
            Ok(_) => assert!(gone, "{text}"),
            Err(Error::Operation(error)) => {
                assert!(!gone, "{text}");
                assert_eq!(error.failures()[0].outcome(), Outcome::Rejected);
            }
            Err(error) => panic!("{text}: {error:?}"),
        }
    }
}

#[test]
fn deleting_works_in_a_namespace_that_is_ending() {
    let world = World::start();
    let ending = world.workers("admin").client().namespace("ending").unwrap();
    assert!(ending.delete(&job("worker-001")).unwrap_err().is_namespace_terminating());
    assert_eq!(ending.delete(&[ResourceRef::new("v1", "ConfigMap", "a")]).unwrap().len(), 1);
}
