//! The examples as processes: the batch tool, and a scheduler that is killed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use openshift_templates::{ResourceRef, State};
use serde_json::{Value, json};

use crate::examples::{example, text};
use crate::gate::Gate;
use crate::site::Site;
use crate::support::job;

#[test]
fn the_batch_tool_does_a_job() {
    let site = Site::new();
    let namespace = site.namespace().name().to_owned();
    let run = |arguments: &str| {
        let mut command = example("job");
        command.arg("--kubeconfig").arg(site.kubeconfig()).args([
            "--context",
            "admin",
            "-n",
            &namespace,
        ]);
        let output = command.args(arguments.split_whitespace()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let of = |command: &str, rest: &str| {
        run(&format!("{command} worker-template --template-namespace infra -p VM_NAME=w1 {rest}"))
    };
    assert!(of("parameters", "").contains("VM_NAME"));
    assert!(of("process", "-o json -l a=b").contains("\"a\": \"b\""));
    assert_eq!(
        of("create", "-o name --preflight --require-new"),
        "ConfigMap/w1-config\nSecret/w1-secret\nVirtualMachine/w1\n"
    );
    assert!(of("get", "-o yaml").contains("kind: List"));
    assert!(of("status", "").contains("VirtualMachine/w1"));
    assert!(of("access", "").contains("- processedtemplates"));
    of("delete", "--only-managed-by mini-scheduler");
    of("wait", "--for absent --timeout 20");
    assert!(of("status", "").lines().all(|line| line.ends_with("absent")));
}

/// The mini scheduler in a folder that has its jobs, over this address of the server.
fn scheduler(site: &Site, folder: &Path, command: &str, address: &str) -> Command {
    let kubeconfig = folder.join("kubeconfig");
    site.write_kubeconfig(&kubeconfig, address);
    let mut scheduler = example("scheduler");
    scheduler.env("KUBECONFIG", kubeconfig).arg(command);
    scheduler.arg(folder.join("jobs.json")).arg(folder.join("records"));
    scheduler.stdout(Stdio::null()).stderr(Stdio::null());
    scheduler
}

/// The references of the records that say this.
fn recorded(folder: &Path, what: &str) -> Vec<ResourceRef> {
    let records = std::fs::read_to_string(folder.join("records")).unwrap_or_default();
    let records = records.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let told = records.filter(|record| record["what"] == what);
    told.map(|record| serde_json::from_value(record["reference"].clone()).unwrap()).collect()
}

fn is_named(one: &ResourceRef, other: &ResourceRef) -> bool {
    let name = |r: &ResourceRef| {
        (r.kind().to_owned(), r.namespace().map(str::to_owned), r.name().to_owned())
    };
    name(one) == name(other)
}

#[test]
fn a_scheduler_killed_anywhere_has_records_of_all_that_it_made() {
    let site = Site::new();
    let namespace = site.namespace();
    let address = site.address();
    let mut made_so_far = Vec::new();
    // Killed before, between and after all of its requests and answers, until it is done before.
    for pieces in 0.. {
        assert!(pieces < 200, "it never comes to its end");
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let jobs = json!([{"id": "one", "template": "worker-template", "namespace": "infra",
            "parameters": {"VM_NAME": "w1"}}]);
        std::fs::write(folder.join("jobs.json"), jobs.to_string()).unwrap();
        let gate = Gate::to(&address, pieces);
        let mut running = scheduler(&site, folder, "run", &gate.address()).spawn().unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        let finished = loop {
            if let Some(status) = running.try_wait().unwrap() {
                assert!(status.success(), "nothing was kept from it");
                break true;
            }
            if gate.is_shut() {
                break false;
            }
            assert!(Instant::now() < limit, "it neither ends nor comes to the gate");
            std::thread::sleep(Duration::from_millis(1));
        };
        running.kill().unwrap();
        running.wait().unwrap();

        let states = namespace.status(&job("w1")).unwrap();
        let made: Vec<_> = states
            .iter()
            .filter(|object| *object.state() != State::Absent)
            .map(|object| object.reference().clone())
            .collect();
        let announced = recorded(folder, "about to apply");
        for reference in &made {
            assert!(announced.iter().any(|r| is_named(r, reference)), "{reference} is unknown");
        }
        for reference in recorded(folder, "applied") {
            assert!(made.contains(&reference), "{reference} with its uid");
        }
        if !made_so_far.contains(&made.len()) {
            made_so_far.push(made.len());
            // Started again, it goes on where it was.
            assert!(scheduler(&site, folder, "run", &address).status().unwrap().success());
            assert_eq!(namespace.get(&job("w1")).unwrap().len(), 3);
        }
        // A fresh process cleans up by the inputs alone.
        assert!(scheduler(&site, folder, "clean", &address).status().unwrap().success());
        let left = namespace.status(&job("w1")).unwrap();
        assert!(left.iter().all(|object| *object.state() == State::Absent), "{left:?}");
        if finished {
            break;
        }
    }
    let between = made_so_far.iter().filter(|made| [1, 2].contains(*made)).count();
    assert!(between > 0, "it was never killed between two mutations: {made_so_far:?}");
}
