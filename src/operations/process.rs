use std::fmt;

use serde_json::{Map, Value};

use crate::discovery::not_served;
use crate::error::{AnswerProblem, ApiError, ManifestError, ManifestProblem, TransportError};
use crate::request::{MediaType, Request, Verb};
use crate::scope::Scope;
use crate::template::{API_VERSION, Source, Template};
use crate::{Error, Manifest, Result};

/// What OpenShift rendered: nothing of it exists in the cluster yet.
///
/// It can hold Secret data and parameter values, so `Debug` shows identities alone.
#[derive(Clone, PartialEq)]
pub struct ProcessedTemplate {
    manifests: Vec<Manifest>,
    message: Option<String>,
}

impl ProcessedTemplate {
    /// The rendered objects, as the server sent them: a `List` is still one.
    #[must_use]
    pub fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }

    /// The Template's message to its user, rendered, if it has one. It can hold parameter values.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The rendered objects, owned.
    #[must_use]
    pub fn into_manifests(self) -> Vec<Manifest> {
        self.manifests
    }
}

impl fmt::Debug for ProcessedTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessedTemplate")
            .field("manifests", &self.manifests)
            .finish_non_exhaustive()
    }
}

pub(crate) fn process(scope: &Scope<'_>, template: &Template) -> Result<ProcessedTemplate> {
    let body = template.override_in(read(scope, template)?)?;
    let post = request(Verb::Create, scope.namespace(), "processedtemplates", None)?
        .body(MediaType::Json, &body);
    let mut answer = scope
        .object(&post)
        .map_err(|error| explained(scope, error, ApiError::is_absence_of_namespace))?;
    let field = |field| {
        Error::from(TransportError::answer(post.subject.clone(), AnswerProblem::Field { field }))
    };
    // Anything that says 200 in between must not pass for a rendering of nothing.
    check_is(&post, &[("kind", "Template", answer.get("kind"))])?;
    let manifests = match answer.remove("objects") {
        Some(Value::Null) => Vec::new(),
        Some(Value::Array(objects)) => manifests(objects)?,
        _ => return Err(field("objects")),
    };
    let message = match answer.remove("message") {
        None | Some(Value::Null) => None,
        Some(Value::String(message)) => Some(message),
        Some(_) => return Err(field("message")),
    };
    Ok(ProcessedTemplate { manifests, message })
}

/// The Template as it is stored, or as the caller has it.
pub(crate) fn read(scope: &Scope<'_>, template: &Template) -> Result<Map<String, Value>> {
    template.check()?;
    let name = match template.source() {
        Source::Inline(template) => return Ok(template.clone()),
        Source::Stored(name) => name,
    };
    let source = template.namespace().unwrap_or(scope.namespace());
    let get = request(Verb::Get, source, "templates", Some(name))?;
    let stored = scope.object(&get).map_err(|error| {
        explained(scope, error, |answer| {
            answer.is_absence_of(group(), name) || answer.is_absence_of_namespace()
        })
    })?;
    // A server that answers with something else must not get it rendered.
    let stored_name = stored.get("metadata").and_then(|metadata| metadata.get("name"));
    let kind = ("kind", "Template", stored.get("kind"));
    check_is(&get, &[kind, ("metadata.name", name, stored_name)])?;
    Ok(stored)
}

fn manifests(objects: Vec<Value>) -> Result<Vec<Manifest>> {
    objects
        .into_iter()
        .enumerate()
        .map(|(index, object)| match object {
            Value::Object(object) => Ok(object.into()),
            _ => {
                Err(ManifestError::new(index, "?/?".to_owned(), ManifestProblem::NotAnObject)
                    .into())
            }
        })
        .collect()
}

/// Whether the fields of an answer are what they have to be.
fn check_is(request: &Request, fields: &[(&'static str, &str, Option<&Value>)]) -> Result<()> {
    for (field, expected, found) in fields {
        if found.and_then(Value::as_str) != Some(expected) {
            let problem = AnswerProblem::OtherObject { field };
            return Err(TransportError::answer(request.subject.clone(), problem).into());
        }
    }
    Ok(())
}

fn request(verb: Verb, namespace: &str, resource: &str, name: Option<&str>) -> Result<Request> {
    Request::namespaced(verb, API_VERSION, namespace, resource, name)
        .ok_or_else(|| not_served(API_VERSION, "Template"))
}

fn group() -> &'static str {
    API_VERSION.split_once('/').map_or("", |(group, _)| group)
}

/// A 404 that is neither about the Template nor about a namespace can mean that the cluster has no
/// template API, or come from something else on the way: discovery knows.
fn explained(scope: &Scope<'_>, error: Error, known: impl Fn(&ApiError) -> bool) -> Error {
    match &error {
        Error::Api(answer) if answer.code() == 404 && !known(answer) => {
            match scope.discover(API_VERSION) {
                Err(Error::Api(answer)) if answer.code() == 404 => {
                    not_served(API_VERSION, "Template")
                }
                _ => error,
            }
        }
        _ => error,
    }
}
