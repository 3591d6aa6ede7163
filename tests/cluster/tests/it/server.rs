//! Connections, credentials, discovery and the end of a cluster.

use std::fs;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use openshift_templates_testing::{Cluster, Fault, User};
use serde_json::{Value, json};

use crate::support::{Connection, apply, bearer, get};

#[test]
fn connections_are_kept() {
    let cluster = Cluster::start();
    let mut connection = Connection::open(&cluster);
    for _ in 0..3 {
        assert_eq!(connection.request("GET", "/version", &[], None).unwrap().status, 200);
    }
    let last = connection.request("GET", "/version", &[("Connection", "close")], None).unwrap();
    assert_eq!(last.header("connection"), Some("close"));
    assert!(connection.rest().1.is_ok());
    assert_eq!(cluster.connections(), 1);
    assert!(cluster.journal().iter().all(|exchange| exchange.connection == 1));
    Connection::open(&cluster).request("GET", "/version", &[], None).unwrap();
    assert_eq!(cluster.journal()[4].connection, 2);
}

#[test]
fn chunked_bodies_and_requests_sent_ahead() {
    let cluster = Cluster::start();
    let authorization = bearer(&cluster, User::Admin);
    let head = format!(
        "POST /apis/template.openshift.io/v1/namespaces/workers/processedtemplates HTTP/1.1\r\nHost: c\r\n\
         Authorization: {authorization}\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(b"1\r\n{\r\n10\r\n\"message\": \"hi\"}\r\n0\r\n\r\n");
    bytes.extend_from_slice(b"GET /version HTTP/1.1\r\nHost: c\r\n\r\n");
    let mut connection = Connection::open(&cluster);
    connection.send(&bytes);
    assert_eq!(connection.answer().unwrap().json()["message"], "hi");
    assert_eq!(connection.answer().unwrap().status, 200);
    let journal = cluster.journal();
    assert_eq!(journal[0].body, b"{\"message\": \"hi\"}");
    assert!(journal[0].raw.ends_with(b"0\r\n\r\n"));
}

#[test]
fn what_is_no_http_gets_an_answer() {
    let cluster = Cluster::start();
    for bytes in [&b"nonsense\r\n\r\n"[..], b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n"] {
        let mut connection = Connection::open(&cluster);
        connection.send(bytes);
        assert_eq!(connection.answer().unwrap().status, 400);
    }
    assert_eq!(get(&cluster, "/version").status, 200);
}

#[test]
fn certificates_are_credentials() {
    let cluster = Cluster::start();
    let target = "/api/v1/namespaces/infra/secrets";
    for (user, status) in [(User::Admin, 200), (User::Worker, 403)] {
        let mut connection = Connection::with(&cluster, "localhost", Some(user));
        assert_eq!(connection.request("GET", target, &[], None).unwrap().status, status);
    }
    assert_eq!(cluster.journal()[1].user.as_deref(), Some("worker"));
    let headers = [("Authorization", "Bearer wrong")];
    assert_eq!(
        Connection::open(&cluster).request("GET", target, &headers, None).unwrap().status,
        401
    );
    assert_eq!(cluster.journal()[2].user, None);
}

#[test]
fn the_files_lead_to_the_cluster() {
    let cluster = Cluster::start();
    let config: Value =
        serde_yaml::from_str(&fs::read_to_string(cluster.kubeconfig()).unwrap()).unwrap();
    assert_eq!(config["clusters"][0]["cluster"]["server"], cluster.url());
    let contexts: Vec<&Value> =
        config["contexts"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert_eq!(
        contexts,
        ["worker", "admin", "worker-cert", "admin-cert", "bad-token", "anonymous"]
    );
    assert_eq!(config["users"][0]["user"]["token"], cluster.token(User::Worker));
    let read = |name: &str| fs::read_to_string(cluster.service_account_dir().join(name)).unwrap();
    assert_eq!(
        (read("token").as_str(), read("namespace").as_str()),
        (cluster.token(User::Worker), "workers")
    );
    assert_eq!(read("ca.crt"), cluster.ca_pem());
    let folder = cluster.kubeconfig().parent().unwrap().to_owned();
    drop(cluster);
    assert!(!folder.exists());
}

#[test]
fn big_answers_are_compressed_for_whoever_asks() {
    let cluster = Cluster::start();
    let target = "/api/v1/namespaces/workers/configmaps/big";
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"},
        "data": {"a": "x".repeat(200_000)}});
    apply(&cluster, target, "one", &manifest);
    let authorization = bearer(&cluster, User::Admin);
    let headers = [("Authorization", authorization.as_str()), ("Accept-Encoding", "gzip")];
    let answer = Connection::open(&cluster).request("GET", target, &headers, None).unwrap();
    assert_eq!(answer.header("content-encoding"), Some("gzip"));
    assert!(answer.body.starts_with(&[0x1f, 0x8b]) && answer.body.len() < 10_000);
    let plain = Connection::open(&cluster).request("GET", target, &headers[..1], None).unwrap();
    assert!(plain.header("content-encoding").is_none() && plain.body.len() > 200_000);
}

#[test]
fn many_clients_at_once() {
    let cluster = Cluster::start();
    thread::scope(|scope| {
        for worker in 0..8 {
            let cluster = &cluster;
            scope.spawn(move || {
                for round in 0..5 {
                    let name = format!("cm-{worker}-{round}");
                    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
                        "data": {"a": "1"}});
                    let target = format!("/api/v1/namespaces/workers/configmaps/{name}");
                    assert_eq!(apply(cluster, &target, "one", &manifest).status, 201);
                }
            });
        }
    });
    assert_eq!(cluster.objects("workers").len(), 40);
    assert_eq!(cluster.journal().len(), 40);
}

#[test]
fn the_end_waits_for_nobody() {
    let cluster = Cluster::start();
    let address = (cluster.host(), cluster.port());
    cluster.fault(Fault::on("GET", "/version").delay(Duration::from_secs(3600)));
    let mut idle = Connection::open(&cluster);
    idle.request("GET", "/api", &[], None).unwrap();
    let mut delayed = Connection::open(&cluster);
    delayed.send(b"GET /version HTTP/1.1\r\nHost: c\r\n\r\n");
    let silent = TcpStream::connect(address).unwrap();
    let limit = Instant::now() + Duration::from_secs(10);
    while cluster.connections() < 3 || cluster.journal().len() < 2 {
        assert!(Instant::now() < limit, "the connections arrive");
        thread::yield_now();
    }
    let start = Instant::now();
    drop(cluster);
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
    drop((idle, delayed, silent));
}
