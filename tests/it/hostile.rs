//! Templates, discovery documents, settings and answers made to reach what they should not.

use std::error::Error as _;

use openshift_templates::{
    Client, Config, CreateOptions, Error, Impersonation, ManifestProblem, ResourceRef, Template,
};
use openshift_templates_testing::Fault;
use serde_json::{Value, json};

use crate::support::{World, job};

const INJECTED: &str = "a\r\nX-Injected: 1";

fn object(api_version: &str, kind: &str, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}})
}

/// What the creation of this one object fails with; nothing may have been touched by then.
fn refusal(rendered: &Value) -> Error {
    let world = World::start();
    world.render(&json!([rendered]));
    let error = world.workers("admin").create(&job("a")).unwrap_err();
    assert_eq!(world.mutations(), 0, "{rendered}");
    error
}

#[test]
fn a_name_that_could_leave_its_segment_is_refused() {
    let long = "x".repeat(1025);
    let names = [
        "..",
        ".",
        "a/b",
        "../../other/configmaps/a",
        "a%2fb",
        "%2e%2e",
        INJECTED,
        "a\0",
        "a\u{85}",
        "a/exec",
        &long,
    ];
    for name in names {
        let error = refusal(&object("v1", "ConfigMap", name));
        let Error::InvalidManifest(error) = error else { panic!("{name:?}: {error:?}") };
        assert_eq!(*error.problem(), ManifestProblem::UnsafeName, "{name:?}");
        // And so by reference, before anything is sent.
        let world = World::start();
        let reference = [ResourceRef::new("v1", "ConfigMap", name)];
        for error in [
            world.workers("admin").get(&reference).unwrap_err(),
            world.workers("admin").delete(&reference).unwrap_err(),
        ] {
            assert!(matches!(error, Error::InvalidInput(_)), "{name:?}: {error:?}");
        }
        assert_eq!(world.cluster.connections(), 0, "{name:?}");
    }
}

#[test]
fn a_name_that_looks_like_more_stays_one_segment() {
    let cases = [
        ("a?dryRun=All#b", "a%3FdryRun%3DAll%23b"),
        ("a b;c=d", "a%20b%3Bc%3Dd"),
        ("..;", "..%3B"),
        ("a\\..\\b", "a%5C..%5Cb"),
        // A leader of two dots and a solidus of full width; a sign that lower case makes a k.
        ("\u{2025}\u{ff0f}secrets", "%E2%80%A5%EF%BC%8Fsecrets"),
        ("\u{212a}", "%E2%84%AA"),
    ];
    for (name, segment) in cases {
        let world = World::start();
        world.render(&json!([object("v1", "ConfigMap", name)]));
        let error = world.workers("admin").create(&job("a")).unwrap_err();
        assert!(error.as_api().is_some(), "the server refuses it: {error:?}");
        let requests = world.requests();
        let target = &requests.last().unwrap().target;
        let path = format!("/api/v1/namespaces/workers/configmaps/{segment}?");
        assert!(target.starts_with(&path), "{target}");
        assert_eq!(world.mutations(), 1);
    }
}

#[test]
fn a_group_version_that_could_leave_its_place_is_refused() {
    let versions = [
        "..",
        "../v1",
        "v1/..",
        "v1/namespaces/other",
        "v1?a=b",
        "v1#a",
        "v1%2fnamespaces",
        "V1",
        " v1",
        "v1\r\n",
        "apps/v1/x",
        "/v1",
        "apps/",
        "\u{ff56}1",
    ];
    for version in versions {
        let error = refusal(&object(version, "ConfigMap", "a"));
        let Error::InvalidManifest(error) = error else { panic!("{version:?}: {error:?}") };
        assert_eq!(*error.problem(), ManifestProblem::ApiVersion, "{version:?}");
    }
}

#[test]
fn a_kind_is_what_discovery_calls_so_and_nothing_else() {
    let kinds = [
        "configmaps",
        "ConfigMap/status",
        "../ConfigMap",
        "ConfigMap ",
        "\u{421}onfigMap",
        "configMap",
    ];
    for kind in kinds {
        let error = refusal(&object("v1", kind, "a"));
        assert!(matches!(error, Error::Discovery(_)), "{kind:?}: {error:?}");
    }
}

