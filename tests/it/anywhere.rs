//! What has to hold on any cluster: these run on the embedded one, and unchanged on a real one.

use std::time::Duration;

use openshift_templates::{
    Change, CreateOptions, DeleteOptions, DiscoveryError, Error, Event, InvalidInput, Manifest,
    ManifestProblem, Operation, Outcome, OwnershipError, PropagationPolicy, ResourceRef, State,
    Template, Wait,
};
use serde_json::{Value, json};

use crate::site::Site;
use crate::support::{identities, job};

/// A Template that renders these objects, with one parameter `N` (`n` unless it is given).
fn rendering(objects: &Value) -> Template {
    let manifest: Manifest = serde_json::from_value(json!({
        "apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "own"},
        "parameters": [{"name": "N", "value": "n"}, {"name": "V", "value": "1"}], "objects": objects,
    }))
    .unwrap();
    Template::inline(manifest).unwrap()
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"v": "${V}"}})
}

fn pair() -> Template {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "${N}-s"}, "stringData": {"a": "${V}"},
    });
    rendering(&json!([config_map("${N}-c"), secret]))
}

fn names(references: &[ResourceRef]) -> Vec<String> {
    references.iter().map(ToString::to_string).collect()
}

#[test]
fn where_this_runs_is_told() {
    let site = Site::new();
    let place = if site.is_embedded() { "the embedded API server" } else { "a real cluster" };
    // Past the test harness, so that a log always says it.
    let tests = include_str!("anywhere.rs").lines().filter(|line| *line == "#[test]").count();
    let line = format!("{tests} tests of `anywhere` run on {place}, version {}\n", site.version());
    std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
}

#[test]
fn a_job_lives_and_dies() {
    let site = Site::new();
    let namespace = site.namespace();
    let created = namespace.create(&pair()).unwrap();
    assert_eq!(names(&created), ["ConfigMap/n-c", "Secret/n-s"]);
    assert_eq!(namespace.create(&pair()).unwrap(), created, "the same objects");
    let live = namespace.get(&pair()).unwrap();
    assert_eq!(live, namespace.get(&created).unwrap());
    assert_eq!(live[1].as_map()["data"], json!({"a": "MQ=="}));
    let uids: Vec<_> = live.iter().map(|l| l.uid()).collect();
    assert_eq!(uids, created.iter().map(ResourceRef::uid).collect::<Vec<_>>());

    let fresh = site.namespace();
    assert_eq!(names(&fresh.delete(&pair()).unwrap()), ["Secret/n-s", "ConfigMap/n-c"]);
    assert_eq!(fresh.delete(&pair()).unwrap().len(), 2, "gone already");
    assert!(fresh.get(&pair()).unwrap_err().is_not_found());
}

#[test]
fn the_worker_does_the_recorded_job_with_its_own_rights() {
    let site = Site::new();
    let workers = site.client("worker").namespace("workers").unwrap();
    let name = format!("anywhere-{}", std::process::id());
    let processed = workers.process(&job(&name)).unwrap();
    assert_eq!(processed.message(), Some(format!("Worker {name} is on its way").as_str()));
    assert_eq!(identities(processed.manifests()).len(), 3);
    let created = workers.create(&job(&name)).unwrap();
    assert_eq!(workers.get(&created).unwrap().len(), 3);
    assert_eq!(workers.delete(&created).unwrap().len(), 3);
    let error = workers.client().namespace("infra").unwrap().process(&job(&name)).unwrap_err();
    assert!(error.is_forbidden(), "{error:?}");
}

#[test]
fn a_saved_uid_protects_the_next_object_of_the_name() {
    let site = Site::new();
    let namespace = site.namespace();
    let old = namespace.create(&pair()).unwrap();
    namespace.delete(&old).unwrap();
    let new = namespace.create(&pair()).unwrap();
    let error = namespace.delete(&old).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.failures().len(), 2);
    assert!(
        operation
            .failures()
            .iter()
            .all(|f| f.error().is_conflict() && f.outcome() == Outcome::Rejected)
    );
    assert_eq!(namespace.get(&new).unwrap().len(), 2);
}

#[test]
fn another_managers_field_is_a_conflict_unless_it_is_forced() {
    let site = Site::new();
    let namespace = site.namespace();
    namespace.create(&pair()).unwrap();
    let other = CreateOptions::new().field_manager("other one/é");
    let changed = pair().parameter("V", "2");
    let error = namespace.create_with(&changed, &other).unwrap_err();
    let failure = &error.as_operation().unwrap().failures()[0];
    assert!(error.is_conflict() && failure.outcome() == Outcome::Rejected, "{error:?}");
    let causes = failure.error().as_api().unwrap().causes();
    assert_eq!(
        (causes[0].reason(), causes[0].field()),
        (Some("FieldManagerConflict"), Some(".data.v"))
    );
    namespace.create_with(&changed, &other.force(true)).unwrap();
    assert_eq!(namespace.get(&pair()).unwrap()[0].as_map()["data"], json!({"v": "2"}));
}

