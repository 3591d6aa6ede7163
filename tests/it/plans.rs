//! Plans, rehearsals, what happened to each object, and who is told.

use std::sync::{Arc, Mutex};

use openshift_templates::{Change, CreateOptions, Error, Event, InvalidInput, Operation, Plan};
use openshift_templates_testing::Fault;
use serde_json::json;

use crate::support::{World, body, job, shown};

fn three() -> serde_json::Value {
    let object = |kind: &str, name: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
    // A worker may not touch the third and the fourth.
    json!([
        object("ConfigMap", "worker-a"),
        object("Secret", "worker-b"),
        object("Service", "worker-c"),
        object("Pod", "worker-d"),
    ])
}

#[test]
fn a_preflight_reports_every_refusal_and_touches_nothing() {
    let world = World::start();
    world.render(&three());
    let options = CreateOptions::new().preflight(true);
    let error = world.workers("worker").create_with(&job("worker-001"), &options).unwrap_err();
    let Error::Preflight(preflight) = &error else { panic!("{error:?}") };
    let refused: Vec<_> = preflight.refusals().iter().map(|f| f.resource().to_string()).collect();
    assert_eq!(refused, ["Service/worker-c", "Pod/worker-d"]);
    assert!(error.is_forbidden(), "predicates speak of the first refusal");
    assert!(world.names().is_empty());
    let patches: Vec<_> = world.lines().into_iter().filter(|l| l.starts_with("PATCH")).collect();
    assert_eq!(patches.len(), 4);
    assert!(patches.iter().all(|line| line.contains("dryRun=All")), "{patches:?}");

    // Without it the create stops in the middle.
    world.render(&three());
    let error = world.workers("worker").create(&job("worker-001")).unwrap_err();
    assert!(error.as_operation().is_some());
    assert_eq!(world.names().len(), 2);
}

#[test]
fn a_preflight_that_passes_is_followed_by_the_real_thing() {
    let world = World::start();
    let options = CreateOptions::new().preflight(true);
    let references = world.workers("worker").create_with(&job("worker-001"), &options).unwrap();
    assert_eq!(references.len(), 3);
    assert_eq!(world.names().len(), 3);
    assert_eq!(world.mutations(), 6);
}

#[test]
fn what_must_be_new_is_a_conflict_when_it_exists() {
    let world = World::start();
    let workers = world.workers("worker");
    let options = CreateOptions::new().require_new(true);
    workers.create_with(&job("worker-001"), &options).unwrap();
    let before = world.cluster.objects("workers");
    let error =
        workers.create_with(&job("worker-001").parameter("DEBUG", "false"), &options).unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    assert_eq!(world.cluster.objects("workers"), before, "it is not changed");

    // Of racing creators one wins.
    let won = std::thread::scope(|scope| {
        let racers: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| workers.create_with(&job("worker-002"), &options).is_ok()))
            .collect();
        racers.into_iter().filter_map(|racer| racer.join().ok()).filter(|won| *won).count()
    });
    assert_eq!(won, 1);
}

#[test]
fn a_template_that_is_rendered_can_be_required_to_be_new() {
    let world = World::start();
    world.render(&json!([{
        "apiVersion": "template.openshift.io/v1", "kind": "Template", "metadata": {"name": "inner"}, "objects": []
    }]));
    let options = CreateOptions::new().require_new(true);
    world.workers("admin").create_with(&job("worker-001"), &options).unwrap();
    assert!(
        world
            .lines()
            .last()
            .unwrap()
            .ends_with("/namespaces/workers/templates?fieldManager=mini-scheduler")
    );
}

#[test]
fn a_plan_is_applied_exactly_though_the_template_changed() {
    let world = World::start();
    let workers = world.workers("worker");
    let plan = workers.plan(&job("worker-001")).unwrap();
    assert_eq!(world.mutations(), 0);
    assert!(!format!("{plan:?}").contains("s3cr3t"));
    assert!(
        plan.references().iter().all(|r| r.namespace() == Some("workers") && r.uid().is_none())
    );

    let saved = serde_json::to_string(&plan).unwrap();
    let template = world.cluster.object(
        "template.openshift.io/v1",
        "templates",
        Some("infra"),
        "worker-template",
    );
    let mut template = template.unwrap();
    template["objects"] = json!([]);
    world.cluster.store(template);
    let loaded: Plan = serde_json::from_str(&saved).unwrap();
    assert_eq!(loaded, plan);
    world.cluster.clear_journal();
    let applied = workers.apply(&loaded, &CreateOptions::new()).unwrap();
    assert_eq!(applied.len(), 3);
    let sent: Vec<_> = world.requests().iter().map(body).collect();
    assert_eq!(
        serde_json::to_value(&sent).unwrap(),
        serde_json::to_value(plan.manifests()).unwrap()
    );
}

