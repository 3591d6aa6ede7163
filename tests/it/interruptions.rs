//! Operations that are ended before they are done: by their deadline, or from another thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use openshift_templates::{
    CancelToken, CreateOptions, Error, Event, Namespace, Operation, Outcome, Phase, ResourceRef,
    Template, Timeouts, Wait,
};
use openshift_templates_testing::{Fault, Reception};

use crate::support::{LONG, World, job, until};

fn names(references: &[ResourceRef]) -> Vec<&str> {
    references.iter().map(ResourceRef::name).collect()
}

/// What was received of a kind of request.
fn received(world: &World, method: &str, target: &str) -> usize {
    let matching =
        |e: &openshift_templates_testing::Exchange| e.method == method && e.target.contains(target);
    world.cluster.journal().into_iter().filter(matching).count()
}

/// Cancels when the server has a request of that kind, which it is in no hurry to answer.
fn cancelled_at<T: Send>(
    world: &World,
    (method, target): (&str, &str),
    operation: impl FnOnce(&Namespace) -> Result<T, Error> + Send,
) -> Error {
    world.cluster.fault(Fault::on(method, target).delay(LONG));
    let token = CancelToken::new();
    let workers = world.workers("worker").with_cancel_token(&token);
    let before = received(world, method, target);
    let start = Instant::now();
    let result = std::thread::scope(|threads| {
        let running = threads.spawn(|| operation(&workers));
        until("it is not sent", || received(world, method, target) > before);
        token.cancel();
        running.join().unwrap()
    });
    assert!(start.elapsed() < LONG / 2, "it was waited for");
    let Err(error) = result else { panic!("it was not cancelled") };
    assert!(error.is_cancelled() && !error.is_timeout(), "{error:?}");
    error
}

#[test]
fn a_deadline_that_has_passed_sends_nothing() {
    let world = World::start();
    let workers = world.workers("worker").with_deadline(Duration::ZERO);
    let reference = [ResourceRef::new("v1", "ConfigMap", "a")];
    let errors = [
        workers.process(&job("a")).unwrap_err(),
        workers.create(&job("a")).unwrap_err(),
        workers.get(&reference).unwrap_err(),
        workers.delete(&reference).unwrap_err(),
        workers.status(&reference).unwrap_err(),
        workers.access(&job("a")).unwrap_err(),
    ];
    for error in errors {
        assert!(error.is_timeout() && !error.is_cancelled(), "{error:?}");
        assert!(error.to_string().ends_with("not sent, the operation's deadline has passed"));
    }
    assert_eq!(world.cluster.connections(), 0);
}

#[test]
fn no_request_starts_after_the_deadline() {
    let world = World::start();
    let deadline = Duration::from_secs(1);
    let plan = world.workers("worker").plan(&job("worker-001")).unwrap();
    let workers = world.workers("worker").with_deadline(deadline).with_observer(move |event| {
        if let Event::Applied(_) = event {
            let now = Instant::now();
            until("time stands still", || now.elapsed() > deadline);
        }
    });
    let error = workers.apply(&plan, &CreateOptions::new()).unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    let operation = error.as_operation().unwrap();
    assert_eq!(names(operation.completed()), ["worker-001-config"]);
    assert_eq!(operation.failures()[0].outcome(), Outcome::NotSent);
    assert_eq!(operation.failures()[0].resource().name(), "worker-001-secret");
    assert_eq!(names(operation.not_attempted()), ["worker-001"]);
    assert_eq!(world.names(), ["ConfigMap/worker-001-config"]);
    assert_eq!(world.mutations(), 1);
}

#[test]
fn the_request_in_flight_is_cut_at_the_deadline() {
    let world = World::start();
    world.cluster.fault(Fault::on("PATCH", "/secrets/").delay(LONG));
    let workers = world.workers("worker").with_deadline(Duration::from_secs(1));
    let start = Instant::now();
    let error = workers.create(&job("worker-001")).unwrap_err();
    assert!(start.elapsed() < LONG / 2);
    assert!(error.is_timeout(), "{error:?}");
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.failures()[0].outcome(), Outcome::Unknown);
    assert_eq!(operation.completed().len() + operation.not_attempted().len(), 2);
    // Each operation has a deadline of its own, so the next one has all of its time.
    assert_eq!(workers.delete(&job("worker-001")).unwrap().len(), 3);
}

