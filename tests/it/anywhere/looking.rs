//! Waiting, and status at a glance.

use std::time::Duration;

use openshift_templates::{Error, State, Template, Wait};
use serde_json::{Value, json};

use super::{config_map, pair, rendering, virtual_machine};
use crate::site::Site;

fn quick(wait: Wait) -> Wait {
    wait.interval(Duration::from_millis(20))
}

#[test]
fn waiting_and_status_follow_the_objects() {
    let site = Site::new();
    let namespace = site.namespace();
    let states = || -> Vec<State> {
        namespace.status(&pair()).unwrap().iter().map(|o| o.state().clone()).collect()
    };
    assert_eq!(states(), [State::Absent, State::Absent]);
    let created = namespace.create(&pair()).unwrap();
    assert_eq!(states(), [State::Present, State::Present]);
    namespace.delete(&created).unwrap();
    namespace.wait(&created, &quick(Wait::until_absent())).unwrap();
}

#[test]
fn absence_is_that_of_the_very_object() {
    let site = Site::new();
    let namespace = site.namespace();
    let template = rendering(&json!([config_map("a")]));
    let old = namespace.create(&template).unwrap();
    namespace.delete(&old).unwrap();
    let new = namespace.create(&template).unwrap();
    namespace.wait(&old, &quick(Wait::until_absent())).unwrap();

    let hurried = namespace.with_deadline(Duration::from_millis(200));
    let error = hurried.wait(&new, &quick(Wait::until_absent())).unwrap_err();
    let Error::Wait(wait) = &error else { panic!("{error:?}") };
    assert!(error.is_timeout());
    assert_eq!(wait.pending().len(), 1);
    assert_eq!(wait.pending()[0].state(), &State::Present);
    assert_eq!(wait.pending()[0].reference(), &new[0]);
}

fn ready(status: &str) -> Value {
    json!({"conditions": [{"type": "Ready", "status": status, "reason": "GuestNotRunning"}]})
}

#[test]
fn a_condition_is_waited_for_and_status_follows_it() {
    let site = Site::new();
    let namespace = site.namespace();
    let created = namespace.create(&virtual_machine()).unwrap();
    let set = |status: &Value| site.set_status("kubevirt.io/v1", "virtualmachines", "n", status);
    let state = || namespace.status(&created).unwrap()[0].state().clone();
    let not_ready = |condition: &str, reason: Option<&str>| State::NotReady {
        condition: condition.to_owned(),
        reason: reason.map(str::to_owned),
    };

    set(&json!({"printableStatus": "Starting"}));
    assert_eq!(state(), not_ready("Starting", None));
    set(&ready("False"));
    assert_eq!(state(), not_ready("Ready", Some("GuestNotRunning")));
    std::thread::scope(|scope| {
        let is_ready = quick(Wait::until_condition("Ready", "True"));
        let patient = namespace.clone().with_deadline(Duration::from_secs(20));
        let created = &created;
        let waiting = scope.spawn(move || patient.wait(created, &is_ready));
        set(&ready("True"));
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(state(), State::Ready);
    set(&json!({"conditions": [{"type": "Failed", "status": "True", "reason": "Lost"}]}));
    assert_eq!(state(), State::Failed { reason: Some("Lost".to_owned()) });

    let hurried = namespace.clone().with_deadline(Duration::from_millis(200));
    let error = hurried.wait(&created, &quick(Wait::until_condition("Ready", "True"))).unwrap_err();
    assert!(error.to_string().contains("VirtualMachine/n (failed (Lost))"), "{error}");
}

#[test]
fn a_predicate_is_waited_for() {
    let site = Site::new();
    let namespace = site.namespace();
    let template = rendering(&json!([config_map("a")]));
    let created = namespace.create(&template).unwrap();
    let changed = quick(Wait::until_each(|live| live.as_map()["data"]["v"] == "2"));
    std::thread::scope(|scope| {
        let patient = namespace.clone().with_deadline(Duration::from_secs(20));
        let (created, changed) = (&created, &changed);
        let waiting = scope.spawn(move || patient.wait(created, changed));
        let second: Template = template.clone().parameter("V", "2");
        namespace.create(&second).unwrap();
        waiting.join().unwrap().unwrap();
    });
}
