//! Templates that the caller has, brought into the form that the API takes.

use std::path::Path;

use serde_json::{Map, Value};

use super::API_VERSION;
use crate::{InvalidInput, Result, yaml};

/// A Template at the API server is at most 3 MiB; YAML of it can be longer.
const FILE_LIMIT: u64 = 16 * 1024 * 1024;

pub(super) fn read(path: &Path) -> Result<Map<String, Value>> {
    let text = read_text(path, "Template in YAML or JSON")?;
    let line = match yaml::first_document(&text) {
        Ok(Value::Object(template)) => return Ok(template),
        Ok(_) => None,
        Err(line) => line,
    };
    let (path, expected) = (path.to_owned(), "Template in YAML or JSON");
    Err(InvalidInput::FileFormat { path, line, expected }.into())
}

pub(super) fn read_text(path: &Path, expected: &'static str) -> Result<String> {
    use std::io::Read as _;

    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(FILE_LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|error| InvalidInput::File { path: path.to_owned(), kind: error.kind() })?;
    if bytes.len() as u64 > FILE_LIMIT {
        let kind = std::io::ErrorKind::FileTooLarge;
        return Err(InvalidInput::File { path: path.to_owned(), kind }.into());
    }
    yaml::decode(&bytes).ok_or_else(|| {
        InvalidInput::FileFormat { path: path.to_owned(), line: None, expected }.into()
    })
}

/// The group was added to Templates late: files still say `v1`, which the API refuses. Its types
/// are strict too: a value is a string there, whatever YAML took it for.
pub(super) fn template(mut template: Map<String, Value>) -> Result<Map<String, Value>> {
    let refuse = |field| Err(InvalidInput::NotATemplate { field }.into());
    if template.get("kind").and_then(Value::as_str) != Some("Template") {
        return refuse("kind");
    }
    match template.get("apiVersion").and_then(Value::as_str) {
        Some("v1" | API_VERSION) => {}
        _ => return refuse("apiVersion"),
    }
    template.insert("apiVersion".to_owned(), Value::String(API_VERSION.to_owned()));
    let definitions = match template.get_mut("parameters") {
        None | Some(Value::Null) => return Ok(template),
        Some(Value::Array(definitions)) => definitions,
        Some(_) => return refuse("parameters"),
    };
    for definition in definitions {
        let Value::Object(definition) = definition else { return refuse("parameters") };
        match definition.get_mut("value") {
            None | Some(Value::Null | Value::String(_)) => {}
            Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                *value = Value::String(value.to_string());
            }
            Some(_) => return refuse("parameters"),
        }
    }
    Ok(template)
}

pub(super) fn name(template: &Map<String, Value>) -> Option<&str> {
    template.get("metadata")?.get("name")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Error;

    fn made(value: Value) -> Result<Value, &'static str> {
        let Value::Object(map) = value else { panic!("{value}") };
        match template(map) {
            Ok(map) => Ok(Value::Object(map)),
            Err(Error::InvalidInput(InvalidInput::NotATemplate { field })) => Err(field),
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn the_old_version_and_values_that_are_no_text_are_mended() {
        let given = json!({"kind": "Template", "apiVersion": "v1", "parameters": [
            {"name": "A", "value": 3}, {"name": "B", "value": true}, {"name": "C", "value": null},
            {"name": "D", "value": "x"}, {"name": "E"},
        ]});
        let expected = json!({"kind": "Template", "apiVersion": API_VERSION, "parameters": [
            {"name": "A", "value": "3"}, {"name": "B", "value": "true"}, {"name": "C", "value": null},
            {"name": "D", "value": "x"}, {"name": "E"},
        ]});
        assert_eq!(made(given), Ok(expected));
    }

    #[test]
    fn anything_but_a_template_is_refused() {
        for (given, field) in [
            (json!({"apiVersion": "v1"}), "kind"),
            (json!({"kind": "List", "apiVersion": "v1"}), "kind"),
            (json!({"kind": "Template", "apiVersion": "example.com/v1"}), "apiVersion"),
            (json!({"kind": "Template"}), "apiVersion"),
            (json!({"kind": "Template", "apiVersion": "v1", "parameters": {}}), "parameters"),
            (json!({"kind": "Template", "apiVersion": "v1", "parameters": [1]}), "parameters"),
            (
                json!({"kind": "Template", "apiVersion": "v1", "parameters": [{"value": []}]}),
                "parameters",
            ),
        ] {
            assert_eq!(made(given.clone()), Err(field), "{given}");
        }
    }

    #[test]
    fn a_file_is_yaml_or_json_and_of_a_bounded_size() {
        let dir = tempfile::tempdir().unwrap();
        let file = |text: &str| {
            let path = dir.path().join("t");
            std::fs::write(&path, text).unwrap();
            super::super::Template::from_file(&path)
        };
        let yaml = "apiVersion: v1\nkind: Template\nmetadata: {name: t}\n---\nkind: Other\n";
        assert_eq!(file(yaml).unwrap().name(), "t");
        assert!(file(r#"{"apiVersion": "v1", "kind": "Template"}"#).is_ok());
        for (text, line) in [("a: [\n", Some(2)), ("- a\n", None), ("", None)] {
            let error = file(text).unwrap_err();
            let Error::InvalidInput(InvalidInput::FileFormat { line: found, .. }) = error else {
                panic!("{error:?}")
            };
            assert_eq!(found, line, "{text:?}");
        }
        let missing = super::super::Template::from_file(dir.path().join("nothing")).unwrap_err();
        assert!(missing.to_string().contains("nothing"), "{missing}");
    }
}
