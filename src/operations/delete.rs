use serde_json::{Map, Value, json};

use crate::error::{
    AnswerProblem, Failure, Operation, OperationError, OwnershipError, TransportError,
};
use crate::observer::Event;
use crate::request::{MediaType, Request, Verb};
use crate::scope::Scope;
use crate::target::Target;
use crate::{DeleteOptions, Error, Manifest, ResourceRef, Result, Selection};

pub(crate) fn delete(
    scope: &Scope<'_>,
    selection: Selection<'_>,
    options: &DeleteOptions,
) -> Result<Vec<ResourceRef>> {
    options.check()?;
    let targets = super::targets(scope, selection, Verb::Delete)?;
    let (mut completed, mut failures) = (Vec::with_capacity(targets.len()), Vec::new());
    let mut pending = targets.into_iter().rev();
    for target in pending.by_ref() {
        scope.tell(Event::Before(Operation::Delete, &target.reference));
        match delete_one(scope, &target, options) {
            Ok(()) => {
                scope.tell(Event::Deleted(&target.reference));
                completed.push(target.reference);
            }
            Err(error) => {
                let failure = Failure::new(target.reference, error);
                scope.tell(Event::Failed(&failure));
                failures.push(failure);
                if scope.is_over() {
                    break;
                }
            }
        }
    }
    if failures.is_empty() {
        return Ok(completed);
    }
    let left = pending.map(|target| target.reference).collect();
    Err(OperationError::new(Operation::Delete, completed, failures, left).into())
}

fn delete_one(scope: &Scope<'_>, target: &Target, options: &DeleteOptions) -> Result<()> {
    let reference = &target.reference;
    let mut preconditions =
        Preconditions { uid: reference.uid().map(str::to_owned), resource_version: None };
    if let Some((uid, version)) = options.read_as(reference) {
        preconditions = preconditions.or_uid(uid);
        preconditions.resource_version = version.map(str::to_owned);
    }
    match &options.only_managed_by {
        None => send(scope, target, options, &preconditions),
        Some(manager) => delete_own(scope, target, options, &preconditions, manager),
    }
}

/// What has to be true of an object for it to be deleted.
#[derive(Clone)]
struct Preconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

impl Preconditions {
    fn or_uid(mut self, uid: Option<&str>) -> Self {
        if self.uid.as_deref().unwrap_or_default().is_empty() {
            self.uid = uid.map(str::to_owned);
        }
        self
    }
}

/// How often an object may change under the eyes that judge it.
const ATTEMPTS: usize = 3;

/// Deletes an object that the field manager made, and exactly in the state in which it was seen to
/// be so. If only that state has moved, it is judged again.
fn delete_own(
    scope: &Scope<'_>,
    target: &Target,
    options: &DeleteOptions,
    given: &Preconditions,
    manager: &str,
) -> Result<()> {
    let mut refused: Option<(Option<String>, Error)> = None;
    for _ in 0..ATTEMPTS {
        let Some(live) = super::read(scope, target)? else { return Ok(()) };
        let uid = live.uid().map(str::to_owned);
        match refused {
            // It was not the state that moved: another object has the name now.
            Some((judged, conflict)) if judged != uid => return Err(conflict),
            _ => check_owner(&live, manager)?,
        }
        let mut preconditions = given.clone().or_uid(uid.as_deref());
        if preconditions.resource_version.is_none() {
            preconditions.resource_version = live.resource_version().map(str::to_owned);
        }
        // A state or an object that the caller has named is not looked for a second time.
        let is_judged = given.resource_version.is_none() && preconditions.uid == uid;
        match send(scope, target, options, &preconditions) {
            Err(conflict) if conflict.is_conflict() && is_judged => refused = Some((uid, conflict)),
            result => return result,
        }
    }
    Err(OwnershipError::KeepsChanging.into())
}

fn check_owner(live: &Manifest, manager: &str) -> Result<(), OwnershipError> {
    // What has no uid and no version cannot be told from its successor.
    if live.uid().is_none() || live.resource_version().is_none() {
        return Err(OwnershipError::Unprovable);
    }
    match live.managers() {
        Some(managers) if managers.contains(&manager) => Ok(()),
        Some(managers) if !managers.is_empty() => {
            let managers = managers.into_iter().map(str::to_owned).collect();
            Err(OwnershipError::Foreign { managers })
        }
        _ => Err(OwnershipError::Unprovable),
    }
}

fn send(
    scope: &Scope<'_>,
    target: &Target,
    options: &DeleteOptions,
    preconditions: &Preconditions,
) -> Result<()> {
    let body = delete_options(options, preconditions);
    let request = target.request(Verb::Delete)?.body(MediaType::Json, &body);
    match scope.object(&request) {
        Err(Error::Api(answer)) if target.is_absent(&answer) => Ok(()),
        answer => check_deleted(&request, target, &answer?),
    }
}

/// The server answers with a Status, or with the object where it has yet to go.
fn check_deleted(request: &Request, target: &Target, answer: &Map<String, Value>) -> Result<()> {
    if answer.get("kind").and_then(Value::as_str) != Some("Status") {
        return super::check_answer(request, target, answer);
    }
    let problem = if answer.get("status").and_then(Value::as_str) == Some("Success") {
        let name = answer.get("details").and_then(|details| details.get("name"));
        if name.is_none_or(|name| name.as_str() == Some(target.reference.name())) {
            return Ok(());
        }
        AnswerProblem::OtherObject { field: "details.name" }
    } else {
        AnswerProblem::NotSuccess
    };
    Err(TransportError::answer(request.subject.clone(), problem).into())
}

/// All options go into the body: beside a body the server ignores the query, `dryRun` included.
fn delete_options(options: &DeleteOptions, preconditions: &Preconditions) -> Value {
    let mut body = Map::new();
    let mut set = |field: &str, value| drop(body.insert(field.to_owned(), value));
    set("apiVersion", json!("v1"));
    set("kind", json!("DeleteOptions"));
    set("propagationPolicy", json!(options.propagation.name()));
    if let Some(grace_period) = options.grace_period {
        set("gracePeriodSeconds", json!(grace_period.as_secs()));
    }
    let mut needed = Map::new();
    for (field, value) in
        [("uid", &preconditions.uid), ("resourceVersion", &preconditions.resource_version)]
    {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            needed.insert(field.to_owned(), json!(value));
        }
    }
    if !needed.is_empty() {
        set("preconditions", Value::Object(needed));
    }
    if options.dry_run {
        set("dryRun", json!(["All"]));
    }
    Value::Object(body)
}
