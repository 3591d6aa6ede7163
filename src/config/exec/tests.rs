use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::*;
use crate::config::Secret;

/// A plugin that is this shell script. What it does is counted in the file `runs` of its folder.
struct Script {
    dir: tempfile::TempDir,
}

impl Script {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn plugin(&self, script: &str) -> Plugin {
        let script = format!("echo x >> '{}'\n{script}", self.dir.path().join("runs").display());
        Plugin {
            field: ConfigField::setter("exec"),
            version: Version::V1,
            command: "sh".to_owned(),
            args: vec!["-c".to_owned(), script],
            env: Vec::new(),
            install_hint: None,
            stdin: Stdin::Nothing,
            info: String::new(),
            limit: Duration::from_secs(30),
            runs: Runs::default(),
        }
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.dir.path().join("runs")).unwrap_or_default().lines().count()
    }
}

fn credential(status: &str) -> String {
    format!(
        "echo '{{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {status}}}'"
    )
}

fn problem(result: Result<Login, ConfigError>) -> String {
    match result {
        Err(ConfigError::Exec(error)) => error.problem().to_string(),
        other => panic!("{other:?}"),
    }
}

fn token(login: &Login) -> &str {
    login.authorization.as_ref().map_or("none", Secret::expose)
}

#[test]
fn a_credential_is_kept_until_shortly_before_its_end() {
    let from_now = |seconds: i64| {
        let time = Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
        format!("{{\"token\": \"t\", \"expirationTimestamp\": \"{time}\"}}")
    };
    for (status, runs) in [
        ("{\"token\": \"t\"}".to_owned(), 1),
        (from_now(3600), 1),
        (from_now(5), 3),
        (from_now(-5), 3),
    ] {
        let script = Script::new();
        let plugin = script.plugin(&credential(&status));
        for _ in 0..3 {
            assert_eq!(token(&plugin.login().unwrap()), "Bearer t");
        }
        assert_eq!(script.runs(), runs, "{status}");
    }
}

#[test]
fn threads_share_one_run() {
    let script = Script::new();
    let plugin = script.plugin(&credential("{\"token\": \"t\"}"));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| plugin.login().unwrap());
        }
    });
    assert_eq!(script.runs(), 1);
}

#[test]
fn threads_that_wait_for_a_run_that_fails_do_not_repeat_it() {
    const THREADS: usize = 16;
    let script = Script::new();
    let go = script.dir.path().join("go");
    let plugin =
        script.plugin(&format!("while ! [ -e '{}' ]; do sleep 0.05; done; exit 3", go.display()));
    let started = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                started.fetch_add(1, Ordering::SeqCst);
                let failed = problem(plugin.login());
                assert!(failed.contains('3'), "{failed}");
            });
        }
        let limit = Instant::now() + Duration::from_secs(60);
        while started.load(Ordering::SeqCst) < THREADS || script.runs() == 0 {
            assert!(Instant::now() < limit, "the threads do not start");
            std::thread::yield_now();
        }
        std::fs::write(&go, "").unwrap();
    });
    // One that was late may have found nobody to wait for.
    assert!(script.runs() <= 3, "{} runs for {THREADS} threads", script.runs());
    let runs = script.runs();
    problem(plugin.login());
    assert_eq!(script.runs(), runs + 1, "who comes later tries again");
}

#[test]
fn a_refused_credential_is_replaced_by_one_run() {
    let script = Script::new();
    let runs = script.dir.path().join("runs");
    let number = format!("n=$(wc -l < '{}' | tr -d ' ')\n", runs.display());
    let plugin = script.plugin(&(number + &credential("{\"token\": \"'$n'\"}")));
    let first = plugin.login().unwrap();
    assert_eq!(token(&first), "Bearer 1");
    let seconds = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let login = plugin.login_again(&first).unwrap();
                seconds.fetch_add(usize::from(token(&login) == "Bearer 2"), Ordering::SeqCst);
            });
        }
    });
    assert_eq!((script.runs(), seconds.into_inner()), (2, 4));
}

#[test]
fn the_time_of_a_plugin_is_limited() {
    let script = Script::new();
    for hang in ["exec sleep 100", "sleep 100 & exit 0", "exec >&-; exec sleep 100"] {
        let mut plugin = script.plugin(hang);
        plugin.limit = Duration::from_millis(200);
        let start = Instant::now();
        assert!(problem(plugin.login()).contains("not done within"), "{hang}");
        assert!(start.elapsed() < Duration::from_secs(20), "{hang}");
    }
}

#[test]
fn what_a_plugin_writes_is_looked_at_closely() {
    let cases = [
        ("exit 3".to_owned(), "failed with exit code 3"),
        ("kill -9 $$".to_owned(), "was ended by a signal"),
        (String::new(), "wrote no ExecCredential"),
        ("echo '[MARK'".to_owned(), "wrote no ExecCredential"),
        ("echo '{\"kind\": \"MARK\"}'".to_owned(), "wrote no ExecCredential"),
        (
            "echo '{\"kind\": \"ExecCredential\", \"apiVersion\": \"MARK\"}'".to_owned(),
            "the version asked for",
        ),
        ("yes MARK".to_owned(), "wrote no ExecCredential"),
        (credential("null"), "status is absent"),
        (credential("{}"), "status.token"),
        (credential("{\"token\": [\"MARK\"]}"), "status.token"),
        (credential("{\"token\": \"MA\\\\nRK\"}"), "status.token"),
        (credential("{\"clientCertificateData\": \"MARK\"}"), "status.clientKeyData"),
        (credential("{\"clientKeyData\": \"MARK\"}"), "status.clientCertificateData"),
        (
            credential("{\"token\": \"MARK\", \"expirationTimestamp\": \"MARK\"}"),
            "status.expirationTimestamp",
        ),
    ];
    for (script, expected) in cases {
        let result = Script::new().plugin(&script).login();
        assert!(!format!("{result:?}").replace("echo", "").contains("MARK"), "{result:?}");
        let text = problem(result);
        assert!(text.contains(expected), "{script}: {text}");
    }
}

#[test]
fn a_plugin_that_must_ask_is_not_run_where_nobody_is() {
    let script = Script::new();
    let mut plugin = script.plugin(&credential("{\"token\": \"t\"}"));
    plugin.stdin = Stdin::Missing;
    assert!(problem(plugin.login()).contains("interactiveMode: Always"));
    assert_eq!(script.runs(), 0);
}

#[test]
fn yaml_will_do_and_both_credentials_are_taken() {
    let script = "printf 'kind: ExecCredential\\napiVersion: client.authentication.k8s.io/v1\\nstatus: {token: t, clientCertificateData: c, clientKeyData: k}\\n'";
    let login = Script::new().plugin(script).login().unwrap();
    assert_eq!(token(&login), "Bearer t");
    assert_eq!(login.certificate.unwrap().cert, "c");
}
