//! What a [`Namespace`](crate::Namespace) can do, one file each.

use serde_json::{Map, Value};

use crate::error::{AnswerProblem, TransportError};
use crate::request::{Request, Verb};
use crate::scope::Scope;
use crate::target::{self, Target};
use crate::{Error, Manifest, Result, Selection};

pub(crate) mod access;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod get;
pub(crate) mod process;
pub(crate) mod wait;

/// The targets of a selection. A uid that a rendered manifest holds is somebody's leftover, and
/// never part of them.
fn targets(scope: &Scope<'_>, selection: Selection<'_>, verb: Verb) -> Result<Vec<Target>> {
    match selection {
        Selection::Template(template) => {
            let processed = process::process(scope, template)?;
            let objects = target::rendered(processed.into_manifests(), scope.namespace())?;
            target::resolve(scope, &objects, verb)
        }
        Selection::References(references) => target::resolve_references(scope, references, verb),
    }
}

/// The live object, if there is one.
fn read(scope: &Scope<'_>, target: &Target) -> Result<Option<Manifest>> {
    let request = target.request(Verb::Get)?;
    match scope.object(&request) {
        Err(Error::Api(answer)) if target.is_absent(&answer) => Ok(None),
        object => {
            let object = object?;
            check_answer(&request, target, &object)?;
            Ok(Some(object.into()))
        }
    }
}

/// Whether an answer is about the object that was asked for.
fn check_answer(request: &Request, target: &Target, answer: &Map<String, Value>) -> Result<()> {
    let reference = &target.reference;
    let metadata = answer.get("metadata");
    let of_metadata = |field| metadata.and_then(|metadata| metadata.get(field));
    for (field, expected, found) in [
        ("apiVersion", Some(reference.api_version()), answer.get("apiVersion")),
        ("kind", Some(reference.kind()), answer.get("kind")),
        ("metadata.name", Some(reference.name()), of_metadata("name")),
        ("metadata.namespace", reference.namespace(), of_metadata("namespace")),
    ] {
        if found.and_then(Value::as_str) != expected {
            let problem = AnswerProblem::OtherObject { field };
            return Err(TransportError::answer(request.subject.clone(), problem).into());
        }
    }
    Ok(())
}
