//! Every fault against every operation: what the caller is told, and whether it is true.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::net::TcpListener;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use openshift_templates::{
    Client, Error, Namespace, OperationError, Outcome, ResourceRef, Timeouts,
};
use openshift_templates_testing::{Cluster, Exchange, Fault};

use crate::support::{World, identities, job, until};

mod rows;

use rows::{Row, Strikes};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/faults.md");
/// Set, the test writes the document instead of comparing.
const WRITES: &str = "OPENSHIFT_TEMPLATES_WRITE_DOCS";

const OBJECTS: [(&str, &str); 3] = [
    ("ConfigMap/worker-001-config", "/configmaps/worker-001-config"),
    ("Secret/worker-001-secret", "/secrets/worker-001-secret"),
    ("VirtualMachine/worker-001", "/virtualmachines/worker-001"),
];

/// The time that the answer of a slow or silent server is given here.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time that an operation is given in which an answer drips.
const DEADLINE: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operation {
    Process,
    /// The fault is at the target of this index.
    Create(usize),
    Get,
    Delete,
}

impl Operation {
    const ALL: [Self; 6] =
        [Self::Process, Self::Create(0), Self::Create(1), Self::Create(2), Self::Get, Self::Delete];

    fn title(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Create(0) => "create, first",
            Self::Create(1) => "create, middle",
            Self::Create(_) => "create, last",
            Self::Get => "get",
            Self::Delete => "delete",
        }
    }

    /// The request that is struck, and the one before it.
    fn requests(self) -> [(&'static str, &'static str); 2] {
        const RENDER: (&str, &str) = ("POST", "/processedtemplates");
        let [first, second, third] = OBJECTS.map(|(_, path)| path);
        match self {
            Self::Process => [RENDER, ("GET", "/templates/worker-template")],
            Self::Create(0) => [("PATCH", first), RENDER],
            Self::Create(1) => [("PATCH", second), ("PATCH", first)],
            Self::Create(_) => [("PATCH", third), ("PATCH", second)],
            Self::Get => [("GET", second), ("GET", first)],
            Self::Delete => [("DELETE", second), ("DELETE", third)],
        }
    }

    /// The names of what it returns.
    fn run(self, workers: &Namespace, references: &[ResourceRef]) -> Result<Vec<String>, Error> {
        Ok(match self {
            Self::Process => {
                let processed = workers.process(&job("worker-001"))?;
                identities(processed.manifests())
            }
            Self::Create(_) => names(&workers.create(&job("worker-001"))?),
            Self::Get => identities(&workers.get(references)?),
            Self::Delete => names(&workers.delete(references)?),
        })
    }

    /// What it returns when all is well.
    fn expected(self) -> Vec<&'static str> {
        let mut names = OBJECTS.map(|(name, _)| name).to_vec();
        if self == Self::Delete {
            names.reverse();
        }
        names
    }
}

fn names(references: &[ResourceRef]) -> Vec<String> {
    references.iter().map(ToString::to_string).collect()
}

/// What one cell of the matrix came to.
struct Cell {
    text: &'static str,
    message: Option<String>,
}

fn run(row: &Row, operation: Operation) -> Cell {
    let context = format!("{} at {}", row.name, operation.title());
    let world = World::start();
    let config = world.config("worker").answer_limit(rows::ANSWER_LIMIT);
    let workers = Client::new(config).unwrap().namespace("workers").unwrap();
    let workers = workers.with_timeouts(Timeouts::both(PATIENCE).unwrap());
    // Discovery is known, and there is a connection to use.
    let references = workers.create(&job("worker-001")).unwrap();
    if matches!(operation, Operation::Create(_)) {
        workers.delete(&references).unwrap();
    }
    let [at, before] = operation.requests();
    match &row.strikes {
        Strikes::At(strike) => world.cluster.fault(strike(Fault::on(at.0, at.1))),
        Strikes::Before(strike) => world.cluster.fault(strike(Fault::on(before.0, before.1))),
        Strikes::Idle(strike) => {
            world.cluster.fault(strike(Fault::on("POST", "/processedtemplates")));
            workers.process(&job("worker-001")).unwrap();
            until("it is closed", || world.cluster.open_connections() == 0);
        }
    }
    world.cluster.clear_journal();

    let result = operation.run(&workers.clone().with_deadline(DEADLINE), &references);

    assert!(world.cluster.faults_struck() >= 1, "{context}");
    let seen = world.cluster.journal();
    assert_each_mutation_once(&seen, &context);
    let struck: Vec<&Exchange> =
        seen.iter().filter(|e| e.method == at.0 && e.target.contains(at.1)).collect();
    let cell = match result {
        Ok(found) => {
            assert_eq!(found, operation.expected(), "{context}");
            assert_stored(&world, operation, 3, &context);
            let text = if struck.len() == 2 { "done, sent again" } else { "done" };
            assert!(struck.len() == 1 || operation == Operation::Get, "{context}");
            Cell { text, message: None }
        }
        Err(Error::Operation(error)) => {
            let outcome = outcome(&error, operation, &context);
            assert_true(outcome, &struck, &world, operation, &context);
            let text = match outcome {
                Outcome::NotSent => "not sent",
                Outcome::Rejected => "rejected",
                Outcome::Unknown => "unknown",
                other => panic!("{context}: {other}"),
            };
            Cell { text, message: Some(message(error.failures()[0].error(), &world)) }
        }
        Err(error) => {
            assert!(matches!(operation, Operation::Process | Operation::Get), "{context}");
            let text = if struck.len() == 2 { "error, sent again" } else { "error" };
            assert!(struck.len() <= 1 || operation == Operation::Get, "{context}");
            Cell { text, message: Some(message(&error, &world)) }
        }
    };
    assert_client_goes_on(&world, &workers, operation, &references, &context);
    cell
}

