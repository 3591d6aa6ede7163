use openshift_templates::{
    CreateOptions, DiscoveryError, Error, InvalidInput, ManifestProblem, Outcome, Template,
};
use openshift_templates_testing::Fault;
use serde_json::{Value, json};

use crate::support::{World, body, job};

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}

#[test]
fn objects_are_applied_in_order_and_referred_to_by_their_uids() {
    let world = World::start();
    let references = world.workers("worker").create(&job("worker-001")).unwrap();

    let shown: Vec<_> = references.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        ["ConfigMap/worker-001-config", "Secret/worker-001-secret", "VirtualMachine/worker-001"]
    );
    for reference in &references {
        let (version, resource) = match reference.kind() {
            "ConfigMap" => ("v1", "configmaps"),
            "Secret" => ("v1", "secrets"),
            _ => ("kubevirt.io/v1", "virtualmachines"),
        };
        let stored =
            world.cluster.object(version, resource, Some("workers"), reference.name()).unwrap();
        assert_eq!(stored["metadata"]["uid"].as_str(), reference.uid());
        assert_eq!(reference.namespace(), Some("workers"));
    }
    let patches: Vec<_> = world.requests().into_iter().filter(|e| e.method == "PATCH").collect();
    assert_eq!(patches.len(), 3);
    let content_type = ("content-type".to_owned(), "application/apply-patch+yaml".to_owned());
    for patch in &patches {
        assert!(patch.target.ends_with("?fieldManager=mini-scheduler"), "{}", patch.target);
        assert!(
            patch
                .headers
                .iter()
                .any(|(n, v)| n.eq_ignore_ascii_case(&content_type.0) && *v == content_type.1)
        );
    }
    let secret = body(&patches[1]);
    assert_eq!(secret["data"], json!({"token": "czNjcjN0LXRva2Vu"}));
    assert!(secret.get("stringData").is_none());
}

#[test]
fn a_second_create_finds_the_same_objects() {
    let world = World::start();
    let first = world.workers("worker").create(&job("worker-001")).unwrap();
    let again = world.workers("worker").create(&job("worker-001")).unwrap();
    assert_eq!(first, again);
}

#[test]
fn discovery_asks_only_for_what_the_manifests_name_and_once() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    workers.create(&job("worker-002")).unwrap();
    let discovery: Vec<_> = world
        .cluster
        .journal()
        .iter()
        .filter(|e| !e.target.contains("/namespaces/"))
        .map(|e| e.target.clone())
        .collect();
    assert_eq!(discovery, ["/api/v1", "/apis/kubevirt.io/v1"]);
}

#[test]
fn another_managers_field_is_a_conflict_unless_it_is_forced() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    let other = job("worker-001").parameter("DEBUG", "false");
    let options = CreateOptions::new().field_manager("other one/é");
    let error = workers.create_with(&other, &options).unwrap_err();

    assert!(error.is_conflict(), "{error:?}");
    let operation = error.as_operation().unwrap();
    let failure = &operation.failures()[0];
    assert_eq!(failure.outcome(), Outcome::Rejected);
    assert_eq!(failure.resource().to_string(), "ConfigMap/worker-001-config");
    let cause = &failure.error().as_api().unwrap().causes()[0];
    assert_eq!(
        (cause.reason(), cause.field()),
        (Some("FieldManagerConflict"), Some(".data.debug"))
    );
    assert!(operation.completed().is_empty());
    let left: Vec<_> = operation.not_attempted().iter().map(ToString::to_string).collect();
    assert_eq!(left, ["Secret/worker-001-secret", "VirtualMachine/worker-001"]);

    workers.create_with(&other, &options.force(true)).unwrap();
    let stored =
        world.cluster.object("v1", "configmaps", Some("workers"), "worker-001-config").unwrap();
    assert_eq!(stored["data"]["debug"], "false");
}

#[test]
fn a_dry_run_stores_nothing() {
    let world = World::start();
    let options = CreateOptions::new().dry_run(true);
    let references = world.workers("worker").create_with(&job("worker-001"), &options).unwrap();
    assert_eq!(references.len(), 3);
    assert!(world.names().is_empty());
}

#[test]
fn it_stops_at_the_first_failure() {
    let world = World::start();
    world.render(&json!([config_map("worker-a"), {
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "worker-b"}
    }, config_map("worker-c")]));
    let error = world.workers("worker").create(&job("worker-001")).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.completed()[0].name(), "worker-a");
    assert!(operation.completed()[0].uid().is_some());
    assert!(operation.failures()[0].error().is_forbidden());
    assert_eq!(operation.not_attempted()[0].name(), "worker-c");
    assert_eq!(world.names(), ["ConfigMap/worker-a"]);
}

