//! Every recorded exchange with a real control plane, in order, against a fresh cluster.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::PathBuf;

use openshift_templates_testing::{Cluster, User};
use serde::Serialize;
use serde_json::{Value, ser::Formatter};

use crate::compare::Names;
use crate::support::{Answer, Connection, bearer};

/// How many recordings there are: one that gets lost fails the test.
const COUNT: usize = 132;

/// How a recording is compared in part.
enum Part {
    /// What these JSON pointers lead to is left out.
    Without(&'static [&'static str]),
    /// The order of this list does not count.
    Unordered(&'static str),
}

/// The recordings that are not compared in full, and why not.
const PARTLY: &[(&str, Part, &str)] = &[
    (
        "discovery-api-legacy",
        Part::Without(&["/serverAddressByClientCIDRs/0/serverAddress"]),
        "the address is the server's own",
    ),
    (
        "discovery-apis-legacy",
        Part::Unordered("/groups"),
        "groups of custom resources of one priority come in another order than in the aggregated form, which is the \
         source here",
    ),
    (
        "process-generated",
        Part::Without(&["/objects/0/data/p", "/parameters/1/value"]),
        "the generator is seeded by time; the unit tests of the generator say what it may yield",
    ),
];

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/recordings"))
}

fn read(name: &str) -> Value {
    let path = folder().join(format!("{name}.json"));
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_recording_is_answered_as_it_was() {
    let order = read("ORDER");
    let cluster = Cluster::start();
    let mut connection = Connection::open(&cluster);
    let mut names = Names::default();
    let mut replayed = BTreeSet::new();
    let mut problems = Vec::new();
    for step in order.as_array().unwrap() {
        let Some(name) = step["name"].as_str() else {
            let what = format!("unrecorded {} {}", step["method"], step["path"]);
            let body = Some(&step["body"]).filter(|body| !body.is_null()).map(python_text);
            let content_type = step["content_type"].as_str();
            let headers: Vec<(&str, &str)> =
                content_type.map(|value| ("Content-Type", value)).into_iter().collect();
            let answer = exchange(&cluster, &mut connection, step, &headers, body.as_deref());
            if step["status"] != answer.status {
                problems
                    .push(format!("{what}: recorded {}, found {}", step["status"], answer.status));
            }
            continue;
        };
        assert!(replayed.insert(name.to_owned()), "{name} is in the order twice");
        let recording = read(name);
        let answer = replay(&cluster, &mut connection, &recording, &names);
        let partly = PARTLY.iter().find(|(partly, _, _)| *partly == name);
        let found = differences(
            &mut names,
            &recording["response"],
            &answer,
            partly.map(|(_, part, _)| part),
        );
        problems.extend(found.iter().map(|difference| format!("{name}: {difference}")));
        if partly.is_some()
            && differences(&mut names, &recording["response"], &answer, None).is_empty()
        {
            problems.push(format!("{name}: compared in part although all of it is the same"));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert_eq!(replayed.len(), COUNT);
    let files = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<String> =
        files.filter_map(|name| name.strip_suffix(".json").map(str::to_owned)).collect();
    let expected: BTreeSet<String> = replayed.iter().cloned().chain(["ORDER".to_owned()]).collect();
    assert_eq!(files, expected, "every file is replayed");
    for (name, _, reason) in PARTLY {
        assert!(replayed.contains(*name) && !reason.is_empty(), "{name} is no recording");
    }
}

fn replay(
    cluster: &Cluster,
    connection: &mut Connection,
    recording: &Value,
    names: &Names,
) -> Answer {
    let request = &recording["request"];
    let headers: Vec<(&str, &str)> = request["headers"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| *name != "Authorization")
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect();
    let body = match (request.get("body"), request["body_text"].as_str()) {
        (Some(body), _) => Some(python_text(body)),
        (None, Some(text)) => Some(whole_text(text)),
        (None, None) => None,
    };
    let mut step = request.clone();
    step["caller"] = recording["caller"].clone();
    exchange(
        cluster,
        connection,
        &step,
        &headers,
        body.map(|body| names.translate(&body)).as_deref(),
    )
}

fn exchange(
    cluster: &Cluster,
    connection: &mut Connection,
    step: &Value,
    headers: &[(&str, &str)],
    body: Option<&str>,
) -> Answer {
    let authorization = match step["caller"].as_str().unwrap() {
        "admin" => Some(bearer(cluster, User::Admin)),
        "worker" => Some(bearer(cluster, User::Worker)),
        "bad-token" => Some("Bearer no-such-token".to_owned()),
        "anonymous" => None,
        other => panic!("unknown caller {other}"),
    };
    // The manager in the answers to requests that name none.
    let mut headers: Vec<(&str, &str)> =
        headers.iter().copied().chain([("User-Agent", "recorder")]).collect();
    headers.extend(authorization.as_deref().map(|value| ("Authorization", value)));
    let (method, path) = (step["method"].as_str().unwrap(), step["path"].as_str().unwrap());
    connection.request(method, path, &headers, body.map(str::as_bytes)).unwrap()
}

/// Two recorded bodies are cut; what they were is known.
fn whole_text(text: &str) -> String {
    let letters = match text.rsplit_once('\u{2026}').map(|(_, length)| length) {
        None => return text.to_owned(),
        Some("(1100113 bytes)") => 1_100_000,
        Some("(3200113 bytes)") => 3_200_000,
        Some(other) => panic!("an unknown cut: {other}"),
    };
    let start = text.split_once("\"x").unwrap().0;
    format!("{start}\"{}\"}}}}", "x".repeat(letters))
}

/// As the recorder wrote JSON, since one error text quotes it.
fn python_text(value: &Value) -> String {
    struct Spaced;
    impl Formatter for Spaced {
        fn begin_array_value<W: ?Sized + io::Write>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> io::Result<()> {
            if first { Ok(()) } else { writer.write_all(b", ") }
        }
        fn begin_object_key<W: ?Sized + io::Write>(
            &mut self,
            writer: &mut W,
            first: bool,
        ) -> io::Result<()> {
            if first { Ok(()) } else { writer.write_all(b", ") }
        }
        fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
            writer.write_all(b": ")
        }
    }
    let mut bytes = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, Spaced)).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn differences(
    names: &mut Names,
    recorded: &Value,
    answer: &Answer,
    part: Option<&Part>,
) -> Vec<String> {
    let mut differences = Vec::new();
    if recorded["status"] != answer.status {
        differences
            .push(format!("status: recorded {}, found {}", recorded["status"], answer.status));
    }
    for header in ["content-type", "cache-control", "warning"] {
        let (old, new) = (recorded["headers"][header].as_str(), answer.header(header));
        if old != new {
            differences.push(format!("{header}: recorded {old:?}, found {new:?}"));
        }
    }
    if answer.header("audit-id").is_none() {
        differences.push("there is no audit id".to_owned());
    }
    if let Some(text) = recorded["body_text"].as_str() {
        if text != answer.text() {
            differences.push(format!("body: recorded {text:?}, found {:?}", answer.text()));
        }
        return differences;
    }
    let (mut old, mut new) = (recorded["body"].clone(), answer.json());
    for value in [&mut old, &mut new] {
        match part {
            None => {}
            Some(Part::Without(pointers)) => {
                for pointer in *pointers {
                    *value.pointer_mut(pointer).unwrap() = Value::Null;
                }
            }
            Some(Part::Unordered(pointer)) => {
                value
                    .pointer_mut(pointer)
                    .unwrap()
                    .as_array_mut()
                    .unwrap()
                    .sort_by_key(ToString::to_string);
            }
        }
    }
    differences.extend(names.differences(&old, &new));
    differences
}
