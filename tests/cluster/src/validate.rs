//! What is refused with 422 although it could be decoded.

use serde_json::Value;

use crate::kinds::Kind;
use crate::status::Cause;

/// The most that the values of a `ConfigMap` or a Secret may come to.
const MAX_DATA: usize = 1024 * 1024;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', \
    and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
    start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const CONFIG_KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
    'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

const DUPLICATE: &str = "duplicate of key present in binaryData";

const NAME_PART: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end \
    with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const IMMUTABLE: &str = "field is immutable";

/// Everything wrong with an object that is to be stored in place of the live one.
pub(crate) fn object(kind: &Kind, live: Option<&Value>, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if live.is_none() {
        causes.extend(name(kind, object["metadata"]["name"].as_str().unwrap_or_default()));
    }
    causes.extend(label_keys(object));
    match (kind.group.as_str(), kind.kind.as_str()) {
        ("", "ConfigMap") => {
            causes.extend(config_keys(object));
            causes.extend(size(object, &["data", "binaryData"], "[]"));
        }
        ("", "Secret") => {
            causes.extend(config_keys(object));
            causes.extend(immutable(live, object, &["type"]));
            causes.extend(tls_keys(object));
            causes.extend(size(object, &["data"], "data"));
        }
        ("apps", "Deployment") => causes.extend(immutable(live, object, &["spec", "selector"])),
        _ => {}
    }
    causes
}

fn config_keys(object: &Value) -> impl Iterator<Item = Cause> {
    let keys_of = |field: &'static str| {
        let keys = object[field].as_object().into_iter().flat_map(serde_json::Map::keys);
        keys.map(move |key| (field, key))
    };
    keys_of("data").chain(keys_of("binaryData")).filter_map(move |(field, key)| {
        let twice = field == "data" && object["binaryData"].get(key).is_some();
        let why = if twice { Some(DUPLICATE) } else { config_key(key) };
        why.map(|why| Cause::invalid(format!("{field}[{key}]"), &key.as_str().into(), why))
    })
}

/// A key is the name of a file once it is mounted.
fn config_key(key: &str) -> Option<&'static str> {
    match key {
        "." => Some("must not be '.'"),
        ".." => Some("must not be '..'"),
        _ if key.starts_with("..") => Some("must not start with '..'"),
        _ if key.len() > 253 => Some("must be no more than 253 characters"),
        _ if key.is_empty()
            || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) =>
        {
            Some(CONFIG_KEY)
        }
        _ => None,
    }
}

/// Only the part after a prefix is looked at.
fn label_keys(object: &Value) -> impl Iterator<Item = Cause> {
    let fits = |key: &str| {
        let name = key.rsplit('/').next().unwrap_or_default();
        let edge = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric());
        edge(name.bytes().next())
            && edge(name.bytes().last())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let labels = object["metadata"]["labels"].as_object();
    let keys = labels.into_iter().flat_map(serde_json::Map::keys);
    keys.filter(move |key| !fits(key))
        .map(|key| Cause::invalid("metadata.labels", &key.as_str().into(), NAME_PART))
}

fn name(kind: &Kind, name: &str) -> Option<Cause> {
    if name.is_empty() {
        return Some(Cause::required("metadata.name", "name or generateName is required"));
    }
    let why = if kind.group.contains("authorization") {
        // Names of roles and bindings are path segments: "system:x" and "jenkins_edit" are usual.
        (["/", "%"].iter().any(|bad| name.contains(bad)) || name == "." || name == "..")
            .then_some("may not be a path segment name")
    } else if kind.group.is_empty() && ["namespaces", "services"].contains(&kind.resource.as_str())
    {
        (!is_label(name)).then_some(LABEL)
    } else {
        (name.len() > 253 || !name.split('.').all(is_label_text)).then_some(SUBDOMAIN)
    };
    why.map(|why| Cause::invalid("metadata.name", &name.into(), why))
}

fn is_label(text: &str) -> bool {
    text.len() <= 63 && is_label_text(text)
}

fn is_label_text(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_some_and(|c| c != '-');
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        && ends(text.chars().next())
        && ends(text.chars().last())
}

fn immutable(live: Option<&Value>, object: &Value, path: &[&str]) -> Option<Cause> {
    let at = |object: &Value| path.iter().fold(object.clone(), |at, field| at[*field].clone());
    let now = at(object);
    (at(live?) != now).then(|| Cause::invalid(path.join("."), &now, IMMUTABLE))
}

fn tls_keys(secret: &Value) -> Vec<Cause> {
    if secret["type"] != "kubernetes.io/tls" {
        return Vec::new();
    }
    let missing =
        ["tls.crt", "tls.key"].into_iter().filter(|key| secret["data"].get(key).is_none());
    missing.map(|key| Cause::required(format!("data[{key}]"), "")).collect()
}

fn size(object: &Value, fields: &[&str], named: &str) -> Option<Cause> {
    let values = fields.iter().filter_map(|field| object[*field].as_object()).flatten();
    let total: usize = values.map(|(_, value)| value.as_str().unwrap_or_default().len()).sum();
    (total > MAX_DATA).then(|| Cause::too_long(named, MAX_DATA))
}
