//! POST of an object, and an administrator's own way into the store.

use serde_json::Value;

use crate::http::{Request, Response};
use crate::kinds::Kind;
use crate::managed_fields::Entry;
use crate::status::{self, About, Cause};
use crate::store::Store;
use crate::target::Query;
use crate::write::Write;
use crate::{admission, body, decoding, defaults, ids, options, schema, template};

pub(crate) fn create(
    kind: &Kind,
    namespace: Option<&str>,
    request: &Request,
    query: &Query,
    store: &mut Store,
) -> Result<Response, Response> {
    let options = options::write_options("CreateOptions", query)?;
    let mut object = match request.content_type() {
        "" | "application/json" => body::json_of_kind(&request.body, &kind.kind)?,
        "application/yaml" => body::yaml(&request.body)?,
        _ => {
            let message = "the body of the request was in an unknown format - accepted media types include: \
                           application/json, application/yaml, application/vnd.kubernetes.protobuf";
            return Err(status::unsupported_media_type(message, None));
        }
    };
    check_kind(kind, &object)?;
    if kind.resource == "templates" {
        template::check_new(request)?;
    }
    check_fields(kind, &object)?;
    body::check_namespace(&object, namespace)?;
    let name = name_of(kind, &mut object)?;
    let write = Write { kind, namespace, name: &name, dry_run: options.dry_run };
    if let Some(namespace) = namespace.filter(|_| kind.namespaced) {
        admission::check_namespace(store, namespace, write.about())?;
    }
    write.check_base64(&object)?;
    if store.get(&write.key()).is_some() {
        return Err(status::already_exists(write.about()));
    }
    let answer = insert(&write, object, &options.manager(request), store)?;
    Ok(status::object(201, &answer))
}

/// Stores an object that is new.
pub(crate) fn insert(
    write: &Write<'_>,
    mut object: Value,
    manager: &str,
    store: &mut Store,
) -> Result<Value, Response> {
    let kind = write.kind;
    if kind.group.is_empty() && kind.resource == "namespaces" {
        store.add_namespace(write.name);
        return Ok(store.get(&write.key()).cloned().unwrap_or_default());
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
        metadata.remove("resourceVersion");
    }
    defaults::nulls(kind, &mut object);
    // Decoding a Secret completes it before anybody owns a field of it.
    if write.is_secret() {
        defaults::string_data(&mut object);
        defaults::fill(kind, write.namespace, &mut object);
    }
    let fields = schema::of_kind(&kind.api_version(), &kind.kind).fields_of_update(&object);
    // The proxied kinds are stored, and owned, as what they stand for.
    let api_version = if kind.is_proxied() {
        "rbac.authorization.k8s.io/v1".to_owned()
    } else {
        kind.api_version()
    };
    let entry = Entry::update(manager, &api_version, fields);
    let entries = if entry.fields.is_empty() { Vec::new() } else { vec![entry] };
    write.finish(store, object, &entries)
}

fn check_kind(kind: &Kind, object: &Value) -> Result<(), Response> {
    let says = |field: &str| object[field].as_str().unwrap_or_default();
    let api_version = kind.api_version();
    if !says("apiVersion").is_empty() && says("apiVersion") != api_version {
        return Err(status::bad_request(&format!(
            "the API version in the data ({}) does not match the expected API version ({api_version})",
            says("apiVersion")
        )));
    }
    if !says("kind").is_empty() && says("kind") != kind.kind {
        return Err(status::bad_request(&format!(
            "{} in version {:?} cannot be handled as a {}: unexpected kind",
            says("kind"),
            kind.version,
            kind.kind
        )));
    }
    Ok(())
}

/// Wrong types cannot be decoded. Unknown fields can, with a warning that is not emulated here.
fn check_fields(kind: &Kind, object: &Value) -> Result<(), Response> {
    match decoding::error(schema::of_kind(&kind.api_version(), &kind.kind), object) {
        None => Ok(()),
        Some(error) => Err(status::bad_request(&format!(
            "{} in version {:?} cannot be handled as a {}: {error}",
            kind.kind, kind.version, kind.kind
        ))),
    }
}

fn name_of(kind: &Kind, object: &mut Value) -> Result<String, Response> {
    let says = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let (name, prefix) = (says("name"), says("generateName"));
    if !name.is_empty() {
        return Ok(name);
    }
    if prefix.is_empty() {
        let cause = Cause::required("metadata.name", "name or generateName is required");
        return Err(status::invalid(About::kind(kind, ""), &[cause]));
    }
    Ok(format!("{prefix}{}", ids::suffix()))
}
