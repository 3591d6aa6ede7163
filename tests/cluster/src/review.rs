//! `SelfSubjectAccessReview`: may I?

use serde_json::{Value, json};

use crate::access;
use crate::http::{Request, Response};
use crate::status;
use crate::target::ResourceTarget;

/// Answers what was asked with whether it is allowed; nothing is stored.
pub(crate) fn review(user: &str, request: &Request) -> Result<Response, Response> {
    let mut review: Value = serde_json::from_slice(&request.body)
        .map_err(|_| status::bad_request("the body is no SelfSubjectAccessReview"))?;
    let text = |field: &str| {
        let asked = review.pointer(&format!("/spec/resourceAttributes/{field}"));
        asked.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let given = |field: &str| Some(text(field)).filter(|text| !text.is_empty());
    let target = ResourceTarget {
        group: text("group"),
        version: text("version"),
        resource: text("resource"),
        namespace: given("namespace"),
        name: given("name"),
        subresource: given("subresource"),
    };
    let verdict = json!({"allowed": access::is_allowed(user, &text("verb"), &target)});
    match review.as_object_mut() {
        Some(members) => drop(members.insert("status".to_owned(), verdict)),
        None => return Err(status::bad_request("the body is no SelfSubjectAccessReview")),
    }
    Ok(status::object(201, &review))
}
