//! Faults, and the journal that shows what came in spite of them.

use std::time::{Duration, Instant};

use openshift_templates_testing::{Cluster, Fault, User};
use serde_json::json;

use crate::support::{Connection, apply, bearer, get};

const CM: &str = "/api/v1/namespaces/workers/configmaps/cm";

fn exists(cluster: &Cluster) -> bool {
    cluster.object("v1", "configmaps", Some("workers"), "cm").is_some()
}

/// Sends an apply and returns how the connection ended.
fn applied(cluster: &Cluster) -> std::io::Result<u16> {
    let authorization = bearer(cluster, User::Worker);
    let headers = [
        ("Authorization", authorization.as_str()),
        ("Content-Type", "application/apply-patch+yaml"),
    ];
    let body =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}}).to_string();
    let target = format!("{CM}?fieldManager=one");
    let answer =
        Connection::open(cluster).request("PATCH", &target, &headers, Some(body.as_bytes()));
    answer.map(|answer| answer.status)
}

#[test]
fn dropped_before_or_after() {
    for (fault, processed) in
        [(Fault::on("PATCH", CM).drop_before(), false), (Fault::on("PATCH", CM).drop_after(), true)]
    {
        let cluster = Cluster::start();
        cluster.fault(fault);
        assert!(applied(&cluster).is_err());
        assert_eq!(exists(&cluster), processed);
        assert_eq!(cluster.journal()[0].status, None);
        assert!(applied(&cluster).is_ok(), "it strikes once");
    }
}

#[test]
fn answers_instead() {
    let cluster = Cluster::start();
    let fault = Fault::on("*", "/configmaps/").skip(1).times(2);
    cluster.fault(fault.answer(503, "text/plain", "busy").header("Retry-After", "3"));
    let found: Vec<u16> = (0..4).map(|_| get(&cluster, CM).status).collect();
    assert_eq!(found, [404, 503, 503, 404]);
    cluster.fault(Fault::on("GET", CM).always().answer(429, "application/json", "{}"));
    assert!((0..3).all(|_| get(&cluster, CM).status == 429));
    cluster.clear_faults();
    assert_eq!(get(&cluster, CM).status, 404);
    let statuses: Vec<Option<u16>> =
        cluster.journal().iter().map(|exchange| exchange.status).collect();
    assert_eq!(statuses.len(), 8);
    assert_eq!(statuses[1], Some(503));
    cluster.clear_journal();
    assert!(cluster.journal().is_empty());
}

#[test]
fn one_in_so_many() {
    let cluster = Cluster::start();
    cluster.fault(Fault::on("GET", CM).skip(1).every(3).answer(503, "text/plain", "busy"));
    let found: Vec<u16> = (0..8).map(|_| get(&cluster, CM).status).collect();
    assert_eq!(found, [404, 503, 404, 404, 503, 404, 404, 503]);
    assert_eq!(cluster.faults_struck(), 3);
    let taken = cluster.take_journal();
    assert_eq!(taken.iter().filter(|exchange| exchange.status == Some(503)).count(), 3);
    assert!(taken.len() == 8 && cluster.journal().is_empty(), "it is taken once");
}

#[test]
fn raw_and_truncated_answers() {
    let cluster = Cluster::start();
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort";
    cluster.fault(Fault::on("GET", "/version").answer_raw(*bytes));
    cluster.fault(Fault::on("GET", "/version").truncate_answer(20));
    let mut ends = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(&cluster);
        connection.send(b"GET /version HTTP/1.1\r\nHost: cluster\r\n\r\n");
        let (found, end) = connection.rest();
        ends.push((found, end.is_ok()));
    }
    assert_eq!(ends[0], (bytes.to_vec(), true), "the session is ended properly");
    assert_eq!(ends[1], (b"HTTP/1.1 200 OK\r\nCon".to_vec(), false), "and here it is cut");
}

#[test]
fn closed_without_a_word() {
    let cluster = Cluster::start();
    cluster.fault(Fault::on("GET", "/version").close_after_answer());
    let mut connection = Connection::open(&cluster);
    let answer = connection.request("GET", "/version", &[], None).unwrap();
    assert_eq!((answer.status, answer.header("connection")), (200, None));
    assert!(connection.request("GET", "/version", &[], None).is_err());
}

#[test]
fn delays() {
    let cluster = Cluster::start();
    let delay = Duration::from_millis(120);
    cluster.fault(Fault::on("GET", "/version").delay(delay));
    let start = Instant::now();
    assert_eq!(get(&cluster, "/version").status, 200);
    assert!(start.elapsed() >= delay);
}

#[test]
fn the_journal_has_every_byte() {
    let cluster = Cluster::start();
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}});
    apply(&cluster, CM, "a%2Bb", &manifest);
    let journal = cluster.journal();
    let exchange = &journal[0];
    assert_eq!((exchange.method.as_str(), exchange.status), ("PATCH", Some(201)));
    assert_eq!(exchange.target, format!("{CM}?fieldManager=a%2Bb"));
    assert_eq!(exchange.user.as_deref(), Some("admin"));
    assert_eq!(exchange.header("content-type"), Some("application/apply-patch+yaml"));
    assert_eq!(exchange.body, manifest.to_string().as_bytes());
    assert!(
        exchange.raw.starts_with(format!("PATCH {CM}?").as_bytes())
            && exchange.raw.ends_with(&exchange.body)
    );
    let owner = cluster.object("v1", "configmaps", Some("workers"), "cm").unwrap();
    assert!(owner["metadata"].get("managedFields").is_none(), "it owns nothing");
}
