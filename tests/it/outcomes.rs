//! What a failed mutation says about whether it took effect, against what the server did.

use std::error::Error as _;
use std::time::Duration;

use openshift_templates::{Error, Failure, Namespace, Outcome, Phase, ResourceRef, Timeouts};
use openshift_templates_testing::Fault;
use serde_json::json;

use crate::support::{World, job};

fn failure(error: Error) -> Failure {
    let Error::Operation(error) = error else { panic!("{error:?}") };
    let (_, mut failures, _) = error.into_parts();
    assert_eq!(failures.len(), 1);
    failures.remove(0)
}

/// Creates, with a fault at the second of three objects.
fn create_with(fault: Fault) -> (World, Failure) {
    let world = World::start();
    world.cluster.fault(fault);
    let workers = world.workers("worker").with_timeouts(short());
    let error = workers.create(&job("worker-001")).unwrap_err();
    let operation = error.as_operation().unwrap();
    assert_eq!(operation.completed().len(), 1, "{error:?}");
    assert_eq!(operation.not_attempted().len(), 1, "{error:?}");
    let failure = failure(error);
    assert_eq!(failure.resource().to_string(), "Secret/worker-001-secret");
    (world, failure)
}

fn short() -> Timeouts {
    Timeouts::new(Duration::from_secs(5), Duration::from_millis(300)).unwrap()
}

fn second_apply() -> Fault {
    Fault::on("PATCH", "/secrets/")
}

fn status(code: u16, message: &str) -> (u16, String) {
    (
        code,
        json!({"kind": "Status", "apiVersion": "v1", "message": message, "code": code}).to_string(),
    )
}

#[test]
fn an_answer_of_300_to_499_is_a_refusal() {
    for code in [300, 302, 307, 400, 401, 403, 404, 408, 409, 413, 422, 429, 499] {
        let (code, body) = status(code, "no");
        let (world, failure) = create_with(second_apply().answer(code, "application/json", body));
        assert_eq!(failure.outcome(), Outcome::Rejected, "{code}");
        assert_eq!(failure.error().as_api().unwrap().code(), code);
        assert_eq!(world.names(), ["ConfigMap/worker-001-config"]);
    }
}

#[test]
fn an_answer_of_500_is_unknown_unless_it_is_about_the_schema() {
    let cases = [
        (
            status(
                500,
                "failed to create typed patch object (/a; /v1, Kind=X): .b: field not declared",
            ),
            Outcome::Rejected,
        ),
        (
            status(500, "failed to convert new object (/s1; /v1, Kind=Secret) to proper version"),
            Outcome::Rejected,
        ),
        (status(503, "failed to create typed patch object"), Outcome::Unknown),
        (status(500, "etcdserver: request timed out"), Outcome::Unknown),
        (status(500, "cannot: failed to create typed patch object"), Outcome::Unknown),
        ((500, "failed to create typed patch object".to_owned()), Outcome::Unknown),
        (status(502, "x"), Outcome::Unknown),
        (status(504, "x"), Outcome::Unknown),
        (status(599, "x"), Outcome::Unknown),
    ];
    for ((code, body), expected) in cases {
        let (_, failure) =
            create_with(second_apply().answer(code, "application/json", body.clone()));
        assert_eq!(failure.outcome(), expected, "{code} {body}");
        assert!(matches!(failure.error(), Error::Api(_)));
    }
}

#[test]
fn a_schema_error_of_the_server_itself_is_a_refusal() {
    let world = World::start();
    world.render(
        &json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "dta": {}}]),
    );
    let failure = failure(world.workers("worker").create(&job("worker-001")).unwrap_err());
    assert_eq!(failure.error().as_api().unwrap().code(), 500);
    assert_eq!(failure.outcome(), Outcome::Rejected);
    assert!(world.cluster.object("v1", "configmaps", Some("workers"), "a").is_none());
}

#[test]
fn no_answer_is_unknown_whatever_the_server_did() {
    for (fault, done) in [
        (second_apply().drop_before(), false),
        (second_apply().drop_after(), true),
        (second_apply().truncate_answer(0), true),
        (second_apply().truncate_answer(40), true),
    ] {
        let shown = format!("{fault:?}");
        let (world, failure) = create_with(fault);
        assert_eq!(failure.outcome(), Outcome::Unknown, "{shown}");
        let Error::Transport(error) = failure.error() else { panic!("{failure:?}") };
        assert_eq!(error.phase(), Phase::Exchange, "{shown}");
        assert!(error.source().is_some());
        let stored = world.cluster.object("v1", "secrets", Some("workers"), "worker-001-secret");
        assert_eq!(stored.is_some(), done, "{shown}");
        let applies = world.lines().iter().filter(|line| line.contains("/secrets/")).count();
        assert_eq!(applies, 1, "never sent again: {shown}");
    }
}

