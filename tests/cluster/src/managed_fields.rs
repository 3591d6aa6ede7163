//! `metadata.managedFields`: who owns which fields.

use serde_json::{Value, json};

use crate::fields::FieldSet;
use crate::ids;

/// One manager's entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) manager: String,
    pub(crate) operation: String,
    pub(crate) api_version: String,
    /// Empty for one that never changed the object itself.
    pub(crate) time: String,
    pub(crate) fields: FieldSet,
}

impl Entry {
    fn new(manager: &str, operation: &str, api_version: &str, fields: FieldSet) -> Self {
        Self {
            manager: manager.to_owned(),
            operation: operation.to_owned(),
            api_version: api_version.to_owned(),
            time: ids::now(),
            fields,
        }
    }

    pub(crate) fn apply(manager: &str, api_version: &str, fields: FieldSet) -> Self {
        Self::new(manager, "Apply", api_version, fields)
    }

    pub(crate) fn update(manager: &str, api_version: &str, fields: FieldSet) -> Self {
        Self::new(manager, "Update", api_version, fields)
    }

    pub(crate) fn is_of(&self, manager: &str, operation: &str) -> bool {
        self.manager == manager && self.operation == operation
    }

    /// As conflicts name it; an update is told apart by its version.
    pub(crate) fn text(&self) -> String {
        if self.operation == "Update" {
            format!("{:?} using {}", self.manager, self.api_version)
        } else {
            format!("{:?}", self.manager)
        }
    }

    /// Whether both say the same, whenever they said it.
    pub(crate) fn says_the_same(&self, other: &Self) -> bool {
        self.is_of(&other.manager, &other.operation)
            && self.api_version == other.api_version
            && self.fields == other.fields
    }
}

pub(crate) fn of(object: &Value) -> Vec<Entry> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entries = object["metadata"]["managedFields"].as_array().into_iter().flatten();
    entries
        .map(|entry| Entry {
            manager: text(&entry["manager"]),
            operation: text(&entry["operation"]),
            api_version: text(&entry["apiVersion"]),
            time: text(&entry["time"]),
            fields: FieldSet::from_value(&entry["fieldsV1"]),
        })
        .collect()
}

/// Sorted as the server sorts them: by operation, time and manager.
pub(crate) fn to_value(entries: &[Entry]) -> Value {
    let mut entries: Vec<&Entry> = entries.iter().collect();
    entries.sort_by_key(|entry| (&entry.operation, &entry.time, &entry.manager));
    entries
        .into_iter()
        .map(|entry| {
            let mut value = json!({
                "manager": entry.manager, "operation": entry.operation, "apiVersion": entry.api_version,
                "fieldsType": "FieldsV1", "fieldsV1": entry.fields.to_value(),
            });
            if !entry.time.is_empty() {
                value["time"] = entry.time.as_str().into();
            }
            value
        })
        .collect()
}