#[test]
fn a_plan_is_not_taken_on_trust() {
    let world = World::start();
    let workers = world.workers("admin");
    let plan = workers.plan(&job("worker-001")).unwrap();
    let other = workers.client().namespace("other").unwrap();
    let error = other.apply(&plan, &CreateOptions::new()).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(InvalidInput::PlanNamespace { .. })), "{error:?}");

    let mut edited = serde_json::to_value(&plan).unwrap();
    edited["objects"][0]["metadata"]["namespace"] = json!("other");
    let edited: Plan = serde_json::from_value(edited).unwrap();
    let error = workers.apply(&edited, &CreateOptions::new()).unwrap_err();
    assert!(matches!(error, Error::InvalidManifest(_)), "{error:?}");
    assert_eq!(world.mutations(), 0);
}

#[test]
fn what_happened_to_each_is_told() {
    let world = World::start();
    let workers = world.workers("worker");
    let apply = |debug: &str, compare| {
        let plan = workers.plan(&job("worker-001").parameter("DEBUG", debug)).unwrap();
        let applied = workers.apply(&plan, &CreateOptions::new().compare(compare)).unwrap();
        applied.iter().map(openshift_templates::Applied::change).collect::<Vec<_>>()
    };
    assert_eq!(apply("true", true), [Change::Created; 3]);
    assert_eq!(apply("true", false), [Change::Existing; 3]);
    assert_eq!(apply("false", true), [Change::Changed, Change::Unchanged, Change::Unchanged]);
}

#[test]
fn warnings_of_the_server_are_passed_on() {
    let world = World::start();
    world.render(&json!([{
        "apiVersion": "apps.openshift.io/v1", "kind": "DeploymentConfig", "metadata": {"name": "worker-a"},
        "spec": {"template": {"spec": {"containers": []}}},
    }]));
    let workers = world.workers("admin");
    let plan = workers.plan(&job("worker-001")).unwrap();
    let applied = workers.apply(&plan, &CreateOptions::new()).unwrap();
    let warning =
        "apps.openshift.io/v1 DeploymentConfig is deprecated in v4.14+, unavailable in v4.10000+";
    assert_eq!(applied[0].warnings(), [warning]);
}

#[test]
fn an_observer_hears_of_each_mutation_before_and_after() {
    let world = World::start();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let workers = world.workers("worker").with_observer(move |event| {
        let line = match event {
            Event::Before(Operation::Create, reference) => format!("apply {reference}"),
            Event::Before(_, reference) => format!("delete {reference}"),
            Event::Applied(applied) => format!("{} {}", applied.change(), applied.reference()),
            Event::Deleted(reference) => format!("deleted {reference}"),
            Event::Failed(failure) => format!("{}: {}", failure.outcome(), failure.resource()),
            _ => "something new".to_owned(),
        };
        told.lock().unwrap().push(line);
    });
    world.cluster.fault(Fault::on("PATCH", "/virtualmachines/").drop_before());
    workers.create(&job("worker-001")).unwrap_err();
    assert_eq!(
        std::mem::take(&mut *heard.lock().unwrap()),
        [
            "apply ConfigMap/worker-001-config",
            "created ConfigMap/worker-001-config",
            "apply Secret/worker-001-secret",
            "created Secret/worker-001-secret",
            "apply VirtualMachine/worker-001",
            "outcome unknown: VirtualMachine/worker-001",
        ]
    );
    workers.delete(&job("worker-001")).unwrap();
    assert_eq!(heard.lock().unwrap().len(), 6);
}

#[test]
fn a_dry_run_reports_all_refusals_too() {
    let world = World::start();
    world.render(&three());
    let options = CreateOptions::new().dry_run(true);
    let error = world.workers("worker").create_with(&job("worker-001"), &options).unwrap_err();
    let Error::Preflight(preflight) = &error else { panic!("{error:?}") };
    assert_eq!(preflight.refusals().len(), 2);
    assert!(shown(&error).contains("nothing was touched"));
}
