use openshift_templates::{DiscoveryError, Error, InvalidInput, ManifestProblem, Template};
use openshift_templates_testing::Fault;
use serde_json::json;

use crate::support::{PROCESS, World, body, identities, job};

#[test]
fn a_template_is_read_at_its_source_and_rendered_in_the_target() {
    let world = World::start();
    let processed = world.workers("worker").process(&job("worker-001")).unwrap();

    assert_eq!(processed.message(), Some("Worker worker-001 is on its way"));
    assert_eq!(
        identities(processed.manifests()),
        ["ConfigMap/worker-001-config", "Secret/worker-001-secret", "VirtualMachine/worker-001"]
    );
    let api = "/apis/template.openshift.io/v1/namespaces";
    assert_eq!(
        world.lines(),
        [
            format!("GET {api}/infra/templates/worker-template"),
            format!("POST {api}/workers/processedtemplates"),
        ]
    );
    let posted = body(&world.requests()[1]);
    assert_eq!(posted["metadata"], json!({"name": "worker-template"}));
    assert!(posted.get("status").is_none());
    assert!(world.names().is_empty(), "nothing is created");
}

#[test]
fn the_source_defaults_to_the_target() {
    let world = World::start();
    let error = world.workers("admin").process(&Template::new("nope")).unwrap_err();
    assert!(error.is_not_found(), "{error}");
    assert!(world.lines()[0].contains("/namespaces/workers/templates/nope"));
}

#[test]
fn an_empty_source_is_an_error_and_not_the_default() {
    let world = World::start();
    let template = Template::new("worker-template").in_namespace("");
    let error = world.workers("worker").process(&template).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(InvalidInput::Namespace { .. })), "{error:?}");
    assert!(world.cluster.journal().is_empty());
}

#[test]
fn unknown_parameters_are_all_listed_with_the_known_ones() {
    let world = World::start();
    let template = job("worker-001").parameters([("ZZ", "1"), ("AA", "2")]);
    let error = world.workers("worker").process(&template).unwrap_err();
    let Error::InvalidInput(InvalidInput::UnknownParameters { unknown, known }) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(unknown, &["AA", "ZZ"]);
    assert_eq!(known, &["CORES", "DEBUG", "IMAGE_TAG", "TOKEN", "VM_NAME"]);
    assert_eq!(world.lines().len(), 1, "nothing is rendered");
}

#[test]
fn a_parameter_that_would_be_generated_is_an_error_unless_it_is_overridden() {
    let world = World::start();
    let workers = world.workers("admin");
    let template = Template::new("generated-template").in_namespace("infra").parameter("NAME", "n");
    let error = workers.process(&template).unwrap_err();
    let Error::InvalidInput(InvalidInput::UnresolvedGenerators { parameters }) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(parameters, &["PASSWORD"]);

    let processed = workers.process(&template.parameter("PASSWORD", "")).unwrap();
    assert_eq!(processed.manifests()[0].as_map()["data"], json!({"p": ""}));
}

#[test]
fn what_is_rendered_is_not_changed() {
    let world = World::start();
    let objects = json!([
        {"kind": "List", "items": [{"kind": "X"}], "a": null},
        {"big": 9_223_372_036_854_775_807_i64, "bigger": u64::MAX, "float": 31.245_270_191_439_438, "nested": [null]},
    ]);
    world.render(&objects);
    let processed = world.workers("worker").process(&job("worker-001")).unwrap();
    assert_eq!(serde_json::to_value(processed.manifests()).unwrap(), objects);
    assert_eq!(processed.message(), None);
}

#[test]
fn no_objects_are_an_empty_list() {
    let world = World::start();
    let workers = world.workers("worker");
    for objects in [json!(null), json!([])] {
        world.render(&objects);
        assert!(workers.create(&job("worker-001")).unwrap().is_empty());
    }
    // Something in between that says 200 has not rendered anything.
    for body in [
        r#"{"kind":"Template","metadata":{"name":"worker-template"}}"#,
        r#"{"kind":"Status","status":"Success","objects":null}"#,
        "{}",
    ] {
        world.cluster.fault(Fault::on("POST", PROCESS).answer(200, "application/json", body));
        let error = workers.delete(&job("worker-001")).unwrap_err();
        assert!(matches!(error, Error::Transport(_)), "{body}: {error:?}");
    }
}

#[test]
fn a_rendered_object_that_is_none_is_the_authors_error() {
    let world = World::start();
    world.render(&json!([{"kind": "A"}, "text"]));
    let error = world.workers("worker").process(&job("worker-001")).unwrap_err();
    let Error::InvalidManifest(error) = &error else { panic!("{error:?}") };
    assert_eq!((error.index(), error.problem()), (1, &ManifestProblem::NotAnObject));
}

#[test]
fn a_cluster_without_the_template_api_says_so() {
    let world = World::start();
    let page = |target| Fault::on("GET", target).answer(404, "text/plain", "404 page not found\n");
    world.cluster.fault(page("/apis/template.openshift.io/v1").times(2));
    let error = world.workers("worker").process(&job("worker-001")).unwrap_err();
    assert!(
        matches!(&error, Error::Discovery(DiscoveryError::NotServed { api_version, .. })
            if api_version == "template.openshift.io/v1"),
        "{error:?}"
    );
    // A page that something else could not find does not say that.
    world.cluster.fault(page("/templates/"));
    let error = world.workers("worker").process(&job("worker-001")).unwrap_err();
    assert!(matches!(&error, Error::Api(answer) if answer.code() == 404), "{error:?}");
    // A namespace that does not exist is another matter.
    let nowhere = world.workers("admin").client().namespace("nope").unwrap();
    let error = nowhere.process(&job("worker-001")).unwrap_err();
    assert!(error.is_not_found(), "{error:?}");
}

#[test]
fn a_missing_required_value_names_the_field() {
    let world = World::start();
    let template = Template::new("worker-template").in_namespace("infra");
    let error = world.workers("worker").process(&template).unwrap_err();
    let answer = error.as_api().unwrap();
    assert_eq!((answer.code(), answer.reason()), (422, Some("Invalid")));
    assert_eq!(answer.causes()[0].field(), Some("template.parameters[0]"));
    assert!(answer.message().contains("VM_NAME is required"));
}

#[test]
fn a_namespace_that_is_ending_is_told_from_other_refusals() {
    let world = World::start();
    let client = world.workers("admin").client().clone();
    let error = client.namespace("ending").unwrap().process(&job("worker-001")).unwrap_err();
    assert!(error.is_namespace_terminating() && error.is_forbidden(), "{error:?}");

    let error = world.workers("worker").client().namespace("infra").unwrap();
    let error = error.process(&job("worker-001")).unwrap_err();
    assert!(error.is_forbidden() && !error.is_namespace_terminating(), "{error:?}");
}

#[test]
fn a_stored_template_that_is_another_one_is_not_rendered() {
    let world = World::start();
    for body in [
        json!({"kind": "Template", "metadata": {"name": "other"}}),
        json!({"kind": "Secret", "metadata": {"name": "worker-template"}}),
    ] {
        let fault =
            Fault::on("GET", "/templates/").answer(200, "application/json", body.to_string());
        world.cluster.fault(fault);
        let error = world.workers("worker").process(&job("worker-001")).unwrap_err();
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
    }
    assert!(world.lines().iter().all(|line| line.starts_with("GET")));
}
