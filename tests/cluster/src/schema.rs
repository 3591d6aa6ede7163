//! Typed objects: checking, merging and the fields an object sets, by the types of `data/schema.yaml`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::fields::{self, FieldSet, Path};
use crate::json;

/// A type, by its name in the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema(&'static str);

#[derive(Deserialize)]
struct Table {
    kinds: BTreeMap<String, String>,
    structs: BTreeMap<String, BTreeMap<String, String>>,
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        serde_yaml::from_str(include_str!("../data/schema.yaml"))
            .expect("the embedded table is valid")
    })
}

pub(crate) fn of_kind(api_version: &str, kind: &str) -> Schema {
    let name = table().kinds.get(&format!("{api_version}/{kind}"));
    Schema(name.map_or("Other", String::as_str))
}

/// What a type is made of.
pub(crate) enum Type {
    String,
    Number,
    Boolean,
    Scalar,
    Atomic,
    Any,
    Ignored,
    Set,
    Map(Schema),
    List(Schema, Vec<&'static str>),
    Struct(&'static BTreeMap<String, String>),
}

/// Who sets the fields: an update owns the maps that it makes too, an applied configuration only what it says.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Apply,
    Update,
}

impl Schema {
    pub(crate) const STRING: Self = Self("string");

    pub(crate) fn name(self) -> &'static str {
        self.0
    }

    pub(crate) fn resolve(self) -> Type {
        if let Some(item) = self.0.strip_prefix("map of ") {
            return Type::Map(Schema(item));
        }
        if let Some((item, keys)) =
            self.0.strip_prefix("list of ").and_then(|rest| rest.split_once(" by "))
        {
            return Type::List(Schema(item), keys.split(',').collect());
        }
        match self.0 {
            "string" => Type::String,
            "number" => Type::Number,
            "boolean" => Type::Boolean,
            "scalar" => Type::Scalar,
            "any" => Type::Any,
            "ignored" => Type::Ignored,
            "set" => Type::Set,
            "atomic" => Type::Atomic,
            name => {
                Type::Struct(table().structs.get(name).expect("the table names its own structs"))
            }
        }
    }

    /// The type of a field, and whether the struct declares it by name.
    pub(crate) fn field(self, name: &str) -> Option<(Schema, bool)> {
        match self.resolve() {
            Type::Struct(fields) => match (fields.get(name), fields.get("*")) {
                (Some(schema), _) => Some((Schema(schema), true)),
                (None, Some(other)) => Some((Schema(other), false)),
                (None, None) => None,
            },
            Type::Map(item) => Some((item, false)),
            _ => Some((Schema("any"), false)),
        }
    }

    /// Everything wrong with a value, in the words of the structured merge library.
    pub(crate) fn check(self, value: &Value, path: &mut Path, errors: &mut Vec<String>) {
        let mut wrong = |what: String| errors.push(format!("{}: {what}", fields::to_text(path)));
        match (self.resolve(), value) {
            (_, Value::Null)
            | (Type::String, Value::String(_))
            | (Type::Number, Value::Number(_))
            | (Type::Boolean, Value::Bool(_))
            | (Type::Scalar, Value::String(_) | Value::Number(_) | Value::Bool(_))
            | (Type::Atomic | Type::Any | Type::Ignored, _) => {}
            (Type::String, _) => {
                wrong(format!(
                    "expected string, got &value.valueUnstructured{{Value:{}}}",
                    go_literal(value)
                ));
            }
            (Type::Number, _) => {
                wrong(format!("expected numeric (int or float), got {}", go_type(value)));
            }
            (Type::Boolean, _) => wrong(format!("expected boolean, got &{{{}}}", go_plain(value))),
            (Type::Scalar, _) => {
                wrong(format!("expected any scalar, got &{{{}}}", go_plain(value)));
            }
            (Type::Struct(_) | Type::Map(_), Value::Object(members)) => {
                for (name, member) in members {
                    path.push(format!("f:{name}"));
                    match self.field(name) {
                        Some((schema, _)) => schema.check(member, path, errors),
                        None => errors.push(format!(
                            "{}: field not declared in schema",
                            fields::to_text(path)
                        )),
                    }
                    path.pop();
                }
            }
            (Type::Struct(_) | Type::Map(_), _) => {
                wrong(format!("expected map, got &{{{}}}", go_plain(value)));
            }
            (Type::List(item, keys), Value::Array(items)) => {
                check_list(item, &keys, items, path, errors);
            }
            (Type::Set, Value::Array(items)) => check_set(items, path, errors),
            (Type::List(..) | Type::Set, _) => {
                wrong(format!("expected list, got &{{{}}}", go_plain(value)));
            }
        }
    }

    pub(crate) fn fields_of_apply(self, object: &Value) -> FieldSet {
        let mut set = FieldSet::default();
        self.collect(object, By::Apply, &mut Vec::new(), &mut set);
        set
    }

    pub(crate) fn fields_of_update(self, object: &Value) -> FieldSet {
        let mut set = FieldSet::default();
        self.collect(object, By::Update, &mut Vec::new(), &mut set);
        set
    }

