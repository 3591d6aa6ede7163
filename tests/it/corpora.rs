//! What the fuzz targets begin with, and what they once found, as ordinary tests.

use std::path::Path;

#[allow(unreachable_pub, reason = "the fuzz targets are a crate of their own")]
#[path = "../../fuzz/src/lib.rs"]
mod boundaries;

fn replay(folder: &str, run: impl Fn(&[u8])) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut count = 0;
    let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|file| file.is_file()) {
        run(&std::fs::read(file).unwrap());
        count += 1;
    }
    assert!(count >= 5, "only {count} inputs in {folder}");
}

#[test]
fn answers() {
    replay("fuzz/answers", boundaries::answers);
}

#[test]
fn certificates() {
    replay("fuzz/certificate", boundaries::certificate);
}

#[test]
fn discovery() {
    replay("fuzz/discovery", boundaries::discovery);
}

#[test]
fn kubeconfigs() {
    replay("kubeconfigs", boundaries::kubeconfig);
}

#[test]
fn rendered_objects() {
    replay("fuzz/rendered", boundaries::rendered);
}