/// Whatever went wrong, the server has seen no change twice; a rendering neither.
fn assert_each_mutation_once(seen: &[Exchange], context: &str) {
    let mut counts = BTreeMap::new();
    for exchange in seen.iter().filter(|exchange| exchange.method != "GET") {
        *counts.entry((&exchange.method, &exchange.target)).or_insert(0) += 1;
    }
    assert!(counts.values().all(|count| *count == 1), "{context}: {counts:?}");
}

/// The outcome of the object that was struck, after a look at what is said of the others.
fn outcome(error: &OperationError, operation: Operation, context: &str) -> Outcome {
    let [first, second, third] = OBJECTS.map(|(name, _)| name);
    let failed = names(&error.failures().iter().map(|f| f.resource().clone()).collect::<Vec<_>>());
    let (completed, left) = (names(error.completed()), names(error.not_attempted()));
    if let Operation::Create(index) = operation {
        let all = [first, second, third];
        assert_eq!(completed, all[..index], "{context}");
        assert_eq!(failed, all[index..=index], "{context}");
        assert_eq!(left, all[index + 1..], "{context}");
        assert!(error.completed().iter().all(|r| r.uid().is_some()), "{context}");
    } else {
        // The others are tried all the same, unless time is up; nothing new may be let in any more.
        assert_eq!(completed[0], third, "{context}");
        assert_eq!(failed[0], second, "{context}");
        let rest = [&completed[1..], &failed[1..], &left[..]].concat();
        assert_eq!(rest, [first], "{context}");
    }
    error.failures()[0].outcome()
}

/// What is said of the object that was struck, against what the server saw and did.
fn assert_true(
    outcome: Outcome,
    struck: &[&Exchange],
    world: &World,
    operation: Operation,
    context: &str,
) {
    match outcome {
        Outcome::NotSent => assert!(struck.is_empty(), "{context}"),
        Outcome::Rejected => {
            let status = struck.first().and_then(|exchange| exchange.status);
            assert!(status.is_some_and(|status| (300..500).contains(&status)), "{context}");
        }
        _ => {}
    }
    if outcome != Outcome::Unknown {
        // Nothing was done: neither the object nor its absence came to be.
        let done = match operation {
            Operation::Create(index) => index,
            _ => 1,
        };
        assert_stored(world, operation, done, context);
    }
}

/// The first so many of the operation's targets are done, and the next is not.
fn assert_stored(world: &World, operation: Operation, done: usize, context: &str) {
    let stored = world.names();
    let is_stored = |name: &str| stored.iter().any(|stored| stored == name);
    let there = match operation {
        Operation::Create(_) => true,
        Operation::Delete => false,
        Operation::Process | Operation::Get => return,
    };
    for (index, name) in operation.expected().into_iter().enumerate().take(done + 1) {
        assert_eq!(is_stored(name), there == (index < done), "{context}: {name} in {stored:?}");
    }
}

fn assert_client_goes_on(
    world: &World,
    workers: &Namespace,
    operation: Operation,
    references: &[ResourceRef],
    context: &str,
) {
    world.cluster.clear_faults();
    match operation.run(workers, references) {
        Ok(found) => assert_eq!(found, operation.expected(), "{context}"),
        Err(error) => panic!("{context}: {error}"),
    }
    assert_stored(world, operation, 3, context);
}