#[test]
fn what_is_not_in_the_target_namespace_is_neither_created_nor_deleted() {
    let world = World::start();
    let mut elsewhere = object("v1", "ConfigMap", "a");
    elsewhere["metadata"]["namespace"] = json!("other");
    world.cluster.store(elsewhere.clone());
    let of_the_cluster = [
        object("v1", "Namespace", "other"),
        object("rbac.authorization.k8s.io/v1", "ClusterRole", "admin"),
    ];
    for rendered in of_the_cluster.into_iter().chain([elsewhere]) {
        let workers = world.workers("admin");
        world.render(&json!([rendered]));
        let error = workers.create(&job("a")).unwrap_err();
        assert!(matches!(error, Error::InvalidManifest(_)), "{rendered}: {error:?}");
        world.render(&json!([rendered]));
        let error = workers.delete(&job("a")).unwrap_err();
        assert!(matches!(error, Error::InvalidManifest(_)), "{rendered}: {error:?}");
        let reference = ResourceRef::new(
            rendered["apiVersion"].as_str().unwrap(),
            rendered["kind"].as_str().unwrap(),
            rendered["metadata"]["name"].as_str().unwrap(),
        );
        let reference = match rendered["metadata"]["namespace"].as_str() {
            Some(namespace) => reference.with_namespace(namespace),
            None => reference,
        };
        let error = workers.delete(&[reference]).unwrap_err();
        assert!(matches!(error, Error::InvalidInput(_)), "{rendered}: {error:?}");
    }
    assert_eq!(world.mutations(), 0);
    assert!(world.cluster.object("v1", "configmaps", Some("other"), "a").is_some());
}

#[test]
fn a_discovery_document_cannot_name_another_path() {
    let hostile = [
        "..",
        "",
        ".",
        "../secrets",
        "secrets/a",
        "configmaps/status",
        "..%2fsecrets",
        "secrets?",
        "secrets#",
        "status",
        "finalize",
        "Secrets",
        "a b",
        "a\r\nX-Injected: 1",
        "\u{ff0f}",
    ];
    let whole = |name: &str, field: &str, value: Value| {
        let mut resource = json!({"name": name, "kind": "VirtualMachine", "namespaced": true,
            "verbs": ["create", "delete", "get", "patch"]});
        let mut document = json!({"kind": "APIResourceList", "groupVersion": "kubevirt.io/v1"});
        match field {
            "groupVersion" => document[field] = value,
            "" => {}
            field => resource[field] = value,
        }
        document["resources"] = json!([resource]);
        document.to_string()
    };
    let documents = hostile.map(|name| whole(name, "", Value::Null)).into_iter().chain([
        whole("virtualmachines", "groupVersion", json!("v1")),
        whole("virtualmachines", "groupVersion", json!("../../api/v1")),
        whole("virtualmachines", "namespaced", json!(false)),
        whole("virtualmachines", "namespaced", json!("true")),
    ]);
    for document in documents {
        let world = World::start();
        let discovery = Fault::on("GET", "/apis/kubevirt.io/v1");
        world.cluster.fault(discovery.answer(200, "application/json", document.clone()).always());
        let workers = world.workers("admin");
        assert!(workers.create(&job("worker-001")).is_err(), "{document}");
        let machine = [ResourceRef::new("kubevirt.io/v1", "VirtualMachine", "worker-001")];
        assert!(workers.delete(&machine).is_err(), "{document}");
        assert_eq!(world.mutations(), 0, "{document}");
        assert_eq!(world.requests().len(), 2, "a Template was read and rendered: {document}");
    }
}

