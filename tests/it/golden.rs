//! Each call of the Python original, and what this library sends for it. The recorded requests are
//! in `fixtures/wire.json`.

use openshift_templates::{CreateOptions, Error, Namespace, ResourceRef, Result, Template};
use openshift_templates_testing::Exchange;
use serde_json::{Value, json};

use crate::support::{World, job};

/// Where this library differs on purpose, and why.
const DIFFERENCES: [(&str, &str); 2] = [
    ("discovery", "only the group versions that the manifests name are asked for, never the disk"),
    ("force", "`force` is sent only when it is asked for; its absence means false to the server"),
];

/// One request, reduced to what has to be equal.
#[derive(Debug, PartialEq)]
struct Sent {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    content_type: Option<String>,
    body: Option<Value>,
    status: u64,
}

fn query(text: &str) -> Vec<(String, String)> {
    let decode = |part: &str| {
        let mut bytes = Vec::new();
        let mut rest = part.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let digits: String = rest.by_ref().take(2).map(char::from).collect();
                    u8::from_str_radix(&digits, 16).unwrap()
                }
                byte => byte,
            });
        }
        String::from_utf8(bytes).unwrap()
    };
    let mut pairs: Vec<_> = text
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (decode(name), decode(value)))
        .collect();
    pairs.sort();
    pairs
}

fn recorded(request: &Value) -> Sent {
    let url = request["url"].as_str().unwrap();
    let (path, text) = url.split_once('?').unwrap_or((url, ""));
    let mut query = query(text);
    // The difference named "force".
    query.retain(|pair| pair != &("force".to_owned(), "False".to_owned()));
    let body = Some(request["body"].clone()).filter(|body| !body.is_null());
    let content_type = body.as_ref().and(request["headers"]["Content-Type"].as_str());
    Sent {
        method: request["method"].as_str().unwrap().to_owned(),
        path: path.to_owned(),
        query,
        content_type: content_type.map(str::to_owned),
        body,
        status: request["status"].as_u64().unwrap(),
    }
}

fn sent(exchange: &Exchange) -> Sent {
    let (path, text) = exchange.target.split_once('?').unwrap_or((&exchange.target, ""));
    let content_type =
        exchange.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    Sent {
        method: exchange.method.clone(),
        path: path.to_owned(),
        query: query(text),
        content_type: content_type.map(|(_, value)| value.clone()),
        body: (!exchange.body.is_empty()).then(|| serde_json::from_slice(&exchange.body).unwrap()),
        status: exchange.status.unwrap().into(),
    }
}

/// The uids of this run in place of the recorded ones.
fn with_uids(requests: &Value, recorded: &[String], references: &[ResourceRef]) -> Value {
    let mut text = requests.to_string();
    for (old, reference) in recorded.iter().zip(references) {
        text = text.replace(old, reference.uid().unwrap());
    }
    serde_json::from_str(&text).unwrap()
}

fn error_kind(result: Result<usize>) -> Value {
    match result {
        Ok(count) => json!(count),
        Err(Error::Operation(_)) => json!("OperationError"),
        Err(Error::InvalidInput(_)) => json!("ValueError"),
        Err(error) if error.is_not_found() => json!("NotFoundError"),
        Err(error) if error.as_api().is_some_and(|a| a.code() == 422) => {
            json!("UnprocessibleEntityError")
        }
        Err(error) => panic!("{error:?}"),
    }
}

type Call<'a> = (&'static str, Box<dyn FnMut(&Namespace) -> Result<usize> + 'a>);

