//! Deleting only what is provably one's own.

use openshift_templates::{
    CreateOptions, DeleteOptions, Error, InvalidInput, Outcome, OwnershipError,
};
use openshift_templates_testing::Fault;
use serde_json::json;

use crate::support::{World, body, job};

fn only_own() -> DeleteOptions {
    DeleteOptions::new().only_managed_by("mini-scheduler")
}

#[test]
fn what_this_manager_applied_or_created_is_deleted() {
    let world = World::start();
    let workers = world.workers("worker");
    for options in [CreateOptions::new(), CreateOptions::new().require_new(true)] {
        workers.create_with(&job("worker-001"), &options).unwrap();
        assert_eq!(workers.delete_with(&job("worker-001"), &only_own()).unwrap().len(), 3);
        assert!(world.names().is_empty());
    }
    let again = workers.delete_with(&job("worker-001"), &only_own()).unwrap();
    assert_eq!(again.len(), 3, "what is gone already counts as deleted");
}

#[test]
fn a_foreign_object_that_took_the_name_is_left_alone() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    workers.delete(&job("worker-001")).unwrap();
    workers
        .create_with(&job("worker-001"), &CreateOptions::new().field_manager("somebody"))
        .unwrap();

    let error = workers.delete_with(&job("worker-001"), &only_own()).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert!(operation.completed().is_empty());
    for failure in operation.failures() {
        let Error::Ownership(OwnershipError::Foreign { managers }) = failure.error() else {
            panic!("{failure:?}")
        };
        assert_eq!(managers, &["somebody"]);
        assert_eq!(failure.outcome(), Outcome::NotSent);
    }
    assert_eq!(world.names().len(), 3);
    assert!(world.lines().iter().rev().take(3).all(|line| line.starts_with("GET")));
}

#[test]
fn an_object_that_does_not_say_is_left_alone() {
    let world = World::start();
    let workers = world.workers("admin");
    let binding = json!([{
        "apiVersion": "authorization.openshift.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "b"}, "roleRef": {"name": "edit"}, "subjects": [],
    }]);
    // The first create posts it, the second applies it, and that is what forgets the managers.
    for _ in 0..2 {
        world.render(&binding);
        workers.create(&job("worker-001")).unwrap();
    }
    world.render(&binding);
    let error = workers.delete_with(&job("worker-001"), &only_own()).unwrap_err();
    let failure = &error.as_operation().unwrap().failures()[0];
    assert!(matches!(failure.error(), Error::Ownership(OwnershipError::Unprovable)), "{failure:?}");
}

#[test]
fn what_was_judged_is_what_is_deleted() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    world.cluster.clear_journal();
    workers.delete_with(&job("worker-001"), &only_own()).unwrap();
    for delete in world.requests().iter().filter(|e| e.method == "DELETE") {
        let preconditions = &body(delete)["preconditions"];
        assert!(preconditions["uid"].is_string() && preconditions["resourceVersion"].is_string());
    }
}

#[test]
fn an_object_that_moved_is_judged_again_three_times_at_most() {
    let world = World::start();
    let workers = world.workers("worker");
    let conflict = || {
        let status = json!({"kind": "Status", "reason": "Conflict", "code": 409});
        Fault::on("DELETE", "/virtualmachines/").answer(409, "application/json", status.to_string())
    };
    workers.create(&job("worker-001")).unwrap();
    world.cluster.fault(conflict().times(2));
    workers.delete_with(&job("worker-001"), &only_own()).unwrap();

    workers.create(&job("worker-001")).unwrap();
    world.cluster.clear_journal();
    world.cluster.fault(conflict().always());
    let error = workers.delete_with(&job("worker-001"), &only_own()).unwrap_err();
    let failure = &error.as_operation().unwrap().failures()[0];
    assert!(
        matches!(failure.error(), Error::Ownership(OwnershipError::KeepsChanging)),
        "{failure:?}"
    );
    let deletes =
        world.lines().iter().filter(|l| l.contains("DELETE") && l.contains("machines")).count();
    assert_eq!(deletes, 3);
}

#[test]
fn a_new_object_of_the_name_is_not_deleted_in_place_of_the_judged_one() {
    let world = World::start();
    let workers = world.workers("worker");
    let old = workers.create(&job("worker-001")).unwrap();
    workers.delete(&old).unwrap();
    workers.create(&job("worker-001")).unwrap();
    world.cluster.clear_journal();
    // By references: the uid that was saved is another one.
    let error = workers.delete_with(&old, &only_own()).unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    assert_eq!(world.mutations(), 3, "each is tried once");
    assert_eq!(world.names().len(), 3);

    // By the Template: it is replaced between the look and the deletion.
    let status = json!({"kind": "Status", "reason": "Conflict", "code": 409}).to_string();
    let conflict = Fault::on("DELETE", "/virtualmachines/").answer(409, "application/json", status);
    world.cluster.fault(conflict);
    let live = workers.get(&job("worker-001")).unwrap();
    let mut replaced = serde_json::to_value(&live[2]).unwrap();
    replaced["metadata"]["uid"] = json!("another");
    let second_look = Fault::on("GET", "/virtualmachines/").skip(1);
    world.cluster.fault(second_look.answer(200, "application/json", replaced.to_string()));
    let error = workers.delete_with(&job("worker-001"), &only_own()).unwrap_err();
    assert!(error.is_conflict(), "{error:?}");
    assert_eq!(world.names(), ["VirtualMachine/worker-001"]);
}

#[test]
fn objects_that_changed_since_they_were_read_can_be_spared() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    let live = workers.get(&job("worker-001")).unwrap();
    workers.create(&job("worker-001").parameter("DEBUG", "false")).unwrap();
    let options = DeleteOptions::new().unchanged_since(&live);
    let error = workers.delete_with(&job("worker-001"), &options).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.completed().len(), 2);
    assert!(operation.failures()[0].error().is_conflict());
    assert_eq!(world.names(), ["ConfigMap/worker-001-config"]);
}

#[test]
fn a_grace_period_is_sent_in_seconds() {
    let world = World::start();
    let options = DeleteOptions::new().grace_period(std::time::Duration::from_millis(7900));
    world.workers("worker").delete_with(&job("worker-001"), &options).unwrap();
    assert_eq!(body(world.requests().last().unwrap())["gracePeriodSeconds"], 7);
}

#[test]
fn a_blank_manager_is_refused() {
    let world = World::start();
    let options = DeleteOptions::new().only_managed_by(" ");
    let error = world.workers("worker").delete_with(&job("a"), &options).unwrap_err();
    assert!(matches!(error, Error::InvalidInput(InvalidInput::FieldManager { .. })), "{error:?}");
}
