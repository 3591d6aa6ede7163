//! Waiting, status at a glance, and rights.

use std::time::{Duration, Instant};

use openshift_templates::{Error, State, Wait};
use openshift_templates_testing::Fault;
use serde_json::json;

use crate::support::{World, job};

fn quick(wait: Wait) -> Wait {
    wait.interval(Duration::from_millis(5))
}

#[test]
fn absence_is_waited_for_by_uid() {
    let world = World::start();
    let workers = world.workers("worker");
    let references = workers.create(&job("worker-001")).unwrap();
    workers.delete(&references).unwrap();
    workers.wait(&references, &quick(Wait::until_absent())).unwrap();
    // A new object of the name is another object.
    workers.create(&job("worker-001")).unwrap();
    workers.wait(&references, &quick(Wait::until_absent())).unwrap();
    // Rendering is within the deadline too: the references leave it to the waiting alone.
    let [old, _, _] = references.as_slice() else { panic!("{references:?}") };
    let by_name = [old.clone().with_uid("")];
    let hurried = workers.with_deadline(Duration::from_millis(50));
    let error = hurried.wait(&by_name, &quick(Wait::until_absent())).unwrap_err();
    let Error::Wait(wait) = &error else { panic!("{error:?}") };
    assert_eq!(wait.pending().len(), 1);
    assert!(error.is_timeout());
    assert!(error.to_string().contains("ConfigMap/worker-001-config (present)"), "{error}");
}

#[test]
fn a_condition_is_waited_for_while_others_bring_it_about() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    let vm = [workers.get(&job("worker-001")).unwrap()[2].reference().unwrap()];
    let is_ready = quick(Wait::until_condition("Ready", "True"));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| workers.wait(&vm, &is_ready));
        let limit = Instant::now() + Duration::from_secs(10);
        while world.lines().iter().filter(|l| l.contains("virtualmachines")).count() < 4 {
            assert!(Instant::now() < limit, "it does not look");
            std::thread::yield_now();
        }
        let of_status = |status: &str| json!({"conditions": [{"type": "Ready", "status": status}]});
        for status in ["False", "True"] {
            world.cluster.set_status(
                "kubevirt.io/v1",
                "virtualmachines",
                Some("workers"),
                "worker-001",
                of_status(status),
            );
        }
        waiting.join().unwrap().unwrap();
    });
    let running = quick(Wait::until_each(|live| live.kind() == Some("VirtualMachine")));
    workers.wait(&vm, &running).unwrap();
}

#[test]
fn what_can_pass_is_looked_beyond_and_what_cannot_ends_it() {
    let world = World::start();
    let workers = world.workers("worker");
    let references = workers.create(&job("worker-001")).unwrap();
    workers.delete(&references).unwrap();
    world.cluster.fault(Fault::on("GET", "/secrets/").answer(503, "text/plain", "busy").times(2));
    world.cluster.fault(Fault::on("GET", "/configmaps/").drop_before().times(2));
    workers.wait(&references, &quick(Wait::until_absent())).unwrap();
    world.cluster.fault(Fault::on("GET", "/configmaps/").answer(403, "text/plain", "no"));
    assert!(workers.wait(&references, &quick(Wait::until_absent())).unwrap_err().is_forbidden());
}

#[test]
fn status_says_what_conventions_say() {
    let world = World::start();
    let workers = world.workers("worker");
    let states = |status: Vec<openshift_templates::ObjectStatus>| {
        status.iter().map(|object| object.state().clone()).collect::<Vec<_>>()
    };
    assert_eq!(states(workers.status(&job("worker-001")).unwrap()), vec![State::Absent; 3]);
    let references = workers.create(&job("worker-001")).unwrap();
    let present = workers.status(&references).unwrap();
    assert_eq!(present[0].reference(), &references[0]);
    assert_eq!(states(present), vec![State::Present; 3]);
}

#[test]
fn rights_are_listed_and_what_is_missing_is_found() {
    let world = World::start();
    let access = world.workers("worker").access(&job("worker-001")).unwrap();
    let shown: Vec<_> = access
        .rules()
        .iter()
        .map(|r| {
            format!("{} {}/{} {}", r.namespace(), r.group(), r.resource(), r.verbs().join(","))
        })
        .collect();
    assert_eq!(
        shown,
        [
            "infra template.openshift.io/templates get",
            "workers template.openshift.io/processedtemplates create",
            "workers /configmaps create,patch,delete,get",
            "workers /secrets create,patch,delete,get",
            "workers kubevirt.io/virtualmachines create,patch,delete,get",
        ]
    );
    assert!(world.workers("worker").check_access(&access).unwrap().is_empty());
    let roles = access.roles("scheduler");
    assert_eq!(roles.len(), 2);
    assert_eq!(roles[0].as_map()["rules"][0]["resourceNames"], json!(["worker-template"]));
    assert!(access.to_yaml().contains("kind: Role"));

    world.render(&json!([{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}]));
    let access = world.workers("worker").access(&job("worker-001")).unwrap();
    let missing = world.workers("worker").check_access(&access).unwrap();
    let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
    assert_eq!(missing.len(), 4);
    assert_eq!(missing[0], "create services in namespace \"workers\"");
    assert!(world.names().is_empty());
}
