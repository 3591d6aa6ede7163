//! Faults of connections: how they begin, how answers are put on them, how they end.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use openshift_templates_testing::{Cluster, Fault, Reception};

use crate::support::{Connection, get};

const VERSION: &str = "/version";

fn version() -> Fault {
    Fault::on("GET", VERSION)
}

/// How a second request on the connection ends after the fault has struck the first.
fn next_after(fault: Fault) -> Result<u16, ErrorKind> {
    let cluster = Cluster::start();
    cluster.fault(fault);
    let mut connection = Connection::open(&cluster);
    assert_eq!(connection.request("GET", VERSION, &[], None).unwrap().status, 200);
    let next = connection.request("GET", VERSION, &[], None);
    assert_eq!(
        cluster.journal().len(),
        1 + usize::from(next.is_ok()),
        "nothing is read unanswered"
    );
    next.map(|answer| answer.status).map_err(|error| error.kind())
}

fn raw_answer(fault: Fault) -> String {
    let cluster = Cluster::start();
    cluster.fault(fault);
    let mut connection = Connection::open(&cluster);
    connection.send(b"GET /version HTTP/1.1\r\nHost: cluster\r\nConnection: close\r\n\r\n");
    String::from_utf8_lossy(&connection.rest().0).into_owned()
}

fn dial(cluster: &Cluster) -> Result<TcpStream, ErrorKind> {
    let address = SocketAddr::from(([127, 0, 0, 1], cluster.port()));
    let connected = TcpStream::connect_timeout(&address, Duration::from_millis(300));
    connected.map_err(|error| error.kind())
}

#[test]
fn new_connections_are_received_as_told() {
    let cluster = Cluster::start();
    for (reception, expected) in [
        (Reception::Refused, ErrorKind::ConnectionRefused),
        (Reception::Unanswered, ErrorKind::TimedOut),
        (Reception::Refused, ErrorKind::ConnectionRefused),
    ] {
        cluster.receive(reception);
        cluster.receive(reception);
        assert_eq!(dial(&cluster).err(), Some(expected), "{reception:?}");
    }
    cluster.clear_faults();
    assert_eq!(get(&cluster, VERSION).status, 200);
    cluster.receive(Reception::Unanswered);
    assert_eq!(dial(&cluster).err(), Some(ErrorKind::TimedOut));
    drop(cluster);
}

#[test]
fn a_connection_that_is_there_stays_when_no_new_one_is_let_in() {
    let cluster = Cluster::start();
    let mut connection = Connection::open(&cluster);
    assert_eq!(connection.request("GET", VERSION, &[], None).unwrap().status, 200);
    cluster.receive(Reception::Refused);
    assert_eq!(connection.request("GET", VERSION, &[], None).unwrap().status, 200);
}

#[test]
fn a_silent_server_accepts_and_says_nothing() {
    let cluster = Cluster::start();
    cluster.receive(Reception::Silent);
    let connection = dial(&cluster).unwrap();
    connection.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let read = connection.peek(&mut [0]).unwrap_err();
    assert!(matches!(read.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{read}");
}

#[test]
fn a_handshake_that_drips_comes_to_its_end() {
    let cluster = Cluster::start();
    cluster.receive(Reception::Dripping(Duration::from_micros(10)));
    assert_eq!(get(&cluster, VERSION).status, 200);
}

#[test]
fn connections_end_as_told() {
    let ends = [
        (version().close_after_answer(), ErrorKind::UnexpectedEof),
        (version().close_after_answer().by_reset(), ErrorKind::ConnectionReset),
        (version().close_at_next(), ErrorKind::UnexpectedEof),
        (version().close_at_next().by_reset(), ErrorKind::ConnectionReset),
    ];
    for (fault, expected) in ends {
        let shown = format!("{fault:?}");
        let end = next_after(fault);
        // A write can find out before the read does.
        let is_broken = end == Err(ErrorKind::BrokenPipe) && expected == ErrorKind::ConnectionReset;
        assert!(end == Err(expected) || is_broken, "{end:?} {shown}");
    }
}

#[test]
fn nothing_new_is_let_in_after_the_answer() {
    let cluster = Cluster::start();
    cluster.fault(version().close_and_receive(Reception::Refused));
    assert_eq!(get(&cluster, VERSION).status, 200);
    assert_eq!(dial(&cluster).err(), Some(ErrorKind::ConnectionRefused));
}

#[test]
fn unanswered_requests_end_by_a_reset() {
    for fault in [version().drop_before(), version().drop_after(), version().truncate_answer(9)] {
        let cluster = Cluster::start();
        cluster.fault(fault.by_reset());
        let end = Connection::open(&cluster).request("GET", VERSION, &[], None);
        assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
}

#[test]
fn answers_are_put_on_the_wire_as_told() {
    let chunked = raw_answer(version().chunked());
    assert!(chunked.contains("\r\nTransfer-Encoding: chunked\r\n"), "{chunked}");
    assert!(!chunked.contains("Content-Length"), "{chunked}");
    assert!(chunked.contains("\r\n\r\n40\r\n{") && chunked.ends_with("\r\n0\r\n\r\n"), "{chunked}");
    let interim = raw_answer(version().interim(103));
    assert!(
        interim.starts_with("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n"),
        "{interim}"
    );
    let cut = raw_answer(version().lose_end(3));
    assert!(cut.contains(r#""platform":"#) && !cut.contains('}'), "{cut}");
    assert!(raw_answer(version().compressed()).contains("\r\nContent-Encoding: gzip\r\n"));
    let drip = raw_answer(version().drip(Duration::from_micros(10)));
    assert!(drip.starts_with("HTTP/1.1 200 OK\r\n") && drip.trim_end().ends_with('}'), "{drip}");
}