#[test]
fn the_requests_are_the_originals() {
    let text = include_str!("../../fixtures/wire.json");
    let wire: serde_json::Map<String, Value> = serde_json::from_str(text).unwrap();
    let world = World::start();
    let workers = world.workers("admin");
    let references = std::cell::RefCell::new(Vec::new());
    let full = || job("worker-001").parameter("TOKEN", "s3cr3t-token");
    let generated =
        || Template::new("generated-template").in_namespace("infra").parameter("NAME", "n");

    // In the order in which they were recorded: each finds what the ones before it left.
    let calls: Vec<Call<'_>> = vec![
        ("process", Box::new(|w| w.process(&full()).map(|p| p.manifests().len()))),
        (
            "create",
            Box::new(|w| {
                references.replace(w.create(&full())?);
                Ok(references.borrow().len())
            }),
        ),
        ("create-again", Box::new(|w| Ok(w.create(&full())?.len()))),
        ("get-by-template", Box::new(|w| Ok(w.get(&full())?.len()))),
        ("get-by-references", Box::new(|w| Ok(w.get(&*references.borrow())?.len()))),
        (
            "create-other-manager-conflict",
            Box::new(|w| {
                let options = CreateOptions::new().field_manager("other one/é");
                Ok(w.create_with(&full().parameter("DEBUG", "false"), &options)?.len())
            }),
        ),
        (
            "delete-by-references-uid-mismatch",
            Box::new(|w| {
                let uid = "11111111-1111-1111-1111-111111111111";
                Ok(w.delete(&[references.borrow()[0].clone().with_uid(uid)])?.len())
            }),
        ),
        ("delete-by-references", Box::new(|w| Ok(w.delete(&*references.borrow())?.len()))),
        ("delete-by-template-absent", Box::new(|w| Ok(w.delete(&full())?.len()))),
        ("delete-empty-references", Box::new(|w| Ok(w.delete(&[])?.len()))),
        ("get-missing", Box::new(|w| Ok(w.get(&full())?.len()))),
        (
            "unknown-parameter",
            Box::new(|w| {
                let template = Template::new("worker-template").in_namespace("infra");
                let template = template.parameters([("NOPE", "1"), ("ALSO", "2")]);
                Ok(w.process(&template)?.manifests().len())
            }),
        ),
        ("unresolved-generator", Box::new(|w| Ok(w.process(&generated())?.manifests().len()))),
        (
            "generator-overridden",
            Box::new(|w| Ok(w.process(&generated().parameter("PASSWORD", ""))?.manifests().len())),
        ),
        (
            "missing-template",
            Box::new(|w| {
                Ok(w.process(&Template::new("nope").in_namespace("infra"))?.manifests().len())
            }),
        ),
        (
            "required-missing",
            Box::new(|w| {
                let template = Template::new("worker-template").in_namespace("infra");
                Ok(w.process(&template)?.manifests().len())
            }),
        ),
    ];

    let recorded_uids: Vec<String> = wire["create"]["returned"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reference| reference["metadata"]["uid"].as_str().unwrap().to_owned())
        .collect();
    let mut compared = 0;
    for (name, mut call) in calls {
        world.cluster.clear_journal();
        let outcome = error_kind(call(&workers));
        let expected: Vec<Sent> =
            with_uids(&wire[name]["requests"], &recorded_uids, &references.borrow())
                .as_array()
                .unwrap()
                .iter()
                .map(recorded)
                .collect();
        let found: Vec<Sent> = world.requests().iter().map(sent).collect();
        assert_eq!(found, expected, "{name}");
        let returned = &wire[name]["returned"];
        let expected = match returned.get("error") {
            Some(error) => error.clone(),
            None => returned.as_array().map_or_else(|| returned.clone(), |r| json!(r.len())),
        };
        assert_eq!(outcome, expected, "{name}");
        compared += 1;
    }
    // The other two are connecting with a cold and with a warm cache on disk: all discovery.
    let discovery = wire.values().filter(|call| call["returned"] == "client").count();
    assert_eq!(compared + discovery, wire.len());
    assert_eq!(DIFFERENCES.len(), 2);
}

#[test]
fn the_references_are_the_originals() {
    let text = include_str!("../../fixtures/wire.json");
    let wire: Value = serde_json::from_str(text).unwrap();
    for call in ["create", "delete-by-references", "delete-by-template-absent"] {
        let saved = &wire[call]["returned"];
        let references: Vec<ResourceRef> = serde_json::from_value(saved.clone()).unwrap();
        assert_eq!(&serde_json::to_value(references).unwrap(), saved, "{call}");
    }
}
