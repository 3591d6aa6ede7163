//! A job's whole life, on an API server that this program starts itself: run it with
//! `cargo run --example lifecycle`.

use openshift_templates::{Client, Config, Kubeconfig, Namespace, ResourceRef, Template};
use openshift_templates_testing::Cluster;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cluster = Cluster::start();
    println!("an embedded API server listens on {}", cluster.url());

    let job = Template::new("worker-template")
        .in_namespace("infra")
        .parameter("VM_NAME", "worker-001")
        .parameter("IMAGE_TAG", "1.2.3")
        .parameter("CORES", 4)
        .parameter("DEBUG", true);

    let workers = connect(&cluster)?;
    let references = workers.create(&job)?;
    print("created, in order", &references);

    println!("read:");
    for live in workers.get(&references)? {
        println!("  {live:?} at resourceVersion {}", live.resource_version().unwrap_or("?"));
    }

    // What another process would do that knows the same inputs and nothing else.
    let fresh = connect(&cluster)?;
    print("deleted by a fresh client from the same inputs", &fresh.delete(&job)?);
    print("deleted again, which does nothing", &fresh.delete(&job)?);
    assert_eq!(remaining(&cluster), 0, "nothing of the job is left");

    let replaced = workers.create(&job)?;
    print("created anew", &replaced);
    match workers.delete(&references) {
        Ok(_) => return Err("the new objects have other uids, and were deleted".into()),
        Err(error) => println!("the old references do not reach the new objects: {error}"),
    }
    print("deleted by reference, each uid a precondition", &workers.delete(&replaced)?);
    assert_eq!(remaining(&cluster), 0, "nothing of the job is left");
    Ok(())
}

fn connect(cluster: &Cluster) -> openshift_templates::Result<Namespace> {
    let config = Config::from_kubeconfig(Kubeconfig::file(cluster.kubeconfig()))?;
    Client::connect(config)?.namespace("workers")
}

fn print(what: &str, references: &[ResourceRef]) {
    println!("{what}:");
    for reference in references {
        println!("  {reference} {}", reference.uid().unwrap_or("(uid not known)"));
    }
}

fn remaining(cluster: &Cluster) -> usize {
    let name = |object: &serde_json::Value| {
        object.pointer("/metadata/name").and_then(|name| name.as_str().map(str::to_owned))
    };
    let objects = cluster.objects("workers");
    objects.iter().filter_map(name).filter(|name| name.starts_with("worker-001")).count()
}
