//! The reports of section 2 about discovery and applying that no other module shows.

use openshift_templates_testing::Fault;
use serde_json::{Value, json};

use super::Row;
use crate::support::{World, body, job};

/// The body of the PATCH for a rendered `ConfigMap` that has these fields in its metadata.
fn applied(metadata: &Value) -> Value {
    let world = World::start();
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
    for (name, value) in metadata.as_object().unwrap() {
        object["metadata"][name] = value.clone();
    }
    world.render(&json!([object]));
    world.workers("worker").create(&job("a")).unwrap();
    let requests = world.requests();
    body(requests.iter().find(|request| request.method == "PATCH").unwrap())
}

/// The media type and the body of a DELETE without options.
fn deleted() -> (Option<String>, Value) {
    let world = World::start();
    let workers = world.workers("worker");
    let references = workers.create(&job("a")).unwrap();
    workers.delete(&references).unwrap();
    let requests = world.requests();
    let delete = requests.iter().find(|request| request.method == "DELETE").unwrap();
    (delete.header("content-type").map(str::to_owned), body(delete))
}

pub(super) const ROWS: &[Row] = &[
    ("2 sofka#357: a list of another version", || {
        let world = World::start();
        let list = json!({
            "kind": "APIResourceList", "apiVersion": "v1alpha3", "groupVersion": "v1",
            "resources": [{
                "name": "configmaps", "kind": "ConfigMap", "namespaced": true,
                "verbs": ["get", "patch"],
            }],
        });
        let answer = Fault::on("GET", "/api/v1").answer(200, "application/json", list.to_string());
        world.cluster.fault(answer);
        let error = world.workers("worker").get(&super::reference()).unwrap_err();
        assert!(error.is_not_found(), "the object was asked for: {error:?}");
    }),
    ("2 fabric8#5785: managedFields in what is applied", || {
        let sent = applied(&json!({"managedFields": [{"manager": "other", "operation": "Apply"}]}));
        assert_eq!(sent["metadata"].get("managedFields"), None);
    }),
    ("2 website#40179: resourceVersion in what is applied", || {
        let sent = applied(&json!({"resourceVersion": "1", "uid": "old"}));
        assert_eq!(sent["metadata"].get("resourceVersion"), None);
        assert_eq!(sent["metadata"].get("uid"), None);
    }),
    ("2 k8s#124: apply without apiVersion and kind", || {
        let sent = applied(&json!({}));
        assert_eq!((&sent["apiVersion"], &sent["kind"]), (&json!("v1"), &json!("ConfigMap")));
    }),
    ("2 client-java#680: DeleteOptions have a kind", || {
        let (content_type, options) = deleted();
        assert_eq!(content_type.as_deref(), Some("application/json"));
        assert_eq!(
            (&options["apiVersion"], &options["kind"]),
            (&json!("v1"), &json!("DeleteOptions"))
        );
    }),
    ("2 kube-rs#747: dependents are deleted unless it is said", || {
        assert_eq!(deleted().1["propagationPolicy"], "Background");
    }),
];
