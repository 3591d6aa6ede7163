//! What has to hold on any cluster: these run on the embedded one, and unchanged on a real one.

use openshift_templates::{Manifest, ResourceRef, Template};
use serde_json::{Value, json};

use crate::site::Site;

mod creating;
mod deleting;
mod inputs;
mod jobs;
mod looking;
mod programs;
mod rights;

const SOURCES: [&str; 7] = [
    include_str!("anywhere/creating.rs"),
    include_str!("anywhere/deleting.rs"),
    include_str!("anywhere/inputs.rs"),
    include_str!("anywhere/jobs.rs"),
    include_str!("anywhere/looking.rs"),
    include_str!("anywhere/programs.rs"),
    include_str!("anywhere/rights.rs"),
];

#[test]
fn where_this_runs_is_told() {
    let site = Site::new();
    let place = if site.is_embedded() { "the embedded API server" } else { "a real cluster" };
    // Past the test harness, so that a log always says it.
    let is_test = |line: &&str| *line == "#[test]";
    let tests = 1 + SOURCES.iter().flat_map(|source| source.lines()).filter(is_test).count();
    let line = format!("{tests} tests of `anywhere` run on {place}, version {}\n", site.version());
    std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes()).unwrap();
}

/// A Template that renders these objects, with the parameters `N` (`n` unless it is given) and `V`.
fn rendering(objects: &Value) -> Template {
    let manifest: Manifest = serde_json::from_value(json!({
        "apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "own"},
        "parameters": [{"name": "N", "value": "n"}, {"name": "V", "value": "1"}], "objects": objects,
    }))
    .unwrap();
    Template::inline(manifest).unwrap()
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"v": "${V}"}})
}

fn secret() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "${N}-s"}, "stringData": {"a": "${V}"},
    })
}

fn pair() -> Template {
    rendering(&json!([config_map("${N}-c"), secret()]))
}

fn virtual_machine() -> Template {
    rendering(&json!([{
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "${N}"},
        "spec": {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}},
    }]))
}

fn names(references: &[ResourceRef]) -> Vec<String> {
    references.iter().map(ToString::to_string).collect()
}
