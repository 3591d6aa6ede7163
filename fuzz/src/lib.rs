//! What comes from outside, as arbitrary bytes at each boundary, against the embedded server: no
//! panic, and no request that reaches beyond the target namespace. The fuzz targets call this, and
//! so do ordinary tests with what is kept in `fixtures/fuzz`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "these are tests")]

mod certificate;

use std::cell::RefCell;
use std::io::Write as _;

use openshift_templates::{
    Client, Config, Error, Kubeconfig, Namespace, ResourceRef, Template, Timeouts,
};
use openshift_templates_testing::{Cluster, Exchange, Fault};

/// A kubeconfig.
pub fn kubeconfig(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    // A client that is made runs no plugin and opens no connection.
    match Config::from_kubeconfig(Kubeconfig::file(file.path())) {
        Ok(config) => drop(format!("{config:?} {:?}", Client::new(config.clone()))),
        Err(error) => show(&error),
    }
}

/// A certificate that a server presents and a kubeconfig trusts.
pub fn certificate(bytes: &[u8]) {
    certificate::present(bytes);
}

/// The discovery document of a group version.
pub fn discovery(bytes: &[u8]) {
    with_stage(|stage| {
        stage.cluster.fault(
            Fault::on("GET", "/apis/example.com/v1")
                .answer(200, "application/json", bytes)
                .always(),
        );
        // What a client knows of a group version it keeps.
        let workers = stage.workers();
        let thing = [ResourceRef::new("example.com/v1", "Thing", "a")];
        show_any(workers.get(&thing));
        show_any(workers.delete(&thing));
        show_any(workers.status(&thing));
    });
}

/// The answer to a request of each kind: the first byte says to which, the second the status.
pub fn answers(bytes: &[u8]) {
    const STATUSES: [u16; 12] = [200, 201, 202, 204, 301, 401, 403, 404, 409, 429, 500, 503];
    let [which, status, body @ ..] = bytes else { return };
    let status = STATUSES[usize::from(*status) % STATUSES.len()];
    with_stage(|stage| {
        let workers = &stage.kept;
        let answer = |method: &str, target: &str| {
            let fault = Fault::on(method, target).answer(status, "application/json", body);
            stage.cluster.fault(fault.always());
        };
        let reference = [ResourceRef::new("v1", "ConfigMap", "worker-001-config")];
        match which % 6 {
            0 => {
                answer("GET", "/templates/worker-template");
                show_any(workers.process(&job()));
            }
            1 => {
                answer("POST", "/processedtemplates");
                show_any(workers.process(&job()));
            }
            2 => {
                answer("PATCH", "/configmaps/");
                show_any(workers.create(&job()));
            }
            3 => {
                answer("GET", "/configmaps/");
                show_any(workers.get(&reference));
                show_any(workers.status(&reference));
            }
            4 => {
                answer("DELETE", "/configmaps/");
                show_any(workers.delete(&reference));
            }
            _ => {
                answer("POST", "/selfsubjectaccessreviews");
                show_any(workers.access(&job()).and_then(|access| workers.check_access(&access)));
            }
        }
    });
}

/// The objects that a Template renders to, as JSON.
pub fn rendered(bytes: &[u8]) {
    with_stage(|stage| {
        let (head, tail) = (
            r#"{"kind":"Template","apiVersion":"template.openshift.io/v1","metadata":{"name":"a"},"objects":"#,
            "}",
        );
        let body = [head.as_bytes(), bytes, tail.as_bytes()].concat();
        stage.cluster.fault(
            Fault::on("POST", "/processedtemplates").answer(201, "application/json", body).always(),
        );
        let others = stage.cluster.objects("other");
        show_any(stage.kept.plan(&job()));
        show_any(stage.kept.create(&job()));
        show_any(stage.kept.delete(&job()));
        assert!(stage.cluster.objects("other") == others, "another namespace was changed");
    });
}

fn job() -> Template {
    Template::new("worker-template").in_namespace("infra").parameter("VM_NAME", "worker-001")
}

fn show_any<T: std::fmt::Debug>(result: Result<T, Error>) {
    match result {
        Ok(found) => drop(format!("{found:?}")),
        Err(error) => show(&error),
    }
}

fn show(error: &Error) {
    let text = format!("{error}");
    assert!(!text.contains(['\n', '\r', '\u{1b}']), "a line is broken: {text:?}");
    let _ = format!("{error:?}");
}

/// A server, and a client that knows it.
struct Stage {
    cluster: Cluster,
    kept: Namespace,
    runs: u32,
}

impl Stage {
    fn new() -> Self {
        let cluster = Cluster::start();
        let kept = client(&cluster);
        kept.create(&job()).unwrap();
        Self { cluster, kept, runs: 0 }
    }

    fn workers(&self) -> Namespace {
        client(&self.cluster)
    }
}

/// One who may do everything, so that nothing but the library keeps it from doing so.
fn client(cluster: &Cluster) -> Namespace {
    let source = Kubeconfig::file(cluster.kubeconfig()).context("admin");
    let client = Client::new(Config::from_kubeconfig(source).unwrap()).unwrap();
    let timeouts = Timeouts::both(std::time::Duration::from_secs(10)).unwrap();
    client.namespace("workers").unwrap().with_timeouts(timeouts)
}

/// The server is kept for many runs, but not for all: what is stored grows.
const RUNS: u32 = 1000;

fn with_stage(run: impl FnOnce(&Stage)) {
    thread_local! {
        static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
    }
    STAGE.with_borrow_mut(|kept| {
        let mut stage = kept.take().unwrap_or_else(Stage::new);
        stage.cluster.clear_faults();
        stage.cluster.clear_journal();
        run(&stage);
        stage.cluster.journal().iter().for_each(assert_within);
        stage.runs += 1;
        if stage.runs < RUNS {
            *kept = Some(stage);
        }
    });
}

/// A request is about a group version, or about one object or collection of the target namespace;
/// from the Template's own namespace the Template is read, and about oneself one may ask.
fn assert_within(exchange: &Exchange) {
    let (method, target) = (exchange.method.as_str(), exchange.target.as_str());
    let path = target.split('?').next().unwrap_or_default();
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~%".contains(&b);
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    assert!(
        segments.iter().all(|s| !matches!(*s, "" | "." | "..") && s.bytes().all(is_plain)),
        "{method} {target}"
    );
    let within = match segments[..] {
        ["api", _] | ["apis", _, _] => method == "GET",
        ["api", _, "namespaces", "workers", _] | ["apis", _, _, "namespaces", "workers", _] => {
            method == "POST"
        }
        ["api", _, "namespaces", "workers", _, _]
        | ["apis", _, _, "namespaces", "workers", _, _] => method != "POST",
        ["apis", "template.openshift.io", "v1", "namespaces", "infra", "templates", _] => {
            method == "GET"
        }
        ["apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"] => method == "POST",
        _ => false,
    };
    assert!(within, "{method} {target}");
}
