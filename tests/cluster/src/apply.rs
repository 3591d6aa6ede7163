//! PATCH: server-side apply, and merge patches.

use serde_json::{Value, json};

use crate::fields::{self, FieldSet, Path};
use crate::http::{Request, Response};
use crate::managed_fields::{self, Entry};
use crate::options::{self, WriteOptions};
use crate::schema::{self, Schema};
use crate::status::{self, Cause};
use crate::store::Store;
use crate::target::Query;
use crate::write::{Write, written_name};
use crate::{admission, body, defaults};

/// Metadata that is the server's; what a body says of it is at most a precondition.
const SERVER_METADATA: [&str; 9] = [
    "name",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "managedFields",
];

pub(crate) fn patch(
    mut write: Write<'_>,
    request: &Request,
    query: &Query,
    store: &mut Store,
) -> Result<Response, Response> {
    let is_apply = match request.content_type() {
        "application/apply-patch+yaml" => true,
        "application/merge-patch+json" => false,
        _ => {
            return Err(status::unsupported_media_type(
                "415: Unsupported Media Type",
                Some(json!({})),
            ));
        }
    };
    let options = options::write_options("PatchOptions", query)?;
    write.dry_run = options.dry_run;
    if !is_apply {
        return merge_patch(&write, request, &options, store);
    }
    let Some(manager) = options.field_manager() else {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(status::invalid_options("PatchOptions", cause));
    };
    let applied = body::yaml(&request.body)?;
    apply(&write, applied, manager, options.force, store)
}

fn apply(
    write: &Write<'_>,
    mut applied: Value,
    manager: &str,
    force: bool,
    store: &mut Store,
) -> Result<Response, Response> {
    if !applied["metadata"]["managedFields"].is_null() {
        return Err(status::bad_request("metadata.managedFields must be nil"));
    }
    let schema = check_type(write, &applied)?;
    let live = store.get(&write.key()).cloned();
    let written = applied.clone();
    strip(write, &mut applied);
    let mut entries = live.as_ref().map(managed_fields::of).unwrap_or_default();
    let owned = schema.fields_of_apply(&applied);
    let conflicts = conflicts(&entries, live.as_ref(), &applied, &owned, manager);
    if !conflicts.is_empty() && !force {
        return Err(refuse_conflicts(&conflicts, &entries));
    }
    for (index, path) in conflicts {
        if let Some(entry) = entries.get_mut(index) {
            entry.fields.remove_all(&[path]);
        }
    }
    let previous = entries
        .iter()
        .position(|entry| entry.is_of(manager, "Apply"))
        .map(|index| entries.remove(index));
    entries.retain(|entry| !entry.fields.is_empty());
    let mut object = schema.merge(live.as_ref(), &applied);
    if let Some(previous) = &previous {
        drop_fields(&mut object, &previous.fields, &owned, &entries);
        // A map that lost all that was in it went with it, also where it was applied as empty.
        object = schema.merge(Some(&object), &applied);
        let emptied = owned.iter().filter(|path| {
            previous.fields.iter().any(|old| old.len() > path.len() && old.starts_with(path))
        });
        for path in emptied {
            fields::empty_to_null(&mut object, path);
        }
    }
    if !owned.is_empty() {
        entries.push(Entry::apply(manager, &write.kind.api_version(), owned));
    }
    check_identity(write, &written)?;
    write.check_base64(&written)?;
    check_preconditions(write, live.as_ref(), &written, store)?;
    let answer = write.finish(store, object, &entries)?;
    Ok(status::object(if live.is_some() { 200 } else { 201 }, &answer))
}

/// An unknown field or a wrong type costs a 500 without a reason, as recorded.
fn check_type(write: &Write<'_>, applied: &Value) -> Result<Schema, Response> {
    let (api_version, kind) = (write.kind.api_version(), write.kind.kind.as_str());
    let says = |field: &str| applied[field].as_str().unwrap_or_default().to_owned();
    if says("apiVersion") != api_version || says("kind") != kind {
        let version = says("apiVersion");
        let slash = if version.contains('/') { "" } else { "/" };
        let why = format!("invalid object type: {slash}{version}, Kind={}", says("kind"));
        return Err(status::bad_request(&why));
    }
    let schema = schema::of_kind(&api_version, kind);
    let mut errors = Vec::new();
    schema.check(applied, &mut Path::new(), &mut errors);
    if errors.is_empty() {
        return Ok(schema);
    }
    let list = match errors.as_slice() {
        [error] => error.clone(),
        errors => format!("errors:\n  {}", errors.join("\n  ")),
    };
    let gvk = write.kind.gvk_text();
    Err(status::internal(&format!(
        "failed to create typed patch object ({}; {gvk}): {list}",
        written_name(applied)
    )))
}

fn strip(write: &Write<'_>, applied: &mut Value) {
    defaults::nulls(write.kind, applied);
    let Some(members) = applied.as_object_mut() else { return };
    if write.kind.has_status {
        members.remove("status");
    }
    if let Some(metadata) = members.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|field, _| !SERVER_METADATA.contains(&field.as_str()));
        // Nobody owns an empty one.
        if metadata.is_empty() {
            members.remove("metadata");
        }
    }
}

