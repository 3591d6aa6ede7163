//! A job's whole life: run it with `cargo run --example lifecycle`.
//!
//! It starts an embedded API server for that, or takes the cluster of the kubeconfig that
//! `OPENSHIFT_TEMPLATES_TEST_KUBECONFIG` names, which has to have the Template `worker-template` in
//! `infra`.

use std::path::PathBuf;

use openshift_templates::{Client, Config, Kubeconfig, Namespace, ResourceRef, State, Template};
use openshift_templates_testing::Cluster;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given = std::env::var_os("OPENSHIFT_TEMPLATES_TEST_KUBECONFIG").map(PathBuf::from);
    let embedded = given.is_none().then(Cluster::start);
    let kubeconfig = match (given, &embedded) {
        (Some(path), _) => path,
        (None, Some(cluster)) => cluster.kubeconfig().to_owned(),
        (None, None) => return Err("there is no cluster".into()),
    };
    let workers = connect(&kubeconfig)?;
    let place = if embedded.is_some() { "an embedded API server" } else { "the cluster given" };
    println!("on {place}: {:?}, namespace {}", workers.client(), workers.name());

    let job = Template::new("worker-template")
        .in_namespace("infra")
        .parameter("VM_NAME", format!("lifecycle-{}", std::process::id()))
        .parameter("IMAGE_TAG", "1.2.3")
        .parameter("CORES", 4)
        .parameter("DEBUG", true);

    let references = workers.create(&job)?;
    print("created, in order", &references);

    println!("read:");
    for live in workers.get(&references)? {
        println!("  {live:?} at resourceVersion {}", live.resource_version().unwrap_or("?"));
    }

    // What another process would do that knows the same inputs and nothing else.
    let fresh = connect(&kubeconfig)?;
    print("deleted by a fresh client from the same inputs", &fresh.delete(&job)?);
    print("deleted again, which does nothing", &fresh.delete(&job)?);
    nothing_is_left(&fresh, &job)?;

    let replaced = workers.create(&job)?;
    print("created anew", &replaced);
    match workers.delete(&references) {
        Ok(_) => return Err("the new objects have other uids, and were deleted".into()),
        Err(error) => println!("the old references do not reach the new objects: {error}"),
    }
    print("deleted by reference, each uid a precondition", &workers.delete(&replaced)?);
    nothing_is_left(&workers, &job)?;
    println!("nothing is left");
    Ok(())
}

fn connect(kubeconfig: &PathBuf) -> openshift_templates::Result<Namespace> {
    let config = Config::from_kubeconfig(Kubeconfig::file(kubeconfig))?;
    Client::connect(config)?.namespace("workers")
}

fn print(what: &str, references: &[ResourceRef]) {
    println!("{what}:");
    for reference in references {
        println!("  {reference} {}", reference.uid().unwrap_or("(uid not known)"));
    }
}

fn nothing_is_left(workers: &Namespace, job: &Template) -> Result<(), Box<dyn std::error::Error>> {
    for object in workers.status(job)? {
        if *object.state() != State::Absent {
            return Err(format!("{} is {}", object.reference(), object.state()).into());
        }
    }
    Ok(())
}
