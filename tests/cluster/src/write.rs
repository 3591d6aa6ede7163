//! The common end of every write: defaults, validation, the server's own metadata, and whether anything changed.

use serde_json::{Value, json};

use crate::http::Response;
use crate::kinds::Kind;
use crate::managed_fields::{self, Entry};
use crate::status::{self, About};
use crate::store::{Key, Store};
use crate::{base64, defaults, ids, validate};

/// What is to be written.
pub(crate) struct Write<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) name: &'a str,
    pub(crate) dry_run: bool,
}

impl Write<'_> {
    pub(crate) fn key(&self) -> Key {
        Key::new(self.kind, self.namespace, self.name)
    }

    pub(crate) fn about(&self) -> About<'_> {
        About::resource(self.kind, self.name)
    }

    /// Stores the object in place of the live one and returns what is to be answered.
    pub(crate) fn finish(
        &self,
        store: &mut Store,
        mut object: Value,
        entries: &[Entry],
    ) -> Result<Value, Response> {
        let live = store.get(&self.key()).cloned();
        object["apiVersion"] = self.kind.api_version().into();
        object["kind"] = self.kind.kind.as_str().into();
        if self.is_secret() {
            defaults::string_data(&mut object);
        }
        self.own_metadata(live.as_ref(), &mut object);
        defaults::fill(self.kind, self.namespace, &mut object);
        let causes = validate::object(self.kind, live.as_ref(), &object);
        if !causes.is_empty() {
            return Err(status::invalid(About::kind(self.kind, self.name), &causes));
        }
        let mut entries = entries.to_vec();
        match &live {
            Some(live) if !self.kind.is_proxied() && says_the_same(live, &object) => {
                if has_same_owners(live, &entries) {
                    return Ok(live.clone());
                }
                keep_times(live, &mut entries);
            }
            Some(live) => self.next_generation(live, &mut object),
            None => {}
        }
        let metadata = object["metadata"].as_object_mut();
        // The proxied kinds lose theirs on every update, as recorded.
        let forgets = self.kind.is_proxied() && live.is_some();
        match metadata {
            Some(metadata) if entries.is_empty() || forgets => {
                metadata.remove("managedFields");
            }
            _ => object["metadata"]["managedFields"] = managed_fields::to_value(&entries),
        }
        if self.dry_run {
            return Ok(object);
        }
        let stored = store.put(self.key(), object);
        if is_released(&stored) {
            store.remove(&self.key());
        }
        Ok(stored)
    }

    pub(crate) fn is_secret(&self) -> bool {
        self.kind.group.is_empty() && self.kind.kind == "Secret"
    }

    /// Data that is no base64 fails in decoding, after the schema has found nothing wrong.
    pub(crate) fn check_base64(&self, object: &Value) -> Result<(), Response> {
        let data = object["data"].as_object().filter(|_| self.is_secret());
        let bad = data
            .into_iter()
            .flatten()
            .find_map(|(_, value)| base64::first_bad_byte(value.as_str()?));
        let Some(at) = bad else { return Ok(()) };
        let gvk = self.kind.gvk_text();
        Err(status::internal(&format!(
            "failed to convert new object ({}; {gvk}) to proper version: unable to convert unstructured object to \
             {gvk}: error decoding from json: illegal base64 data at input byte {at}",
            written_name(object)
        )))
    }

    fn own_metadata(&self, live: Option<&Value>, object: &mut Value) {
        let of_live = |field: &str| live.map(|live| live["metadata"][field].clone());
        let metadata = &mut object["metadata"];
        metadata["name"] = self.name.into();
        if let Some(namespace) = self.namespace.filter(|_| self.kind.namespaced) {
            metadata["namespace"] = namespace.into();
        }
        metadata["uid"] = of_live("uid").unwrap_or_else(|| ids::uid().into());
        metadata["creationTimestamp"] =
            of_live("creationTimestamp").unwrap_or_else(|| ids::now().into());
        if self.kind.counts_generations() {
            metadata["generation"] = of_live("generation").unwrap_or_else(|| json!(1));
        }
    }

    fn next_generation(&self, live: &Value, object: &mut Value) {
        if self.kind.counts_generations() && live["spec"] != object["spec"] {
            object["metadata"]["generation"] = next(&live["metadata"]["generation"]);
        }
    }
}

pub(crate) fn next(generation: &Value) -> Value {
    json!(generation.as_u64().unwrap_or(0) + 1)
}

/// Whether a deleted object has lost its last finalizer.
fn is_released(object: &Value) -> bool {
    let metadata = &object["metadata"];
    !metadata["deletionTimestamp"].is_null()
        && metadata["finalizers"].as_array().is_none_or(Vec::is_empty)
}

/// Name and namespace as the body says them: what the texts of typed decoding quote.
pub(crate) fn written_name(object: &Value) -> String {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", text("namespace"), text("name"))
}

/// An apply that changes nothing leaves even the times alone.
/// Whether only the owners of the fields differ, if anything does.
fn says_the_same(live: &Value, object: &Value) -> bool {
    let bare = |object: &Value| {
        let mut object = object.clone();
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata
                .retain(|field, _| !["managedFields", "resourceVersion"].contains(&field.as_str()));
        }
        object
    };
    bare(live) == bare(object)
}

fn has_same_owners(live: &Value, entries: &[Entry]) -> bool {
    let before = managed_fields::of(live);
    before.len() == entries.len()
        && before.iter().all(|entry| entries.iter().any(|other| other.says_the_same(entry)))
}

/// Who did not change the object gets no new time for owning fields of it.
fn keep_times(live: &Value, entries: &mut [Entry]) {
    let before = managed_fields::of(live);
    for entry in entries {
        let own = before.iter().find(|old| old.is_of(&entry.manager, &entry.operation));
        entry.time = own.map(|old| old.time.clone()).unwrap_or_default();
    }
}
