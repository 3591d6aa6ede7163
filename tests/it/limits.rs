//! What bounds an answer.

use std::error::Error as _;

use openshift_templates::{Client, Error, Namespace, Outcome, ResourceRef, TransportError};
use openshift_templates_testing::Fault;
use serde_json::{Value, json};

use crate::support::{World, job};

const LIMIT: usize = 10_000;

fn bounded(world: &World) -> Namespace {
    let config = world.config("worker").answer_limit(LIMIT as u64);
    Client::new(config).unwrap().namespace("workers").unwrap()
}

/// A `ConfigMap` as an answer of so many bytes.
fn config_map(bytes: usize) -> String {
    let [head, tail] = [
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"workers","uid":"u"},"data":{"x":""#,
        r#""}}"#,
    ];
    format!("{head}{}{tail}", "x".repeat(bytes - head.len() - tail.len()))
}

fn reference() -> [ResourceRef; 1] {
    [ResourceRef::new("v1", "ConfigMap", "a")]
}

fn cause(error: &TransportError) -> String {
    error.source().unwrap().to_string()
}

#[test]
fn an_answer_longer_than_the_limit_is_an_error_that_names_it() {
    let world = World::start();
    let workers = bounded(&world);
    let answer = |bytes| {
        let get = Fault::on("GET", "/configmaps/");
        world.cluster.fault(get.answer(200, "application/json", config_map(bytes)));
        workers.get(&reference())
    };
    assert_eq!(answer(LIMIT).unwrap().len(), 1);
    let error = answer(LIMIT + 1).unwrap_err();
    let Error::Transport(error) = &error else { panic!("{error:?}") };
    assert_eq!(error.exceeded_limit(), Some(LIMIT as u64));
    assert_eq!(cause(error), "the answer is longer than 10000 bytes (Config::answer_limit)");
    assert_eq!(world.lines().len(), 2, "it is not asked for again");
    // The next one is as good as ever.
    assert_eq!(answer(LIMIT).unwrap().len(), 1);
}

#[test]
fn what_is_compressed_counts_as_what_it_becomes() {
    let world = World::start();
    let workers = bounded(&world);
    let get = Fault::on("GET", "/configmaps/");
    world.cluster.fault(get.answer(200, "application/json", config_map(1_000_000)));
    let error = workers.get(&reference()).unwrap_err();
    let Error::Transport(error) = &error else { panic!("{error:?}") };
    assert_eq!(error.exceeded_limit(), Some(LIMIT as u64));
}

#[test]
fn a_rendering_of_ten_mebibytes_works() {
    let world = World::start();
    let objects: Vec<Value> = (0..20)
        .map(|number| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("a-{number}")},
                "data": {"a": "x".repeat(512 * 1024)}})
        })
        .collect();
    world.render(&json!(objects));
    let workers = world.workers("worker");
    let references = workers.create(&job("worker-001")).unwrap();
    let read = workers.get(&references).unwrap();
    assert_eq!(read.len(), 20);
    assert!(read.iter().all(|m| m.as_map()["data"]["a"].as_str().unwrap().len() == 512 * 1024));
    assert_eq!(workers.delete(&references).unwrap().len(), 20);
}

#[test]
fn a_mutation_whose_answer_is_too_long_is_of_unknown_outcome() {
    let world = World::start();
    let workers = bounded(&world);
    let patch = Fault::on("PATCH", "/configmaps/");
    world.cluster.fault(patch.answer(200, "application/json", config_map(LIMIT + 1)));
    let error = workers.create(&job("worker-001")).unwrap_err();
    let failure = &error.as_operation().unwrap().failures()[0];
    assert_eq!(failure.outcome(), Outcome::Unknown);
    let Error::Transport(error) = failure.error() else { panic!("{failure:?}") };
    assert_eq!(error.exceeded_limit(), Some(LIMIT as u64));
}

#[test]
fn a_refusal_stands_however_long_its_text() {
    let world = World::start();
    let workers = bounded(&world);
    let get = Fault::on("GET", "/configmaps/");
    world.cluster.fault(get.answer(403, "text/plain", "x".repeat(3_000_000)));
    assert!(workers.get(&reference()).unwrap_err().is_forbidden());
}

#[test]
fn an_answer_nested_too_deep_is_an_error_that_says_so() {
    let world = World::start();
    let workers = world.workers("worker");
    for depth in [200, 1_000_000] {
        let body = format!(r#"{{"data":{}{}}}"#, "[".repeat(depth), "]".repeat(depth));
        world.cluster.fault(Fault::on("GET", "/configmaps/").answer(200, "application/json", body));
        let error = workers.get(&reference()).unwrap_err();
        let Error::Transport(error) = &error else { panic!("{error:?}") };
        assert_eq!(cause(error), "the answer nests deeper than 127 levels");
        assert_eq!(error.exceeded_limit(), None);
    }
}