    fn collect(self, value: &Value, by: By, path: &mut Path, set: &mut FieldSet) {
        match (self.resolve(), value) {
            (Type::Ignored, _) => {}
            (Type::Struct(_) | Type::Map(_) | Type::Any, Value::Object(members)) => {
                let is_made = by == By::Update && matches!(self.resolve(), Type::Map(_));
                if is_made && !path.is_empty() {
                    set.insert(path);
                }
                for (name, member) in members {
                    let Some((schema, declared)) = self.field(name) else { continue };
                    path.push(format!("f:{name}"));
                    let empty = member.as_object().is_some_and(Map::is_empty);
                    if (!declared || empty) && !matches!(schema.resolve(), Type::Ignored) {
                        set.insert(path);
                    }
                    schema.collect(member, by, path, set);
                    path.pop();
                }
            }
            (Type::List(item, keys), Value::Array(items)) => {
                for entry in items {
                    path.push(key_element(entry, &keys));
                    set.insert(path);
                    item.collect(entry, by, path, set);
                    path.pop();
                }
            }
            (Type::Set, Value::Array(items)) => {
                for entry in items {
                    path.push(format!("v:{}", json::to_text(entry)));
                    set.insert(path);
                    path.pop();
                }
            }
            _ => set.insert(path),
        }
    }

    /// The live value with the applied one laid over it.
    pub(crate) fn merge(self, live: Option<&Value>, applied: &Value) -> Value {
        match (self.resolve(), live, applied) {
            (
                Type::Struct(_) | Type::Map(_) | Type::Any,
                Some(Value::Object(old)),
                Value::Object(new),
            ) => {
                let mut merged = old.clone();
                for (name, value) in new {
                    let schema = self.field(name).map_or(Schema("any"), |(schema, _)| schema);
                    merged.insert(name.clone(), schema.merge(old.get(name), value));
                }
                Value::Object(merged)
            }
            (Type::List(item, keys), Some(Value::Array(old)), Value::Array(new)) => {
                merge_list(old, new, &|entry| key_element(entry, &keys), &|old, new| {
                    item.merge(Some(old), new)
                })
            }
            (Type::Set, Some(Value::Array(old)), Value::Array(new)) => {
                merge_list(old, new, &json::to_text, &|_, new| new.clone())
            }
            _ => applied.clone(),
        }
    }
}

fn merge_list(
    old: &[Value],
    new: &[Value],
    key: &dyn Fn(&Value) -> String,
    merge: &dyn Fn(&Value, &Value) -> Value,
) -> Value {
    let mut merged = old.to_vec();
    for entry in new {
        match merged.iter_mut().find(|existing| key(existing) == key(entry)) {
            Some(existing) => *existing = merge(existing, entry),
            None => merged.push(entry.clone()),
        }
    }
    Value::Array(merged)
}

fn key_element(entry: &Value, keys: &[&str]) -> String {
    let keys: Map<String, Value> = keys
        .iter()
        .filter_map(|&key| fields::key_value(entry, key).map(|value| (key.to_owned(), value)))
        .collect();
    format!("k:{}", json::to_text(&Value::Object(keys)))
}

fn check_list(
    item: Schema,
    keys: &[&str],
    items: &[Value],
    path: &mut Path,
    errors: &mut Vec<String>,
) {
    let mut seen: Vec<String> = Vec::new();
    for (index, entry) in items.iter().enumerate() {
        if let Some(missing) = keys.iter().find(|key| fields::key_value(entry, key).is_none()) {
            let why = "associative list with keys has an element that omits key field";
            errors.push(format!("{}: element {index}: {why} {missing:?}", fields::to_text(path)));
            continue;
        }
        path.push(key_element(entry, keys));
        item.check(entry, path, errors);
        let element = path.pop().unwrap_or_default();
        if seen.contains(&element) {
            duplicate(path, element, errors);
        } else {
            seen.push(element);
        }
    }
}

fn check_set(items: &[Value], path: &mut Path, errors: &mut Vec<String>) {
    for (index, entry) in items.iter().enumerate() {
        if items.iter().take(index).any(|earlier| earlier == entry) {
            duplicate(path, format!("v:{}", json::to_text(entry)), errors);
        }
    }
}

fn duplicate(path: &[String], element: String, errors: &mut Vec<String>) {
    let key = fields::to_text(&[element]);
    errors.push(format!("{}: duplicate entries for key {key}", fields::to_text(path)));
}

/// Go's `%#v`.
fn go_literal(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_literal).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{key:?}:{}", go_literal(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        Value::Null => "interface {}(nil)".to_owned(),
        other => json::to_text(other),
    }
}

/// Go's `%v`.
fn go_plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_plain).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{key}:{}", go_plain(value))).collect();
            format!("map[{}]", members.join(" "))
        }
        Value::Null => "<nil>".to_owned(),
        other => json::to_text(other),
    }
}

/// Go's `%T`.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::Null => "<nil>",
    }
}