#[test]
fn dry_runs_change_nothing() {
    let site = Site::new();
    let namespace = site.namespace();
    assert_eq!(
        namespace.create_with(&pair(), &CreateOptions::new().dry_run(true)).unwrap().len(),
        2
    );
    assert!(namespace.get(&pair()).unwrap_err().is_not_found());
    namespace.create(&pair()).unwrap();
    namespace.delete_with(&pair(), &DeleteOptions::new().dry_run(true)).unwrap();
    assert_eq!(namespace.get(&pair()).unwrap().len(), 2);
}

#[test]
fn a_schema_error_is_a_refusal() {
    let site = Site::new();
    let mut broken = config_map("broken");
    broken["dta"] = json!({});
    let error = site
        .namespace()
        .create(&rendering(&json!([config_map("a"), broken, config_map("c")])))
        .unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.operation(), Operation::Create);
    assert_eq!(names(operation.completed()), ["ConfigMap/a"]);
    assert_eq!(operation.failures()[0].outcome(), Outcome::Rejected, "{error:?}");
    assert_eq!(names(operation.not_attempted()), ["ConfigMap/c"]);
}

#[test]
fn lists_are_created_item_by_item() {
    let site = Site::new();
    let list =
        json!({"apiVersion": "v1", "kind": "List", "items": [config_map("a"), config_map("b")]});
    let created = site.namespace().create(&rendering(&json!([list, config_map("c")]))).unwrap();
    assert_eq!(names(&created), ["ConfigMap/a", "ConfigMap/b", "ConfigMap/c"]);
}

#[test]
fn what_must_not_be_touched_is_refused_before_anything_is() {
    let site = Site::new();
    let namespace = site.namespace();
    let of = |version: &str, kind: &str| json!({"apiVersion": version, "kind": kind, "metadata": {"name": "b"}});
    let mut elsewhere = config_map("b");
    elsewhere["metadata"]["namespace"] = json!("${N}");
    for (object, problem) in [
        (
            elsewhere,
            Some(ManifestProblem::OtherNamespace {
                found: "n".to_owned(),
                expected: namespace.name().to_owned(),
            }),
        ),
        (of("v1", "Namespace"), Some(ManifestProblem::ClusterScoped)),
        (of("rbac.authorization.k8s.io/v1", "ClusterRole"), Some(ManifestProblem::ClusterScoped)),
        (of("example.com/v1", "Fleet"), Some(ManifestProblem::ClusterScoped)),
        (of("v1", "Binding"), Some(ManifestProblem::Unsupported { verb: "patch" })),
        (config_map("${M}"), Some(ManifestProblem::Unsubstituted { field: "metadata.name" })),
        (of("v1", "Deployment"), None),
        (of("nosuch.example.com/v1", "X"), None),
    ] {
        let error = namespace.create(&rendering(&json!([config_map("a"), object]))).unwrap_err();
        match (&error, problem) {
            (Error::InvalidManifest(found), Some(problem)) => assert_eq!(found.problem(), &problem),
            (Error::Discovery(DiscoveryError::NotServed { .. }), None) => {}
            (_, problem) => panic!("{error:?} instead of {problem:?}"),
        }
    }
    assert!(namespace.get(&[ResourceRef::new("v1", "ConfigMap", "a")]).unwrap_err().is_not_found());
}

#[test]
fn a_backend_that_is_down_is_no_missing_kind() {
    let site = Site::new();
    let metrics = json!({"apiVersion": "metrics.k8s.io/v1beta1", "kind": "PodMetrics", "metadata": {"name": "a"}});
    let error = site.namespace().create(&rendering(&json!([metrics]))).unwrap_err();
    assert_eq!(error.as_api().map(openshift_templates::ApiError::code), Some(503), "{error:?}");
}

#[test]
fn inputs_are_judged_by_what_the_template_says() {
    let site = Site::new();
    let namespace = site.namespace();
    let error = namespace.process(&pair().parameter("M", "1")).unwrap_err();
    assert!(
        matches!(error, Error::InvalidInput(InvalidInput::UnknownParameters { .. })),
        "{error:?}"
    );
    assert!(
        namespace.process(&Template::new("nope").in_namespace("infra")).unwrap_err().is_not_found()
    );
    let generated =
        Template::new("generated-template").in_namespace("infra").parameter("NAME", "n");
    let error = namespace.process(&generated).unwrap_err();
    assert!(
        matches!(error, Error::InvalidInput(InvalidInput::UnresolvedGenerators { .. })),
        "{error:?}"
    );
    let required = Template::new("worker-template").in_namespace("infra");
    let error = namespace.process(&required).unwrap_err();
    assert_eq!(error.as_api().unwrap().causes()[0].field(), Some("template.parameters[0]"));
    let parameters = namespace.parameters(&required).unwrap();
    assert!(parameters[0].is_required());
}