#[test]
fn a_late_answer_is_a_timeout_of_unknown_outcome() {
    let (_, failure) = create_with(second_apply().delay(Duration::from_secs(3)));
    assert_eq!(failure.outcome(), Outcome::Unknown);
    assert!(failure.error().is_timeout(), "{failure:?}");
}

#[test]
fn an_unreadable_success_is_unknown() {
    let json = "application/json";
    for fault in [
        second_apply().answer(200, json, "{\"kind\":"),
        second_apply().answer(200, json, "[]"),
        second_apply().answer(200, json, ""),
        second_apply().answer(200, "text/html", "<html>please log in</html>"),
        second_apply().answer_raw(&b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}"[..]),
        second_apply().answer_raw(&b"HTTP/1.1 200 OK\r\n\r\n{\"kind\":\"Secret\""[..]),
        second_apply().answer_raw(&b"SSH-2.0-OpenSSH\r\n"[..]),
    ] {
        let shown = format!("{fault:?}");
        let (_, failure) = create_with(fault);
        assert_eq!(failure.outcome(), Outcome::Unknown, "{shown}");
        assert!(matches!(failure.error(), Error::Transport(_)), "{shown} {failure:?}");
    }
}

#[test]
fn a_status_stands_though_its_text_does_not_arrive() {
    let cut = &b"HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\n{\"kind\""[..];
    let (_, failure) = create_with(second_apply().answer_raw(cut));
    assert_eq!(failure.outcome(), Outcome::Rejected);
    assert!(failure.error().is_forbidden());
}

#[test]
fn an_object_that_is_too_large_is_refused() {
    let world = World::start();
    world.render(&json!([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"a": "x".repeat(4 * 1024 * 1024)}}]));
    let failure = failure(world.workers("worker").create(&job("worker-001")).unwrap_err());
    assert_eq!(failure.error().as_api().map(openshift_templates::ApiError::code), Some(413));
    assert_eq!(failure.outcome(), Outcome::Rejected);
}

#[test]
fn an_unreadable_delete_is_unknown_and_the_rest_goes_on() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    world.cluster.fault(Fault::on("DELETE", "/secrets/").drop_after());
    let error = workers.delete(&job("worker-001")).unwrap_err();
    assert_eq!(error.as_operation().unwrap().completed().len(), 2);
    assert_eq!(failure(error).outcome(), Outcome::Unknown);
    assert!(world.names().is_empty());
}

#[test]
fn what_could_not_connect_was_not_sent() {
    let world = World::start();
    let workers = world.workers("worker");
    let reference = [ResourceRef::new("v1", "ConfigMap", "a")];
    // Discovery is known, and then the server is gone.
    workers.delete(&reference).unwrap();
    let stranded = strand(world, workers);
    let failure = failure(stranded.delete(&reference).unwrap_err());
    let Error::Transport(error) = failure.error() else { panic!("{failure:?}") };
    assert_eq!((failure.outcome(), error.phase()), (Outcome::NotSent, Phase::Connect));
}

/// Ends the server, and waits until its port is closed.
fn strand(world: World, workers: Namespace) -> Namespace {
    let address = (world.cluster.host().to_owned(), world.cluster.port());
    drop(world);
    let limit = std::time::Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect((address.0.as_str(), address.1)).is_ok() {
        assert!(std::time::Instant::now() < limit, "the port stays open");
        std::thread::yield_now();
    }
    workers
}

#[test]
fn the_message_says_it_all_in_one_line() {
    let (_, _) = create_with(second_apply().drop_after());
    let world = World::start();
    world.cluster.fault(second_apply().drop_after());
    let error = world.workers("worker").create(&job("worker-001")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "create failed for Secret/worker-001-secret (outcome unknown); 1 completed, 1 not attempted"
    );
    let cause = error.source().unwrap();
    assert_eq!(
        cause.to_string(),
        "patch secrets \"worker-001-secret\" in namespace \"workers\": the connection broke before an answer"
    );
}
