//! DELETE: options, preconditions, finalizers.

use serde_json::{Value, json};

use crate::http::{Request, Response};
use crate::status::{self, About, Cause};
use crate::store::Store;
use crate::target::Query;
use crate::write::{Write, next};
use crate::{body, ids, options};

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

pub(crate) fn delete(
    mut write: Write<'_>,
    request: &Request,
    query: &Query,
    store: &mut Store,
) -> Result<Response, Response> {
    let options = delete_options(request, query)?;
    write.dry_run = options["dryRun"].as_array().is_some_and(|values| !values.is_empty());
    let Some(live) = store.get(&write.key()).cloned() else {
        return Err(status::not_found(write.about()));
    };
    check_preconditions(&write, &live, &options["preconditions"])?;
    let is_namespace = write.kind.group.is_empty() && write.kind.resource == "namespaces";
    if is_namespace && !write.dry_run {
        let ending = store.terminate_namespace(write.name).unwrap_or(live);
        return Ok(status::object(200, &ending));
    }
    let finalizers = finalizers(&live, options["propagationPolicy"].as_str());
    if !finalizers.is_empty() {
        return Ok(status::object(200, &mark(&write, &live, &finalizers, store)));
    }
    if !write.dry_run {
        store.remove(&write.key());
    }
    // Observed: this registry returns what it deleted, the others a Status.
    if write.kind.group == "template.openshift.io" {
        return Ok(status::object(200, &live));
    }
    Ok(status::deleted(write.kind, write.name, &live["metadata"]["uid"]))
}

/// A body wins over the query, all of it: a `dryRun` beside a body counts for nothing.
fn delete_options(request: &Request, query: &Query) -> Result<Value, Response> {
    let options = if request.body.is_empty() {
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        json!({"dryRun": dry_run, "propagationPolicy": query.get("propagationPolicy")})
    } else {
        match request.content_type() {
            "application/yaml" => body::yaml(&request.body)?,
            _ => body::json(&request.body)?,
        }
    };
    let dry_run: Vec<&str> =
        options["dryRun"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    options::check_dry_run("DeleteOptions", &dry_run)?;
    if let Some(kind) = options["kind"].as_str().filter(|kind| *kind != "DeleteOptions") {
        let version = options["apiVersion"].as_str().unwrap_or_default();
        return Err(status::bad_request(&format!(
            "no kind {kind:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    if !options["orphanDependents"].is_null() && !options["propagationPolicy"].is_null() {
        let why = "orphanDependents and deletionPropagation cannot be both set";
        let cause = Cause::invalid("propagationPolicy", &options["propagationPolicy"], why);
        return Err(status::invalid_options("DeleteOptions", cause));
    }
    let supported = ["Foreground", "Background", "Orphan", "nil"];
    match &options["propagationPolicy"] {
        Value::Null => {}
        policy if policy.as_str().is_some_and(|policy| supported[..3].contains(&policy)) => {}
        policy => {
            let cause = Cause::unsupported("propagationPolicy", policy, &supported);
            return Err(status::invalid_options("DeleteOptions", cause));
        }
    }
    Ok(options)
}

fn check_preconditions(
    write: &Write<'_>,
    live: &Value,
    preconditions: &Value,
) -> Result<(), Response> {
    let about = About::kind(write.kind, write.name);
    let record = |field: &str| live["metadata"][field].as_str().unwrap_or_default().to_owned();
    if let Some(uid) = preconditions["uid"].as_str().filter(|uid| *uid != record("uid")) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            record("uid")
        );
        return Err(status::conflict(about, &why));
    }
    let version = preconditions["resourceVersion"].as_str();
    if let Some(version) = version.filter(|version| *version != record("resourceVersion")) {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({}). \
             The object might have been modified",
            record("resourceVersion")
        );
        return Err(status::conflict(about, &why));
    }
    Ok(())
}

/// The finalizers that the object has once the policy has added its own and taken the other's away.
fn finalizers(live: &Value, policy: Option<&str>) -> Vec<String> {
    let present =
        live["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut finalizers: Vec<String> = present.map(str::to_owned).collect();
    let own = match policy {
        Some("Foreground") => Some(FOREGROUND),
        Some("Orphan") => Some(ORPHAN),
        Some(_) => None,
        None => return finalizers,
    };
    finalizers.retain(|finalizer| {
        ![FOREGROUND, ORPHAN].contains(&finalizer.as_str()) || Some(finalizer.as_str()) == own
    });
    if let Some(own) = own.filter(|own| !finalizers.iter().any(|finalizer| finalizer == own)) {
        finalizers.push(own.to_owned());
    }
    finalizers
}

/// The object stays, marked, until its last finalizer goes.
fn mark(write: &Write<'_>, live: &Value, finalizers: &[String], store: &mut Store) -> Value {
    let mut object = live.clone();
    let metadata = &mut object["metadata"];
    metadata["finalizers"] = json!(finalizers);
    if metadata["deletionTimestamp"].is_null() {
        metadata["deletionTimestamp"] = ids::now().into();
        metadata["deletionGracePeriodSeconds"] = json!(0);
        if !metadata["generation"].is_null() {
            metadata["generation"] = next(&metadata["generation"]);
        }
    }
    if object == *live || write.dry_run { object } else { store.put(write.key(), object) }
}
