//! Whatever stands in a kubeconfig: no panic, and an end in bounded time and memory. By hand:
//! `cargo +nightly fuzz run kubeconfig fixtures/kubeconfigs -- -max_len=65536`.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use openshift_templates::{Client, Config, Kubeconfig};

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut file) = tempfile::NamedTempFile::new() else { return };
    if file.write_all(bytes).is_err() {
        return;
    }
    // A client that is made runs no plugin and opens no connection.
    if let Ok(config) = Config::from_kubeconfig(Kubeconfig::file(file.path())) {
        let _ = format!("{config:?} {:?}", Client::new(config.clone()));
    }
});
