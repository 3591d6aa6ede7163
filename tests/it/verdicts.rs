//! The Python original's verdict on 138 inputs, in `fixtures/verdicts.json`, and this library's.

use std::time::Duration;

use openshift_templates::{
    CreateOptions, Error, InvalidInput, ParameterValue, ResourceRef, Template, Timeouts,
};
use openshift_templates_testing::Fault;
use serde_json::{Value, json};

use crate::support::{World, body, job};

/// Inputs that no Rust program can write down, because the types do not have them.
const UNREPRESENTABLE: [(&str, &str, &str); 18] = [
    ("timeout", "\"-1\"", "a Duration is never negative"),
    ("timeout", "\"[1, 2]\"", "Timeouts takes Durations"),
    ("timeout", "\"(1,)\"", "Timeouts takes one or two Durations"),
    ("timeout", "\"(1, 2, 3)\"", "Timeouts takes one or two Durations"),
    ("timeout", "\"True\"", "Timeouts takes Durations"),
    ("timeout", "\"'5'\"", "Timeouts takes Durations"),
    ("timeout", "\"None\"", "Timeouts takes Durations"),
    ("timeout", "\"inf\"", "a Duration is never infinite"),
    ("timeout", "\"nan\"", "a Duration is always a number"),
    ("parameter", "[\"P\",\"None\"]", "a ParameterValue is always there"),
    ("parameter", "[\"P\",\"[1]\"]", "a ParameterValue is a scalar"),
    ("parameter", "[\"P\",\"{}\"]", "a ParameterValue is a scalar"),
    ("parameter", "[\"P\",\"b'x'\"]", "a ParameterValue is text, not bytes"),
    (
        "input modes of get and delete",
        r#"{"parameters":null,"resources":null,"template_name":null,"template_namespace":null}"#,
        "a Selection is one of the two",
    ),
    (
        "input modes of get and delete",
        r#"{"parameters":null,"resources":[],"template_name":"t","template_namespace":null}"#,
        "a Selection is never both",
    ),
    (
        "input modes of get and delete",
        r#"{"parameters":{},"resources":[],"template_name":null,"template_namespace":null}"#,
        "a Selection is never both",
    ),
    (
        "input modes of get and delete",
        r#"{"parameters":null,"resources":[],"template_name":null,"template_namespace":"x"}"#,
        "a Selection is never both",
    ),
    (
        "input modes of get and delete",
        r#"{"parameters":null,"resources":{},"template_name":null,"template_namespace":null}"#,
        "references are a list",
    ),
];

/// Inputs on which this library decides otherwise.
const DIFFERENT: [(&str, &str, &str); 1] = [(
    "prepared for apply",
    "not base64!",
    "Secret data that the server would refuse is refused before the first mutation",
)];

struct Verdict {
    group: String,
    input: Value,
    ok: bool,
    value: Option<Value>,
}

fn verdicts() -> Vec<Verdict> {
    let text = include_str!("../../fixtures/verdicts.json");
    let all: Vec<Value> = serde_json::from_str(text).unwrap();
    all.into_iter()
        .map(|verdict| Verdict {
            group: verdict["group"].as_str().unwrap().to_owned(),
            input: verdict["input"].clone(),
            ok: verdict["verdict"] == "ok",
            value: verdict.get("value").cloned(),
        })
        .collect()
}

impl Verdict {
    fn name(&self) -> String {
        format!("{}: {}", self.group, self.input)
    }

    fn is_listed(&self, list: &[(&str, &str, &str)]) -> bool {
        let input = self.input.to_string();
        list.iter().any(|(group, piece, _)| {
            *group == self.group
                && (input == *piece
                    || (!piece.starts_with(['"', '[', '{']) && input.contains(piece)))
        })
    }

    fn text(&self) -> &str {
        self.input.as_str().unwrap()
    }
}

