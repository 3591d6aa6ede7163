//! Bodies of requests that are objects.

use serde_json::Value;

use crate::http::Response;
use crate::json;
use crate::status;

pub(crate) fn json(bytes: &[u8]) -> Result<Value, Response> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        status::bad_request(&format!("couldn't get version/kind; json parse error: {error}"))
    })?;
    object(value)
}

/// YAML, of which JSON is a part.
pub(crate) fn yaml(bytes: &[u8]) -> Result<Value, Response> {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return object(value);
    }
    match serde_yaml::from_slice(bytes) {
        Ok(value) => object(value),
        Err(error) => Err(status::bad_request(&format!(
            "error decoding YAML: error converting YAML to JSON: yaml: {}",
            yaml_error(&error)
        ))),
    }
}

/// Go's parser says the line first, counted from where the parser began, and no column.
fn yaml_error(error: &serde_yaml::Error) -> String {
    let text = error.to_string();
    let problem = text.split(" at line ").next().unwrap_or_default();
    match error.location() {
        Some(location) => format!("line {}: {problem}", location.line().saturating_sub(1).max(1)),
        None => problem.to_owned(),
    }
}

fn object(value: Value) -> Result<Value, Response> {
    if value.is_object() {
        Ok(json::with_go_integers(value))
    } else {
        Err(status::bad_request("the body of the request is not an object"))
    }
}

pub(crate) fn check_namespace(object: &Value, namespace: Option<&str>) -> Result<(), Response> {
    let written = object["metadata"]["namespace"].as_str().unwrap_or_default();
    if written.is_empty() || Some(written) == namespace {
        return Ok(());
    }
    Err(status::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request",
    ))
}
