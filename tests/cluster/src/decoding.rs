//! Wrong types, in the words of Go's typed JSON decoding: what a POST is refused with.

use serde_json::Value;

use crate::schema::{Schema, Type};

/// The first value that does not fit, as Go's decoder tells it.
pub(crate) fn error(schema: Schema, object: &Value) -> Option<String> {
    find(schema, object, schema.name(), &mut Vec::new())
}

/// `parent` is the innermost struct; the path has the names of fields only, neither keys nor indices.
fn find<'a>(
    schema: Schema,
    value: &'a Value,
    parent: &'static str,
    path: &mut Vec<&'a str>,
) -> Option<String> {
    match (schema.resolve(), value) {
        (_, Value::Null)
        | (Type::Any | Type::Atomic | Type::Scalar | Type::Ignored, _)
        | (Type::String, Value::String(_))
        | (Type::Boolean, Value::Bool(_)) => None,
        // Every number in the table is an integer in Go.
        (Type::Number, Value::Number(number)) if !number.is_f64() => None,
        (Type::Struct(_), Value::Object(members)) => members.iter().find_map(|(name, member)| {
            let (field, _) = schema.field(name)?;
            path.push(name);
            let field = if is_text(schema, name) { Schema::STRING } else { field };
            let found = find(field, member, schema.name(), path);
            path.pop();
            found
        }),
        (Type::Map(item), Value::Object(members)) => {
            members.values().find_map(|member| find(item, member, parent, path))
        }
        (Type::List(item, _), Value::Array(items)) => {
            items.iter().find_map(|entry| find(item, entry, parent, path))
        }
        (Type::Set, Value::Array(items)) => {
            items.iter().find_map(|entry| find(Schema::STRING, entry, parent, path))
        }
        _ => {
            let (found, field) = (go_found(schema, value), path.join("."));
            let wanted = go_type(schema, parent, &field);
            let place = format!("{parent}.{field}");
            Some(format!(
                "json: cannot unmarshal {found} into Go struct field {place} of type {wanted}"
            ))
        }
    }
}

/// Metadata that nobody owns has a type all the same.
fn is_text(schema: Schema, field: &str) -> bool {
    schema.name() == "ObjectMeta"
        && ["name", "namespace", "selfLink", "uid", "resourceVersion"].contains(&field)
}

fn go_found(schema: Schema, value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "bool".to_owned(),
        // Only where some number was wanted is this one quoted.
        Value::Number(number) if matches!(schema.resolve(), Type::Number) => {
            format!("number {number}")
        }
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
    }
}

fn go_type(schema: Schema, parent: &str, field: &str) -> String {
    match (parent, field, schema.resolve()) {
        ("Secret", "data", Type::Map(_)) => "map[string][]uint8".to_owned(),
        ("Secret", "data", _) => "[]uint8".to_owned(),
        ("Secret", "type", _) => "v1.SecretType".to_owned(),
        (_, _, Type::String) => "string".to_owned(),
        (_, _, Type::Boolean) => "bool".to_owned(),
        (_, field, Type::Number) if field.ends_with("Seconds") => "int64".to_owned(),
        (_, _, Type::Number) => "int32".to_owned(),
        (_, _, Type::Set) => "[]string".to_owned(),
        (_, _, Type::Map(item)) => format!("map[string]{}", go_type(item, parent, "")),
        (_, _, Type::List(item, _)) => format!("[]{}", go_type(item, parent, "")),
        _ => format!("v1.{}", schema.name()),
    }
}