#[test]
fn all_138_verdicts_hold() {
    let verdicts = verdicts();
    assert_eq!(verdicts.len(), 138);
    let world = World::start();
    let (mut checked, mut unrepresentable, mut different) = (0, 0, 0);
    for verdict in &verdicts {
        if verdict.is_listed(&UNREPRESENTABLE) {
            assert!(!verdict.ok, "{} is listed, and the original takes it", verdict.name());
            unrepresentable += 1;
            continue;
        }
        let (ok, value) = match verdict.group.as_str() {
            "namespace" => (namespace(&world, verdict.text()), None),
            "template_name" => (template_name(&world, verdict.text()), None),
            "timeout" => (timeout(verdict.text()), None),
            "parameter" => parameter(&world, &verdict.input),
            "field_manager" => (field_manager(&world, verdict.text()), None),
            "target in namespace workers" => target(&world, &verdict.input),
            "prepared for apply" => prepared(&world, &verdict.input),
            "input modes of get and delete" => {
                (references(&world, &verdict.input["resources"]), None)
            }
            group => panic!("a group that is not known here: {group}"),
        };
        if verdict.is_listed(&DIFFERENT) {
            assert_ne!(ok, verdict.ok, "{} is listed as different", verdict.name());
            different += 1;
            continue;
        }
        assert_eq!(ok, verdict.ok, "{}", verdict.name());
        if let (Some(value), Some(expected)) = (value, &verdict.value) {
            assert_eq!(&value, expected, "{}", verdict.name());
        }
        checked += 1;
    }
    assert_eq!(unrepresentable, UNREPRESENTABLE.len());
    assert_eq!(different, DIFFERENT.len());
    assert_eq!(checked + unrepresentable + different, 138);
}

/// Refused before any request, or not refused at all.
fn refused(world: &World, result: &Result<impl Sized, Error>) -> bool {
    let requests = world.cluster.journal().len();
    world.cluster.clear_journal();
    match result {
        Err(Error::InvalidInput(_)) => {
            assert_eq!(requests, 0, "refused, and yet something was sent");
            true
        }
        _ => false,
    }
}

fn namespace(world: &World, name: &str) -> bool {
    let client = world.workers("admin").client().clone();
    let source = Template::new("worker-template").in_namespace(name);
    let as_target = !refused(world, &client.namespace(name));
    let as_source = !refused(world, &world.workers("admin").process(&source));
    assert_eq!(as_target, as_source);
    as_target
}

fn template_name(world: &World, name: &str) -> bool {
    !refused(world, &world.workers("admin").process(&Template::new(name)))
}

fn timeout(text: &str) -> bool {
    let seconds = |text: &str| Duration::from_secs_f64(text.trim().parse().unwrap());
    match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(pair) => {
            let (connect, read) = pair.split_once(',').unwrap();
            Timeouts::new(seconds(connect), seconds(read)).is_ok()
        }
        None => Timeouts::both(seconds(text)).is_ok(),
    }
}

fn parameter(world: &World, input: &Value) -> (bool, Option<Value>) {
    let (name, text) = (input[0].as_str().unwrap(), input[1].as_str().unwrap());
    let value = if let Some(text) = text.strip_prefix('\'') {
        Ok(ParameterValue::from(text.trim_end_matches('\'')))
    } else if let "True" | "False" = text {
        Ok(ParameterValue::from(text == "True"))
    } else if let Ok(integer) = text.parse::<i128>() {
        Ok(ParameterValue::from(integer))
    } else {
        ParameterValue::try_from(text.parse::<f64>().unwrap())
    };
    let Ok(value) = value else { return (false, None) };
    // Through to what is sent: a Template that has just this parameter.
    let stored = json!({
        "kind": "Template", "apiVersion": "template.openshift.io/v1",
        "metadata": {"name": "one"}, "parameters": [{"name": "P"}], "objects": [],
    });
    world.cluster.fault(Fault::on("GET", "/templates/one").answer(
        200,
        "application/json",
        stored.to_string(),
    ));
    let template = Template::new("one").parameter(name, value);
    let result = world.workers("admin").process(&template);
    let sent = world.requests().last().filter(|e| e.method == "POST").map(body);
    let ok = !refused(world, &result);
    (ok, sent.map(|sent| sent["parameters"][0]["value"].clone()))
}