#[test]
fn a_handshake_that_drips_is_cut_at_the_deadline() {
    let world = World::start();
    let patient = Timeouts::both(LONG).unwrap();
    let workers = world.workers("worker").with_timeouts(patient);
    let plan = workers.plan(&job("worker-001")).unwrap();
    let dripping = Reception::Dripping(Duration::from_millis(100));
    world.cluster.fault(Fault::on("PATCH", "/configmaps/").close_and_receive(dripping));
    let start = Instant::now();
    let hurried = workers.clone().with_deadline(Duration::from_secs(1));
    let error = hurried.apply(&plan, &CreateOptions::new()).unwrap_err();
    assert!(start.elapsed() < LONG / 2);
    assert!(error.is_timeout(), "{error:?}");
    let failure = &error.as_operation().unwrap().failures()[0];
    assert_eq!(failure.outcome(), Outcome::NotSent);
    let Error::Transport(error) = failure.error() else { panic!("{failure:?}") };
    assert_eq!(error.phase(), Phase::Connect);
    world.cluster.clear_faults();
    assert_eq!(workers.apply(&plan, &CreateOptions::new()).unwrap().len(), 3);
}

#[test]
fn what_is_cancelled_while_it_connects_was_not_sent() {
    let world = World::start();
    let timeout = Timeouts::both(Duration::from_secs(2)).unwrap();
    let token = CancelToken::new();
    let workers = world.workers("worker").with_timeouts(timeout).with_cancel_token(&token);
    for reception in [Reception::Silent, Reception::Unanswered] {
        world.cluster.receive(reception);
        let before = world.cluster.connections();
        let start = Instant::now();
        let error = std::thread::scope(|threads| {
            let running = threads.spawn(|| workers.get(&[ResourceRef::new("v1", "Secret", "a")]));
            if reception == Reception::Silent {
                until("it does not connect", || world.cluster.connections() > before);
            }
            token.cancel();
            running.join().unwrap().unwrap_err()
        });
        // A connect in progress ends with its timeout at the latest.
        assert!(start.elapsed() < LONG / 2, "{reception:?}");
        assert!(error.is_cancelled() && !error.is_timeout(), "{reception:?} {error:?}");
        let Error::Transport(error) = &error else { panic!("{error:?}") };
        assert_eq!(error.phase(), Phase::Connect, "{reception:?}");
    }
}

#[test]
fn a_delete_says_what_it_did_not_come_to() {
    let world = World::start();
    world.workers("worker").create(&job("worker-001")).unwrap();
    let error = cancelled_at(&world, ("DELETE", "/secrets/"), |w| w.delete(&job("worker-001")));
    let operation = error.as_operation().unwrap();
    assert_eq!(names(operation.completed()), ["worker-001"]);
    assert_eq!(operation.failures()[0].outcome(), Outcome::Unknown);
    assert_eq!(names(operation.not_attempted()), ["worker-001-config"]);
}

#[test]
fn what_is_cancelled_in_flight_is_of_unknown_outcome() {
    let world = World::start();
    let error = cancelled_at(&world, ("PATCH", "/secrets/"), |w| w.create(&job("worker-001")));
    let operation = error.as_operation().unwrap();
    assert_eq!(names(operation.completed()), ["worker-001-config"]);
    assert_eq!(operation.failures()[0].outcome(), Outcome::Unknown);
    assert_eq!(names(operation.not_attempted()), ["worker-001"]);
    let cause = operation.failures()[0].error().to_string();
    assert!(cause.ends_with("cut off, the operation was cancelled"), "{cause}");
}

#[test]
fn every_operation_can_be_cancelled_in_flight() {
    let world = World::start();
    world.workers("worker").create(&job("worker-001")).unwrap();
    let job = job("worker-001");
    let discovery = ("GET", "/apis/kubevirt.io/v1");
    cancelled_at(&world, ("GET", "/templates/"), |w| w.process(&job));
    cancelled_at(&world, ("POST", "/processedtemplates"), |w| w.process(&job));
    cancelled_at(&world, discovery, |w| w.create(&job));
    cancelled_at(&world, ("PATCH", "dryRun"), |w| {
        w.create_with(&job, &CreateOptions::new().preflight(true))
    });
    cancelled_at(&world, ("GET", "/secrets/"), |w| w.get(&job));
    cancelled_at(&world, ("GET", "/secrets/"), |w| w.status(&job));
    cancelled_at(&world, ("GET", "/secrets/"), |w| w.wait(&job, &Wait::until_absent()));
    assert_eq!(world.names().len(), 3);
    // A GET that was cut off is no connection that died: it is not sent once more.
    assert_eq!(received(&world, "GET", "/secrets/"), 3);
}