#[test]
fn no_setting_can_split_a_header() {
    let world = World::start();
    let config = || Config::new(world.cluster.url()).unwrap().ca_pem(world.cluster.ca_pem());
    let user = |user: Impersonation| config().bearer_token("t").impersonate(user);
    let configs = [
        config().bearer_token(INJECTED),
        config().bearer_token_with(|| Ok(INJECTED.to_owned())),
        user(Impersonation::user(INJECTED)),
        user(Impersonation::user("a").uid(INJECTED)),
        user(Impersonation::user("a").group(INJECTED)),
        user(Impersonation::user("a").extra("key", INJECTED)),
    ];
    for config in configs {
        let shown = format!("{config:?}");
        let error = Client::connect(config).unwrap_err();
        assert!(matches!(error, Error::Config(_)), "{shown}: {error:?}");
        assert!(!crate::support::shown(&error).contains('\r'), "{shown}");
    }
    assert_eq!(world.cluster.connections(), 0);
    // These are encoded instead.
    for config in
        [config().basic_auth("a", INJECTED), user(Impersonation::user("a").extra(INJECTED, "v"))]
    {
        let _ = Client::connect(config);
    }
    let workers = world.workers("worker");
    let manager = CreateOptions::new().field_manager(INJECTED);
    assert!(workers.create_with(&job("a"), &manager).is_err());
    assert!(workers.create(&Template::new(INJECTED)).is_err());
    assert!(workers.create(&job("a").in_namespace(INJECTED)).is_err());
    for exchange in world.cluster.journal() {
        assert_eq!(exchange.header("X-Injected"), None, "{}", exchange.target);
    }
}

#[test]
fn verification_is_off_by_its_own_name_only() {
    let world = World::start();
    let folder = tempfile::tempdir().unwrap();
    let load = |cluster: &Value| {
        let kubeconfig = json!({
            "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
            "clusters": [{"name": "x", "cluster": cluster}],
            "users": [{"name": "x", "user": {"token": "t"}}],
        });
        let path = folder.path().join("kubeconfig");
        std::fs::write(&path, kubeconfig.to_string()).unwrap();
        Config::from_kubeconfig(openshift_templates::Kubeconfig::file(path))
    };
    let url = world.cluster.url();
    let trusting = [
        json!({"server": url}),
        json!({"server": url, "insecure-skip-tls-verify": false}),
        json!({"server": url, "insecure-skip-tls-verify": null}),
        json!({"server": url, "Insecure-Skip-TLS-Verify": true}),
        json!({"server": url, "certificate-authority-data": ""}),
        json!({"server": url, "certificate-authority": ""}),
    ];
    for cluster in trusting {
        let config = load(&cluster).unwrap();
        assert!(!config.accepts_invalid_certs(), "{cluster}");
        let error = Client::connect(config).unwrap_err();
        let Error::Transport(transport) = &error else { panic!("{cluster}: {error:?}") };
        let cause = transport.source().unwrap().to_string();
        assert!(cause.contains("certificate"), "{cluster}: {cause}");
    }
    for refused in [json!("true"), json!(1), json!([true])] {
        let cluster = json!({"server": url, "insecure-skip-tls-verify": refused});
        assert!(load(&cluster).is_err(), "{cluster}");
    }
    assert!(world.cluster.journal().is_empty());
    assert!(
        load(&json!({"server": url, "insecure-skip-tls-verify": true}))
            .unwrap()
            .accepts_invalid_certs()
    );
}

#[test]
fn a_template_of_any_depth_or_size_ends_in_an_error_or_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let load = |text: &str| {
        let path = folder.path().join("template");
        std::fs::write(&path, text).unwrap();
        Template::from_file(&path)
    };
    let template = |objects: &str| {
        format!(
            r#"{{"apiVersion": "v1", "kind": "Template", "metadata": {{"name": "a"}}, "objects": {objects}}}"#
        )
    };
    assert!(load(&template("[]")).is_ok());
    let aliases = format!(
        "a: &a [{}]\nb: &b [{}]\nc: [{}]\n",
        "x,".repeat(1000),
        "*a,".repeat(1000),
        "*b,".repeat(1000)
    );
    for text in [
        template(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))),
        template(&"{\"a\":".repeat(100_000)),
        "- ".repeat(100_000),
        aliases,
        " ".repeat(17 * 1024 * 1024),
    ] {
        assert!(load(&text).is_err(), "{} bytes", text.len());
    }
}
