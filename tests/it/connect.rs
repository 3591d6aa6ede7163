//! Connecting wherever kubectl connects: one row for each row of the comparison with kubectl and
//! for each public bug report in it, named after it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use openshift_templates::ResourceRef;

mod fixtures;
mod loader;
mod pki;
mod rows_apply;
mod rows_exec;
mod rows_files;
mod rows_login;
mod rows_proxy;
mod rows_tls;
mod secrets;
mod servers;
mod stage;

/// A row's name, and what shows that it holds.
type Row = (&'static str, fn());

fn reference() -> [ResourceRef; 1] {
    [ResourceRef::new("v1", "ConfigMap", "a")]
}

/// Waits for a condition, with a limit.
fn eventually(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(30), "it never came to be");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Rows that are shown where their parts can be reached: by a test of this name there.
const SHOWN_ELSEWHERE: &[(&str, &str, &str)] = &[
    ("1.3 when a process is in a pod", "src/config/in_cluster.rs", "what_is_missing_is_named"),
    (
        "1.3 KUBECONFIG names a missing file, in a pod",
        "src/config/in_cluster.rs",
        "a_missing_kubeconfig_does_not_hide_the_pod",
    ),
    ("1.3 the host", "src/config/in_cluster.rs", "addresses_of_both_kinds_make_a_url"),
    ("1.3 variables missing or empty", "src/config/in_cluster.rs", "what_is_missing_is_named"),
    ("1.3 the token", "src/config/in_cluster.rs", "a_pods_token_and_ca_are_read_again"),
    ("1.3 ca.crt missing", "src/config/in_cluster.rs", "without_a_ca_the_systems_roots_count"),
    ("1.3 ca.crt replaced", "src/config/in_cluster.rs", "a_pods_token_and_ca_are_read_again"),
    ("1.3 the namespace", "src/config/in_cluster.rs", "a_pods_namespace_is_looked_for"),
    ("1.3 proxies of the environment", "src/config/in_cluster.rs", "a_pod_can_have_a_proxy"),
    (
        "2 stackablectl#335: one group of the API is down",
        "tests/it/create.rs",
        "a_backend_that_is_down_is_no_missing_kind",
    ),
    (
        "2 openshift-restclient#327: a client while one API is down",
        "tests/it/sessions.rs",
        "connecting_fails_for_bad_credentials_but_not_for_a_missing_api",
    ),
    (
        "2 origin#17159: only what is needed is asked for",
        "tests/it/create.rs",
        "discovery_asks_only_for_what_the_manifests_name_and_once",
    ),
    (
        "2 (found with the Python client): v1 is the core group",
        "src/request.rs",
        "the_core_group_and_named_groups_have_their_own_roots",
    ),
    (
        "2 kubernetes#80916: conflicts name manager and field",
        "tests/it/create.rs",
        "another_managers_field_is_a_conflict_unless_it_is_forced",
    ),
];

/// Rows that are not shown, and why.
const NOT_SHOWN: &[(&str, &str)] = &[
    ("2 sofka#78: the aggregated document", "it is never asked for"),
    ("2 client-python#2037: the cache on disk", "there is none"),
    ("1.6 PluginPolicy", "the comparison says to leave it out: nobody asked for a list of plugins"),
];

/// How many rows each section of the comparison has.
const SECTIONS: &[(&str, usize)] = &[
    ("1.1", 23),
    ("1.2", 9),
    ("1.3", 9),
    ("1.4", 14),
    ("1.5", 18),
    ("1.6", 15),
    ("1.7", 17),
    ("1.8", 1),
    ("2 ", 47),
];

fn rows() -> Vec<Row> {
    [
        rows_files::ROWS,
        rows_tls::ROWS,
        rows_login::ROWS,
        rows_exec::ROWS,
        rows_proxy::ROWS,
        rows_apply::ROWS,
    ]
    .concat()
}

#[test]
fn every_row_holds() {
    let rows = rows();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(Vec::new());
    // Most of them wait for processes and handshakes.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((name, show)) =
                    rows.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst))
                {
                    if catch_unwind(AssertUnwindSafe(show)).is_err() {
                        failed.lock().unwrap().push(*name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn no_row_is_left_out_in_silence() {
    let shown = rows().into_iter().map(|(name, _)| name);
    let elsewhere = SHOWN_ELSEWHERE.iter().map(|(name, ..)| *name);
    let names: Vec<_> =
        shown.chain(elsewhere).chain(NOT_SHOWN.iter().map(|(name, _)| *name)).collect();
    let distinct: BTreeSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "each has a name of its own");
    for (section, count) in SECTIONS {
        let found = names.iter().filter(|name| name.starts_with(section)).count();
        assert_eq!(found, *count, "rows of section {section}");
    }
    for (name, file, test) in SHOWN_ELSEWHERE {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("fn {test}()")), "{name}: {file} has no {test}");
    }
}

/// Not a test of its own: others run it in a process with an environment of their choosing.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn child() {
    if let Ok(action) = std::env::var("CONNECT_CHILD") {
        println!("{}", stage::act(&action));
    }
}
