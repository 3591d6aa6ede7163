//! What operations take of the heap, counted by an allocator that replaces the global one: hence a
//! binary of its own. It counts by thread, so that nothing of the embedded server is counted.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "all of this is a test, its helpers too, and fails by panicking"
)]

use allocation_counter::{AllocationInfo, measure};
use openshift_templates::{Client, Config, Kubeconfig, Namespace, Template};
use openshift_templates_testing::{Cluster, Fault};
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";

fn job() -> Template {
    Template::new("worker-template").in_namespace("infra").parameter("VM_NAME", "worker-001")
}

fn workers(cluster: &Cluster) -> Namespace {
    let kubeconfig = Kubeconfig::file(cluster.kubeconfig()).context("worker");
    // What is compressed has no length beforehand, and its text grows as it comes.
    let config = Config::from_kubeconfig(kubeconfig).unwrap().disable_compression(true);
    Client::connect(config).unwrap().namespace("workers").unwrap()
}

fn config_map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": data,
        "metadata": {"name": name, "namespace": "workers", "uid": "u", "resourceVersion": "1"}})
}

/// Has the server answer the next rendering with these objects.
fn render(cluster: &Cluster, objects: &[Value]) {
    let rendering = json!({"kind": "Template", "apiVersion": "template.openshift.io/v1",
        "metadata": {"name": "worker-template"}, "objects": objects});
    let post = Fault::on("POST", "/processedtemplates");
    cluster.fault(post.answer(201, JSON, rendering.to_string()));
}

/// What creating one object takes on a client that has done so already. The answer to the apply is
/// a short one.
fn create_one(data: &Value) -> AllocationInfo {
    let cluster = Cluster::start();
    let workers = workers(&cluster);
    let applied = config_map("a", &Value::Null).to_string();
    cluster.fault(Fault::on("PATCH", "/").always().answer(200, JSON, applied));
    render(&cluster, &[config_map("a", &Value::Null)]);
    workers.create(&job()).unwrap();
    render(&cluster, &[config_map("a", data)]);
    let job = job();
    measure(|| {
        workers.create(&job).unwrap();
    })
}

/// The growth by one of something of which there are more in the second.
#[allow(clippy::cast_precision_loss, reason = "both are far below 2^52")]
fn slope(few: u64, many: u64, more: usize) -> f64 {
    (many - few) as f64 / more as f64
}

#[test]
fn a_rendered_object_is_parsed_once_and_never_copied() {
    let keys = |count: usize| {
        let data: Map<_, _> = (0..count).map(|n| (format!("key-{n:06}"), json!("v"))).collect();
        create_one(&Value::Object(data)).count_total
    };
    // Parsing allocates a name, a value, and now and then a node of the tree. A copy would be as
    // much again.
    let each = slope(keys(1000), keys(3000), 2000);
    assert!((2.0..2.3).contains(&each), "{each} allocations for each field");
}

#[test]
fn each_byte_of_an_object_is_held_five_times_in_its_life_and_twice_at_once() {
    let text = |length: usize| create_one(&json!({"a": "x".repeat(length)}));
    // Now and then more of an answer comes at once and TLS's buffer grows, by 60 kB: the longer the
    // text, the less that says.
    let (short, long) = (text(1_000_000), text(10_000_000));
    // The records received and sent, which are TLS's own; the answer as text, the value that is
    // parsed from it, and the body that is written from that, once.
    let life = slope(short.bytes_total, long.bytes_total, 9_000_000);
    assert!((4.9..5.1).contains(&life), "{life} bytes for each");
    let at_once = slope(short.bytes_max, long.bytes_max, 9_000_000);
    assert!((1.9..2.1).contains(&at_once), "{at_once} bytes for each");
}

#[test]
fn the_memory_of_many_objects_is_that_of_the_largest_answer() {
    let text = |length| json!({"a": "x".repeat(length)});
    let peak = |cluster: &Cluster, count| {
        let workers = workers(cluster);
        let job = job();
        let create = || assert_eq!(workers.create(&job).unwrap().len(), count);
        measure(create).bytes_max
    };
    // Here it is the rendering: its text, and the thousand objects parsed from it.
    let cluster = Cluster::start();
    let objects: Vec<_> =
        (0..1000).map(|n| config_map(&format!("worker-{n:04}"), &text(1000))).collect();
    render(&cluster, &objects);
    let size = Value::from(objects).to_string().len();
    let answers = slope(0, peak(&cluster, 1000), size);
    assert!(answers < 4.0, "{answers} times the largest answer");

    // Here it is each answer to an apply, of which there are twenty.
    let (cluster, length) = (Cluster::start(), 1_000_000);
    let names: Vec<_> = (0..20).map(|n| format!("worker-{n:02}")).collect();
    for name in &names {
        let applied = config_map(name, &text(length)).to_string();
        cluster.fault(Fault::on("PATCH", name).answer(200, JSON, applied));
    }
    let objects: Vec<_> = names.iter().map(|name| config_map(name, &Value::Null)).collect();
    render(&cluster, &objects);
    let answers = slope(0, peak(&cluster, 20), length);
    assert!(answers < 2.2, "{answers} times the largest answer");
}

#[test]
fn an_operation_takes_few_allocations_and_leaves_none() {
    let cluster = Cluster::start();
    let workers = workers(&cluster);
    let job = job();
    let cold = measure(|| {
        workers.create(&job).unwrap();
    });
    let next = measure(|| {
        workers.create(&job).unwrap();
    });
    assert_eq!((next.count_current, next.bytes_current), (0, 0), "nothing is kept");
    assert!(cold.bytes_max < 80_000, "{cold:?}");
    // Five requests: the Template, its rendering, three objects.
    assert!(next.count_total <= 900, "{next:?}");
}
