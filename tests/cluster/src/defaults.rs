//! What the server fills in: only what the recordings show.

use serde_json::{Map, Value, json};

use crate::kinds::Kind;

pub(crate) fn fill(kind: &Kind, namespace: Option<&str>, object: &mut Value) {
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "Secret") => put(object, &json!({"type": "Opaque"})),
        ("apps", "Deployment") => {
            put(object, &deployment());
            pod_template(object);
        }
        ("apps.openshift.io", "DeploymentConfig") => {
            put(object, &deployment_config());
            pod_template(object);
        }
        ("route.openshift.io", "Route") => route(namespace.unwrap_or_default(), object),
        // Go's empty list of rules has no `omitempty`, and storing it makes it nil.
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole")
            if object["rules"].as_array().is_none_or(Vec::is_empty) =>
        {
            object["rules"] = Value::Null;
        }
        ("authorization.openshift.io", "RoleBinding" | "ClusterRoleBinding") => {
            object["userNames"] = subjects(object, namespace, "User");
            object["groupNames"] = subjects(object, namespace, "Group");
        }
        _ => {}
    }
}

/// The parts that are not there yet; lists are taken whole.
fn put(object: &mut Value, defaults: &Value) {
    let (Some(members), Some(defaults)) = (object.as_object_mut(), defaults.as_object()) else {
        return;
    };
    for (name, default) in defaults {
        match members.get_mut(name) {
            Some(Value::Null) | None => {
                members.insert(name.clone(), default.clone());
            }
            Some(member) => put(member, default),
        }
    }
}

fn deployment() -> Value {
    json!({
        "spec": {
            "replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        },
        "status": {},
    })
}

fn deployment_config() -> Value {
    json!({
        "spec": {
            "strategy": {
                "type": "Rolling", "resources": {}, "activeDeadlineSeconds": 21600,
                "rollingParams": {
                    "updatePeriodSeconds": 1, "intervalSeconds": 1, "timeoutSeconds": 600,
                    "maxUnavailable": "25%", "maxSurge": "25%",
                },
            },
            "triggers": [{"type": "ConfigChange"}], "revisionHistoryLimit": 10, "test": false,
        },
        "status": {
            "latestVersion": 0, "observedGeneration": 0, "replicas": 0, "updatedReplicas": 0, "availableReplicas": 0,
            "unavailableReplicas": 0,
        },
    })
}

fn pod_template(object: &mut Value) {
    let Some(template) =
        object.pointer_mut("/spec/template").filter(|found| found["spec"].is_object())
    else {
        return;
    };
    put(
        template,
        &json!({"spec": {
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler",
        }}),
    );
    for container in
        template["spec"].get_mut("containers").and_then(Value::as_array_mut).into_iter().flatten()
    {
        let image = container["image"].as_str().unwrap_or_default();
        let tag = image
            .rsplit('/')
            .next()
            .and_then(|name| name.split_once(':'))
            .map_or("latest", |(_, tag)| tag);
        let pull = if tag == "latest" { "Always" } else { "IfNotPresent" };
        put(
            container,
            &json!({
                "resources": {}, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                "imagePullPolicy": pull,
            }),
        );
        for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            put(port, &json!({"protocol": "TCP"}));
        }
    }
}

/// A route without a host gets one of the cluster's domain, and says so.
fn route(namespace: &str, object: &mut Value) {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    if object["spec"]["host"].as_str().is_none_or(str::is_empty) {
        object["spec"]["host"] = format!("{name}-{namespace}.apps.example.test").into();
        object["metadata"]["annotations"]["openshift.io/host.generated"] = "true".into();
    }
    put(object, &json!({"spec": {"to": {"weight": 100}, "wildcardPolicy": "None"}, "status": {}}));
}

/// The legacy lists of names that go with the subjects; null when there are none.
fn subjects(binding: &Value, namespace: Option<&str>, wanted: &str) -> Value {
    let mut names: Vec<Value> = Vec::new();
    for subject in binding["subjects"].as_array().into_iter().flatten() {
        let name = subject["name"].as_str().unwrap_or_default();
        match subject["kind"].as_str() {
            Some("ServiceAccount") if wanted == "User" => {
                let namespace = subject["namespace"].as_str().or(namespace).unwrap_or_default();
                names.push(format!("system:serviceaccount:{namespace}:{name}").into());
            }
            Some(kind) if kind == wanted || kind == format!("System{wanted}") => {
                names.push(name.into());
            }
            _ => {}
        }
    }
    if names.is_empty() { Value::Null } else { names.into() }
}

/// In a typed map of strings there is no null.
pub(crate) fn nulls(kind: &Kind, object: &mut Value) {
    if !kind.group.is_empty() || !["ConfigMap", "Secret"].contains(&kind.kind.as_str()) {
        return;
    }
    for field in ["data", "stringData", "binaryData"] {
        let data = object.get_mut(field).and_then(Value::as_object_mut);
        for value in data.into_iter().flat_map(Map::values_mut).filter(|value| value.is_null()) {
            *value = "".into();
        }
    }
}

/// What a Secret's `stringData` puts into its `data`, where it wins; it is never stored.
pub(crate) fn string_data(object: &mut Value) {
    let Some(strings) = object.as_object_mut().and_then(|members| members.remove("stringData"))
    else {
        return;
    };
    let encoded: Map<String, Value> = strings
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(key, text)| {
            Some((key.clone(), crate::base64::encode(text.as_str()?.as_bytes()).into()))
        })
        .collect();
    if encoded.is_empty() {
        return;
    }
    if !object["data"].is_object() {
        object["data"] = json!({});
    }
    if let Some(data) = object["data"].as_object_mut() {
        data.extend(encoded);
    }
}