/// Variant and text of each level, without what differs from run to run and from target to target.
fn message(error: &Error, world: &World) -> String {
    let variant = match error {
        Error::Api(_) => "Api",
        Error::Transport(_) => "Transport",
        other => panic!("{other:?}"),
    };
    let text = error.to_string();
    let (_, what) = text.split_once(": ").unwrap();
    let mut shown = format!("{variant}: {what}");
    let mut source = error.source();
    while let Some(cause) = source {
        shown.extend([": ", &cause.to_string()]);
        source = cause.source();
    }
    if let Some(delay) = error.retry_after() {
        assert!(error.is_throttled());
        shown.extend([", retry after ", &delay.as_secs().to_string(), " s"]);
    }
    let number = |digits: &str| digits.find(')').map(|end| digits.split_at(end).1[1..].to_owned());
    if let Some((head, tail)) = shown.split_once(" (os error ") {
        shown = format!("{head}{}", number(tail).unwrap());
    }
    shown.replace(&world.cluster.port().to_string(), "PORT")
}

/// Runs every cell, some at a time: most of them wait.
fn matrix(rows: &[Row]) -> Vec<Vec<Cell>> {
    let cells: Vec<(usize, Operation)> =
        (0..rows.len()).flat_map(|row| Operation::ALL.map(|operation| (row, operation))).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some((row, operation)) = cells.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let cell = run(&rows[*row], *operation);
                    done.lock().unwrap().insert((*row, operation.title()), cell);
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    let mut cell = |row, operation: Operation| done.remove(&(row, operation.title())).unwrap();
    (0..rows.len()).map(|row| Operation::ALL.map(|operation| cell(row, operation)).into()).collect()
}

const INTRODUCTION: &str = "\
# What each fault does to each operation

This is the work of a test, which runs every fault against every operation and compares what it
finds with this document (`cargo test --test it faults`; with `OPENSHIFT_TEMPLATES_WRITE_DOCS=1` it
writes it). In each cell it also looks at the server: no mutation arrived twice, what was reported as
completed is stored, what was reported as not sent did not arrive, what was reported as rejected was
not done, nothing went to another host or port, and the same client did the operation afterwards.

A create has three targets, and the fault strikes the request for the first, the middle or the last
of them; a get and a delete are struck at the middle one. `unknown` is the outcome of a mutation that
may have been done: [failures](failures.md) says what to do. `sent again` is the one thing that the
library repeats: a GET whose connection died.
";

fn document(rows: &[Row], matrix: &[Vec<Cell>]) -> String {
    let titles = Operation::ALL.map(Operation::title).join(" | ");
    let mut text = format!("{INTRODUCTION}\n| fault | {titles} |\n|---|---|---|---|---|---|---|\n");
    for (row, cells) in rows.iter().zip(matrix) {
        let cells: Vec<&str> = cells.iter().map(|cell| cell.text).collect();
        text.extend(["| ", &row.name, " | ", &cells.join(" | "), " |\n"]);
    }
    text.push_str("\n## What the error says\n\nAfter the subject, level by level.\n");
    for (row, cells) in rows.iter().zip(matrix) {
        let messages: BTreeSet<&str> =
            cells.iter().filter_map(|cell| cell.message.as_deref()).collect();
        if !messages.is_empty() {
            text.extend(["\n**", &row.name, "**\n"]);
            text.extend(messages.iter().map(|message| format!("- {message}\n")));
        }
    }
    text
}

#[test]
fn each_fault_is_told_as_it_is() {
    // Neither of these may ever be reached.
    let stranger = Cluster::start();
    let open = TcpListener::bind("127.0.0.1:0").unwrap();
    open.set_nonblocking(true).unwrap();
    let rows = rows::all(
        &stranger.url().replace("127.0.0.1", "localhost"),
        open.local_addr().unwrap().port(),
    );
    let found = document(&rows, &matrix(&rows));
    assert_eq!(stranger.connections(), 0, "a redirect was followed");
    assert!(open.accept().is_err(), "a redirect was followed");
    if std::env::var_os(WRITES).is_some() {
        std::fs::write(DOCUMENT, &found).unwrap();
    }
    let documented = std::fs::read_to_string(DOCUMENT).unwrap();
    for (found, documented) in found.lines().zip(documented.lines()) {
        assert_eq!(found, documented);
    }
    assert_eq!(found, documented);
}