fn field_manager(world: &World, name: &str) -> bool {
    let options = CreateOptions::new().field_manager(name).dry_run(true);
    let result = world.workers("worker").create_with(&job("worker-001"), &options);
    let created = result.is_ok();
    let refused = refused(world, &result);
    assert_ne!(created, refused, "either the server takes it or it is not sent");
    created
}

/// As a rendered object, and as a reference where the types have it.
fn target(world: &World, input: &Value) -> (bool, Option<Value>) {
    world.cluster.clear_journal();
    world.render(&json!([input]));
    // Nothing of these names exists, so a target that is taken is one that is not found.
    let deleted = world.workers("admin").delete(&job("worker-001"));
    let taken = deleted.as_ref().map(|references| serde_json::to_value(references).unwrap());
    let by_template = match &deleted {
        Ok(_) => true,
        Err(Error::InvalidManifest(_) | Error::Discovery(_)) => false,
        Err(error) => panic!("{input}: {error:?}"),
    };
    assert_eq!(world.mutations(), usize::from(by_template));
    world.cluster.clear_journal();

    if let Ok(reference) = serde_json::from_value::<ResourceRef>(input.clone()) {
        let deleted = world.workers("admin").delete(&[reference]);
        let by_reference = match &deleted {
            Ok(_) => true,
            Err(Error::InvalidInput(InvalidInput::Reference { .. }) | Error::Discovery(_)) => false,
            Err(error) => panic!("{input}: {error:?}"),
        };
        assert_eq!(by_template, by_reference, "{input}");
    } else {
        assert!(!by_template, "{input} is refused as a reference alone");
    }
    world.cluster.clear_journal();
    (by_template, taken.ok())
}

fn prepared(world: &World, input: &Value) -> (bool, Option<Value>) {
    world.cluster.clear_journal();
    world.render(&json!([input]));
    // The one kind here that no cluster serves gets a discovery document of its own.
    let document = json!({
        "kind": "APIResourceList", "groupVersion": "example.com/v1",
        "resources": [{"name": "secrets", "kind": "Secret", "namespaced": true, "verbs": ["get", "patch"]}],
    });
    if input["apiVersion"] == "example.com/v1" {
        let fault = Fault::on("GET", "/apis/example.com/v1");
        world.cluster.fault(fault.answer(200, "application/json", document.to_string()));
    }
    let result = world.workers("admin").create(&job("worker-001"));
    let sent = world.requests().iter().find(|e| e.method == "PATCH").map(body);
    let ok = !matches!(result, Err(Error::InvalidManifest(_)));
    assert_eq!(ok, sent.is_some(), "{input}: {result:?}");
    for (resource, name) in [("secrets", "s"), ("configmaps", "s")] {
        let _ = world.cluster.remove("v1", resource, Some("workers"), name);
    }
    let sent = sent.map(|mut sent| {
        // The original sets the namespace in the step before.
        let namespace = sent["metadata"].as_object_mut().unwrap().remove("namespace");
        assert_eq!(namespace, Some(json!("workers")));
        sent
    });
    (ok, sent)
}

fn references(world: &World, input: &Value) -> bool {
    world.cluster.clear_journal();
    let Ok(references) = serde_json::from_value::<Vec<ResourceRef>>(input.clone()) else {
        return false;
    };
    let workers = world.workers("worker");
    let ok = workers.get(&references).is_ok() && workers.delete(&references).is_ok();
    assert!(world.cluster.journal().is_empty());
    ok
}
