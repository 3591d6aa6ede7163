//! The examples, run as a user runs them.

use std::path::PathBuf;
use std::process::{Command, Output};

use openshift_templates_testing::Cluster;

/// Cargo builds the examples beside the tests.
fn example(name: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    Command::new(path.join("examples").join(name))
}

fn job(cluster: &Cluster, arguments: &str) -> Output {
    let mut command = example("job");
    command.arg("--kubeconfig").arg(cluster.kubeconfig()).args(arguments.split_whitespace());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
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
