//! Serves until standard input ends: `cargo run -p openshift-templates-testing --example serve`.

use std::io::Read as _;

use openshift_templates_testing::Cluster;

fn main() -> std::io::Result<()> {
    let cluster = Cluster::start();
    println!("export KUBECONFIG={}", cluster.kubeconfig().display());
    let mut ignored = Vec::new();
    std::io::stdin().read_to_end(&mut ignored).map(drop)
}
