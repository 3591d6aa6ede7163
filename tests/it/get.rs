use openshift_templates::{Error, InvalidInput, ManifestProblem, ResourceRef};
use openshift_templates_testing::Fault;

use crate::support::{World, identities, job};

#[test]
fn live_objects_come_whole_and_in_order() {
    let world = World::start();
    let workers = world.workers("worker");
    let references = workers.create(&job("worker-001")).unwrap();
    let by_template = workers.get(&job("worker-001")).unwrap();
    let by_references = workers.get(&references).unwrap();
    assert_eq!(by_template, by_references);
    assert_eq!(
        identities(&by_template),
        ["ConfigMap/worker-001-config", "Secret/worker-001-secret", "VirtualMachine/worker-001"]
    );
    for (live, reference) in by_template.iter().zip(&references) {
        assert_eq!(live.reference().as_ref(), Some(reference));
    }
    assert!(by_template[0].as_map()["metadata"].get("managedFields").is_some());
}

#[test]
fn the_uid_of_a_reference_is_ignored() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    let reference = ResourceRef::new("v1", "ConfigMap", "worker-001-config").with_uid("another");
    assert_eq!(workers.get(&[reference]).unwrap().len(), 1);
}

#[test]
fn the_first_error_ends_it() {
    let world = World::start();
    let workers = world.workers("worker");
    let error = workers.get(&job("worker-001")).unwrap_err();
    assert!(error.is_not_found(), "{error:?}");
    assert!(matches!(error, Error::Api(_)), "{error:?}");
    assert_eq!(world.lines().len(), 3, "the other two are not asked for");
}

#[test]
fn no_references_are_no_request() {
    let world = World::start();
    assert!(world.workers("worker").get(&[]).unwrap().is_empty());
    assert!(world.workers("worker").delete(&Vec::new()).unwrap().is_empty());
    assert_eq!(world.cluster.connections(), 0);
}

#[test]
fn a_reference_beyond_the_namespace_is_refused() {
    let world = World::start();
    let workers = world.workers("admin");
    let config_map = |name: &str| ResourceRef::new("v1", "ConfigMap", name);
    let cases = [
        (
            config_map("a").with_namespace("other"),
            ManifestProblem::OtherNamespace { found: "other".into(), expected: "workers".into() },
        ),
        (config_map(".."), ManifestProblem::UnsafeName),
        (config_map("a/b"), ManifestProblem::UnsafeName),
        (config_map(" "), ManifestProblem::NotAString { field: "metadata.name" }),
        (
            ResourceRef::new("", "ConfigMap", "a"),
            ManifestProblem::NotAString { field: "apiVersion" },
        ),
        (ResourceRef::new("v1", "", "a"), ManifestProblem::NotAString { field: "kind" }),
        (ResourceRef::new("v1/", "X", "a"), ManifestProblem::ApiVersion),
        (ResourceRef::new("v1", "Namespace", "a"), ManifestProblem::ClusterScoped),
    ];
    for (reference, expected) in cases {
        for error in [
            workers.get(&[config_map("a"), reference.clone()]).unwrap_err(),
            workers.delete(&[config_map("a"), reference.clone()]).unwrap_err(),
        ] {
            let Error::InvalidInput(InvalidInput::Reference { index, problem, .. }) = error else {
                panic!("{reference:?}: {error:?}")
            };
            assert_eq!((index, *problem), (1, expected.clone()));
        }
    }
    assert!(world.requests().is_empty());
}

#[test]
fn an_answer_about_another_object_is_not_passed_on() {
    let world = World::start();
    let body =
        r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b","namespace":"workers"}}"#;
    world.cluster.fault(Fault::on("GET", "/configmaps/a").answer(200, "application/json", body));
    let error =
        world.workers("worker").get(&[ResourceRef::new("v1", "ConfigMap", "a")]).unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
}
