//! One object of a Template after the other: decoded, stripped of its namespace, substituted, given its group and its
//! labels.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::substitute::{Panic, Values, references};
use super::{groups, raw};
use crate::json;
use crate::status::Cause;

/// Why an object cannot be rendered.
pub(super) enum Refusal {
    Invalid(Cause),
    Panic,
}

impl From<Panic> for Refusal {
    fn from(_: Panic) -> Self {
        Self::Panic
    }
}

pub(super) type Labels = Option<BTreeMap<String, String>>;

pub(super) fn render(
    index: usize,
    text: &str,
    values: &Values,
    labels: &Labels,
) -> Result<Value, Refusal> {
    if raw::type_of(text) == "null" {
        return Err(Refusal::Panic);
    }
    let object = decode(text).map_err(|why| {
        let field = format!("item[{index}].objects");
        Refusal::Invalid(Cause::invalid_text(
            field,
            &raw::compact(text),
            &format!("unable to handle object: {why}"),
        ))
    })?;
    let is_list = object.contains_key("items");
    let object = if is_list { object } else { strip_namespace(object) };
    let mut object = values.object(object)?;
    groupify(&mut object);
    match labels {
        Some(labels) if is_list => {
            let why = "label could not be applied: object does not implement the Object interfaces";
            return Err(Refusal::Invalid(Cause::invalid(
                format!("item[{index}].labels"),
                &json!(labels),
                why,
            )));
        }
        Some(labels) => add_labels(&mut object, labels),
        None => {}
    }
    Ok(Value::Object(object))
}

fn decode(text: &str) -> Result<Map<String, Value>, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(mut object) = json::with_go_integers(value) else {
        let found = raw::type_of(text);
        return Err(format!(
            "json: cannot unmarshal {found} into Go value of type unstructured.detector"
        ));
    };
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let api_version =
        object.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
    if kind.is_empty() || api_version.matches('/').count() > 1 {
        return Err(format!("Object 'Kind' is missing in '{text}'"));
    }
    if let Some(items) = object.remove("items") {
        object.insert("items".to_owned(), decode_items(items, text, &api_version, &kind)?);
    }
    Ok(object)
}

/// Items get what the list's kind implies when they say neither kind nor version themselves.
fn decode_items(items: Value, text: &str, api_version: &str, kind: &str) -> Result<Value, String> {
    let items = match items {
        Value::Null => Vec::new(),
        Value::Array(items) => items,
        other => {
            let found = raw::type_of(&json::to_text(&other));
            let field = "Go struct field decodeList.items of type []json.RawMessage";
            return Err(format!("json: cannot unmarshal {found} into {field}"));
        }
    };
    let mut decoded = Vec::new();
    for item in items {
        let Value::Object(mut item) = item else {
            let found = raw::type_of(&json::to_text(&item));
            return Err(format!(
                "json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"
            ));
        };
        let says =
            |field| item.get(field).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        if !says("kind") && !says("apiVersion") {
            item.insert("kind".to_owned(), kind.strip_suffix("List").unwrap_or(kind).into());
            item.insert("apiVersion".to_owned(), api_version.into());
        }
        if item.get("kind").and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(format!("Object 'Kind' is missing in '{text}'"));
        }
        decoded.push(Value::Object(item));
    }
    Ok(Value::Array(decoded))
}

/// Decided before substitution: a literal namespace goes, one with a `${P}` stays, whatever is no text becomes empty.
fn strip_namespace(mut object: Map<String, Value>) -> Map<String, Value> {
    let has_reference =
        |value: &Value| value.as_str().is_some_and(|text| !references(text).is_empty());
    match object.get_mut("metadata") {
        Some(Value::Object(metadata)) => {
            let Some(namespace) = metadata.get("namespace") else {
                return object;
            };
            if namespace.as_str().is_some_and(|text| !text.is_empty()) && !has_reference(namespace)
            {
                metadata.remove("namespace");
            } else if !has_reference(namespace) {
                metadata.insert("namespace".to_owned(), "".into());
            }
        }
        Some(_) => {}
        None => {
            if object.get("namespace").is_some_and(|namespace| !has_reference(namespace)) {
                object.insert("namespace".to_owned(), "".into());
            }
        }
    }
    object
}

fn groupify(object: &mut Map<String, Value>) {
    let text =
        |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let api_version = groups::group_version(&api_version, &kind).unwrap_or(api_version);
    object.insert("apiVersion".to_owned(), api_version.into());
}

fn add_labels(object: &mut Map<String, Value>, labels: &BTreeMap<String, String>) {
    let metadata = object.entry("metadata").or_insert_with(|| json!({}));
    let Some(metadata) = metadata.as_object_mut() else {
        return;
    };
    let mut merged = own_labels(metadata.get("labels"));
    merged.extend(labels.iter().map(|(key, value)| (key.clone(), value.as_str().into())));
    metadata.insert("labels".to_owned(), Value::Object(merged));
}