#[test]
fn a_pause_of_waiting_ends_when_it_is_cancelled() {
    let world = World::start();
    world.workers("worker").create(&job("worker-001")).unwrap();
    let token = CancelToken::new();
    let workers = world.workers("worker").with_cancel_token(&token);
    let wait = Wait::until_absent().interval(LONG);
    let start = Instant::now();
    let error = std::thread::scope(|threads| {
        let waiting = threads.spawn(|| workers.wait(&job("worker-001"), &wait));
        until("it does not look", || received(&world, "GET", "/virtualmachines/") > 0);
        token.cancel();
        waiting.join().unwrap().unwrap_err()
    });
    assert!(error.is_cancelled(), "{error:?}");
    assert!(start.elapsed() < LONG / 2);
}

#[test]
fn a_token_that_is_cancelled_sends_nothing_further() {
    let world = World::start();
    let token = CancelToken::new();
    let plan = world.workers("worker").plan(&job("worker-001")).unwrap();
    let (seen, cancels) = (AtomicUsize::new(0), token.clone());
    let workers = world.workers("worker").with_cancel_token(&token).with_observer(move |event| {
        if matches!(event, Event::Applied(_)) && seen.fetch_add(1, Ordering::Relaxed) == 1 {
            cancels.cancel();
        }
    });
    let error = workers.apply(&plan, &CreateOptions::new()).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.operation(), Operation::Create);
    assert_eq!(names(operation.completed()), ["worker-001-config", "worker-001-secret"]);
    assert_eq!(operation.failures()[0].outcome(), Outcome::NotSent);
    assert_eq!(world.mutations(), 2);
    // For good, and for every operation that has it.
    let connections = world.cluster.connections();
    let other = world.workers("worker").with_cancel_token(&token);
    assert!(other.process(&job("a")).unwrap_err().is_cancelled());
    assert_eq!(world.cluster.connections(), connections);
}

#[test]
fn cancelling_one_operation_does_not_hurt_another_on_the_same_client() {
    let world = World::start();
    world.cluster.fault(Fault::on("PATCH", "/configmaps/doomed").delay(LONG).always());
    let workers = world.workers("worker");
    let doomed = |n: usize| job(&format!("doomed-{n}"));
    std::thread::scope(|threads| {
        let busy = threads.spawn(|| {
            for n in 0..30 {
                let job: Template = job(&format!("worker-{n}"));
                let references = workers.create(&job).unwrap();
                assert_eq!(workers.get(&references).unwrap().len(), 3);
                assert_eq!(workers.delete(&references).unwrap().len(), 3);
            }
        });
        let mut rounds = 0;
        while !busy.is_finished() {
            let token = CancelToken::new();
            let cancellable = workers.clone().with_cancel_token(&token);
            let running = threads.spawn(move || cancellable.create(&doomed(rounds)));
            let target = format!("/configmaps/doomed-{rounds}-config");
            until("it is not sent", || received(&world, "PATCH", &target) > 0);
            token.cancel();
            assert!(running.join().unwrap().unwrap_err().is_cancelled());
            rounds += 1;
        }
        assert!(rounds > 1, "nothing was cancelled in between");
    });
}

#[test]
fn a_connection_that_went_back_to_the_pool_is_not_cut_off() {
    let world = World::start();
    let workers = world.workers("worker");
    let token = CancelToken::new();
    let reference = [ResourceRef::new("v1", "ConfigMap", "a")];
    workers.clone().with_cancel_token(&token).delete(&reference).unwrap();
    let connections = world.cluster.connections();
    token.cancel();
    workers.delete(&reference).unwrap();
    assert_eq!(world.cluster.connections(), connections, "it was used again");
}

#[test]
fn a_cancelled_connection_does_not_come_back() {
    let world = World::start();
    let workers = world.workers("worker");
    let reference = [ResourceRef::new("v1", "ConfigMap", "a")];
    workers.delete(&reference).unwrap();
    world.cluster.fault(Fault::on("DELETE", "/configmaps/").delay(LONG));
    let token = CancelToken::new();
    let cancellable = workers.clone().with_cancel_token(&token);
    std::thread::scope(|threads| {
        let running = threads.spawn(|| cancellable.delete(&reference));
        until("it is not sent", || received(&world, "DELETE", "/configmaps/") > 1);
        token.cancel();
        assert!(running.join().unwrap().is_err());
    });
    assert_eq!(workers.delete(&reference).unwrap().len(), 1);
}
