//! The examples, run as a user runs them.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use openshift_templates_testing::{Cluster, Fault};

/// `cargo test` builds the examples, beside the tests.
pub(crate) fn example(name: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.extend(["examples", name]);
    assert!(path.exists(), "with `--test` alone, first run `cargo build --examples`");
    Command::new(path)
}

fn job(cluster: &Cluster, arguments: &str) -> Output {
    let mut command = example("job");
    command.arg("--kubeconfig").arg(cluster.kubeconfig()).args(arguments.split_whitespace());
    command.output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const JOB: &str = "worker-template --template-namespace infra -p VM_NAME=w1";

#[test]
fn lifecycle_runs_through() {
    let output = example("lifecycle").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.contains("deleted again, which does nothing"), "{shown}");
}

#[test]
fn a_job_is_created_looked_at_and_deleted_from_the_command_line() {
    let cluster = Cluster::start();
    let run = |arguments: &str| {
        let output = job(&cluster, arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    assert!(run(&format!("parameters {JOB}")).contains("VM_NAME"));
    assert!(run(&format!("process {JOB} -o json")).contains("\"kind\": \"VirtualMachine\""));
    assert!(run(&format!("status {JOB}")).contains("absent"));
    let created = run(&format!("create {JOB} -o name --preflight"));
    assert_eq!(created, "ConfigMap/w1-config\nSecret/w1-secret\nVirtualMachine/w1\n");
    assert!(run(&format!("get {JOB} -o yaml -l a=b")).contains("kind: List"));
    assert!(run(&format!("access {JOB}")).contains("kind: Role"));
    run(&format!("delete {JOB} --only-managed-by mini-scheduler"));
    run(&format!("wait {JOB} --for absent --timeout 10"));
    assert!(run(&format!("status {JOB}")).contains("absent"));
}

#[test]
fn exit_codes_tell_what_may_have_been_touched() {
    let cluster = Cluster::start();
    let code = |arguments: &str| job(&cluster, arguments).status.code();
    assert_eq!(code("create"), Some(2), "the command line is wrong");
    assert_eq!(code("create nope --template-namespace infra"), Some(1));
    assert_eq!(code(&format!("create {JOB} --require-new")), Some(0));
    assert_eq!(code(&format!("create {JOB} --require-new")), Some(3), "it was tried");
    let shown = text(&job(&cluster, &format!("create {JOB} --context bad-token")).stderr);
    assert!(shown.contains("401 Unauthorized"), "{shown}");
}

/// A scheduler on this cluster, as its own process.
fn scheduler(cluster: &Cluster, command: &str) -> Command {
    let mut scheduler = example("scheduler");
    let folder = cluster.kubeconfig().parent().unwrap();
    scheduler.env("KUBECONFIG", cluster.kubeconfig()).arg(command);
    scheduler.arg(folder.join("jobs.json")).arg(folder.join("records"));
    scheduler
}

fn records(cluster: &Cluster) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(cluster.kubeconfig().with_file_name("records"));
    text.unwrap_or_default().lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[test]
fn a_scheduler_killed_between_two_mutations_has_complete_records() {
    let cluster = Cluster::start();
    let jobs = serde_json::json!([{
        "id": "one", "template": "worker-template", "namespace": "infra",
        "parameters": {"VM_NAME": "w1"},
    }]);
    std::fs::write(cluster.kubeconfig().with_file_name("jobs.json"), jobs.to_string()).unwrap();
    // The second object hangs, and the scheduler dies there.
    let hang = Fault::on("PATCH", "/secrets/").delay(Duration::from_secs(60)).drop_before();
    cluster.fault(hang);
    let mut running = scheduler(&cluster, "run").spawn().unwrap();
    let limit = Instant::now() + Duration::from_secs(20);
    while !cluster.journal().iter().any(|e| e.method == "PATCH" && e.target.contains("/secrets/")) {
        assert!(Instant::now() < limit, "it does not come that far");
        std::thread::yield_now();
    }
    running.kill().unwrap();
    running.wait().unwrap();

    let told: Vec<_> = records(&cluster)
        .iter()
        .map(|r| format!("{} {}", r["what"].as_str().unwrap(), r["reference"]["kind"]))
        .collect();
    assert_eq!(
        told,
        ["about to apply \"ConfigMap\"", "applied \"ConfigMap\"", "about to apply \"Secret\"",]
    );
    // Started again it completes the job, and started once more it has nothing to do.
    assert!(scheduler(&cluster, "run").status().unwrap().success());
    assert_eq!(records(&cluster).last().unwrap()["what"], "complete");
    let count = records(&cluster).len();
    assert!(scheduler(&cluster, "run").status().unwrap().success());
    assert_eq!(records(&cluster).len(), count);

    // A fresh process cleans up by the inputs alone, but for what another took the name of.
    let vm = cluster.remove("kubevirt.io/v1", "virtualmachines", Some("workers"), "w1");
    cluster.store(serde_json::json!({
        "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "spec": vm.unwrap()["spec"],
        "metadata": {"name": "w1", "namespace": "workers"},
    }));
    assert!(!scheduler(&cluster, "clean").status().unwrap().success());
    let left: Vec<_> = cluster.objects("workers").iter().map(|o| o["kind"].clone()).collect();
    assert_eq!(left, ["VirtualMachine"]);
}
