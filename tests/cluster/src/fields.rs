//! Sets of fields, in the notation of `FieldsV1`, and what can be done to an object by the path of a field.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// A path's elements as `FieldsV1` writes them: `f:data`, `k:{"name":"c"}`, `v:"x"`.
pub(crate) type Path = Vec<String>;

/// Fields that somebody owns.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldSet(BTreeSet<Path>);

impl FieldSet {
    pub(crate) fn insert(&mut self, path: &[String]) {
        self.0.insert(path.to_vec());
    }

    pub(crate) fn contains(&self, path: &[String]) -> bool {
        self.0.contains(path)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter()
    }

    pub(crate) fn remove_all(&mut self, paths: &[Path]) {
        self.0.retain(|path| !paths.contains(path));
    }

    /// Whether the path or anything below it is in the set.
    pub(crate) fn reaches(&self, path: &[String]) -> bool {
        self.0.iter().any(|own| own.starts_with(path))
    }

    /// Whether nothing below the path is in the set.
    pub(crate) fn is_leaf(&self, path: &[String]) -> bool {
        !self.0.iter().any(|own| own.len() > path.len() && own.starts_with(path))
    }

    pub(crate) fn to_value(&self) -> Value {
        let mut root = Value::Object(Map::new());
        for path in &self.0 {
            let mut at = &mut root;
            for element in path {
                at = &mut at[element.as_str()];
                if at.is_null() {
                    *at = json!({});
                }
            }
        }
        // A field that is owned itself, not only in its parts, is marked so.
        for path in self.0.iter().filter(|path| !self.is_leaf(path)) {
            let at = path.iter().fold(&mut root, |at, element| &mut at[element.as_str()]);
            at["."] = json!({});
        }
        root
    }

    pub(crate) fn from_value(value: &Value) -> Self {
        let mut set = Self::default();
        collect(value, &mut Vec::new(), &mut set);
        set
    }
}

fn collect(value: &Value, path: &mut Path, set: &mut FieldSet) {
    let members = value.as_object();
    if members.is_none_or(Map::is_empty) && !path.is_empty() {
        set.insert(path);
    }
    for (key, below) in members.into_iter().flatten() {
        if key == "." {
            set.insert(path);
            continue;
        }
        path.push(key.clone());
        collect(below, path, set);
        path.pop();
    }
}

/// The path as messages write it: `.spec.containers[name="c"].image`.
pub(crate) fn to_text(path: &[String]) -> String {
    path.iter().map(|element| element_text(element)).collect()
}

fn element_text(element: &str) -> String {
    match element.split_once(':') {
        Some(("f", field)) => format!(".{field}"),
        Some(("k", keys)) => {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{key}={value}")).collect();
            format!("[{}]", keys.join(","))
        }
        Some((_, value)) => format!("[={value}]"),
        None => element.to_owned(),
    }
}

/// Where an element leads, in a map or in a list.
fn position(value: &Value, element: &str) -> Option<usize> {
    let (form, rest) = element.split_once(':')?;
    let wanted: Value = serde_json::from_str(rest).ok()?;
    value.as_array()?.iter().position(|item| match form {
        "k" => wanted
            .as_object()
            .is_some_and(|keys| keys.iter().all(|(key, value)| matches_key(item, key, value))),
        _ => *item == wanted,
    })
}

/// The one key field with a default: a port is a TCP port unless it says otherwise.
pub(crate) fn key_value(item: &Value, key: &str) -> Option<Value> {
    let default = (key == "protocol").then(|| "TCP".into());
    item.get(key).filter(|value| !value.is_null()).cloned().or(default)
}

fn matches_key(item: &Value, key: &str, value: &Value) -> bool {
    key_value(item, key).as_ref() == Some(value)
}

pub(crate) fn get<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |at, element| match element.strip_prefix("f:") {
        Some(field) => at.get(field),
        None => at.get(position(at, element)?),
    })
}

/// Removes the field and every map that this leaves empty.
pub(crate) fn remove(value: &mut Value, path: &[String]) {
    let Some((element, below)) = path.split_first() else {
        return;
    };
    if let Some(field) = element.strip_prefix("f:") {
        let Some(members) = value.as_object_mut() else {
            return;
        };
        let emptied = match members.get_mut(field) {
            None => return,
            Some(_) if below.is_empty() => true,
            Some(next) => {
                remove(next, below);
                *next == json!({}) || *next == json!([])
            }
        };
        if emptied {
            members.remove(field);
        }
    } else if let Some(index) = position(value, element) {
        let Some(items) = value.as_array_mut() else {
            return;
        };
        if below.is_empty() {
            items.remove(index);
        } else if let Some(item) = items.get_mut(index) {
            remove(item, below);
        }
    }
}

/// What merging leaves of a map whose members all went: null, observed on a custom resource.
pub(crate) fn empty_to_null(value: &mut Value, path: &[String]) {
    match (value, path.split_first()) {
        (value, None) if *value == json!({}) => *value = Value::Null,
        (Value::Object(members), Some((element, below))) => {
            let field = element.strip_prefix("f:").and_then(|field| members.get_mut(field));
            if let Some(next) = field {
                empty_to_null(next, below);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_survive_their_notation() {
        let value = json!({"f:a": {".": {}, "f:b": {}}, "f:c": {"k:{\"name\":\"x\"}": {".": {}, "f:image": {}}}});
        let set = FieldSet::from_value(&value);
        assert_eq!(set.iter().count(), 4);
        assert_eq!(set.to_value(), value);
    }

    #[test]
    fn paths_lead_into_lists() {
        let path: Path = ["f:c", "k:{\"name\":\"x\"}", "f:image"].map(str::to_owned).into();
        let mut value = json!({"c": [{"name": "w"}, {"name": "x", "image": "i"}]});
        assert_eq!(get(&value, &path), Some(&json!("i")));
        assert_eq!(to_text(&path), ".c[name=\"x\"].image");
        remove(&mut value, &path);
        assert_eq!(value, json!({"c": [{"name": "w"}, {"name": "x"}]}));
        remove(&mut value, path.get(..2).unwrap());
        assert_eq!(value, json!({"c": [{"name": "w"}]}));
    }
}
