//! Files, merging, selection and pods: sections 1.1 to 1.3 and 1.8.

use std::path::Path;

use openshift_templates::{Config, Kubeconfig};
use serde_json::json;

use super::Row;
use super::fixtures::{loads, path, refused};
use super::servers::{Proxy, Server};
use super::stage::{
    Folder, Stage, base64, child, connect, elsewhere, kubeconfig, load, load_text, refused_cluster,
};
use super::{pki, rows_tls};

/// A kubeconfig whose user is known by the name of its field in `Debug`.
fn named(user: &str) -> String {
    kubeconfig(&json!({"server": format!("https://{user}")}), &json!({})).to_string()
}

fn search(list: &[&Path], folder: &Folder) -> Result<String, String> {
    let list = std::env::join_paths(list).unwrap().into_string().unwrap();
    let home = folder.path("home").display().to_string();
    child("load", &[("KUBECONFIG", &list), ("HOME", &home)])
}

fn leads_to(result: Result<String, String>, host: &str) {
    let text = result.unwrap();
    assert!(text.contains(&format!("https://{host}")), "{text}");
}

pub(super) const ROWS: &[Row] = &[
    ("1.1 KUBECONFIG unset or empty", || {
        let folder = Folder::new();
        folder.write("home/.kube/config", named("home"));
        let home = folder.path("home").display().to_string();
        leads_to(child("load", &[("HOME", &home)]), "home");
        leads_to(child("load", &[("HOME", &home), ("KUBECONFIG", "")]), "home");
    }),
    ("1.1 KUBECONFIG of empty names only", || {
        let folder = Folder::new();
        folder.write("home/.kube/config", named("home"));
        let home = folder.path("home").display().to_string();
        let error = child("load", &[("HOME", &home), ("KUBECONFIG", ":")]).unwrap_err();
        assert!(error.contains("no context to use"), "{error}");
    }),
    ("1.1 list separator, duplicates", || {
        let folder = Folder::new();
        let (a, b) = (folder.write("a", ""), folder.write("b", named("b")));
        leads_to(search(&[&a, Path::new(""), &b, &b], &folder), "b");
        let error = search(&[&a, Path::new("~/.kube/config"), &a], &folder).unwrap_err();
        assert_eq!(error.matches("/a").count(), 2, "each file once, in Debug and Display: {error}");
        assert!(error.contains("~/.kube/config"), "it is not expanded: {error}");
    }),
    ("1.1 a missing file in the list", || {
        let folder = Folder::new();
        folder.write("home/.kube/config", named("home"));
        let b = folder.write("b", named("b"));
        leads_to(search(&[&folder.path("gone"), &b], &folder), "b");
        let error = search(&[&folder.path("gone")], &folder).unwrap_err();
        assert!(error.contains("no context to use") && error.contains("gone"), "{error}");
    }),
    ("1.1 an explicit path that is missing", || {
        let error = load(Path::new("/nowhere/config")).unwrap_err();
        assert!(error.contains("cannot read /nowhere/config"), "{error}");
    }),
    ("1.1 a file that is unreadable, a folder or bad YAML", || {
        let folder = Folder::new();
        let good = folder.write("good", named("good"));
        let broken = folder.write("broken", "a: [\n");
        for bad in [&broken, &folder.path("")] {
            search(&[&good, bad], &folder).unwrap_err();
        }
    }),
    ("1.1 an empty or comment-only file", || {
        let folder = Folder::new();
        let (empty, comment) = (folder.write("a", ""), folder.write("b", "# nothing\n"));
        leads_to(search(&[&empty, &comment, &folder.write("c", named("c"))], &folder), "c");
    }),
    ("1.1 merging entries of one name", || {
        let folder = Folder::new();
        let first = json!({"clusters": [{"name": "c", "cluster": {"server": "https://first"}}]});
        let second = json!({"server": "https://second", "disable-compression": true});
        let first = folder.write("1", first.to_string());
        let second = folder.write("2", kubeconfig(&second, &json!({})).to_string());
        let merged = search(&[&first, &second], &folder).unwrap();
        assert!(merged.contains("https://first") && merged.contains("compression: true"));
    }),
    ("1.1 current-context in several files", || {
        let folder = Folder::new();
        let empty = folder.write("1", "current-context: ''\n");
        let first = folder.write("2", named("first"));
        let last = folder.write("3", "current-context: other\n");
        leads_to(search(&[&empty, &first, &last], &folder), "first");
    }),
    ("1.1 a context in one file, its cluster in another", || {
        let folder = Folder::new();
        let context = "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n";
        let cluster = "clusters: [{name: c, cluster: {server: https://b}}]\n";
        let (a, b) = (folder.write("a", context), folder.write("b", cluster));
        leads_to(search(&[&a, &b], &folder), "b");
    }),
    ("1.1 relative paths", || {
        let stage = Stage::lenient();
        stage.folder.write("a/token", "from-a");
        stage.folder.write("b/ca.pem", stage.cluster.ca_pem());
        let user = json!({"users": [{"name": "u", "user": {"tokenFile": "token"}}]});
        let server = json!({"server": stage.cluster.url(), "certificate-authority": "ca.pem"});
        let a = stage.folder.write("a/config", user.to_string());
        let b = stage.folder.write("b/config", kubeconfig(&server, &json!({})).to_string());
        let list = format!("{}:{}", a.display(), b.display());
        child("connect", &[("KUBECONFIG", &list)]).unwrap();
        let sent = &stage.cluster.journal()[0];
        assert_eq!(sent.header("authorization"), Some("Bearer from-a"));
    }),
    ("1.1 a relative exec.command", || {
        let stage = Stage::lenient();
        stage.folder.script("bin/plugin", &super::rows_exec::credential("{\"token\": \"t\"}"));
        let exec = |command: &str| super::rows_exec::exec(&json!({"command": command}));
        assert_eq!(stage.authorization(&exec("bin/plugin")).as_deref(), Some("Bearer t"));
        assert_eq!(stage.authorization(&exec("./bin/plugin")).as_deref(), Some("Bearer t"));
        stage.folder.script("plugin-beside-the-file", "echo never");
        let error = stage.client(&exec("plugin-beside-the-file")).unwrap_err();
        assert!(error.contains("was not found"), "{error}");
    }),
    ("1.1 duplicate names", || refused("duplicate-names.yaml", &["occurs twice"])),
    ("1.1 a duplicate YAML key", || drop(loads("duplicate-keys.yaml"))),
    ("1.1 null lists, bodies and fields", || {
        refused("null-lists.yaml", &["no context to use"]);
        loads("null-entries.yaml");
        for user in ["{exec: null}", "{as-groups: null}", "{auth-provider: null}", "null"] {
            let text = kubeconfig(&elsewhere(), &json!("USER")).to_string();
            let config = load_text(text.replace("\"USER\"", user)).unwrap();
            assert!(format!("{config:?}").contains("credential: None"), "{user}");
        }
        let error = load_text("current-context: x\ncontexts: [{name: x}]\n").unwrap_err();
        assert!(error.contains("cluster of context \"x\""), "{error}");
    }),
    ("1.1 an unusable entry that is not used", || drop(loads("unused-entries-broken.yaml"))),
    ("1.1 unknown fields", || drop(loads("unknown-fields.yaml"))),
    ("1.1 apiVersion and kind", || {
        loads("neither-kind-nor-api-version.yaml");
        refused("wrong-kind.yaml", &["must be Config"]);
        refused("wrong-api-version.yaml", &["must be v1"]);
    }),
    ("1.1 the types of scalars", || {
        loads("numbers-as-text.yaml");
        refused("boolean-as-token.yaml", &["must be a string"]);
        loads("yaml-1.1-booleans.yaml");
        refused("quoted-boolean.yaml", &["must be a boolean"]);
    }),
    ("1.1 a !!binary value", || {
        let stage = Stage::lenient();
        let double = base64(base64(stage.cluster.ca_pem()));
        let text = kubeconfig(&stage.server(), &json!({})).to_string();
        let text = text.replace(
            &format!("\"{}\"", base64(stage.cluster.ca_pem())),
            &format!("!!binary \"{double}\""),
        );
        assert!(text.contains("!!binary"));
        connect(load_text(text).unwrap()).unwrap();
    }),
    ("1.1 several documents", || drop(loads("several-documents.yaml"))),
    ("1.1 encodings", || {
        for name in [
            "utf8-with-byte-order-mark.yaml",
            "utf16le-from-powershell.yaml",
            "crlf.yaml",
            "tab-indented.json",
        ] {
            loads(name);
        }
    }),
    ("1.1 anchors and merge keys", || drop(loads("anchors-and-merge-keys.yaml"))),
    ("1.2 no current-context", || refused("no-current-context.yaml", &["set current-context"])),
    ("1.2 a current-context that is missing", || {
        refused("missing-context.yaml", &["no context \"zz\""]);
    }),
    ("1.2 a context whose cluster is missing", || {
        refused("missing-cluster.yaml", &["no cluster \"gone\""]);
    }),
    ("1.2 a context whose user is missing or absent", || {
        loads("missing-user.yaml");
        loads("context-without-user.yaml");
        assert_eq!(Stage::lenient().authorization(&json!(null)), None);
    }),
    ("1.2 the namespace", || {
        assert_eq!(loads("plain.yaml").default_namespace(), Some("n"));
        assert_eq!(loads("context-without-namespace.yaml").default_namespace(), Some("default"));
        let text = kubeconfig(&elsewhere(), &json!({}));
        for namespace in ["''", "null"] {
            let empty = format!("\"user\":\"u\",\"namespace\":{namespace}");
            let config = load_text(text.to_string().replace("\"user\":\"u\"", &empty)).unwrap();
            assert_eq!(config.default_namespace(), Some("default"));
        }
    }),
    ("1.2 the server's URL", || {
        for url in ["h:6443", "h", "https://h ", "ftp://h"] {
            let error = refused_cluster(&json!({"server": url}));
            assert!(error.contains("server of cluster \"c\"") && error.contains("absolute URL"));
        }
        let stage = Stage::lenient();
        let url = stage.cluster.url().replace("https://", "HTTPS://user:password@") + "?a=b#c";
        let sent = stage.sent_to(&stage.server_with(&json!({"server": url})), &json!({}));
        assert_eq!(sent.target, "/apis/template.openshift.io/v1");
        assert_eq!(sent.header("authorization"), None);
    }),
    ("1.2 a path prefix", || {
        let stage = Stage::lenient();
        for path in ["/k8s/clusters/c-x", "/k8s//clusters/c-x/"] {
            let server = json!({"server": stage.cluster.url().to_owned() + path});
            let sent = stage.sent_to(&stage.server_with(&server), &json!({}));
            assert_eq!(sent.target, "/k8s/clusters/c-x/apis/template.openshift.io/v1");
        }
    }),
    ("1.2 an IPv6 server", || {
        // Where there is no IPv6, the proxy stands in for the address.
        let ca = pki::Authority::new("ca");
        let server = Server::start(&[&ca.issue("server", &["::1"])]);
        let proxy = Proxy::socks5(([127, 0, 0, 1], server.port()).into());
        let config = Config::new("https://[::1]:6443").unwrap().ca_pem(ca.pem.as_str());
        let config = config.proxy(&format!("socks5://{}", proxy.address())).unwrap();
        connect(config).unwrap();
        assert_eq!(server.seen()[0].sni, None);
        assert!(server.seen()[0].head.contains("host: [::1]:6443"), "{:?}", server.seen());
        assert_eq!(proxy.asked(), [format!("{:?}", std::net::Ipv6Addr::LOCALHOST.octets())]);
    }),
    ("1.2 KUBERNETES_MASTER", || {
        let error = child("load", &[("KUBERNETES_MASTER", "https://h")]).unwrap_err();
        assert!(error.contains("no context to use") && error.contains("/nonexistent"), "{error}");
    }),
    ("1.8 the names that oc login makes", || {
        let file = path("oc-login.yaml");
        assert!(load(&file).is_ok());
        for context in ["/api-crc-testing:6443/kubeadmin", "workers/api-crc-testing:6443/kubeadmin"]
        {
            let config = Config::from_kubeconfig(Kubeconfig::file(&file).context(context)).unwrap();
            assert!(format!("{config:?}").contains("kubeadmin/api-crc-testing:6443"));
        }
    }),
    ("2 kube-rs#818: a kubeconfig is preferred to the pod", || {
        let folder = Folder::new();
        let config = folder.write("config", named("kubeconfig")).display().to_string();
        let pod = [
            ("KUBECONFIG", &*config),
            ("KUBERNETES_SERVICE_HOST", "10.0.0.1"),
            ("KUBERNETES_SERVICE_PORT", "443"),
        ];
        leads_to(child("load", &pod), "kubeconfig");
    }),
    ("2 kube-rs#1607: a context without a user", || {
        let text = "current-context: x\ncontexts: [{name: x, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: https://h}}]\n";
        load_text(text).unwrap();
    }),
    ("2 kubie#171: null lists", || refused("null-lists.yaml", &["no context to use"])),
    ("2 fabric8#6787: the first current-context, missing or not", || {
        let folder = Folder::new();
        let first = folder.write("1", "current-context: c\n");
        let second = folder.write("2", named("second").replace("\"x\"", "\"d\""));
        let error = search(&[&first, &second], &folder).unwrap_err();
        assert!(error.contains("no context \"c\""), "{error}");
    }),
    ("2 fabric8#6240: a list with a missing file", || {
        let folder = Folder::new();
        let b = folder.write("b", named("b"));
        leads_to(search(&[Path::new("/nope"), &b], &folder), "b");
    }),
    ("2 aptakube#56: exec with null args and env", || {
        let stage = Stage::lenient();
        let args = stage.folder.path("args").display().to_string();
        let script = format!("echo $# > {args}\n");
        let plugin = stage
            .folder
            .script("plugin", &(script + &super::rows_exec::credential("{\"token\": \"t\"}")));
        stage.sent(&super::rows_exec::exec(&json!({"command": plugin, "args": null, "env": null})));
        assert_eq!(stage.folder.read("args").trim(), "0");
    }),
    ("2 kr8s#484: base64 in lines of 64", || {
        loads("base64-with-line-breaks.yaml");
        let stage = Stage::lenient();
        let lines: Vec<String> = base64(stage.cluster.ca_pem())
            .as_bytes()
            .chunks(64)
            .map(|line| String::from_utf8(line.to_vec()).unwrap())
            .collect();
        let data = json!({"certificate-authority-data": lines.join("\n")});
        stage.sent_to(&stage.server_with(&data), &json!({}));
    }),
    ("2 kube-rs#1654: UTF-16 from PowerShell", || drop(loads("utf16le-from-powershell.yaml"))),
    ("2 client-python#1782: nothing is kept in temporary files", || {
        let stage = Stage::lenient();
        let files = rows_tls::with_cert_files(&stage, "first");
        let client = connect(load(&files).unwrap()).unwrap();
        for name in ["tls.crt", "tls.key", "config"] {
            std::fs::remove_file(stage.folder.path(name)).unwrap();
        }
        client.namespace("workers").unwrap().get(&super::reference()).unwrap_err();
        assert!(stage.cluster.journal().len() >= 2, "the second request was made, too");
    }),
    ("2 kubernetes#133543: token beside tokenFile", || {
        let stage = Stage::lenient();
        stage.folder.write("f", "B");
        let sent = |user| stage.authorization(&user).unwrap();
        assert_eq!(sent(json!({"token": "A", "tokenFile": "f"})), "Bearer B");
        assert_eq!(sent(json!({"token": "A", "tokenFile": "gone"})), "Bearer A");
    }),
    ("2 kubectl#744: no credential for an http server", || {
        let config = kubeconfig(&json!({"server": "http://h"}), &json!({"token": "t"}));
        let error = load_text(config.to_string()).unwrap_err();
        assert!(error.contains("token of user \"u\"") && error.contains("https://"), "{error}");
    }),
    ("2 kubernetes#34294: what was looked at is told", || {
        let folder = Folder::new();
        let error = search(&[&folder.path("one"), &folder.path("two")], &folder).unwrap_err();
        assert!(error.contains("/one") && error.contains("/two"), "{error}");
        assert!(!error.contains("localhost"), "{error}");
    }),
];
