//! Applying, creating and deleting beyond the recordings.

use openshift_templates_testing::{Cluster, User};
use serde_json::{Value, json};

use crate::support::{Answer, apply, get, post, send};

const CM: &str = "/api/v1/namespaces/workers/configmaps/cm";

fn config_map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}, "data": data})
}

fn delete(cluster: &Cluster, target: &str, options: &Value) -> Answer {
    send(cluster, User::Admin, "DELETE", target, "application/json", &options.to_string())
}

#[test]
fn each_manager_owns_what_it_applied() {
    let cluster = Cluster::start();
    assert_eq!(apply(&cluster, CM, "one", &config_map(&json!({"a": "1", "b": "1"}))).status, 201);
    assert_eq!(apply(&cluster, CM, "two", &config_map(&json!({"c": "2", "a": "1"}))).status, 200);
    // What one drops and nobody shares goes; what two owns too stays.
    let answer = apply(&cluster, CM, "one", &config_map(&json!({}))).json();
    assert_eq!(answer["data"], json!({"a": "1", "c": "2"}));
    let managers: Vec<&Value> = answer["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["manager"])
        .collect();
    assert!(managers.contains(&&json!("two")));
    let conflict = apply(&cluster, CM, "three", &config_map(&json!({"a": "3", "c": "3"})));
    assert_eq!(conflict.status, 409);
    assert_eq!(
        conflict.json()["message"],
        "Apply failed with 2 conflicts: conflicts with \"two\":\n- .data.a\n- .data.c"
    );
    let shared = apply(&cluster, CM, "three", &config_map(&json!({"a": "1"})));
    assert_eq!(shared.status, 200, "the same value is no conflict");
}

#[test]
fn lists_are_merged_by_their_keys() {
    let cluster = Cluster::start();
    let target = "/apis/apps/v1/namespaces/workers/deployments/d";
    let deployment = |containers: Value| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {
            "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}}}})
    };
    let first =
        deployment(json!([{"name": "c", "image": "x:1", "env": [{"name": "A", "value": "1"}]}]));
    assert_eq!(apply(&cluster, target, "one", &first).status, 201);
    let second = deployment(json!([{"name": "side", "image": "y"}]));
    let answer = apply(&cluster, target, "two", &second).json();
    let containers = &answer["spec"]["template"]["spec"]["containers"];
    assert_eq!((&containers[0]["name"], &containers[1]["name"]), (&json!("c"), &json!("side")));
    assert_eq!(containers[0]["imagePullPolicy"], "IfNotPresent");
    assert_eq!(answer["metadata"]["generation"], 2);
    let conflict =
        apply(&cluster, target, "two", &deployment(json!([{"name": "c", "image": "z"}])));
    let field = ".spec.template.spec.containers[name=\"c\"].image";
    assert_eq!(conflict.json()["details"]["causes"][0]["field"], field);
    let gone =
        apply(&cluster, target, "one", &deployment(json!([{"name": "c", "image": "x:1"}]))).json();
    assert!(gone["spec"]["template"]["spec"]["containers"][0].get("env").is_none());
}

#[test]
fn yaml_is_applied_too() {
    let cluster = Cluster::start();
    let yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cm\ndata:\n  a: 'x'\n";
    let target = format!("{CM}?fieldManager=one");
    let answer =
        send(&cluster, User::Worker, "PATCH", &target, "application/apply-patch+yaml", yaml);
    assert_eq!((answer.status, answer.json()["data"]["a"].as_str()), (201, Some("x")));
    assert_eq!(
        cluster.object("v1", "configmaps", Some("workers"), "cm").unwrap()["data"]["a"],
        "x"
    );
    assert_eq!(cluster.objects("workers").len(), 1);
}

#[test]
fn finalizers_keep_what_is_deleted() {
    let cluster = Cluster::start();
    cluster.store(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "cm", "finalizers": ["example.com/hold"]}}));
    let answer = delete(&cluster, CM, &json!({"propagationPolicy": "Background"}));
    assert_eq!((answer.status, answer.json()["kind"].as_str()), (200, Some("ConfigMap")));
    assert!(answer.json()["metadata"]["deletionTimestamp"].is_string());
    let dry = delete(&cluster, CM, &json!({"dryRun": ["All"]}));
    assert_eq!(
        dry.json()["metadata"]["resourceVersion"],
        answer.json()["metadata"]["resourceVersion"]
    );
    let patch = json!({"metadata": {"finalizers": null}}).to_string();
    let released = send(&cluster, User::Admin, "PATCH", CM, "application/merge-patch+json", &patch);
    assert_eq!(released.status, 200);
    assert_eq!(get(&cluster, CM).status, 404);
    cluster.store(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "cm", "finalizers": ["example.com/hold"]}}));
    assert!(cluster.remove("v1", "configmaps", Some("workers"), "cm").is_some());
    assert_eq!(get(&cluster, CM).status, 404);
}

