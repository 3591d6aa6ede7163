//! Bodies of requests that are objects.

use serde_json::Value;

use crate::http::Response;
use crate::json;
use crate::status;

pub(crate) fn json(bytes: &[u8]) -> Result<Value, Response> {
    parse(bytes).map_err(|why| status::bad_request(&why))
}

/// The same, in the words for an object that was to be created.
pub(crate) fn json_of_kind(bytes: &[u8], kind: &str) -> Result<Value, Response> {
    parse(bytes).map_err(|why| {
        let shown = shown(bytes);
        let unrecognized = "the object provided is unrecognized (must be of type";
        status::bad_request(&format!("{unrecognized} {kind}): {why} ({shown})"))
    })
}

/// The beginning of a body, in hexadecimal unless it looks like JSON.
fn shown(bytes: &[u8]) -> String {
    const LIMIT: usize = 30;
    let start = bytes.get(..LIMIT).unwrap_or(bytes);
    let text = match start.first() {
        None => return "<empty>".to_owned(),
        Some(b'{') => String::from_utf8_lossy(start).into_owned(),
        Some(_) => {
            start.iter().flat_map(|byte| [byte >> 4, byte & 15]).filter_map(hex_digit).collect()
        }
    };
    if bytes.len() > LIMIT { format!("{text} ...") } else { text }
}

fn hex_digit(half: u8) -> Option<char> {
    char::from_digit(half.into(), 16)
}

fn parse(bytes: &[u8]) -> Result<Value, String> {
    let why = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) if value.is_object() => return Ok(json::with_go_integers(value)),
        Err(error) if error.is_eof() => "unexpected end of JSON input".to_owned(),
        Ok(_) => "json: cannot unmarshal into Go value of type struct".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(format!("couldn't get version/kind; json parse error: {why}"))
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
        let found = match value {
            Value::Array(_) => "array",
            Value::String(_) => "string",
            Value::Number(_) => "number",
            Value::Bool(_) => "bool",
            Value::Null | Value::Object(_) => "null",
        };
        Err(status::bad_request(&format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal \
             {found} into Go value of type map[string]interface {{}}"
        )))
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
