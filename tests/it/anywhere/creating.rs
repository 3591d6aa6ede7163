//! Rehearsals, plans, what must be new, what happened to each object, and who is told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use openshift_templates::{
    Applied, Change, CreateOptions, DeleteOptions, Error, Event, Namespace, Outcome, Plan,
    PreflightError, ResourceRef, State, Template,
};
use serde_json::{Value, json};

use super::{config_map, names, pair, rendering};
use crate::site::Site;

#[test]
fn what_must_be_new_is_not_adopted() {
    let site = Site::new();
    let namespace = site.namespace();
    let new = CreateOptions::new().require_new(true);
    namespace.create_with(&pair(), &new).unwrap();
    let before = namespace.get(&pair()).unwrap();
    let error = namespace.create_with(&pair().parameter("V", "2"), &new).unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    assert_eq!(namespace.get(&pair()).unwrap(), before);
}

#[test]
fn an_observer_hears_of_everything_on_the_way() {
    let site = Site::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let namespace = site.namespace().with_observer(move |event| {
        let line = match event {
            Event::Before(operation, reference) => format!("{operation} {reference}"),
            Event::Applied(applied) => format!("{} {}", applied.change(), applied.reference()),
            Event::Deleted(reference) => format!("gone {reference}"),
            _ => "failed".to_owned(),
        };
        told.lock().unwrap().push(line);
    });
    let created = namespace.create(&pair()).unwrap();
    let options = DeleteOptions::new().grace_period(Duration::ZERO);
    namespace.delete_with(&created, &options).unwrap();
    assert_eq!(
        *heard.lock().unwrap(),
        [
            "create ConfigMap/n-c",
            "created ConfigMap/n-c",
            "create Secret/n-s",
            "created Secret/n-s",
            "delete Secret/n-s",
            "gone Secret/n-s",
            "delete ConfigMap/n-c",
            "gone ConfigMap/n-c",
        ]
    );
}

fn of_preflight(namespace: &Namespace, template: &Template) -> PreflightError {
    match namespace.create_with(template, &CreateOptions::new().preflight(true)).unwrap_err() {
        Error::Preflight(preflight) => *preflight,
        error => panic!("{error:?}"),
    }
}

#[test]
fn a_preflight_whose_third_object_is_forbidden_touches_nothing() {
    let site = Site::new();
    let workers = site.client("worker").namespace("workers").unwrap();
    let name = format!("preflight-{}", std::process::id());
    let of_kind = |kind: &str, rest: &Value| {
        let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        object
    };
    let template = rendering(&json!([
        config_map(&name),
        of_kind("Secret", &json!({"stringData": {"a": "b"}})),
        of_kind("Service", &json!({"spec": {"ports": [{"port": 1}]}})),
    ]));
    let refusals = of_preflight(&workers, &template).into_refusals();
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].resource().to_string(), format!("Service/{name}"));
    assert!(refusals[0].error().is_forbidden(), "{refusals:?}");
    let config = ResourceRef::new("v1", "ConfigMap", &name);
    let absent =
        workers.status(&[config.clone(), ResourceRef::new("v1", "Secret", &name)]).unwrap();
    assert!(absent.iter().all(|object| *object.state() == State::Absent), "{absent:?}");

    // Without it the first two are there, and what exists already would have been changed.
    let error = workers.create(&template).unwrap_err();
    let made = error.as_operation().unwrap().completed().to_vec();
    assert_eq!(made.len(), 2, "{error:?}");
    let before = workers.get(&made).unwrap();
    of_preflight(&workers, &template.parameter("V", "2"));
    assert_eq!(workers.get(&made).unwrap(), before);
    workers.delete(&made).unwrap();
}

#[test]
fn a_preflight_reports_every_refusal() {
    let site = Site::new();
    let namespace = site.namespace();
    let other = CreateOptions::new().field_manager("somebody");
    namespace.create_with(&rendering(&json!([config_map("theirs")])), &other).unwrap();
    let mut broken = config_map("broken");
    broken["dta"] = json!({});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "on-the-host"},
        "spec": {"hostNetwork": true, "containers": [{"name": "c", "image": "x"}]},
    });
    site.refuse_secrets_by_quota();
    site.refuse_pods_on_the_host();
    let template = rendering(&json!([
        config_map("fine"),
        broken,
        config_map("theirs"),
        super::secret(),
        pod,
        config_map("fine-too"),
    ]))
    .parameter("V", "2");

    let refusals = of_preflight(&namespace, &template).into_refusals();
    let told: Vec<_> = refusals.iter().map(|refusal| refusal.resource().to_string()).collect();
    assert_eq!(
        told,
        ["ConfigMap/broken", "ConfigMap/theirs", "Secret/n-s", "Pod/on-the-host"],
        "schema, conflict, quota and admission: {refusals:?}"
    );
    assert!(refusals.iter().all(|refusal| refusal.outcome() == Outcome::Rejected), "{refusals:?}");
    assert!(refusals[1].error().is_conflict());
    let both = refusals[2].error().is_forbidden() && refusals[3].error().is_forbidden();
    assert!(both, "{refusals:?}");
    assert!(
        namespace.get(&[ResourceRef::new("v1", "ConfigMap", "fine")]).unwrap_err().is_not_found()
    );
}

