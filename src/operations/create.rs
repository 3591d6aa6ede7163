use serde_json::{Map, Value};

use crate::error::{
    AnswerProblem, Failure, ManifestProblem, Operation, OperationError, TransportError,
};
use crate::manifest::strip_server_owned;
use crate::request::{MediaType, Request, Verb};
use crate::target::{self, Rendered, Target};
use crate::{CreateOptions, Error, Namespace, ResourceRef, Result, Template, secret_data};

pub(crate) fn create(
    namespace: &Namespace,
    template: &Template,
    options: &CreateOptions,
) -> Result<Vec<ResourceRef>> {
    options.check()?;
    let processed = super::process::process(namespace, template)?;
    let mut objects = target::rendered(processed.into_manifests(), namespace.name())?;
    target::check_replayable(&objects)?;
    for object in &mut objects {
        prepare(object, namespace.name()).map_err(|problem| object.refuse(problem))?;
    }
    let targets = target::resolve(namespace, &objects, Verb::Patch)?;

    let mut completed = Vec::with_capacity(targets.len());
    let mut pending = targets.iter().zip(objects);
    while let Some((target, object)) = pending.next() {
        match apply(namespace, target, &Value::Object(object.object), options) {
            Ok(reference) => completed.push(reference),
            Err(error) => {
                let failure = Failure::new(target.reference.clone(), error);
                let not_attempted = pending.map(|(target, _)| target.reference.clone()).collect();
                let (operation, failures) = (Operation::Create, vec![failure]);
                return Err(
                    OperationError::new(operation, completed, failures, not_attempted).into()
                );
            }
        }
    }
    Ok(completed)
}

/// Makes of a rendered object what may be applied.
fn prepare(object: &mut Rendered, namespace: &str) -> Result<(), ManifestProblem> {
    let Rendered { object, reference, .. } = object;
    strip_server_owned(object);
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.insert("namespace".to_owned(), Value::String(namespace.to_owned()));
    }
    if reference.api_version() == "v1" && reference.kind() == "Secret" {
        secret_data::normalize(object)?;
    }
    Ok(())
}

fn apply(
    namespace: &Namespace,
    target: &Target,
    object: &Value,
    options: &CreateOptions,
) -> Result<ResourceRef> {
    let patch = with_options(target.request(Verb::Patch)?, options, options.force)
        .body(MediaType::ApplyPatch, object);
    match namespace.object(&patch) {
        Err(Error::Api(answer))
            if is_proxied(target) && {
                answer.is_absence_of(target.reference.group(), target.reference.name())
            } =>
        {
            let post = with_options(target.request(Verb::Create)?, options, false)
                .body(MediaType::Json, object);
            applied(&post, target, &namespace.object(&post)?)
        }
        answer => applied(&patch, target, &answer?),
    }
}

fn with_options(mut request: Request, options: &CreateOptions, force: bool) -> Request {
    request = request.query("fieldManager", &options.field_manager);
    if force {
        request = request.query("force", "true");
    }
    if options.dry_run {
        request = request.query("dryRun", "All");
    }
    request
}

/// OpenShift keeps its old authorization API as a front for Kubernetes' own. That front updates
/// through apply, and answers 404 to the apply of an object that is not there yet.
fn is_proxied(target: &Target) -> bool {
    target.reference.group() == "authorization.openshift.io"
        && matches!(target.reference.kind(), "Role" | "RoleBinding")
}

/// The reference to what the answer says was applied.
fn applied(request: &Request, target: &Target, answer: &Map<String, Value>) -> Result<ResourceRef> {
    super::check_answer(request, target, answer)?;
    let uid =
        answer.get("metadata").and_then(|metadata| metadata.get("uid")).and_then(Value::as_str);
    match uid.filter(|uid| !uid.is_empty()) {
        Some(uid) => Ok(target.reference.clone().with_uid(uid)),
        None => Err(TransportError::answer(request.subject.clone(), AnswerProblem::NoUid).into()),
    }
}
