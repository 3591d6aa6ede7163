//! Real Templates and what a real server made of them. They are other people's files: a folder outside holds them.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use openshift_templates_testing::Cluster;
use serde_json::{Value, json};

use crate::support::post;

const FOLDER: &str = "OPENSHIFT_TEMPLATES_CORPUS";

#[test]
fn real_templates_render_as_they_did() {
    let Some(folder) = env::var_os(FOLDER) else {
        // Not `eprintln!`, which the test harness would keep to itself.
        let why = format!("{FOLDER} is not set");
        let text = format!("\n*** THE CORPUS OF REAL TEMPLATES WAS NOT EXERCISED: {why} ***\n\n");
        io::stderr().write_all(text.as_bytes()).unwrap();
        return;
    };
    let cluster = Cluster::start();
    let mut count = 0;
    let mut problems = Vec::new();
    for entry in
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            count += 1;
            problems.extend(
                problem(&cluster, &path).map(|problem| format!("{}: {problem}", path.display())),
            );
        }
    }
    assert!(count > 0, "{} holds no Template", folder.display());
    assert!(problems.is_empty(), "{} of {count}:\n{}", problems.len(), problems.join("\n"));
}

fn problem(cluster: &Cluster, path: &Path) -> Option<String> {
    let case: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let mut template = case["template"].clone();
    template["apiVersion"] = "template.openshift.io/v1".into();
    template["metadata"] = json!({"name": template["metadata"]["name"]});
    for parameter in template["parameters"].as_array_mut().into_iter().flatten() {
        if let Some(value) = case["parameters"].get(parameter["name"].as_str().unwrap_or_default())
        {
            parameter["value"] = value.clone();
        }
    }
    let target = "/apis/template.openshift.io/v1/namespaces/workers/processedtemplates";
    let answer = post(cluster, target, &template);
    let expected = &case["process"];
    if expected["status"] != answer.status {
        return Some(format!(
            "recorded {}, found {}: {}",
            expected["status"],
            answer.status,
            answer.text()
        ));
    }
    let found = answer.json();
    for part in ["objects", "message"] {
        if found[part] != expected[part] {
            return Some(format!(
                "{part}: recorded\n{:#}\nfound\n{:#}",
                expected[part], found[part]
            ));
        }
    }
    None
}
