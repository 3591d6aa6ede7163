//! Cases in which this server had answered otherwise than a real kube-apiserver 1.36.3. What is expected
//! is the real one's answer.
//!
//! Of seventy requests compared, these are left: PUT, subresources, the defaults of a Service and the
//! managed fields of an access review. Nothing that this library does depends on them.

use openshift_templates_testing::{Cluster, User};
use serde_json::{Value, json};

use crate::support::send;

const CM: &str = "/api/v1/namespaces/workers/configmaps/cm?fieldManager=one";
const APPLY: &str = "application/apply-patch+yaml";
const JSON: &str = "application/json";

struct Case {
    method: &'static str,
    target: &'static str,
    content_type: &'static str,
    body: Value,
    status: u16,
    /// Where the decisive part of the answer is, and what it is.
    at: &'static str,
    expected: Value,
}

fn config_map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// In order: some need what an earlier one left.
#[allow(clippy::too_many_lines, reason = "it is a table")]
fn cases() -> Vec<Case> {
    let case = |method, target, content_type, body, status, at, expected| Case {
        method,
        target,
        content_type,
        body,
        status,
        at,
        expected,
    };
    let refused = |body, text: &str| case("PATCH", CM, APPLY, body, 400, "/message", json!(text));
    let cm = "/api/v1/namespaces/workers/configmaps/cm";
    vec![
        refused(
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cm"}}),
            "invalid object type: /v1, Kind=Secret",
        ),
        refused(
            json!({"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "cm"}}),
            "invalid object type: apps/v1, Kind=ConfigMap",
        ),
        refused(
            json!({"kind": "ConfigMap", "metadata": {"name": "cm"}}),
            "invalid object type: /, Kind=ConfigMap",
        ),
        refused(
            json!({"apiVersion": "v1", "metadata": {"name": "cm"}}),
            "invalid object type: /v1, Kind=",
        ),
        refused(
            json!([]),
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array \
             into Go value of type map[string]interface {}",
        ),
        case("PATCH", CM, APPLY, config_map("cm", &json!({"a": null})), 201, "/data/a", json!("")),
        case(
            "PATCH",
            CM,
            APPLY,
            config_map("cm", &json!({"bad key!": "1"})),
            422,
            "/details/causes/0/field",
            json!("data[bad key!]"),
        ),
        case(
            "PATCH",
            CM,
            APPLY,
            json!({"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "cm", "labels": {"bad key!": "1"}}}),
            422,
            "/details/causes/0/field",
            json!("metadata.labels"),
        ),
        case(
            "PATCH",
            "/api/v1/namespaces/workers/services/Bad_Name?fieldManager=one",
            APPLY,
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "Bad_Name"},
                "spec": {"ports": [{"port": 80}]}}),
            422,
            "/details/causes/0/message",
            json!(
                "Invalid value: \"Bad_Name\": a lowercase RFC 1123 label must consist of lower case \
                 alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. \
                 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            ),
        ),
        case(
            "POST",
            "/api/v1/namespaces/workers/configmaps?fieldManager=one",
            JSON,
            config_map("posted", &json!({"a": "1"})),
            201,
            "/data/a",
            json!("1"),
        ),
        case(
            "PATCH",
            "/api/v1/namespaces/workers/configmaps/posted?fieldManager=one",
            APPLY,
            config_map("posted", &json!({"a": "2"})),
            409,
            "/message",
            json!("Apply failed with 1 conflict: conflict with \"one\" using v1: .data.a"),
        ),
        case(
            "DELETE",
            cm,
            JSON,
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground",
                "orphanDependents": true}),
            422,
            "/details/causes/0/message",
            json!(
                "Invalid value: \"Foreground\": orphanDependents and deletionPropagation cannot be both set"
            ),
        ),
        case(
            "DELETE",
            cm,
            JSON,
            json!({"apiVersion": "v1", "kind": "ConfigMap"}),
            400,
            "/message",
            json!(
                "no kind \"ConfigMap\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\""
            ),
        ),
    ]
}

#[test]
fn the_real_servers_answers_are_given() {
    let cluster = Cluster::start();
    for case in cases() {
        let body = case.body.to_string();
        let answer =
            send(&cluster, User::Admin, case.method, case.target, case.content_type, &body);
        assert_eq!(answer.status, case.status, "{} {} {body}", case.method, case.target);
        let answer = answer.json();
        assert_eq!(answer.pointer(case.at), Some(&case.expected), "{body}: {answer}");
    }
}

