//! `processedtemplates`: the Template in, what it renders out, nothing stored.

mod decode;
mod generator;
mod groups;
mod objects;
mod parameters;
mod raw;
mod substitute;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::decode::Template;
use self::substitute::Values;
use crate::http::{Request, Response};
use crate::kinds::Kind;
use crate::options::{self, Format};
use crate::status::{self, About, Cause};
use crate::store::Store;
use crate::target::Query;
use crate::{admission, managed_fields, schema};

/// Fields of the metadata that the answer does not repeat.
const WIPED: [&str; 5] =
    ["uid", "creationTimestamp", "deletionTimestamp", "selfLink", "managedFields"];

/// Answers a POST, in the order of the real one: decoding, admission, parameter names, values, message, labels, objects.
pub(crate) fn process(
    kind: &Kind,
    namespace: &str,
    request: &Request,
    query: &Query,
    store: &Store,
) -> Result<Response, Response> {
    let format = options::format(request)?;
    let options = options::write_options("CreateOptions", query)?;
    let (template, strict) = decode::decode(request)?;
    let warnings = match options.field_validation.as_str() {
        "Strict" if !strict.is_empty() => return Err(decode::strict_error(&strict)),
        "Ignore" | "Strict" => Vec::new(),
        _ => strict,
    };
    let written = template.metadata.get("namespace").and_then(Value::as_str).unwrap_or(namespace);
    if written != namespace {
        return Err(status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    admission::check_namespace(store, namespace, About::resource(kind, template.name()))?;
    let manager = options.manager(request);
    let answer = render(template, namespace, &manager)?;
    let mut response = match format {
        Format::Json => status::object(201, &answer),
        Format::Yaml => {
            let text = serde_yaml::to_string(&answer).expect("a JSON value can be written as YAML");
            Response::new(201, "application/yaml", text.into_bytes())
        }
    };
    for warning in warnings {
        response = response.with_header("Warning", format!("299 - {warning:?}"));
    }
    Ok(response)
}

/// What a Template that is to be stored must fulfil: its types, and the names of its parameters. Its objects may be
/// anything.
pub(crate) fn check_new(request: &Request) -> Result<(), Response> {
    let (template, _) = decode::decode(request)?;
    parameters::check_names(&template.parameters)
        .map_err(|refusal| parameters_refused(template.name(), refusal))
}

fn invalid(name: &str, causes: &[Cause]) -> Response {
    status::invalid(About { name, group: "template.openshift.io", kind: "Template" }, causes)
}

fn parameters_refused(name: &str, refusal: parameters::Refusal) -> Response {
    match refusal {
        parameters::Refusal::Invalid(causes) => invalid(name, &causes),
        parameters::Refusal::Panic => status::panicked(),
    }
}

fn render(mut template: Template, namespace: &str, manager: &str) -> Result<Value, Response> {
    let name = template.name().to_owned();
    let refused = |refusal| parameters_refused(&name, refusal);
    let metadata = metadata(&template, namespace, manager);
    parameters::check_names(&template.parameters).map_err(refused)?;
    parameters::generate(&mut template.parameters).map_err(refused)?;
    let pairs = template
        .parameters
        .iter()
        .map(|parameter| (parameter.name.clone(), parameter.value.clone()));
    let values = Values(pairs.collect());
    let message = values.text(&template.message);
    let labels = template.labels.as_ref().map(|labels| substitute_labels(labels, &values));
    let mut objects = Vec::new();
    let mut causes = Vec::new();
    for (index, text) in template.objects.iter().flatten().enumerate() {
        match objects::render(index, text, &values, &labels) {
            Ok(object) => objects.push(object),
            Err(objects::Refusal::Invalid(cause)) => causes.push(cause),
            Err(objects::Refusal::Panic) => return Err(status::panicked()),
        }
    }
    if !causes.is_empty() {
        return Err(invalid(&name, &causes));
    }
    let mut answer = json!({
        "kind": "Template", "apiVersion": decode::API_VERSION, "metadata": metadata,
        "objects": template.objects.map(|_| objects),
    });
    let parameters: Vec<Value> =
        template.parameters.iter().map(decode::Parameter::to_value).collect();
    // Go leaves these three out when they are empty.
    if !message.is_empty() {
        answer["message"] = message.into();
    }
    if !parameters.is_empty() {
        answer["parameters"] = parameters.into();
    }
    if let Some(labels) = labels.filter(|labels| !labels.is_empty()) {
        answer["labels"] = json!(labels);
    }
    Ok(answer)
}

/// A key that a parameter makes replaces the same key written out.
fn substitute_labels(
    labels: &BTreeMap<String, String>,
    values: &Values,
) -> BTreeMap<String, String> {
    let pairs = labels.iter().map(|(key, value)| (key, values.text(key), values.text(value)));
    let (literal, made): (Vec<_>, Vec<_>) = pairs.partition(|(written, key, _)| *written == key);
    literal.into_iter().chain(made).map(|(_, key, value)| (key, value)).collect()
}

fn metadata(template: &Template, namespace: &str, manager: &str) -> Map<String, Value> {
    let mut metadata = template.metadata.clone();
    metadata.insert("namespace".to_owned(), namespace.into());
    for field in WIPED {
        metadata.remove(field);
    }
    let mut owned = json!({"metadata": metadata});
    if !template.message.is_empty() {
        owned["message"] = template.message.as_str().into();
    }
    if template.objects.is_some() {
        owned["objects"] = json!([]);
    }
    if !template.parameters.is_empty() {
        owned["parameters"] = json!([]);
    }
    if let Some(labels) = template.labels.as_ref().filter(|labels| !labels.is_empty()) {
        owned["labels"] = json!(labels);
    }
    let fields = schema::of_kind(decode::API_VERSION, "Template").fields_of_update(&owned);
    if !fields.is_empty() {
        let entry = managed_fields::Entry::update(manager, decode::API_VERSION, fields);
        metadata.insert("managedFields".to_owned(), managed_fields::to_value(&[entry]));
    }
    metadata
}
