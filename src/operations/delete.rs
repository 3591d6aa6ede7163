use serde_json::{Map, Value, json};

use crate::error::{Failure, Operation, OperationError};
use crate::request::{MediaType, Verb};
use crate::target::Target;
use crate::{DeleteOptions, Error, Namespace, ResourceRef, Result, Selection};

pub(crate) fn delete(
    namespace: &Namespace,
    selection: Selection<'_>,
    options: &DeleteOptions,
) -> Result<Vec<ResourceRef>> {
    let targets = super::targets(namespace, selection, Verb::Delete)?;
    let (mut completed, mut failures) = (Vec::with_capacity(targets.len()), Vec::new());
    for target in targets.into_iter().rev() {
        match delete_one(namespace, &target, options) {
            Ok(()) => completed.push(target.reference),
            Err(error) => failures.push(Failure::new(target.reference, error)),
        }
    }
    if failures.is_empty() {
        return Ok(completed);
    }
    Err(OperationError::new(Operation::Delete, completed, failures, Vec::new()).into())
}

fn delete_one(namespace: &Namespace, target: &Target, options: &DeleteOptions) -> Result<()> {
    let request =
        target.request(Verb::Delete)?.body(MediaType::Json, &delete_options(target, options));
    match namespace.value(&request) {
        Err(Error::Api(answer))
            if answer.is_absence_of(target.reference.group(), target.reference.name()) =>
        {
            Ok(())
        }
        answer => answer.map(drop),
    }
}

/// All options go into the body: beside a body the server ignores the query, `dryRun` included.
fn delete_options(target: &Target, options: &DeleteOptions) -> Value {
    let mut body = Map::new();
    let mut set = |field: &str, value| body.insert(field.to_owned(), value);
    set("apiVersion", json!("v1"));
    set("kind", json!("DeleteOptions"));
    set("propagationPolicy", json!(options.propagation.name()));
    if let Some(uid) = target.reference.uid().filter(|uid| !uid.is_empty()) {
        set("preconditions", json!({ "uid": uid }));
    }
    if options.dry_run {
        set("dryRun", json!(["All"]));
    }
    Value::Object(body)
}