#[test]
fn a_namespace_that_is_ending_says_so() {
    let site = Site::new();
    let ending = site.client("admin").namespace("ending").unwrap();
    let error = ending.create(&pair()).unwrap_err();
    assert!(error.is_namespace_terminating(), "{error:?}");
    let gone = ending.delete(&[ResourceRef::new("v1", "ConfigMap", "a")]).unwrap();
    assert_eq!(gone.len(), 1, "references still work");
}

#[test]
fn openshift_role_bindings_are_created_and_applied() {
    let site = Site::new();
    let namespace = site.namespace();
    let binding = rendering(&json!([{
        "apiVersion": "v1", "kind": "RoleBinding", "metadata": {"name": "jenkins_edit"},
        "subjects": [{"kind": "ServiceAccount", "name": "jenkins"}], "roleRef": {"name": "edit"},
    }]));
    let created = namespace.create(&binding).unwrap();
    assert_eq!(created[0].api_version(), "authorization.openshift.io/v1");
    assert_eq!(namespace.create(&binding).unwrap(), created);
    // OpenShift's front forgets the field managers with the first apply; others may not.
    let live = namespace.get(&binding).unwrap();
    if live[0].as_map()["metadata"].get("managedFields").is_none() {
        let only_own = DeleteOptions::new().only_managed_by("mini-scheduler");
        let error = namespace.delete_with(&binding, &only_own).unwrap_err();
        let failure = &error.as_operation().unwrap().failures()[0];
        let unprovable = matches!(failure.error(), Error::Ownership(OwnershipError::Unprovable));
        assert!(unprovable, "{failure:?}");
    }
    assert_eq!(namespace.delete(&binding).unwrap().len(), 1);
}

#[test]
fn a_preflight_with_a_forbidden_object_touches_nothing() {
    let site = Site::new();
    let workers = site.client("worker").namespace("workers").unwrap();
    let name = format!("preflight-{}", std::process::id());
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"ports": [{"port": 1}]}});
    let template = rendering(&json!([config_map(&name), service]));
    let error = workers.create_with(&template, &CreateOptions::new().preflight(true)).unwrap_err();
    let Error::Preflight(preflight) = &error else { panic!("{error:?}") };
    assert_eq!(preflight.refusals().len(), 1);
    assert!(error.is_forbidden());
    assert!(workers.get(&[ResourceRef::new("v1", "ConfigMap", name)]).unwrap_err().is_not_found());
}

#[test]
fn what_must_be_new_is_not_adopted() {
    let site = Site::new();
    let namespace = site.namespace();
    let new = CreateOptions::new().require_new(true);
    namespace.create_with(&pair(), &new).unwrap();
    let before = namespace.get(&pair()).unwrap();
    let error = namespace.create_with(&pair().parameter("V", "2"), &new).unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    assert_eq!(namespace.get(&pair()).unwrap(), before);
}

#[test]
fn a_safe_replay_leaves_foreign_objects_alone() {
    let site = Site::new();
    let namespace = site.namespace();
    let only_own = DeleteOptions::new().only_managed_by("mini-scheduler");
    namespace.create(&pair()).unwrap();
    assert_eq!(namespace.delete_with(&pair(), &only_own).unwrap().len(), 2);
    namespace.create_with(&pair(), &CreateOptions::new().field_manager("somebody")).unwrap();
    let error = namespace.delete_with(&pair(), &only_own).unwrap_err();
    for failure in error.as_operation().unwrap().failures() {
        let Error::Ownership(OwnershipError::Foreign { managers }) = failure.error() else {
            panic!("{failure:?}")
        };
        assert_eq!(managers, &["somebody"]);
    }
    assert_eq!(namespace.get(&pair()).unwrap().len(), 2);
}

#[test]
fn objects_that_changed_since_they_were_read_are_spared() {
    let site = Site::new();
    let namespace = site.namespace();
    namespace.create(&pair()).unwrap();
    let live = namespace.get(&pair()).unwrap();
    namespace.create(&pair().parameter("V", "2")).unwrap();
    let error =
        namespace.delete_with(&pair(), &DeleteOptions::new().unchanged_since(&live)).unwrap_err();
    assert_eq!(error.as_operation().unwrap().failures().len(), 2);
    assert!(error.is_conflict(), "{error:?}");
}

