//! Connecting, and what happens on connections: credentials, TLS, reuse, re-sending, threads.

use std::time::{Duration, Instant};

use openshift_templates::{
    Client, Config, ConfigError, ConfigProblem, Error, Kubeconfig, Phase, ResourceRef, Timeouts,
};
use openshift_templates_testing::{Cluster, Fault, User};

use crate::support::{World, job};

fn reference() -> [ResourceRef; 1] {
    [ResourceRef::new("v1", "ConfigMap", "a")]
}

#[test]
fn every_way_to_log_in_reaches_the_server_as_the_right_user() {
    let world = World::start();
    for (context, user) in [
        ("worker", "worker"),
        ("worker-cert", "worker"),
        ("admin", "admin"),
        ("admin-cert", "admin"),
    ] {
        world.cluster.clear_journal();
        Client::connect(world.config(context)).unwrap();
        let journal = world.cluster.journal();
        assert_eq!(journal[0].user.as_deref(), Some(user), "{context}");
        assert_eq!(journal.len(), 1, "connecting asks once");
        assert_eq!(journal[0].target, "/apis/template.openshift.io/v1");
    }
}

#[test]
fn a_config_can_be_made_without_a_file() {
    let cluster = Cluster::start();
    let (cert, key) = cluster.client_cert(User::Worker);
    let base = || Config::new(cluster.url()).unwrap().ca_pem(cluster.ca_pem());
    for config in [
        base().bearer_token(cluster.token(User::Worker)),
        base().client_cert_pem(cert, key),
        Config::new(cluster.url())
            .unwrap()
            .danger_accept_invalid_certs(true)
            .bearer_token(cluster.token(User::Worker)),
    ] {
        let workers = Client::connect(config).unwrap().namespace("workers").unwrap();
        assert_eq!(workers.process(&job("a")).unwrap().manifests().len(), 3);
    }
}

#[test]
fn connecting_fails_for_bad_credentials_but_not_for_a_missing_api() {
    let world = World::start();
    let error = Client::connect(world.config("bad-token")).unwrap_err();
    assert!(error.is_unauthorized(), "{error:?}");

    for code in [403, 404, 500, 503] {
        world.cluster.fault(Fault::on("GET", "/apis/template").answer(code, "text/plain", "no"));
        let client = Client::connect(world.config("worker")).unwrap();
        let workers = client.namespace("workers").unwrap();
        assert_eq!(workers.delete(&reference()).unwrap().len(), 1, "references work without it");
        assert_eq!(
            workers.process(&job("a")).unwrap().manifests().len(),
            3,
            "and it is not remembered"
        );
    }
    for code in [302, 400, 429] {
        world.cluster.fault(Fault::on("GET", "/apis/template").answer(code, "text/plain", "no"));
        let error = Client::connect(world.config("worker")).unwrap_err();
        assert_eq!(error.as_api().unwrap().code(), code);
    }
    let page = Fault::on("GET", "/apis/template").answer(200, "text/html", "<html>");
    world.cluster.fault(page);
    assert!(matches!(Client::connect(world.config("worker")).unwrap_err(), Error::Transport(_)));
}

#[test]
fn a_server_that_is_not_trusted_is_not_spoken_to() {
    let (cluster, other) = (Cluster::start(), Cluster::start());
    let config = Config::new(cluster.url())
        .unwrap()
        .ca_pem(other.ca_pem())
        .bearer_token(cluster.token(User::Worker));
    assert!(!config.accepts_invalid_certs());
    let error = Client::connect(config).unwrap_err();
    let Error::Transport(error) = &error else { panic!("{error:?}") };
    assert_eq!(error.phase(), Phase::Connect);
    assert!(cluster.journal().is_empty());
}

