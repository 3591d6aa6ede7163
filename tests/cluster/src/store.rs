//! The stored objects.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::ids;
use crate::kinds::Kind;

/// Where an object is stored; versions of one resource share it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    group: String,
    resource: String,
    namespace: Option<String>,
    name: String,
}

impl Key {
    pub(crate) fn new(kind: &Kind, namespace: Option<&str>, name: &str) -> Self {
        Self {
            group: kind.group.clone(),
            resource: kind.resource.clone(),
            // The path of a namespace names it twice.
            namespace: namespace.filter(|_| kind.namespaced).map(str::to_owned),
            name: name.to_owned(),
        }
    }

    fn namespace(name: &str) -> Self {
        Self {
            group: String::new(),
            resource: "namespaces".to_owned(),
            namespace: None,
            name: name.to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Phase {
    Active,
    Terminating,
}

#[derive(Default)]
pub(crate) struct Store {
    objects: BTreeMap<Key, Value>,
    revision: u64,
}

impl Store {
    pub(crate) fn get(&self, key: &Key) -> Option<&Value> {
        self.objects.get(key)
    }

    /// Stores the object under the next resource version and returns it with that.
    pub(crate) fn put(&mut self, key: Key, mut object: Value) -> Value {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = self.revision.to_string().into();
        self.objects.insert(key, object.clone());
        object
    }

    pub(crate) fn remove(&mut self, key: &Key) -> Option<Value> {
        self.revision += 1;
        self.objects.remove(key)
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn list<'a>(
        &'a self,
        kind: &'a Kind,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = &'a Value> {
        self.objects
            .iter()
            .filter(move |(key, _)| key.group == kind.group && key.resource == kind.resource)
            .filter(move |(key, _)| namespace.is_none() || key.namespace.as_deref() == namespace)
            .map(|(_, object)| object)
    }

    pub(crate) fn in_namespace<'a>(
        &'a self,
        namespace: &'a str,
    ) -> impl Iterator<Item = &'a Value> {
        self.objects
            .iter()
            .filter(move |(key, _)| key.namespace.as_deref() == Some(namespace))
            .map(|(_, object)| object)
    }

    pub(crate) fn phase(&self, namespace: &str) -> Option<Phase> {
        let object = self.objects.get(&Key::namespace(namespace))?;
        let terminating = object["status"]["phase"] == "Terminating";
        Some(if terminating { Phase::Terminating } else { Phase::Active })
    }

    pub(crate) fn add_namespace(&mut self, name: &str) {
        let object = json!({
            "kind": "Namespace", "apiVersion": "v1",
            "metadata": {
                "name": name, "uid": ids::uid(), "creationTimestamp": ids::now(),
                "labels": {"kubernetes.io/metadata.name": name},
            },
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
        });
        self.put(Key::namespace(name), object);
    }

    /// Marks the namespace as one that ends; nothing in it is touched.
    pub(crate) fn terminate_namespace(&mut self, name: &str) -> Option<Value> {
        let key = Key::namespace(name);
        let mut object = self.objects.get(&key)?.clone();
        if object["status"]["phase"] == "Terminating" {
            return Some(object);
        }
        object["metadata"]["deletionTimestamp"] = ids::now().into();
        object["status"]["phase"] = "Terminating".into();
        Some(self.put(key, object))
    }

    pub(crate) fn finish_namespace(&mut self, name: &str) {
        self.remove(&Key::namespace(name));
        self.objects.retain(|key, _| key.namespace.as_deref() != Some(name));
    }
}
