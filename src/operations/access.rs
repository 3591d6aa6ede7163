use serde_json::{Value, json};

use crate::access::{AccessRule, MissingAccess};
use crate::error::{AnswerProblem, TransportError};
use crate::request::{MediaType, Request, Verb};
use crate::scope::Scope;
use crate::target;
use crate::template::{API_VERSION, Source};
use crate::{Access, Result, Template};

/// What create, get and delete together need on a rendered object.
const TARGET_VERBS: [&str; 4] = ["create", "patch", "delete", "get"];

pub(crate) fn access(scope: &Scope<'_>, template: &Template) -> Result<Access> {
    let group =
        |api_version: &str| api_version.split_once('/').map_or("", |(group, _)| group).to_owned();
    let processed = super::process::process(scope, template)?;
    let objects = target::rendered(processed.into_manifests(), scope.namespace())?;
    let targets = target::resolve(scope, &objects, Verb::Patch)?;

    let mut rules = Vec::new();
    if let Source::Stored(name) = template.source() {
        rules.push(AccessRule {
            namespace: template.namespace().unwrap_or(scope.namespace()).to_owned(),
            group: group(API_VERSION),
            resource: "templates".to_owned(),
            names: vec![name.clone()],
            verbs: vec!["get"],
        });
    }
    let in_target = |group, resource: &str, verbs: &[&'static str]| AccessRule {
        namespace: scope.namespace().to_owned(),
        group,
        resource: resource.to_owned(),
        names: Vec::new(),
        verbs: verbs.to_vec(),
    };
    rules.push(in_target(group(API_VERSION), "processedtemplates", &["create"]));
    rules.extend(targets.iter().map(|target| {
        in_target(group(target.reference.api_version()), &target.resource.name, &TARGET_VERBS)
    }));
    Ok(Access::new(rules))
}

/// Asks the server about each verb on each resource.
pub(crate) fn check(scope: &Scope<'_>, access: &Access) -> Result<Vec<MissingAccess>> {
    let mut missing = Vec::new();
    for rule in access.rules() {
        for &verb in &rule.verbs {
            if !is_allowed(scope, rule, verb)? {
                missing.push(MissingAccess {
                    namespace: rule.namespace.clone(),
                    group: rule.group.clone(),
                    resource: rule.resource.clone(),
                    verb,
                });
            }
        }
    }
    Ok(missing)
}

fn is_allowed(scope: &Scope<'_>, rule: &AccessRule, verb: &str) -> Result<bool> {
    let mut attributes = json!({
        "namespace": rule.namespace, "group": rule.group, "resource": rule.resource, "verb": verb,
    });
    if let ([name], Some(attributes)) = (rule.names.as_slice(), attributes.as_object_mut()) {
        attributes.insert("name".to_owned(), json!(name));
    }
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    });
    let request = Request::access_review().body(MediaType::Json, &review);
    let answer = scope.object(&request)?;
    let allowed = answer.get("status").and_then(|status| status.get("allowed"));
    allowed.and_then(Value::as_bool).ok_or_else(|| {
        let problem = AnswerProblem::Field { field: "status.allowed" };
        TransportError::answer(request.subject.clone(), problem).into()
    })
}
