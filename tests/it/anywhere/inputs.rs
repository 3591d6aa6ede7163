//! Templates from elsewhere, parameters from files, labels, and what a Template takes.

use std::path::PathBuf;

use openshift_templates::{Error, InvalidInput, Parameter, Template};
use serde_json::json;

use super::pair;
use crate::site::Site;
use crate::support::job;

#[test]
fn inputs_are_judged_by_what_the_template_says() {
    let site = Site::new();
    let namespace = site.namespace();
    let error = namespace.process(&pair().parameter("M", "1")).unwrap_err();
    assert!(
        matches!(error, Error::InvalidInput(InvalidInput::UnknownParameters { .. })),
        "{error:?}"
    );
    assert!(
        namespace.process(&Template::new("nope").in_namespace("infra")).unwrap_err().is_not_found()
    );
    let generated =
        Template::new("generated-template").in_namespace("infra").parameter("NAME", "n");
    let error = namespace.process(&generated).unwrap_err();
    assert!(
        matches!(error, Error::InvalidInput(InvalidInput::UnresolvedGenerators { .. })),
        "{error:?}"
    );
    let required = Template::new("worker-template").in_namespace("infra");
    let error = namespace.process(&required).unwrap_err();
    assert_eq!(error.as_api().unwrap().causes()[0].field(), Some("template.parameters[0]"));
    let parameters = namespace.parameters(&required).unwrap();
    assert!(parameters[0].is_required());
}

/// Files that go with the test.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// Everything that real files have and a stored Template has not.
const FILE: &str = "\
apiVersion: v1
kind: Template
parameters:
- {name: N, value: 7}
- {name: B, value: true}
objects:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: 'n-${N}'}
  data: &data
    v: first
    b: '${B}'
    v: last
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: 'm-${N}'}
  data:
    <<: *data
    b: own
---
kind: Other
";

#[test]
fn a_template_in_a_file_is_rendered_created_and_replayed() {
    let site = Site::new();
    let namespace = site.namespace();
    let files = Files::new();
    let path = files.write("template.yaml", FILE);
    let created = namespace.create(&Template::from_file(&path).unwrap()).unwrap();
    let live = namespace.get(&created).unwrap();
    assert_eq!(live[0].name(), Some("n-7"));
    assert_eq!(live[0].as_map()["data"], json!({"v": "last", "b": "true"}));
    assert_eq!(live[1].as_map()["data"], json!({"v": "last", "b": "own"}));

    let replayed = site.namespace().delete(&Template::from_file(&path).unwrap()).unwrap();
    assert_eq!(replayed.len(), 2);
    assert!(namespace.get(&created).unwrap_err().is_not_found());

    let as_json =
        serde_json::to_string(&json!({"apiVersion": "v1", "kind": "Template", "objects": []}));
    let path = files.write("template.json", &as_json.unwrap());
    assert_eq!(namespace.create(&Template::from_file(path).unwrap()).unwrap(), []);
    let error =
        Template::from_file(files.write("list.yaml", "{apiVersion: v1, kind: List}")).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(InvalidInput::NotATemplate { .. })), "{error:?}");
}

#[test]
fn parameters_come_from_files_and_explicit_ones_win() {
    let site = Site::new();
    let namespace = site.namespace();
    let files = Files::new();
    let first = files.write("first.env", "# the first file wins\nexport N: from-file\n");
    let second = files.write("second.env", "N=later\nV='a b' # not this\nELSEWHERE=x\n");
    let template =
        pair().parameters_from_file(first).unwrap().parameters_from_file(second).unwrap();
    let error = namespace.create(&template).unwrap_err();
    assert!(
        matches!(error, Error::InvalidInput(InvalidInput::UnknownParameters { .. })),
        "{error:?}"
    );

    let template = template.ignore_unknown_parameters(true);
    namespace.create(&template).unwrap();
    let live = &namespace.get(&template).unwrap()[0];
    assert_eq!(live.name(), Some("from-file-c"));
    assert_eq!(live.as_map()["data"], json!({"v": "a b"}));
    let explicit = template.parameter("N", "explicit");
    assert_eq!(namespace.process(&explicit).unwrap().manifests()[0].name(), Some("explicit-c"));
}

#[test]
fn labels_are_on_every_object() {
    let site = Site::new();
    let namespace = site.namespace();
    let template = pair().label("example.com/job", "one").label("tier", "${V}");
    namespace.create(&template).unwrap();
    for live in namespace.get(&template).unwrap() {
        let labels = &live.as_map()["metadata"]["labels"];
        assert_eq!(labels, &json!({"example.com/job": "one", "tier": "1"}), "{live:?}");
    }
}

#[test]
fn what_a_template_takes_is_read_without_rendering_it() {
    let site = Site::new();
    let namespace = site.namespace();
    let of = |name: &str| namespace.parameters(&Template::new(name).in_namespace("infra")).unwrap();
    let worker = of("worker-template");
    let names: Vec<_> = worker.iter().map(Parameter::name).collect();
    assert_eq!(names, ["VM_NAME", "IMAGE_TAG", "DEBUG", "CORES", "TOKEN"]);
    assert!(worker[0].is_required() && worker[0].value().is_none());
    assert_eq!((worker[3].value(), worker[3].is_required()), (Some("2"), false));
    let password = of("generated-template").into_iter().find(|p| p.name() == "PASSWORD");
    assert!(password.unwrap().is_generated());

    let error = namespace.process(&job("a").parameter("VMNAME", "x")).unwrap_err().to_string();
    assert!(error.contains("VM_NAME for VMNAME?"), "{error}");
}