#[test]
fn every_target_is_checked_before_the_first_is_touched() {
    let world = World::start();
    let with = |field: &str, value: Value| {
        let mut object = config_map("worker-b");
        object["metadata"][field] = value;
        object
    };
    let of = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": "worker-b"}});
    let mut secret = of("v1", "Secret");
    secret["data"] = json!({"a": "not base64!"});
    let cases = [
        (
            with("namespace", json!("other")),
            Some(ManifestProblem::OtherNamespace {
                found: "other".into(),
                expected: "workers".into(),
            }),
        ),
        (with("generateName", json!(null)), Some(ManifestProblem::GenerateName)),
        (
            with("name", json!("worker-${X}")),
            Some(ManifestProblem::Unsubstituted { field: "metadata.name" }),
        ),
        (
            with("namespace", json!("${X}")),
            Some(ManifestProblem::OtherNamespace {
                found: "${X}".into(),
                expected: "workers".into(),
            }),
        ),
        (config_map("worker-a"), Some(ManifestProblem::Duplicate { first: 0 })),
        (of("v1", "Namespace"), Some(ManifestProblem::ClusterScoped)),
        (of("v1", "Binding"), Some(ManifestProblem::Unsupported { verb: "patch" })),
        (of("a/b/c", "X"), Some(ManifestProblem::ApiVersion)),
        (secret, Some(ManifestProblem::SecretNotBase64 { key: "a".into() })),
        (of("v1", "Deployment"), None),
        (of("nosuch.example.com/v1", "X"), None),
    ];
    for (object, expected) in cases {
        world.render(&json!([config_map("worker-a"), object]));
        let error = world.workers("admin").create(&job("worker-001")).unwrap_err();
        match (&error, expected) {
            (Error::InvalidManifest(found), Some(problem)) => {
                assert_eq!((found.index(), found.problem()), (1, &problem));
            }
            (Error::Discovery(DiscoveryError::NotServed { .. }), None) => {}
            (_, expected) => panic!("{object}: {error:?} instead of {expected:?}"),
        }
    }
    assert_eq!(world.mutations(), 0);
}

#[test]
fn both_namespaces_are_named_when_they_differ() {
    let world = World::start();
    world.render(&json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "kube-system"}
    }]));
    let error = world.workers("admin").create(&job("worker-001")).unwrap_err().to_string();
    assert!(error.contains("\"kube-system\"") && error.contains("\"workers\""), "{error}");
}

#[test]
fn a_backend_that_is_down_is_no_missing_kind() {
    let world = World::start();
    world.render(&json!([{"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": {"name": "a"}}]));
    let error = world.workers("admin").create(&job("worker-001")).unwrap_err();
    let Error::Api(answer) = &error else { panic!("{error:?}") };
    assert_eq!((answer.code(), answer.has_status()), (503, false));
}

#[test]
fn a_kind_that_was_missing_is_asked_for_again() {
    let world = World::start();
    let workers = world.workers("admin");
    let object =
        json!([{"apiVersion": "late.example.com/v1", "kind": "Late", "metadata": {"name": "a"}}]);
    world.render(&object);
    assert!(matches!(workers.create(&job("a")).unwrap_err(), Error::Discovery(_)));
    let document = json!({
        "kind": "APIResourceList", "groupVersion": "late.example.com/v1",
        "resources": [{"name": "lates", "kind": "Late", "namespaced": true, "verbs": ["get", "patch"]}],
    });
    world.cluster.fault(Fault::on("GET", "/apis/late.example.com/v1").answer(
        200,
        "application/json",
        document.to_string(),
    ));
    world.render(&object);
    let error = workers.create(&job("a")).unwrap_err();
    assert!(error.as_operation().is_some(), "it was found this time: {error:?}");
}

#[test]
fn a_rendered_template_is_stored_as_one() {
    let world = World::start();
    world.render(&json!([{
        "apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "inner"}, "objects": []
    }]));
    world.workers("admin").create(&job("worker-001")).unwrap();
    assert!(world.lines().last().unwrap().contains("/namespaces/workers/templates/inner"));
}

