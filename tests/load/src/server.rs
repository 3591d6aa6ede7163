//! The server's side: it obeys lines of standard input and answers each with one of its output.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use openshift_templates_testing::{Cluster, Exchange, Fault};
use serde::{Deserialize, Serialize};

use crate::Result;

/// What the server is told, a line each.
#[derive(Serialize, Deserialize)]
pub(crate) enum Command {
    SetFaults(Option<Faults>),
    Report,
}

/// Every kind of fault in turn.
#[derive(Serialize, Deserialize)]
pub(crate) struct Faults {
    pub(crate) one_in: usize,
    /// How long an answer that never comes is waited for by who does not give up.
    pub(crate) stall: Duration,
}

/// What it holds and what it saw.
#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) objects: Vec<Stored>,
    pub(crate) requests: u64,
    pub(crate) connections: u64,
    pub(crate) struck: u64,
    pub(crate) renderings: u64,
    /// How often the mutation seen most often came, by method and path.
    pub(crate) same_mutation: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Stored {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

/// Long enough to cost nothing, short enough that the journal stays small.
const COUNTING: Duration = Duration::from_millis(20);

pub(crate) fn serve() -> Result<()> {
    let cluster = Cluster::start();
    let seen = Mutex::new(Seen::default());
    answer(&cluster.kubeconfig())?;
    std::thread::scope(|scope| {
        let (ended, end): (Sender<()>, _) = channel();
        let (cluster, seen) = (&cluster, &seen);
        scope.spawn(move || {
            while end.recv_timeout(COUNTING) == Err(RecvTimeoutError::Timeout) {
                count(cluster, seen);
            }
        });
        let obeyed =
            std::io::stdin().lock().lines().try_for_each(|line| {
                match serde_json::from_str(&line?)? {
                    Command::SetFaults(faults) => {
                        cluster.clear_faults();
                        faults.into_iter().flat_map(|f| f.all()).for_each(|f| cluster.fault(f));
                        answer(&())
                    }
                    Command::Report => answer(&report(cluster, seen)),
                }
            });
        drop(ended);
        obeyed
    })
}

fn answer(what: &impl Serialize) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, what)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

impl Faults {
    fn all(&self) -> Vec<Fault> {
        let any = || Fault::on("*", "/");
        let refused = |code: u16, reason| {
            let status = serde_json::json!({"kind": "Status", "apiVersion": "v1", "metadata": {},
                "status": "Failure", "message": "injected", "reason": reason, "code": code});
            any().answer(code, "application/json", status.to_string())
        };
        let faults = vec![
            refused(401, "Unauthorized"),
            refused(403, "Forbidden"),
            refused(409, "Conflict"),
            refused(429, "TooManyRequests").header("Retry-After", "1"),
            refused(500, "InternalError"),
            any().answer(503, "text/plain", "no healthy upstream"),
            any().answer(200, "text/html", "<html>please log in</html>"),
            any().drop_before(),
            any().drop_after(),
            any().truncate_answer(20),
            any().truncate_answer(400),
            any().close_after_answer(),
            any().delay(Duration::from_millis(50)),
            any().delay(self.stall).drop_before(),
        ];
        let turn = self.one_in * faults.len();
        let first = |kind: usize| self.one_in * (kind + 1);
        faults.into_iter().enumerate().map(|(i, f)| f.skip(first(i)).every(turn)).collect()
    }
}

#[derive(Default)]
struct Seen {
    requests: u64,
    renderings: u64,
    mutations: HashMap<(String, String), u64>,
}

/// Counts what came since the last time, and forgets it.
fn count(cluster: &Cluster, seen: &Mutex<Seen>) {
    let mut seen = seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for Exchange { method, target, .. } in cluster.take_journal() {
        seen.requests += 1;
        let path = target.split('?').next().unwrap_or_default();
        if path.ends_with("/processedtemplates") {
            seen.renderings += 1;
        } else if method != "GET" {
            *seen.mutations.entry((method, path.to_owned())).or_default() += 1;
        }
    }
}

fn report(cluster: &Cluster, seen: &Mutex<Seen>) -> Report {
    count(cluster, seen);
    let seen = seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let stored = |object: &serde_json::Value| {
        let text = |pointer| object.pointer(pointer).and_then(|v| v.as_str()).map(str::to_owned);
        Some(Stored {
            kind: text("/kind")?,
            name: text("/metadata/name")?,
            uid: text("/metadata/uid")?,
        })
    };
    Report {
        objects: cluster.objects("workers").iter().filter_map(stored).collect(),
        requests: seen.requests,
        connections: cluster.connections(),
        struck: cluster.faults_struck(),
        renderings: seen.renderings,
        same_mutation: seen.mutations.values().copied().max().unwrap_or(0),
    }
}