#[test]
fn plans_are_applied_and_changes_told() {
    let site = Site::new();
    let namespace = site.namespace();
    let changes = |template: &Template| {
        let plan = namespace.plan(template).unwrap();
        let applied = namespace.apply(&plan, &CreateOptions::new().compare(true)).unwrap();
        applied.iter().map(openshift_templates::Applied::change).collect::<Vec<_>>()
    };
    assert_eq!(changes(&pair()), [Change::Created; 2]);
    assert_eq!(changes(&pair()), [Change::Unchanged; 2]);
    assert_eq!(changes(&pair().parameter("V", "2")), [Change::Changed; 2]);
}

#[test]
fn waiting_and_status_follow_the_objects() {
    let site = Site::new();
    let namespace = site.namespace();
    let states = || -> Vec<State> {
        namespace.status(&pair()).unwrap().iter().map(|o| o.state().clone()).collect()
    };
    assert_eq!(states(), [State::Absent, State::Absent]);
    let created = namespace.create(&pair()).unwrap();
    assert_eq!(states(), [State::Present, State::Present]);
    namespace.delete(&created).unwrap();
    let wait = Wait::until_absent().interval(Duration::from_millis(20));
    namespace.wait(&created, &wait).unwrap();
}

#[test]
fn a_foreground_deletion_shows_as_such() {
    let site = Site::new();
    let namespace = site.namespace();
    let template = deployment_with_replicas();
    namespace.create(&template).unwrap();
    let options = DeleteOptions::new().propagation(PropagationPolicy::Foreground);
    namespace.delete_with(&template, &options).unwrap();
    // A garbage collector, where one runs, may have finished already.
    let state = namespace.status(&template).unwrap()[0].state().clone();
    assert!(matches!(state, State::Deleting | State::Absent), "{state}");
    namespace.delete(&template).unwrap();
}

fn deployment_with_replicas() -> Template {
    rendering(&json!([{
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
        "spec": {
            "replicas": "${{V}}", "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "x"}]}},
        },
    }]))
}

#[test]
fn missing_rights_are_found_before_work_starts() {
    let site = Site::new();
    let workers = site.client("worker").namespace("workers").unwrap();
    let access = workers.access(&job("a")).unwrap();
    assert_eq!(workers.check_access(&access).unwrap(), []);
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}});
    let access = workers.access(&rendering(&json!([service]))).unwrap();
    let missing: Vec<_> =
        workers.check_access(&access).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(missing.len(), 4);
    assert_eq!(missing[0], "create services in namespace \"workers\"");
}

#[test]
fn labels_and_files_of_parameters_reach_the_objects() {
    let site = Site::new();
    let namespace = site.namespace();
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let file = write(
        "template.yaml",
        "apiVersion: v1\nkind: Template\nparameters: [{name: N}, {name: V, value: 7}]\nobjects:\n\
         - {apiVersion: v1, kind: ConfigMap, metadata: {name: '${N}'}, data: {v: '${V}'}}\n",
    );
    let template = Template::from_file(file)
        .unwrap()
        .label("example.com/job", "one")
        .parameter("M", "left out")
        .ignore_unknown_parameters(true)
        .parameters_from_file(write("job.env", "export N: from-file\n"))
        .unwrap();
    namespace.create(&template).unwrap();
    let live = &namespace.get(&template).unwrap()[0];
    assert_eq!(live.name(), Some("from-file"));
    assert_eq!(live.as_map()["data"], json!({"v": "7"}));
    assert_eq!(live.as_map()["metadata"]["labels"], json!({"example.com/job": "one"}));
}

#[test]
fn an_observer_hears_of_everything_on_the_way() {
    let site = Site::new();
    let heard = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = std::sync::Arc::clone(&heard);
    let namespace = site.namespace().with_observer(move |event| {
        let line = match event {
            Event::Before(operation, reference) => format!("{operation} {reference}"),
            Event::Applied(applied) => format!("{} {}", applied.change(), applied.reference()),
            Event::Deleted(reference) => format!("gone {reference}"),
            _ => "failed".to_owned(),
        };
        told.lock().unwrap().push(line);
    });
    let created = namespace.create(&pair()).unwrap();
    let options = DeleteOptions::new().grace_period(Duration::ZERO);
    namespace.delete_with(&created, &options).unwrap();
    assert_eq!(
        *heard.lock().unwrap(),
        [
            "create ConfigMap/n-c",
            "created ConfigMap/n-c",
            "create Secret/n-s",
            "created Secret/n-s",
            "delete Secret/n-s",
            "gone Secret/n-s",
            "delete ConfigMap/n-c",
            "gone ConfigMap/n-c",
        ]
    );
}