#[test]
fn a_client_does_no_io_until_it_is_used() {
    let world = World::start();
    let client = Client::new(world.config("worker")).unwrap();
    assert_eq!(world.cluster.connections(), 0);
    client.namespace("workers").unwrap().process(&job("a")).unwrap();
    assert_eq!(world.cluster.connections(), 1, "and then it keeps one connection");
}

#[test]
fn a_credential_for_a_server_without_tls_is_an_error() {
    let config = Config::new("http://127.0.0.1:1").unwrap().bearer_token("t");
    let error = Client::new(config).unwrap_err();
    let Error::Config(error) = error else { panic!("{error:?}") };
    assert!(matches!(*error, ConfigError::Invalid { problem: ConfigProblem::NeedsHttps, .. }));

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config");
    std::fs::write(&path, "clusters: [{name: c, cluster: {server: http://h}}]\nusers: [{name: u, user: {token: t}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n").unwrap();
    let error = Config::from_kubeconfig(Kubeconfig::file(&path)).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("token of user \"u\"") && text.contains("https://"), "{text}");
}

#[test]
fn a_get_is_sent_once_more_on_a_connection_that_died_and_no_oftener() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    for fault in [
        Fault::on("GET", "/configmaps/").drop_before(),
        Fault::on("GET", "/configmaps/").truncate_answer(30),
        Fault::on("GET", "/configmaps/").truncate_answer(300),
    ] {
        world.cluster.fault(fault);
        world.cluster.clear_journal();
        assert_eq!(
            workers.get(&[ResourceRef::new("v1", "ConfigMap", "worker-001-config")]).unwrap().len(),
            1
        );
        assert_eq!(world.lines().len(), 2);
    }
    world.cluster.clear_journal();
    world.cluster.fault(Fault::on("GET", "/configmaps/").drop_before().always());
    let error =
        workers.get(&[ResourceRef::new("v1", "ConfigMap", "worker-001-config")]).unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
    assert_eq!(world.lines().len(), 2);
}

#[test]
fn a_refusal_of_a_get_stands_though_its_text_does_not_arrive() {
    let world = World::start();
    let cut =
        &b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 100\r\n\r\nbusy"[..];
    world.cluster.fault(Fault::on("GET", "/configmaps/").answer_raw(cut));
    let error = world.workers("worker").get(&reference()).unwrap_err();
    assert_eq!(error.as_api().map(openshift_templates::ApiError::code), Some(503), "{error:?}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert_eq!(world.lines().len(), 1);
}

#[test]
fn a_header_that_is_too_long_is_no_dead_connection() {
    let world = World::start();
    let head = format!(
        "HTTP/1.1 200 OK\r\nX-Long: {}\r\nContent-Length: 2\r\n\r\n{{}}",
        "x".repeat(70_000)
    );
    world.cluster.fault(Fault::on("GET", "/configmaps/").answer_raw(head));
    let error = world.workers("worker").get(&reference()).unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
    assert_eq!(world.lines().len(), 1, "it is not sent again");
}

#[test]
fn a_rendering_is_never_sent_again() {
    let world = World::start();
    world.cluster.fault(Fault::on("POST", "/processedtemplates").drop_before());
    let error = world.workers("worker").process(&job("a")).unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error:?}");
    assert_eq!(world.lines().len(), 2);
}

#[test]
fn a_connection_that_the_server_closed_is_not_used_for_the_next_request() {
    let world = World::start();
    let workers = world.workers("worker");
    workers.create(&job("worker-001")).unwrap();
    for _ in 0..10 {
        world.cluster.fault(Fault::on("GET", "/configmaps/").close_after_answer());
        workers.get(&[ResourceRef::new("v1", "ConfigMap", "worker-001-config")]).unwrap();
        // At once, and as a mutation: it must not be put on the dying connection.
        workers.delete(&reference()).unwrap();
    }
}

