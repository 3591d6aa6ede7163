use serde_json::{Map, Value};

use crate::error::{
    AnswerProblem, Failure, ManifestProblem, Operation, OperationError, PreflightError,
    TransportError,
};
use crate::manifest::strip_server_owned;
use crate::observer::Event;
use crate::request::{MediaType, Request, Verb};
use crate::scope::Scope;
use crate::target::{self, Rendered, Target};
use crate::transport::Success;
use crate::{
    Applied, Change, CreateOptions, Error, InvalidInput, Manifest, Plan, Result, Template,
    secret_data,
};

/// Renders, checks and normalises: all of a create that touches nothing.
pub(crate) fn plan(scope: &Scope<'_>, template: &Template) -> Result<Plan> {
    let objects = render(scope, template)?;
    target::resolve(scope, &objects, Verb::Patch)?;
    Ok(Plan::new(scope.namespace(), objects.into_iter().map(|object| object.object)))
}

/// The other half. A plan may come from a file, so nothing about it is taken on trust.
pub(crate) fn apply(
    scope: &Scope<'_>,
    plan: &Plan,
    options: &CreateOptions,
) -> Result<Vec<Applied>> {
    options.check()?;
    if plan.namespace() != scope.namespace() {
        let (found, expected) = (plan.namespace().to_owned(), scope.namespace().to_owned());
        return Err(InvalidInput::PlanNamespace { found, expected }.into());
    }
    perform(scope, checked(scope, plan.manifests().to_vec())?, options)
}

/// Both in one, without a plan in between.
pub(crate) fn create(
    scope: &Scope<'_>,
    template: &Template,
    options: &CreateOptions,
) -> Result<Vec<Applied>> {
    options.check()?;
    perform(scope, render(scope, template)?, options)
}

fn render(scope: &Scope<'_>, template: &Template) -> Result<Vec<Rendered>> {
    checked(scope, super::process::process(scope, template)?.into_manifests())
}

fn perform(
    scope: &Scope<'_>,
    objects: Vec<Rendered>,
    options: &CreateOptions,
) -> Result<Vec<Applied>> {
    let verb = if options.require_new { Verb::Create } else { Verb::Patch };
    let targets = target::resolve(scope, &objects, verb)?;
    let objects: Vec<Value> = objects.into_iter().map(|o| Value::Object(o.object)).collect();

    if options.preflight || options.dry_run {
        let rehearsed = rehearse(scope, &targets, &objects, options)?;
        if options.dry_run {
            return Ok(rehearsed);
        }
    }
    apply_in_order(scope, &targets, &objects, options)
}

fn checked(scope: &Scope<'_>, manifests: Vec<Manifest>) -> Result<Vec<Rendered>> {
    let mut objects = target::rendered(manifests, scope.namespace())?;
    target::check_replayable(&objects)?;
    for object in &mut objects {
        prepare(object, scope.namespace()).map_err(|problem| object.refuse(problem))?;
    }
    Ok(objects)
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

/// Has the server try every object without storing it, and collects what it refuses.
fn rehearse(
    scope: &Scope<'_>,
    targets: &[Target],
    objects: &[Value],
    options: &CreateOptions,
) -> Result<Vec<Applied>> {
    let dry_run = options.clone().dry_run(true);
    let (mut applied, mut refusals) = (Vec::new(), Vec::new());
    for (target, object) in targets.iter().zip(objects) {
        match apply_one(scope, target, object, &dry_run) {
            Ok(would_be) => applied.push(would_be),
            Err(error) => refusals.push(Failure::new(target.reference.clone(), error)),
        }
        if scope.is_over() && !refusals.is_empty() {
            break;
        }
    }
    if refusals.is_empty() {
        return Ok(applied);
    }
    Err(PreflightError::new(refusals).into())
}

fn apply_in_order(
    scope: &Scope<'_>,
    targets: &[Target],
    objects: &[Value],
    options: &CreateOptions,
) -> Result<Vec<Applied>> {
    let mut completed: Vec<Applied> = Vec::with_capacity(targets.len());
    let mut pending = targets.iter().zip(objects);
    while let Some((target, object)) = pending.next() {
        scope.tell(Event::Before(Operation::Create, &target.reference));
        match apply_one(scope, target, object, options) {
            Ok(applied) => {
                scope.tell(Event::Applied(&applied));
                completed.push(applied);
            }
            Err(error) => {
                let failure = Failure::new(target.reference.clone(), error);
                scope.tell(Event::Failed(&failure));
                let completed = completed.into_iter().map(|applied| applied.reference).collect();
                let left = pending.map(|(target, _)| target.reference.clone()).collect();
                let (operation, failures) = (Operation::Create, vec![failure]);
                return Err(OperationError::new(operation, completed, failures, left).into());
            }
        }
    }
    Ok(completed)
}

fn apply_one(
    scope: &Scope<'_>,
    target: &Target,
    object: &Value,
    options: &CreateOptions,
) -> Result<Applied> {
    if options.require_new {
        return post(scope, target, object, options);
    }
    let before = if options.compare { super::read(scope, target)? } else { None };
    let before = before.as_ref().and_then(Manifest::resource_version);
    let patch = with_options(target.request(Verb::Patch)?, options, options.force)
        .body(MediaType::ApplyPatch, object);
    match scope.send(&patch) {
        Err(Error::Api(answer)) if is_proxied(target) && target.is_absent(&answer) => {
            post(scope, target, object, options)
        }
        answer => applied(&patch, target, answer?, before),
    }
}

/// Creates an object that must not exist. One that does is a conflict.
fn post(
    scope: &Scope<'_>,
    target: &Target,
    object: &Value,
    options: &CreateOptions,
) -> Result<Applied> {
    let post =
        with_options(target.request(Verb::Create)?, options, false).body(MediaType::Json, object);
    applied(&post, target, scope.send(&post)?, None)
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

/// What the answer says was applied. `before` is the version that was there, when it was asked for.
fn applied(
    request: &Request,
    target: &Target,
    answer: Success,
    before: Option<&str>,
) -> Result<Applied> {
    let (created, warnings) = (answer.created, answer.warnings.clone());
    let object = answer.into_object(request)?;
    super::check_answer(request, target, &object)?;
    let Some(uid) = metadata(&object, "uid").filter(|uid| !uid.is_empty()) else {
        return Err(TransportError::answer(request.subject.clone(), AnswerProblem::NoUid).into());
    };
    // A server that finds nothing to change leaves the version as it is.
    let change = match (created, before) {
        (true, _) => Change::Created,
        (false, None) => Change::Existing,
        (false, before) if metadata(&object, "resourceVersion") == before => Change::Unchanged,
        (false, _) => Change::Changed,
    };
    Ok(Applied { reference: target.reference.clone().with_uid(uid), change, warnings })
}

fn metadata<'a>(object: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    object.get("metadata")?.get(field)?.as_str()
}