#[test]
fn lists_are_replaced_by_their_items() {
    let world = World::start();
    world.render(&json!([
        config_map("worker-a"),
        {"apiVersion": "v1", "kind": "List", "items": [config_map("worker-b"), config_map("worker-c")]},
        config_map("worker-d"),
    ]));
    let references = world.workers("worker").create(&job("worker-001")).unwrap();
    let names: Vec<_> = references.iter().map(openshift_templates::ResourceRef::name).collect();
    assert_eq!(names, ["worker-a", "worker-b", "worker-c", "worker-d"]);
}

#[test]
fn an_absent_openshift_role_binding_is_created_by_post() {
    let world = World::start();
    let binding = json!([{
        "apiVersion": "authorization.openshift.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "jenkins_edit"}, "groupNames": null,
        "subjects": [{"kind": "ServiceAccount", "name": "jenkins"}], "roleRef": {"name": "edit"},
    }]);
    let workers = world.workers("admin");
    world.render(&binding);
    let created = workers.create(&job("worker-001")).unwrap();
    let api = "/apis/authorization.openshift.io/v1/namespaces/workers/rolebindings";
    assert_eq!(
        world.lines()[2..],
        [
            format!("PATCH {api}/jenkins_edit?fieldManager=mini-scheduler"),
            format!("POST {api}?fieldManager=mini-scheduler"),
        ]
    );
    world.render(&binding);
    assert_eq!(workers.create(&job("worker-001")).unwrap(), created, "and then applied");
    assert_eq!(world.mutations(), 3);
}

#[test]
fn a_role_binding_that_another_creates_in_between_is_a_conflict() {
    let world = World::start();
    world.render(&json!([{
        "apiVersion": "authorization.openshift.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "b"}, "roleRef": {"name": "edit"},
    }]));
    let status = json!({"kind": "Status", "reason": "AlreadyExists", "code": 409});
    world.cluster.fault(Fault::on("POST", "/rolebindings").answer(
        409,
        "application/json",
        status.to_string(),
    ));
    let error = world.workers("admin").create(&job("worker-001")).unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    assert_eq!(error.as_operation().unwrap().failures()[0].outcome(), Outcome::Rejected);
}

#[test]
fn a_missing_namespace_does_not_lead_to_a_post() {
    let world = World::start();
    world.render(&json!([{
        "apiVersion": "authorization.openshift.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "b"}, "roleRef": {"name": "edit"},
    }]));
    let status = json!({"kind": "Status", "reason": "NotFound", "code": 404,
        "details": {"name": "workers", "kind": "namespaces"}});
    let fault = Fault::on("PATCH", "/rolebindings/b");
    world.cluster.fault(fault.answer(404, "application/json", status.to_string()));
    world.workers("admin").create(&job("worker-001")).unwrap_err();
    let posts =
        world.lines().iter().filter(|l| l.contains("POST") && l.contains("rolebindings")).count();
    assert_eq!(posts, 0, "{:?}", world.lines());
}

#[test]
fn an_answer_without_a_uid_or_about_another_object_is_of_unknown_outcome() {
    let good = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "worker-a", "namespace": "workers", "uid": "u"}});
    for (pointer, value) in [
        ("/metadata/uid", json!(null)),
        ("/metadata/uid", json!("")),
        ("/metadata/name", json!("b")),
        ("/metadata/namespace", json!("other")),
        ("/kind", json!("Secret")),
        ("/apiVersion", json!("v2")),
        ("", json!([])),
        ("", json!({})),
    ] {
        let world = World::start();
        world.render(&json!([config_map("worker-a")]));
        let mut answer = good.clone();
        *answer.pointer_mut(pointer).unwrap() = value;
        world.cluster.fault(Fault::on("PATCH", "").answer(
            200,
            "application/json",
            answer.to_string(),
        ));
        let error = world.workers("worker").create(&job("worker-001")).unwrap_err();
        let failure = &error.as_operation().unwrap().failures()[0];
        assert_eq!(failure.outcome(), Outcome::Unknown, "{pointer}: {error:?}");
    }
}

#[test]
fn a_bad_field_manager_is_refused_before_any_request() {
    let world = World::start();
    for manager in ["", " ", "a\nb", &"é".repeat(65)] {
        let options = CreateOptions::new().field_manager(manager);
        let error = world.workers("worker").create_with(&Template::new("t"), &options).unwrap_err();
        let Error::InvalidInput(InvalidInput::FieldManager { .. }) = error else {
            panic!("{manager:?}: {error:?}")
        };
    }
    assert!(world.cluster.journal().is_empty());
}