/// A scheduler whose period is the idle timeout of what stands before the server sends each request
/// just as its connection is closed.
#[test]
fn a_mutation_is_not_put_on_a_connection_that_may_be_dying() {
    let world = World::start();
    let workers = world.workers("worker");
    world.cluster.fault(Fault::on("PATCH", "/virtualmachines/").close_at_next());
    let references = workers.create(&job("worker-001")).unwrap();
    let connections = world.cluster.connections();
    // It is the age that counts: there is nothing else to wait for.
    std::thread::sleep(Duration::from_millis(2100));
    assert_eq!(workers.delete(&references).unwrap().len(), 3);
    assert_eq!(world.cluster.connections(), connections + 1);
}

#[test]
fn a_redirect_is_not_followed() {
    let (world, other) = (World::start(), Cluster::start());
    let redirect = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: {}/api/v1/namespaces/workers/configmaps/a\r\nContent-Length: 0\r\n\r\n",
        other.url()
    );
    world.cluster.fault(Fault::on("GET", "/configmaps/a").answer_raw(redirect));
    let error = world.workers("worker").get(&reference()).unwrap_err();
    assert_eq!(error.as_api().unwrap().code(), 307);
    assert_eq!(other.connections(), 0);
}

#[test]
fn waiting_is_bounded() {
    let world = World::start();
    world.cluster.fault(Fault::on("GET", "/configmaps/").delay(Duration::from_secs(20)));
    let timeouts = Timeouts::new(Duration::from_secs(5), Duration::from_millis(200)).unwrap();
    let start = Instant::now();
    let error = world.workers("worker").with_timeouts(timeouts).get(&reference()).unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(10));

    // Connecting to a port that accepts and then says nothing.
    let mute = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", mute.local_addr().unwrap());
    let timeouts = Timeouts::new(Duration::from_millis(200), Duration::from_secs(5)).unwrap();
    let config = Config::new(&url).unwrap().ca_pem(world.cluster.ca_pem()).timeouts(timeouts);
    let error = Client::connect(config).unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    let Error::Transport(error) = error else { unreachable!() };
    assert_eq!(error.phase(), Phase::Connect);
}

#[test]
fn what_the_server_asks_to_wait_is_told() {
    let world = World::start();
    let workers = world.workers("worker");
    let cases = [
        (429, "7", None, 7),
        (503, "7", None, 7),
        (429, "Wed, 21 Oct 2015 07:28:20 GMT", Some("Wed, 21 Oct 2015 07:28:00 GMT"), 20),
        (503, "Wed, 21 Oct 2015 07:28:20 GMT", None, 0),
    ];
    for (code, retry_after, date, seconds) in cases {
        let busy = Fault::on("GET", "/configmaps/").answer(code, "text/plain", "busy");
        let mut busy = busy.header("Retry-After", retry_after);
        if let Some(date) = date {
            busy = busy.header("Date", date);
        }
        world.cluster.fault(busy);
        let error = workers.get(&reference()).unwrap_err();
        assert!(error.is_throttled(), "{code} {retry_after}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(seconds)), "{code} {retry_after}");
    }
    world.cluster.fault(Fault::on("GET", "/configmaps/").answer(503, "text/plain", "no"));
    let error = workers.get(&reference()).unwrap_err();
    assert!(!error.is_throttled() && error.retry_after().is_none());
    assert_eq!(world.requests().len(), cases.len() + 1, "nothing is sent again");
}

#[test]
fn one_client_serves_many_threads() {
    let world = World::start();
    let workers = world.workers("worker");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let workers = &workers;
            scope.spawn(move || {
                for n in 0..5 {
                    let job = job(&format!("worker-{thread}-{n}"));
                    let references = workers.create(&job).unwrap();
                    assert_eq!(workers.get(&references).unwrap().len(), 3);
                    assert_eq!(workers.delete(&job).unwrap().len(), 3);
                }
            });
        }
    });
    assert!(world.names().is_empty());
    assert!(world.cluster.connections() <= 16, "{}", world.cluster.connections());
}