/// The owners of fields whose value is to change, by their place in the list.
fn conflicts(
    entries: &[Entry],
    live: Option<&Value>,
    applied: &Value,
    owned: &FieldSet,
    manager: &str,
) -> Vec<(usize, Path)> {
    let mut conflicts = Vec::new();
    let Some(live) = live else { return conflicts };
    for (index, entry) in
        entries.iter().enumerate().filter(|(_, entry)| !entry.is_of(manager, "Apply"))
    {
        for path in owned.iter().filter(|path| owned.is_leaf(path) && entry.fields.contains(path)) {
            if fields::get(live, path) != fields::get(applied, path) {
                conflicts.push((index, path.clone()));
            }
        }
    }
    // By way of their owners' names, which the refusal lists in this order.
    conflicts.sort_by_key(|(index, path)| (entries.get(*index).map(Entry::text), path.clone()));
    conflicts
}

fn refuse_conflicts(conflicts: &[(usize, Path)], entries: &[Entry]) -> Response {
    let owner = |index: usize| entries.get(index).map(Entry::text).unwrap_or_default();
    let causes: Vec<Cause> = conflicts
        .iter()
        .map(|(index, path)| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {}", owner(*index)),
            field: fields::to_text(path),
        })
        .collect();
    let message = match causes.as_slice() {
        [cause] => format!("Apply failed with 1 conflict: {}: {}", cause.message, cause.field),
        causes => {
            let mut lines: Vec<String> = Vec::new();
            let mut last = "";
            for cause in causes {
                if cause.message != last {
                    lines.push(format!("{}:", cause.message.replacen("conflict", "conflicts", 1)));
                    last = &cause.message;
                }
                lines.push(format!("- {}", cause.field));
            }
            format!("Apply failed with {} conflicts: {}", causes.len(), lines.join("\n"))
        }
    };
    status::apply_conflict(&message, &causes)
}

/// What this manager applied before and no longer does goes, unless somebody else owns it or a part of it.
fn drop_fields(object: &mut Value, before: &FieldSet, now: &FieldSet, others: &[Entry]) {
    for path in before.iter() {
        let kept = now.reaches(path) || others.iter().any(|entry| entry.fields.reaches(path));
        if !kept {
            fields::remove(object, path);
        }
    }
}

fn check_identity(write: &Write<'_>, written: &Value) -> Result<(), Response> {
    let says = |field: &str| written["metadata"][field].as_str().unwrap_or_default();
    if !says("name").is_empty() && says("name") != write.name {
        return Err(status::bad_request(&format!(
            "the name of the object ({}) does not match the name on the URL ({})",
            says("name"),
            write.name
        )));
    }
    body::check_namespace(written, write.namespace)
}

/// A uid or a resource version in the body is a precondition.
fn check_preconditions(
    write: &Write<'_>,
    live: Option<&Value>,
    written: &Value,
    store: &Store,
) -> Result<(), Response> {
    let says = |field: &str| written["metadata"][field].as_str().filter(|text| !text.is_empty());
    let Some(live) = live else {
        if write.kind.is_proxied() {
            return Err(status::not_found(write.about()));
        }
        if let Some(namespace) = write.namespace.filter(|_| write.kind.namespaced) {
            admission::check_namespace(store, namespace, write.about())?;
        }
        return match says("uid") {
            None => Ok(()),
            Some(uid) => Err(status::conflict(
                write.about(),
                &format!(
                    "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                ),
            )),
        };
    };
    if says("resourceVersion").is_some_and(|version| live["metadata"]["resourceVersion"] != version)
    {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        return Err(status::conflict(write.about(), why));
    }
    match says("uid") {
        Some(uid) if live["metadata"]["uid"] != uid => {
            // The metadata is validated by two layers, and each reports it.
            let cause = Cause::invalid("metadata.uid", &uid.into(), "field is immutable");
            let about = status::About::kind(write.kind, write.name);
            Err(status::invalid(about, &[cause.clone(), cause]))
        }
        _ => Ok(()),
    }
}

fn merge_patch(
    write: &Write<'_>,
    request: &Request,
    options: &WriteOptions,
    store: &mut Store,
) -> Result<Response, Response> {
    let patch = body::json(&request.body)?;
    let Some(live) = store.get(&write.key()).cloned() else {
        return Err(status::not_found(write.about()));
    };
    let mut object = live.clone();
    merge(&mut object, &patch);
    check_identity(write, &object)?;
    let schema = check_type(write, &object)?;
    let manager = options.manager(request);
    let mut changed = schema.fields_of_update(&object);
    let same: Vec<Path> = changed
        .iter()
        .filter(|path| fields::get(&object, path) == fields::get(&live, path))
        .cloned()
        .collect();
    changed.remove_all(&same);
    let taken: Vec<Path> = changed.iter().cloned().collect();
    let mut entries = managed_fields::of(&live);
    for entry in &mut entries {
        entry.fields.remove_all(&taken);
    }
    entries.retain(|entry| !entry.fields.is_empty());
    if !changed.is_empty() {
        entries.push(Entry::update(&manager, &write.kind.api_version(), changed));
    }
    let answer = write.finish(store, object, &entries)?;
    Ok(status::object(200, &answer))
}

/// RFC 7386.
fn merge(value: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    for (name, member) in patch {
        if member.is_null() {
            value.as_object_mut().and_then(|members| members.remove(name));
        } else {
            merge(&mut value[name.as_str()], member);
        }
    }
}