#[test]
fn deletion_keeps_to_its_options() {
    let cluster = Cluster::start();
    apply(&cluster, CM, "one", &config_map(&json!({"a": "1"})));
    let version = json!({"preconditions": {"resourceVersion": "1"}});
    let refused = delete(&cluster, CM, &version);
    assert_eq!(refused.status, 409);
    assert!(
        refused.json()["message"]
            .as_str()
            .unwrap()
            .contains("the ResourceVersion in the precondition (1)")
    );
    // Without a body the query counts.
    let dry = send(&cluster, User::Admin, "DELETE", &format!("{CM}?dryRun=All"), "", "");
    assert_eq!((dry.status, get(&cluster, CM).status), (200, 200));
    let orphan = delete(&cluster, CM, &json!({"propagationPolicy": "Orphan"}));
    assert_eq!(orphan.json()["metadata"]["finalizers"], json!(["orphan"]));
    assert_eq!(delete(&cluster, CM, &json!({"dryRun": ["Some"]})).status, 422);
    assert_eq!(
        delete(&cluster, CM, &json!({"propagationPolicy": "Background"})).json()["status"],
        "Success"
    );
}

#[test]
fn namespaces_end() {
    let cluster = Cluster::start();
    apply(&cluster, CM, "one", &config_map(&json!({"a": "1"})));
    cluster.terminate_namespace("workers");
    let new = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}});
    let target = "/api/v1/namespaces/workers/configmaps";
    assert_eq!(post(&cluster, target, &new).status, 403);
    assert_eq!(
        apply(&cluster, CM, "one", &config_map(&json!({"a": "2"}))).status,
        200,
        "it is there already"
    );
    assert_eq!(delete(&cluster, CM, &json!({})).status, 200);
    cluster.finish_namespace("workers");
    assert_eq!(post(&cluster, target, &new).json()["message"], "namespaces \"workers\" not found");
    let created = post(&cluster, "/api/v1/namespaces", &json!({"metadata": {"name": "fresh"}}));
    assert_eq!((created.status, get(&cluster, "/api/v1/namespaces/fresh").status), (201, 200));
    let ended = delete(&cluster, "/api/v1/namespaces/fresh", &json!({}));
    assert_eq!(ended.json()["status"]["phase"], "Terminating");
}

#[test]
fn kinds_of_the_cluster_and_of_custom_resources() {
    let cluster = Cluster::start();
    let fleet = json!({"apiVersion": "example.com/v1", "kind": "Fleet", "metadata": {"name": "f"}, "spec": {"n": 1}});
    let target = "/apis/example.com/v1/fleets/f";
    assert_eq!(apply(&cluster, target, "one", &fleet).status, 201);
    assert!(cluster.object("example.com/v1", "fleets", None, "f").is_some());
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": "system:x"}, "rules": []});
    let target = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Ax";
    assert_eq!(apply(&cluster, target, "one", &role).status, 201);
    assert_eq!(get(&cluster, "/apis/example.com/v1/namespaces/workers/fleets/f").status, 404);
    assert_eq!(get(&cluster, "/apis/apps/v1/namespaces/workers/nosuch/x").status, 404);
    assert_eq!(get(&cluster, "/apis/metrics.k8s.io/v1beta1/namespaces/workers/pods").status, 503);
}

#[test]
fn generated_names() {
    let cluster = Cluster::start();
    let body = json!({"metadata": {"generateName": "cm-"}});
    let created = post(&cluster, "/api/v1/namespaces/workers/configmaps", &body);
    let name = created.json()["metadata"]["name"].as_str().unwrap().to_owned();
    assert!(name.starts_with("cm-") && name.len() == 8, "{name}");
    assert!(cluster.object("v1", "configmaps", Some("workers"), &name).is_some());
}

#[test]
fn bodies_that_are_no_objects() {
    let cluster = Cluster::start();
    for (method, content_type, body, status) in [
        ("PATCH", "application/apply-patch+yaml", "[]", 400),
        ("PATCH", "application/apply-patch+yaml", "{}", 400),
        (
            "PATCH",
            "application/apply-patch+yaml",
            "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":5}",
            500,
        ),
        ("PATCH", "application/merge-patch+json", "[]", 400),
        ("PATCH", "application/merge-patch+json", "{\"metadata\":{\"labels\":5}}", 500),
        ("DELETE", "application/json", "nonsense", 400),
    ] {
        cluster.store(config_map(&json!({"a": "1"})));
        let target = format!("{CM}?fieldManager=one");
        let answer = send(&cluster, User::Admin, method, &target, content_type, body);
        assert_eq!(answer.status, status, "{method} {body}");
        assert_eq!(answer.json()["kind"], "Status", "{method} {body}");
    }
}
