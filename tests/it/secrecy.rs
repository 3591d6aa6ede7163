//! Nothing that can be printed holds a secret.

use openshift_templates::{Client, CreateOptions, Template};
use openshift_templates_testing::{Fault, User};
use serde_json::json;

use crate::support::{PROCESS, World, shown};

const MARK: &str = "MARKED-SECRET";

fn template() -> Template {
    let template = Template::new("worker-template").in_namespace("infra");
    template.parameters([("VM_NAME", "worker-001"), ("TOKEN", MARK), ("IMAGE_TAG", MARK)])
}

#[test]
fn values_and_tokens_are_in_nothing_that_is_printed() {
    let world = World::start();
    let workers = world.workers("worker");
    let config = world.config("worker");
    let mut printed = vec![
        format!("{config:?} {:?} {workers:?}", Client::new(config.clone()).unwrap()),
        format!("{:?} {:?}", template(), CreateOptions::new()),
    ];
    let processed = workers.process(&template()).unwrap();
    printed.push(format!("{processed:?} {:?}", processed.manifests()));
    printed.push(format!("{:?}", workers.create(&template()).unwrap()));
    printed.push(format!("{:?}", workers.get(&template()).unwrap()));
    for text in &printed {
        assert!(!text.contains(MARK), "{text}");
        assert!(!text.contains(world.cluster.token(User::Worker)), "{text}");
    }
}

#[test]
fn a_servers_text_is_in_no_error_unless_it_is_asked_for() {
    let status = json!({
        "kind": "Status", "message": MARK, "reason": "Invalid", "code": 422,
        "details": {"causes": [{"reason": "FieldValueInvalid", "message": MARK, "field": "spec"}]},
    })
    .to_string();
    let json_type = "application/json";
    for (method, target) in [("GET", "/templates/"), ("POST", PROCESS), ("PATCH", "/secrets/")] {
        for (code, content_type, body) in [
            (422, json_type, status.clone()),
            (500, json_type, status.clone()),
            (502, "text/html", format!("<html>{MARK}</html>")),
            (200, json_type, format!("{{\"kind\": \"{MARK}\", {MARK}")),
            (200, json_type, format!("[\"{MARK}\"]")),
            (
                200,
                json_type,
                format!(
                    "{{\"kind\": \"{MARK}\", \"objects\": \"{MARK}\", \"message\": [\"{MARK}\"]}}"
                ),
            ),
        ] {
            let world = World::start();
            world.cluster.fault(Fault::on(method, target).answer(code, content_type, body.clone()));
            let error = world.workers("worker").create(&template()).unwrap_err();
            let text = shown(&error);
            assert!(!text.contains(MARK), "{method} {code} {body}: {text}");
            if code >= 400 {
                assert!(error.as_api().unwrap().message().contains(MARK));
            }
        }
    }
}

#[test]
fn a_manifest_that_does_not_fit_a_type_does_not_show_its_values() {
    #[derive(Debug, serde::Deserialize)]
    struct Secret {
        #[allow(dead_code, reason = "only whether it can be read counts")]
        data: u32,
    }
    let manifest: openshift_templates::Manifest =
        serde_json::from_value(json!({"kind": "Secret", "metadata": {"name": "a"}, "data": MARK}))
            .unwrap();
    let error = manifest.deserialize::<Secret>().unwrap_err();
    assert!(!shown(&error).contains(MARK));
    assert!(error.to_string().contains("Secret/a"), "{error}");
}

#[test]
fn a_name_from_the_other_side_stays_on_its_line() {
    let world = World::start();
    for (version, kind, name) in [
        ("a\nFAKE/v1", "X", "a"),
        ("v1", "X\nFAKE", "a"),
        ("v1", "ConfigMap", "a\nFAKE"),
        ("v1", "Namespace", "\u{1b}[31mFAKE"),
    ] {
        world.render(&json!([{"apiVersion": version, "kind": kind, "metadata": {"name": name}}]));
        let processed = world.workers("admin").process(&template()).unwrap();
        assert!(!format!("{processed:?}").contains(['\n', '\u{1b}']));
        world.render(&json!([{"apiVersion": version, "kind": kind, "metadata": {"name": name}}]));
        let error = world.workers("admin").create(&template()).unwrap_err();
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(!text.contains(['\n', '\u{1b}']), "{text:?}");
        }
    }
}
