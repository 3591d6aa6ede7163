//! The files of `fixtures/kubeconfigs/`: what becomes of each.

use std::collections::BTreeSet;
use std::path::PathBuf;

use openshift_templates::{Config, Kubeconfig};

use super::stage::load;

pub(super) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/kubeconfigs").join(name)
}

/// The file leads to the server that most of them name, with the token that they give.
pub(super) fn loads(name: &str) -> Config {
    let config = load(&path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let text = format!("{config:?}");
    assert!(text.contains("server: https://h:6443"), "{name}: {text}");
    config
}

/// The file is refused with an error that says all of this, and that names the file.
pub(super) fn refused(name: &str, said: &[&str]) {
    let error = load(&path(name)).unwrap_err();
    for said in said.iter().chain([&name]) {
        assert!(error.contains(said), "{name} should say {said}: {error}");
    }
}

fn credential(name: &str, entry: &str) {
    let text = format!("{:?}", loads(name));
    assert!(text.contains(entry), "{name}: {text}");
}

/// A file's name, and what shows that it is what its name says.
type Expectation = (&'static str, fn(&str));

#[test]
fn each_file_is_what_its_name_says() {
    let expectations: &[Expectation] = &[
        ("plain.yaml", |n| assert_eq!(loads(n).default_namespace(), Some("n"))),
        ("empty.yaml", |n| refused(n, &["no context to use"])),
        ("comment-only.yaml", |n| refused(n, &["no context to use"])),
        ("null-lists.yaml", |n| refused(n, &["no context to use"])),
        ("null-entries.yaml", |n| credential(n, "credential: None")),
        ("utf8-with-byte-order-mark.yaml", |n| drop(loads(n))),
        ("utf16le-from-powershell.yaml", |n| drop(loads(n))),
        ("utf16be-is-not-read.yaml", |n| refused(n, &["no YAML mapping"])),
        ("crlf.yaml", |n| drop(loads(n))),
        ("tab-indented.json", |n| drop(loads(n))),
        ("several-documents.yaml", |n| drop(loads(n))),
        ("anchors-and-merge-keys.yaml", |n| credential(n, "compression: false")),
        ("duplicate-keys.yaml", |n| drop(loads(n))),
        ("duplicate-names.yaml", |n| refused(n, &["clusters of the kubeconfig", "occurs twice"])),
        ("unknown-fields.yaml", |n| drop(loads(n))),
        ("unused-entries-broken.yaml", |n| drop(loads(n))),
        ("base64-with-line-breaks.yaml", |n| credential(n, "certificate-authority-data")),
        ("base64-folded.yaml", |n| credential(n, "certificate-authority-data")),
        ("binary-tag.yaml", |n| credential(n, "certificate-authority-data")),
        ("wrong-kind.yaml", |n| refused(n, &["kind of the kubeconfig", "must be Config"])),
        ("wrong-api-version.yaml", |n| refused(n, &["apiVersion", "must be v1"])),
        ("neither-kind-nor-api-version.yaml", |n| drop(loads(n))),
        ("numbers-as-text.yaml", |n| assert_eq!(loads(n).default_namespace(), Some("7"))),
        ("fraction-as-token.yaml", |n| refused(n, &["token of user \"u\"", "is a number"])),
        ("boolean-as-token.yaml", |n| refused(n, &["token of user \"u\"", "is a boolean"])),
        ("yaml-1.1-booleans.yaml", |n| assert!(loads(n).accepts_invalid_certs())),
        ("quoted-boolean.yaml", |n| {
            refused(n, &["insecure-skip-tls-verify of cluster \"c\"", "must be a boolean"]);
        }),
        ("broken.yaml", |n| refused(n, &["no YAML mapping", "line"])),
        ("no-mapping.yaml", |n| refused(n, &["no YAML mapping"])),
        ("missing-context.yaml", |n| refused(n, &["no context \"zz\""])),
        ("missing-cluster.yaml", |n| refused(n, &["no cluster \"gone\""])),
        ("missing-user.yaml", |n| credential(n, "credential: None")),
        ("context-without-user.yaml", |n| credential(n, "credential: None")),
        ("no-current-context.yaml", |n| refused(n, &["no context to use"])),
        ("context-without-namespace.yaml", |n| {
            assert_eq!(loads(n).default_namespace(), Some("default"));
        }),
        ("oc-login.yaml", |n| {
            let context = |name: &str| Kubeconfig::file(path("oc-login.yaml")).context(name);
            assert!(load(&path(n)).is_ok());
            let config =
                Config::from_kubeconfig(context("workers/api-crc-testing:6443/kubeadmin")).unwrap();
            assert_eq!(config.default_namespace(), Some("workers"));
        }),
        ("many-aliases.yaml", |n| refused(n, &["no YAML mapping"])),
        ("deep.yaml", |n| refused(n, &["no YAML mapping"])),
    ];
    for (name, expectation) in expectations {
        expectation(name);
    }
    let described: BTreeSet<_> = expectations.iter().map(|(name, _)| (*name).to_owned()).collect();
    let files = std::fs::read_dir(path("")).unwrap().map(|entry| entry.unwrap());
    let files: BTreeSet<_> = files
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name != "README.md" && name != "keys")
        .collect();
    assert_eq!(described, files);
}