#[test]
fn what_is_no_json_is_told_in_the_real_words() {
    let cluster = Cluster::start();
    let message = |method: &str, target: &str| {
        send(&cluster, User::Admin, method, target, JSON, "{\"a\"").json()["message"].clone()
    };
    assert_eq!(
        message("POST", "/api/v1/namespaces/workers/configmaps"),
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json \
         parse error: unexpected end of JSON input ({\"a\")"
    );
    assert_eq!(
        message("DELETE", "/api/v1/namespaces/workers/configmaps/cm"),
        "couldn't get version/kind; json parse error: unexpected end of JSON input"
    );
}

#[test]
fn owning_without_changing_takes_no_time() {
    let cluster = Cluster::start();
    let apply = |manager: &str, data: &Value| {
        let target = format!("/api/v1/namespaces/workers/configmaps/cm?fieldManager={manager}");
        let body = config_map("cm", data).to_string();
        send(&cluster, User::Admin, "PATCH", &target, APPLY, &body).json()
    };
    apply("one", &json!({"a": "1", "b": "1"}));
    let shared = apply("two", &json!({"a": "1"}));
    let entries = shared["metadata"]["managedFields"].as_array().unwrap();
    let told: Vec<_> =
        entries.iter().map(|e| (e["manager"].clone(), e["time"].is_string())).collect();
    assert_eq!(told, [(json!("two"), false), (json!("one"), true)]);
}

#[test]
fn a_posted_secret_is_owned_as_it_is_stored() {
    let cluster = Cluster::start();
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
        "stringData": {"a": "1"}});
    let target = "/api/v1/namespaces/workers/secrets?fieldManager=one";
    let answer = send(&cluster, User::Admin, "POST", target, JSON, &secret.to_string()).json();
    assert_eq!(
        answer["metadata"]["managedFields"][0]["fieldsV1"],
        json!({"f:data": {".": {}, "f:a": {}}, "f:type": {}})
    );
}

#[test]
fn a_map_that_is_applied_empty_does_not_take_its_parents_with_it() {
    let cluster = Cluster::start();
    let apply = |devices: &Value| {
        let vm = json!({"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "vm"},
            "spec": {"template": {"spec": {"domain": {"devices": devices}}}}});
        let target = "/apis/kubevirt.io/v1/namespaces/workers/virtualmachines/vm?fieldManager=one";
        send(&cluster, User::Admin, "PATCH", target, APPLY, &vm.to_string()).json()["spec"].clone()
    };
    apply(&json!({"disks": [{"name": "d"}]}));
    let spec = apply(&json!({}));
    assert_eq!(spec, json!({"template": {"spec": {"domain": {"devices": null}}}}));
}

#[test]
fn wrong_types_in_a_post_are_told_as_go_decodes() {
    let cluster = Cluster::start();
    let told = |target: &str, kind: &str, body: &Value, text: &str| {
        let answer = send(&cluster, User::Admin, "POST", target, JSON, &body.to_string());
        assert_eq!(answer.status, 400, "{body}");
        let expected = format!(
            "{kind} in version \"v1\" cannot be handled as a {kind}: json: cannot unmarshal {text}"
        );
        assert_eq!(answer.json()["message"], expected, "{body}");
    };
    let config_maps = "/api/v1/namespaces/workers/configmaps";
    for (data, text) in [
        (json!({"a": 1}), "number into Go struct field ConfigMap.data of type string"),
        (json!({"a": 1.5}), "number into Go struct field ConfigMap.data of type string"),
        (json!({"a": {}}), "object into Go struct field ConfigMap.data of type string"),
        (json!([]), "array into Go struct field ConfigMap.data of type map[string]string"),
    ] {
        told(config_maps, "ConfigMap", &config_map("w", &data), text);
    }
    for (metadata, text) in [
        (json!("x"), "string into Go struct field ConfigMap.metadata of type v1.ObjectMeta"),
        (json!({"name": 5}), "number into Go struct field ObjectMeta.metadata.name of type string"),
        (
            json!({"name": "w", "labels": {"a": 1}}),
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            json!({"name": "w", "finalizers": "x"}),
            "string into Go struct field ObjectMeta.metadata.finalizers of type []string",
        ),
    ] {
        let body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
        told(config_maps, "ConfigMap", &body, text);
    }
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "w"}, "data": {"a": 1}});
    let text = "number into Go struct field Secret.data of type []uint8";
    told("/api/v1/namespaces/workers/secrets", "Secret", &secret, text);
    let place = "Go struct field";
    for (spec, text) in [
        (
            json!({"replicas": 1.5}),
            format!("number 1.5 into {place} DeploymentSpec.spec.replicas of type int32"),
        ),
        (
            json!({"template": {"spec": {"containers": [{"name": "c", "env": [{"name": "e", "value": 1}]}]}}}),
            format!(
                "number into {place} EnvVar.spec.template.spec.containers.env.value of type string"
            ),
        ),
        (
            json!({"template": {"spec": {"containers": {}}}}),
            format!(
                "object into {place} PodSpec.spec.template.spec.containers of type []v1.Container"
            ),
        ),
    ] {
        let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w"}, "spec": spec});
        told("/apis/apps/v1/namespaces/workers/deployments", "Deployment", &body, &text);
    }
}