#[test]
fn a_dry_run_says_what_would_be_and_changes_nothing() {
    let site = Site::new();
    let namespace = site.namespace();
    let dry_run = CreateOptions::new().dry_run(true).compare(true);
    let would_be = || {
        let plan = namespace.plan(&pair()).unwrap();
        let applied = namespace.apply(&plan, &dry_run).unwrap();
        applied.iter().map(Applied::change).collect::<Vec<_>>()
    };
    assert_eq!(would_be(), [Change::Created; 2]);
    assert!(namespace.get(&pair()).unwrap_err().is_not_found());
    namespace.create(&pair()).unwrap();
    assert_eq!(would_be(), [Change::Unchanged; 2]);
    namespace.delete_with(&pair(), &DeleteOptions::new().dry_run(true)).unwrap();
    assert_eq!(namespace.get(&pair()).unwrap().len(), 2);
}

#[test]
fn of_racing_creators_one_wins() {
    let site = Site::new();
    let namespace = site.namespace();
    let template = rendering(&json!([config_map("one")]));
    let new = CreateOptions::new().require_new(true);
    let results: Vec<_> = std::thread::scope(|scope| {
        let race = |racer: i64| {
            let (namespace, new) = (&namespace, &new);
            let template = template.clone().parameter("V", racer);
            scope.spawn(move || namespace.create_with(&template, new))
        };
        let racers: Vec<_> = (0..8).map(race).collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    let won: Vec<_> = (0..).zip(&results).filter(|(_, result)| result.is_ok()).collect();
    let [(winner, Ok(created))] = won.as_slice() else { panic!("{results:?}") };
    assert!(results.iter().filter_map(|r| r.as_ref().err()).all(Error::is_conflict), "{results:?}");
    let live = &namespace.get(created).unwrap()[0];
    assert_eq!(live.as_map()["data"], json!({"v": winner.to_string()}));
}

#[test]
fn what_happened_to_each_is_told() {
    let site = Site::new();
    let namespace = site.namespace();
    let changes = |template: &Template, compare| {
        let plan = namespace.plan(template).unwrap();
        let applied = namespace.apply(&plan, &CreateOptions::new().compare(compare)).unwrap();
        applied.iter().map(Applied::change).collect::<Vec<_>>()
    };
    assert_eq!(changes(&pair(), false), [Change::Created; 2]);
    assert_eq!(changes(&pair(), false), [Change::Existing; 2]);
    assert_eq!(changes(&pair(), true), [Change::Unchanged; 2]);
    assert_eq!(changes(&pair().parameter("V", "2"), true), [Change::Changed; 2]);
}

#[test]
fn a_servers_warnings_are_passed_on() {
    let site = Site::new();
    let namespace = site.namespace();
    let deprecated = json!({
        "apiVersion": "apps.openshift.io/v1", "kind": "DeploymentConfig", "metadata": {"name": "d"},
        "spec": {"replicas": 0, "template": {"metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "x"}]}}},
    });
    let plan = namespace.plan(&rendering(&json!([config_map("c"), deprecated]))).unwrap();
    let applied = namespace.apply(&plan, &CreateOptions::new()).unwrap();
    assert!(applied[0].warnings().is_empty());
    let warning =
        "apps.openshift.io/v1 DeploymentConfig is deprecated in v4.14+, unavailable in v4.10000+";
    assert_eq!(applied[1].warnings(), [warning]);
}

#[test]
fn a_saved_plan_is_applied_though_the_template_changed() {
    let site = Site::new();
    let namespace = site.namespace();
    let stored = |value: &str| {
        json!({
            "apiVersion": "template.openshift.io/v1", "kind": "Template",
            "metadata": {"name": "changing", "namespace": namespace.name()},
            "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "planned"},
                "data": {"v": value}}],
        })
    };
    let templates =
        format!("/apis/template.openshift.io/v1/namespaces/{}/templates", namespace.name());
    assert_eq!(site.admin("POST", &templates, &stored("reviewed")).0, 201);
    let template = Template::new("changing");
    let plan = namespace.plan(&template).unwrap();
    assert_eq!(names(&plan.references()), ["ConfigMap/planned"]);
    assert_eq!(plan.references()[0].namespace(), Some(namespace.name()));
    let saved = serde_json::to_string(&plan).unwrap();

    assert_eq!(site.admin("DELETE", &format!("{templates}/changing"), &Value::Null).0, 200);
    assert_eq!(site.admin("POST", &templates, &stored("changed since")).0, 201);
    let plan: Plan = serde_json::from_str(&saved).unwrap();
    namespace.apply(&plan, &CreateOptions::new()).unwrap();
    let live = &namespace.get(&plan.references()).unwrap()[0];
    assert_eq!(live.as_map()["data"], json!({"v": "reviewed"}));
    namespace.create(&template).unwrap();
    let live = &namespace.get(&plan.references()).unwrap()[0];
    assert_eq!(live.as_map()["data"], json!({"v": "changed since"}), "a create renders anew");
}
