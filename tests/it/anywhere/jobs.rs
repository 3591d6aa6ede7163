//! What a job is, from its creation to its deletion, and what must never be touched.

use openshift_templates::{
    CreateOptions, DeleteOptions, DiscoveryError, Error, ManifestProblem, Operation, Outcome,
    OwnershipError, ResourceRef,
};
use serde_json::json;

use super::{config_map, names, pair, rendering};
use crate::site::Site;
use crate::support::{identities, job};

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
fn lists_are_created_item_by_item() {
    let site = Site::new();
    let list =
        json!({"apiVersion": "v1", "kind": "List", "items": [config_map("a"), config_map("b")]});
    let created = site.namespace().create(&rendering(&json!([list, config_map("c")]))).unwrap();
    assert_eq!(names(&created), ["ConfigMap/a", "ConfigMap/b", "ConfigMap/c"]);
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
