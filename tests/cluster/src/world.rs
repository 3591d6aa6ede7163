//! What every cluster starts with: namespaces, two Templates, and the files that lead to it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::access::{ADMIN, WORKER};
use crate::create;
use crate::kinds;
use crate::pki::{Pair, Pki};
use crate::store::Store;
use crate::write::Write;
use crate::{base64, json};

/// Where the worker works.
pub(crate) const NAMESPACE: &str = "workers";

const TEMPLATES: [&str; 2] =
    [include_str!("../data/worker-template.json"), include_str!("../data/generated-template.json")];

pub(crate) fn store() -> Store {
    let mut store = Store::default();
    for namespace in ["default", "infra", NAMESPACE, "other", "ending"] {
        store.add_namespace(namespace);
    }
    store.terminate_namespace("ending");
    for text in TEMPLATES {
        let template: Value = serde_json::from_str(text).expect("the embedded Template is JSON");
        put(&mut store, with_last_applied(template), "kubectl-client-side-apply");
    }
    store
}

/// Puts an object into the store, in place of the one of its name. Panics when the kind is unknown or the object is
/// refused: then it is the test that is wrong.
pub(crate) fn put(store: &mut Store, object: Value, manager: &str) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text(&object["apiVersion"]), text(&object["kind"]));
    let kind = kinds::by_kind(&api_version, &kind)
        .unwrap_or_else(|| panic!("the cluster does not know {kind} of {api_version}"));
    let (namespace, name) =
        (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
    let namespace = if kind.namespaced && namespace.is_empty() { NAMESPACE } else { &namespace };
    let write = Write { kind, namespace: Some(namespace), name: &name, dry_run: false };
    store.remove(&write.key());
    let stored = create::insert(&write, object, manager, store);
    assert!(stored.is_ok(), "the object cannot be stored: {stored:?}");
}

/// The Templates came by `kubectl apply`, which leaves this.
fn with_last_applied(mut template: Value) -> Value {
    let text = format!("{}\n", json::to_text(&template));
    template["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] =
        text.into();
    template
}

/// One entry of the kubeconfig's `users`, which is the name of its context too.
struct Access<'a> {
    name: &'static str,
    user: Value,
    pair: Option<&'a Pair>,
}

/// Contexts by the name of what they are for, each with its own user.
pub(crate) fn kubeconfig(url: &str, pki: &Pki, token: &dyn Fn(&str) -> String) -> String {
    let encode = |text: &str| base64::encode(text.as_bytes());
    let access = |name, user, pair| Access { name, user, pair };
    let list = [
        access("worker", json!({"token": token(WORKER)}), None),
        access("admin", json!({"token": token(ADMIN)}), None),
        access("worker-cert", json!({}), pki.clients.get(WORKER)),
        access("admin-cert", json!({}), pki.clients.get(ADMIN)),
        access("bad-token", json!({"token": "no-such-token"}), None),
        access("anonymous", json!({}), None),
    ];
    let mut users = Vec::new();
    let mut contexts = Vec::new();
    for Access { name, mut user, pair } in list {
        if let Some(pair) = pair {
            user["client-certificate-data"] = encode(&pair.cert_pem).into();
            user["client-key-data"] = encode(&pair.key_pem).into();
        }
        users.push(json!({"name": name, "user": user}));
        let context = json!({"cluster": "embedded", "user": name, "namespace": NAMESPACE});
        contexts.push(json!({"name": name, "context": context}));
    }
    let cluster = json!({"server": url, "certificate-authority-data": encode(&pki.ca_pem)});
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "worker", "contexts": contexts, "users": users,
        "clusters": [{"name": "embedded", "cluster": cluster}],
    });
    serde_yaml::to_string(&config).expect("a JSON value can be written as YAML")
}

/// The three files that a pod finds mounted.
pub(crate) fn write_service_account(folder: &Path, ca_pem: &str, token: &str) {
    fs::create_dir(folder).expect("the temporary folder can be written");
    for (name, text) in [("ca.crt", ca_pem), ("token", token), ("namespace", NAMESPACE)] {
        fs::write(folder.join(name), text).expect("the temporary folder can be written");
    }
}