/// One label that is no text costs all of them.
fn own_labels(labels: Option<&Value>) -> Map<String, Value> {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let labels: Option<Map<String, Value>> = labels
        .map(|(key, value)| match value {
            Value::String(_) => Some((key.clone(), value.clone())),
            Value::Null => Some((key.clone(), "".into())),
            _ => None,
        })
        .collect();
    labels.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(object: &Value, labels: &Labels) -> Value {
        let pairs = [("A", "a"), ("E", ""), ("N", "5")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        match render(0, &object.to_string(), &Values(pairs.into()), labels) {
            Ok(object) => object,
            Err(Refusal::Invalid(cause)) => json!({"refused": cause.message, "field": cause.field}),
            Err(Refusal::Panic) => "panic".into(),
        }
    }

    #[test]
    fn namespaces() {
        for (written, expected) in [
            (json!("hard"), None),
            (json!("${A-B}"), None),
            (json!("$A"), None),
            (json!("${{A}}"), None),
            (json!("x-${{A}}"), None),
            (json!("${A}"), Some("a")),
            (json!("x-${A}"), Some("x-a")),
            (json!("${ZZ}"), Some("${ZZ}")),
            (json!("${E}"), Some("")),
            (json!(""), Some("")),
            (json!(null), Some("")),
            (json!(5), Some("")),
            (json!(["x"]), Some("")),
            (json!({"a": "b"}), Some("")),
        ] {
            let object = json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "namespace": written}});
            let found = rendered(&object, &None);
            assert_eq!(
                found["metadata"].get("namespace").map(|ns| ns.as_str().unwrap_or("?")),
                expected,
                "{written}"
            );
        }
        let top = json!({"apiVersion": "v1", "kind": "K", "namespace": "x"});
        assert_eq!(rendered(&top, &None)["namespace"], "");
        let beside = json!({"apiVersion": "v1", "kind": "K", "metadata": null, "namespace": "x"});
        assert_eq!(rendered(&beside, &None)["namespace"], "x");
    }

    #[test]
    fn labels() {
        let object =
            |metadata: &Value| json!({"apiVersion": "v1", "kind": "K", "metadata": metadata});
        let labels: Labels = Some([("t".to_owned(), "1".to_owned())].into());
        for (metadata, expected) in [
            (json!({}), json!({"labels": {"t": "1"}})),
            (json!({"labels": {"o": "2"}}), json!({"labels": {"o": "2", "t": "1"}})),
            (json!({"labels": {"t": "2"}}), json!({"labels": {"t": "1"}})),
            (json!({"labels": {"o": "${{N}}", "p": "2"}}), json!({"labels": {"t": "1"}})),
            (json!({"labels": {"o": null}}), json!({"labels": {"o": "", "t": "1"}})),
            (json!(null), json!(null)),
            (json!("text"), json!("text")),
        ] {
            assert_eq!(rendered(&object(&metadata), &labels)["metadata"], expected, "{metadata}");
        }
        assert_eq!(
            rendered(&object(&json!({})), &Some(BTreeMap::new()))["metadata"],
            json!({"labels": {}})
        );
        let bare = json!({"apiVersion": "v1", "kind": "K"});
        assert_eq!(rendered(&bare, &labels)["metadata"], json!({"labels": {"t": "1"}}));
        assert_eq!(rendered(&bare, &None), bare);
    }

    #[test]
    fn objects_that_are_none() {
        for (object, why) in [
            (
                json!({"a": 1}),
                "Invalid value: {\"a\":1}: unable to handle object: Object 'Kind' is missing in '{\"a\":1}'",
            ),
            (
                json!("x"),
                "Invalid value: \"x\": unable to handle object: json: cannot unmarshal string into Go value of type \
                 unstructured.detector",
            ),
            (
                json!({"apiVersion": "a/b/c", "kind": "K"}),
                "Invalid value: {\"apiVersion\":\"a/b/c\",\"kind\":\"K\"}: unable to handle object: Object 'Kind' is \
                 missing in '{\"apiVersion\":\"a/b/c\",\"kind\":\"K\"}'",
            ),
        ] {
            assert_eq!(
                rendered(&object, &None),
                json!({"refused": why, "field": "item[0].objects"})
            );
        }
        assert_eq!(rendered(&Value::Null, &None), "panic");
    }

    #[test]
    fn lists_and_versions() {
        for (object, expected) in [
            (
                json!({"apiVersion": "x/v1", "kind": "FooList", "items": [{"a": "${A}"}, {"kind": "B"}]}),
                json!({"apiVersion": "x/v1", "kind": "FooList",
                    "items": [{"apiVersion": "x/v1", "kind": "Foo", "a": "a"}, {"kind": "B"}]}),
            ),
            (
                json!({"kind": "List", "items": null}),
                json!({"apiVersion": "", "kind": "List", "items": []}),
            ),
            (json!({"kind": "K", "apiVersion": 5}), json!({"apiVersion": "", "kind": "K"})),
            (
                json!({"kind": "K", "apiVersion": "v1", "n": [9_223_372_036_854_775_807_i64, 1.0, 1.10]}),
                json!({"kind": "K", "apiVersion": "v1", "n": [9_223_372_036_854_775_807_i64, 1.0, 1.1]}),
            ),
        ] {
            assert_eq!(rendered(&object, &None), expected, "{object}");
        }
        let list = json!({"apiVersion": "v1", "kind": "List", "items": []});
        assert_eq!(rendered(&list, &Some(BTreeMap::new()))["field"], "item[0].labels");
    }
}
