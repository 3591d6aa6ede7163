//! Groups that a cluster has besides, as one with many operators does. They are in every form of discovery and hold
//! no objects.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

const KINDS: [&str; 5] = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"];

#[derive(Default)]
pub(crate) struct MoreGroups {
    count: AtomicUsize,
}

impl MoreGroups {
    pub(crate) fn add(&self, count: usize) {
        self.count.fetch_add(count, Ordering::SeqCst);
    }

    /// Their entries in the aggregated form, from which the others are made.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Value> {
        (0..self.count.load(Ordering::SeqCst)).map(entry)
    }

    /// The entry of one group.
    pub(crate) fn entry(&self, group: &str) -> Option<Value> {
        self.entries().find(|entry| entry["metadata"]["name"] == group)
    }
}

fn entry(number: usize) -> Value {
    let group = format!("operator-{number:03}.example.org");
    let resources: Vec<Value> = KINDS.iter().map(|kind| resource(&group, kind)).collect();
    json!({
        "metadata": {"name": group},
        "versions": [{"version": "v1", "resources": resources, "freshness": "Current"}],
    })
}

fn resource(group: &str, kind: &str) -> Value {
    let singular = kind.to_lowercase();
    let response_kind = json!({"group": group, "version": "v1", "kind": kind});
    json!({
        "resource": format!("{singular}s"), "responseKind": response_kind, "scope": "Namespaced",
        "singularResource": singular,
        "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        "subresources": [
            {"subresource": "status", "responseKind": response_kind, "verbs": ["get", "patch", "update"]},
        ],
    })
}
