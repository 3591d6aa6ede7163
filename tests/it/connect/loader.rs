//! The loader of kubeconfigs and whatever is handed to it.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::stage::load_text;

/// Generous: a debug build on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

fn ends_in_time(bytes: &[u8]) {
    let start = Instant::now();
    if let Ok(config) = load_text(bytes) {
        let _ = openshift_templates::Client::new(config);
    }
    assert!(start.elapsed() < LIMIT, "{} bytes took {:?}", bytes.len(), start.elapsed());
}

/// Pieces that kubeconfigs are made of, so that something comes of them now and then.
fn piece() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "current-context: x\n",
        "clusters:\n",
        "- name: c\n",
        "  cluster:\n",
        "    server: https://h\n",
        "users: [{name: u, user: {token: t}}]\n",
        "contexts: [{name: x, context: {cluster: c, user: u}}]\n",
        "clusters: [{name: c, cluster: {server: 'https://h'}}]\n",
        "&a ",
        "*a",
        "<<: *a\n",
        "!!binary ",
        "? ",
        "- ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "'",
        "|\n",
        ">\n",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "\t",
        "\u{feff}",
        "exec: {command: x}",
        "null",
        "~",
        "0x1F",
        "1e999",
        ".nan",
        "#",
        "\n",
        "  ",
    ];
    prop_oneof![
        4 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => ".{0,8}",
    ]
}

proptest! {
    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        ends_in_time(&bytes);
    }

    #[test]
    fn arbitrary_utf16_does_no_harm(units in prop::collection::vec(any::<u8>(), 0..512)) {
        ends_in_time(&[&b"\xff\xfe"[..], &units].concat());
    }

    #[test]
    fn almost_kubeconfigs_do_no_harm(pieces in prop::collection::vec(piece(), 0..40)) {
        ends_in_time(pieces.concat().as_bytes());
    }
}

#[test]
fn large_and_deep_files_end_in_time() {
    const MANY: usize = 300_000;
    for text in [
        // As large as a file may be: the time for brackets would grow with the square of it.
        "[".repeat(4_000_000),
        "{".repeat(4_000_000),
        "- ".repeat(MANY),
        "? ".repeat(MANY),
        "a: ".repeat(MANY),
        "&a ".repeat(MANY),
        "[a, ".repeat(MANY),
        "'".repeat(MANY),
        "a\n".repeat(MANY),
        "a: 1\n".repeat(MANY),
        "- - - -\n".repeat(MANY / 4),
        format!("a: &a {}\nb: [{}]\n", "x".repeat(MANY), "*a,".repeat(MANY / 3)),
        format!("a: &a [{}]\nb: [{}]\n", "x,".repeat(MANY / 2), "*a,".repeat(MANY / 3)),
        format!("a: &a {{b: 1}}\nc: {{{}}}\n", "<<: *a,".repeat(MANY / 7)),
    ] {
        ends_in_time(text.as_bytes());
    }
}

#[test]
fn a_file_without_end_is_refused() {
    let text = "# nothing\n".repeat(500_000);
    assert!(load_text(text).unwrap_err().contains("is larger than"));
    #[cfg(unix)]
    {
        let error = super::stage::load(std::path::Path::new("/dev/zero")).unwrap_err();
        assert!(error.contains("/dev/zero is larger than"), "{error}");
    }
}