#[test]
fn a_role_without_rules_has_none_that_are_null() {
    let cluster = Cluster::start();
    let roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/workers/roles";
    let role = |name: &str, rules: Option<Value>| {
        let mut role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": name}});
        if let Some(rules) = rules {
            role["rules"] = rules;
        }
        role.to_string()
    };
    let apply = |body: &str| {
        let target = format!("{roles}/a?fieldManager=one");
        send(&cluster, User::Admin, "PATCH", &target, APPLY, body).json()
    };
    let applied = apply(&role("a", Some(json!([]))));
    assert_eq!(applied.get("rules"), Some(&Value::Null));
    assert_eq!(applied["metadata"]["managedFields"][0]["fieldsV1"], json!({"f:rules": {}}));
    // It changes nothing to say so again.
    assert_eq!(apply(&role("a", Some(json!([])))), applied);
    let posted = send(&cluster, User::Admin, "POST", roles, JSON, &role("b", None)).json();
    assert_eq!(posted.get("rules"), Some(&Value::Null));
}

#[test]
fn nulls_in_posted_data_are_empty_texts() {
    let cluster = Cluster::start();
    for (resource, kind, field) in [
        ("configmaps", "ConfigMap", "data"),
        ("secrets", "Secret", "data"),
        ("secrets", "Secret", "stringData"),
    ] {
        let target = format!("/api/v1/namespaces/workers/{resource}?dryRun=All");
        let body = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "w"}, field: {"a": null}});
        let answer = send(&cluster, User::Admin, "POST", &target, JSON, &body.to_string());
        assert_eq!(answer.json()["data"], json!({"a": ""}), "{body}");
    }
}

#[test]
fn keys_that_could_not_be_files_are_refused() {
    let cluster = Cluster::start();
    for (fields, field, why) in [
        (json!({"data": {".": "1"}}), "data[.]", "Invalid value: \".\": must not be '.'"),
        (json!({"data": {"..": "1"}}), "data[..]", "Invalid value: \"..\": must not be '..'"),
        (
            json!({"data": {"..x": "1"}}),
            "data[..x]",
            "Invalid value: \"..x\": must not start with '..'",
        ),
        (
            json!({"data": {"d": "1"}, "binaryData": {"d": "MQ=="}}),
            "data[d]",
            "Invalid value: \"d\": duplicate of key present in binaryData",
        ),
    ] {
        let mut body = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let answer = send(&cluster, User::Admin, "PATCH", CM, APPLY, &body.to_string());
        assert_eq!(answer.status, 422, "{body}");
        let cause = &answer.json()["details"]["causes"][0];
        assert_eq!((&cause["field"], &cause["message"]), (&json!(field), &json!(why)));
    }
}

#[test]
fn the_beginning_of_an_unreadable_body_is_shown() {
    let cluster = Cluster::start();
    for (body, shown) in [
        ("", "(<empty>)"),
        ("[]", "(5b5d)"),
        (
            "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\"} x",
            "({\"kind\":\"ConfigMap\",\"apiVersio ...)",
        ),
    ] {
        let target = "/api/v1/namespaces/workers/configmaps";
        let answer = send(&cluster, User::Admin, "POST", target, JSON, body).json();
        assert!(answer["message"].as_str().unwrap().ends_with(shown), "{answer}");
    }
}

#[test]
fn a_negative_grace_period_deletes_at_once() {
    let cluster = Cluster::start();
    let body = config_map("cm", &json!({"a": "1"})).to_string();
    send(&cluster, User::Admin, "PATCH", CM, APPLY, &body);
    let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": -5});
    let target = "/api/v1/namespaces/workers/configmaps/cm";
    let delete =
        || send(&cluster, User::Admin, "DELETE", target, JSON, &options.to_string()).status;
    assert_eq!((delete(), delete()), (200, 404));
}
