//! Answers: objects, and `Status` objects with the texts that the recordings show.

use serde_json::{Map, Value, json};

use crate::http::Response;
use crate::json;
use crate::kinds::Kind;

/// One entry of a Status's `details.causes`.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) field: String,
}

impl Cause {
    pub(crate) fn invalid(field: impl Into<String>, value: &Value, why: &str) -> Self {
        Self::invalid_text(field, &json::to_text(value), why)
    }

    /// For a value whose own text counts, such as JSON as it was sent.
    pub(crate) fn invalid_text(field: impl Into<String>, value: &str, why: &str) -> Self {
        Self {
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {value}: {why}"),
            field: field.into(),
        }
    }

    pub(crate) fn required(field: impl Into<String>, why: &str) -> Self {
        let message = if why.is_empty() {
            "Required value".to_owned()
        } else {
            format!("Required value: {why}")
        };
        Self { reason: "FieldValueRequired", message, field: field.into() }
    }

    pub(crate) fn unsupported(field: &str, value: &Value, supported: &[&str]) -> Self {
        let supported: Vec<String> = supported.iter().map(|value| format!("{value:?}")).collect();
        Self {
            reason: "FieldValueNotSupported",
            message: format!(
                "Unsupported value: {}: supported values: {}",
                json::to_text(value),
                supported.join(", ")
            ),
            field: field.to_owned(),
        }
    }

    pub(crate) fn too_long(field: &str, bytes: usize) -> Self {
        Self {
            reason: "FieldValueTooLong",
            message: format!("Too long: may not be more than {bytes} bytes"),
            field: field.to_owned(),
        }
    }

    fn text(&self) -> String {
        format!("{}: {}", self.field, self.message)
    }

    fn to_value(&self) -> Value {
        json!({"reason": self.reason, "message": self.message, "field": self.field})
    }
}

/// What an answer is about; empty parts are left out of `details`.
#[derive(Clone, Copy, Default)]
pub(crate) struct About<'a> {
    pub(crate) name: &'a str,
    pub(crate) group: &'a str,
    /// The resource or the kind: the real server puts either here, as the error has it.
    pub(crate) kind: &'a str,
}

impl<'a> About<'a> {
    pub(crate) fn resource(kind: &'a Kind, name: &'a str) -> Self {
        Self { name, group: &kind.group, kind: &kind.resource }
    }

    pub(crate) fn kind(kind: &'a Kind, name: &'a str) -> Self {
        Self { name, group: &kind.group, kind: &kind.kind }
    }

    /// `deployments.apps`, or `configmaps` in the core group.
    pub(crate) fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.kind.to_owned()
        } else {
            format!("{}.{}", self.kind, self.group)
        }
    }

    fn details(&self, causes: &[Cause]) -> Value {
        let mut details = Map::new();
        for (key, value) in [("name", self.name), ("group", self.group), ("kind", self.kind)] {
            if !value.is_empty() {
                details.insert(key.to_owned(), value.into());
            }
        }
        if !causes.is_empty() {
            details.insert("causes".to_owned(), causes.iter().map(Cause::to_value).collect());
        }
        Value::Object(details)
    }
}

pub(crate) fn object(status: u16, object: &Value) -> Response {
    let mut body = json::to_bytes(object);
    body.push(b'\n');
    Response::new(status, "application/json", body)
}

pub(crate) fn plain(status: u16, text: &str) -> Response {
    Response::new(status, "text/plain; charset=utf-8", text.as_bytes().to_vec())
}

/// An unknown group, and whatever a group of custom resources does not know.
pub(crate) fn page_not_found() -> Response {
    plain(404, "404 page not found\n")
}

pub(crate) fn panicked() -> Response {
    plain(500, "This request caused apiserver to panic. Look in the logs for details.\n")
}

/// `details` names the deleted object; the proxied kinds of `authorization.openshift.io` name nothing.
pub(crate) fn deleted(kind: &Kind, name: &str, uid: &Value) -> Response {
    let mut status =
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
    if !kind.is_proxied() {
        let mut details = About::resource(kind, name).details(&[]);
        details["uid"] = uid.clone();
        status["details"] = details;
    }
    object(200, &status)
}

fn failure(code: u16, reason: &str, message: &str, details: Option<Value>) -> Response {
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code,
    });
    if !reason.is_empty() {
        status["reason"] = reason.into();
    }
    if let Some(details) = details {
        status["details"] = details;
    }
    object(code, &status)
}

pub(crate) fn bad_request(message: &str) -> Response {
    failure(400, "BadRequest", message, None)
}

pub(crate) fn unauthorized() -> Response {
    failure(401, "Unauthorized", "Unauthorized", None)
}

pub(crate) fn forbidden(message: &str, about: About<'_>) -> Response {
    failure(403, "Forbidden", message, Some(about.details(&[])))
}

/// Cluster-wide words for what the API does not have at all.
pub(crate) fn no_such_resource() -> Response {
    failure(404, "NotFound", "the server could not find the requested resource", Some(json!({})))
}

pub(crate) fn not_found(about: About<'_>) -> Response {
    let message = format!("{} {:?} not found", about.qualified(), about.name);
    failure(404, "NotFound", &message, Some(about.details(&[])))
}

pub(crate) fn namespace_not_found(name: &str) -> Response {
    not_found(About { name, group: "", kind: "namespaces" })
}

pub(crate) fn namespace_terminating(about: About<'_>, namespace: &str) -> Response {
    let message = format!(
        "{} {:?} is forbidden: unable to create new content in namespace {namespace} because it is being terminated",
        about.qualified(),
        about.name
    );
    let cause = Cause {
        reason: "NamespaceTerminating",
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    };
    failure(403, "Forbidden", &message, Some(about.details(&[cause])))
}

pub(crate) fn method_not_allowed() -> Response {
    let message = "the server does not allow this method on the requested resource";
    failure(405, "MethodNotAllowed", message, Some(json!({})))
}

pub(crate) fn not_acceptable() -> Response {
    let message = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, \
                   application/vnd.kubernetes.protobuf";
    failure(406, "NotAcceptable", message, Some(serde_json::json!({})))
}

pub(crate) fn conflict(about: About<'_>, why: &str) -> Response {
    let message =
        format!("Operation cannot be fulfilled on {} {:?}: {why}", about.qualified(), about.name);
    failure(409, "Conflict", &message, Some(about.details(&[])))
}

pub(crate) fn already_exists(about: About<'_>) -> Response {
    let message = format!("{} {:?} already exists", about.qualified(), about.name);
    failure(409, "AlreadyExists", &message, Some(about.details(&[])))
}

pub(crate) fn apply_conflict(message: &str, causes: &[Cause]) -> Response {
    failure(409, "Conflict", message, Some(About::default().details(causes)))
}

pub(crate) fn too_large(limit: usize) -> Response {
    let message = format!("Request entity too large: limit is {limit}");
    failure(413, "RequestEntityTooLarge", &message, None)
}

pub(crate) fn unsupported_media_type(message: &str, details: Option<Value>) -> Response {
    failure(415, "UnsupportedMediaType", message, details)
}

/// Equal errors are said once in the text and each in the causes (the recorded `apply-with-uid`).
pub(crate) fn invalid(about: About<'_>, causes: &[Cause]) -> Response {
    let mut texts: Vec<String> = Vec::new();
    for text in causes.iter().map(Cause::text) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    let list = match texts.as_slice() {
        [text] => text.clone(),
        texts => format!("[{}]", texts.join(", ")),
    };
    let message = format!("{} {:?} is invalid: {list}", about.qualified(), about.name);
    failure(422, "Invalid", &message, Some(about.details(causes)))
}

pub(crate) fn invalid_options(kind: &str, cause: Cause) -> Response {
    invalid(About { name: "", group: "meta.k8s.io", kind }, &[cause])
}

/// Errors that the server has no reason for, such as those of typed decoding in server-side apply.
pub(crate) fn internal(message: &str) -> Response {
    failure(500, "", message, None)
}
