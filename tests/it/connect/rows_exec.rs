//! Credential plugins, as real processes: section 1.6.

use openshift_templates_testing::{Fault, User};
use serde_json::{Value, json};

use super::Row;
use super::pki::Authority;
use super::servers::Server;
use super::stage::{Stage, base64, connect, kubeconfig, load_text, refused};

/// The end of a script that gives a credential with this status.
pub(super) fn credential(status: &str) -> String {
    credential_of("client.authentication.k8s.io/v1", status)
}

fn credential_of(version: &str, status: &str) -> String {
    format!(
        "cat <<'END'\n{{\"kind\": \"ExecCredential\", \"apiVersion\": \"{version}\", \"status\": {status}}}\nEND"
    )
}

/// A user of version v1 that asks nobody, but for what is said.
pub(super) fn exec(more: &Value) -> Value {
    let mut exec =
        json!({"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"});
    for (name, value) in more.as_object().unwrap() {
        exec[name] = value.clone();
    }
    json!({"exec": exec})
}

/// A script that notes each run and then does this.
fn counted(stage: &Stage, script: &str) -> Value {
    let runs = stage.folder.path("runs").display().to_string();
    let plugin = stage.folder.script("plugin", &format!("echo x >> '{runs}'\n{script}"));
    json!({"command": plugin})
}

fn runs(stage: &Stage) -> usize {
    stage.folder.read("runs").lines().count()
}

fn token(token: &str) -> String {
    json!({"token": token}).to_string()
}

/// Fails with this script; what is said, without a request having been made.
fn fails(script: &str) -> String {
    let stage = Stage::lenient();
    let error = stage.client(&exec(&counted(&stage, script))).unwrap_err();
    assert!(stage.cluster.journal().is_empty(), "nothing was sent");
    assert!(error.contains("exec of user \"u\""), "{error}");
    error
}

/// The certificate of a plugin is used for TLS, and the plugin run once.
fn certificate(status: impl Fn(&str, &str) -> Value) -> (Stage, Option<String>) {
    let (ca, users) = (Authority::new("ca"), Authority::new("users"));
    let server = Server::start(&[&ca.issue("server", &["127.0.0.1"])]);
    let leaf = users.issue("me", &[]);
    let stage = Stage::lenient();
    let user = exec(&counted(&stage, &credential(&status(&leaf.pem, &leaf.key_pem).to_string())));
    let cluster = json!({"server": server.url(), "certificate-authority-data": base64(&ca.pem)});
    let config = stage.folder.load(kubeconfig(&cluster, &user).to_string()).unwrap();
    connect(config).unwrap();
    let seen = server.seen()[0].clone();
    assert_eq!(seen.client_certs, [leaf.der]);
    assert_eq!(runs(&stage), 1);
    let header = seen.head.lines().find_map(|line| line.strip_prefix("authorization: "));
    (stage, header.map(str::to_owned))
}

fn cached() {
    let stage = Stage::lenient();
    let later = json!({"token": "t", "expirationTimestamp": "9000-01-01T00:00:00Z"}).to_string();
    let client = stage.client(&exec(&counted(&stage, &credential(&later)))).unwrap();
    let workers = client.namespace("workers").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| workers.get(&super::reference()).unwrap_err());
        }
    });
    assert_eq!(runs(&stage), 1);
    // What has ended is used once, and then asked for anew.
    let stage = Stage::lenient();
    let ended = json!({"token": "t", "expirationTimestamp": "2001-01-01T00:00:00Z"}).to_string();
    let client = stage.client(&exec(&counted(&stage, &credential(&ended)))).unwrap();
    client.namespace("workers").unwrap().get(&super::reference()).unwrap_err();
    assert_eq!(runs(&stage), stage.cluster.journal().len());
}

fn arguments_are_no_shell() {
    let stage = Stage::lenient();
    let (owned, seen) = (stage.folder.path("owned"), stage.folder.path("seen"));
    let script = format!("printf '%s|' \"$@\" > '{}'\n{}", seen.display(), credential(&token("t")));
    let plugin = stage.folder.script("folder with spaces/plug in", &script);
    let argument = format!("x;touch {}", owned.display());
    stage.sent(&exec(&json!({"command": plugin, "args": [argument, "", "$HOME"]})));
    assert_eq!(stage.folder.read("seen"), format!("{argument}||$HOME|"));
    assert!(!owned.exists());
}

/// The information that a plugin gets.
fn info(cluster: &Value, more: &Value) -> String {
    let stage = Stage::lenient();
    let seen = stage.folder.path("info").display().to_string();
    let version = more["apiVersion"].as_str().unwrap_or("client.authentication.k8s.io/v1");
    let script = format!(
        "printf '%s' \"$KUBERNETES_EXEC_INFO\" > '{seen}'\n{}",
        credential_of(version, &token("t"))
    );
    let plugin = stage.folder.script("plugin", &script);
    stage.folder.write("ca.pem", "CA");
    let mut user = exec(more);
    user["exec"]["command"] = plugin.to_str().into();
    let config = stage.folder.load(kubeconfig(cluster, &user).to_string()).unwrap();
    // There is nobody to connect to: the plugin is asked before that.
    connect(config).unwrap_err();
    stage.folder.read("info")
}

pub(super) const ROWS: &[Row] = &[
    ("1.6 apiVersion", || {
        for version in ["client.authentication.k8s.io/v1alpha1", "v1"] {
            let error = refused(&exec(&json!({"command": "x", "apiVersion": version})));
            assert!(error.contains("exec.apiVersion of user \"u\""), "{error}");
            assert!(error.contains("client.authentication.k8s.io/v1beta1"), "{error}");
        }
        assert!(refused(&exec(&json!({"command": "x", "apiVersion": null}))).contains("absent"));
        assert!(refused(&exec(&json!({}))).contains("exec.command"));
        let stage = Stage::lenient();
        let v1beta1 = "client.authentication.k8s.io/v1beta1";
        let mut beta = counted(&stage, &credential_of(v1beta1, &token("t")));
        beta["apiVersion"] = v1beta1.into();
        beta["interactiveMode"] = Value::Null;
        assert_eq!(stage.authorization(&exec(&beta)).as_deref(), Some("Bearer t"));
    }),
    ("1.6 interactiveMode", || {
        let error = refused(&exec(&json!({"command": "x", "interactiveMode": null})));
        assert!(error.contains("exec.interactiveMode") && error.contains("absent"), "{error}");
        let error = refused(&exec(&json!({"command": "x", "interactiveMode": "Sometimes"})));
        assert!(error.contains("Never, IfAvailable or Always"), "{error}");
        // A child of this test has no terminal.
        let stage = Stage::lenient();
        let mut always = counted(&stage, &credential(&token("t")));
        always["interactiveMode"] = "Always".into();
        let config = stage.write(&exec(&always)).display().to_string();
        let error = super::stage::child("connect", &[("KUBECONFIG", &config)]).unwrap_err();
        assert!(error.contains("standard input is no terminal"), "{error}");
        assert_eq!(runs(&stage), 0);
    }),
    ("1.6 stdin, stderr and stdout", || {
        let stage = Stage::lenient();
        // Standard input is at its end at once, and standard error is no part of the output.
        let script = format!("cat >&2\necho noise >&2\n{}", credential(&token("t")));
        let user = exec(&counted(&stage, &script));
        assert_eq!(stage.authorization(&user).as_deref(), Some("Bearer t"));
    }),
    ("1.6 env", || {
        let stage = Stage::lenient();
        let seen = stage.folder.path("seen").display().to_string();
        let script = format!("echo \"[$A][$B][$HOME]\" > '{seen}'\n{}", credential(&token("t")));
        let mut plugin = counted(&stage, &script);
        plugin["env"] =
            json!([{"name": "A", "value": "a b"}, {"name": "B"}, {"name": "B", "value": null}]);
        stage.sent(&exec(&plugin));
        let home = std::env::var("HOME").unwrap_or_default();
        assert_eq!(stage.folder.read("seen").trim(), format!("[a b][][{home}]"));
        let nameless = refused(&exec(&json!({"command": "x", "env": [{"value": "v"}]})));
        assert!(nameless.contains("env.name of user \"u\""), "{nameless}");
    }),
    ("1.6 args", arguments_are_no_shell),
    ("1.6 the output", || {
        let yaml = "printf 'kind: ExecCredential\\napiVersion: client.authentication.k8s.io/v1\\nstatus: {token: t}\\n'";
        let stage = Stage::lenient();
        assert_eq!(stage.authorization(&exec(&counted(&stage, yaml))).as_deref(), Some("Bearer t"));
        for (script, said) in [
            ("echo nonsense".to_owned(), "no ExecCredential"),
            (
                credential_of("client.authentication.k8s.io/v1beta1", &token("t")),
                "version asked for",
            ),
            (credential("null"), "status is absent"),
            (credential("{}"), "status.token"),
            (credential("{\"clientCertificateData\": \"c\"}"), "status.clientKeyData"),
        ] {
            let error = fails(&script);
            assert!(error.contains(said), "{error}");
        }
    }),
    ("1.6 token and certificate together", || {
        let both = |cert: &str, key: &str| json!({"token": "t", "clientCertificateData": cert, "clientKeyData": key});
        assert_eq!(certificate(both).1.as_deref(), Some("Bearer t"));
    }),
    ("1.6 certificates are PEM text", || {
        let pair =
            |cert: &str, key: &str| json!({"clientCertificateData": cert, "clientKeyData": key});
        assert_eq!(certificate(pair).1, None);
        let stage = Stage::lenient();
        let pair = json!({"clientCertificateData": "MARK", "clientKeyData": "MARK"}).to_string();
        let error = stage.client(&exec(&counted(&stage, &credential(&pair)))).unwrap_err();
        assert!(error.contains("status.clientCertificateData of user \"u\""), "{error}");
        assert!(!error.contains("MARK"), "{error}");
    }),
    ("1.6 the cache", cached),
    ("1.6 a 401", || {
        let stage = Stage::strict();
        let (runs_file, worker) = (stage.folder.path("runs"), stage.cluster.token(User::Worker));
        let script = format!(
            "if [ $(wc -l < '{}') = 1 ]; then token=revoked; else token='{worker}'; fi\necho '{{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {{\"token\": \"'$token'\"}}}}'",
            runs_file.display(),
        );
        stage.client(&exec(&counted(&stage, &script))).unwrap();
        let users: Vec<_> = stage.cluster.journal().into_iter().map(|e| e.user).collect();
        assert_eq!(users, [None, Some("worker".to_owned())]);
        assert_eq!(runs(&stage), 2);
        // A plugin that gives the same once more leaves it at the 401.
        let stage = Stage::strict();
        stage.client(&exec(&counted(&stage, &credential(&token("revoked"))))).unwrap_err();
        assert_eq!((runs(&stage), stage.cluster.journal().len()), (2, 1));
    }),
    ("1.6 a certificate that is replaced", || {
        let (ca, users) = (Authority::new("ca"), Authority::new("users"));
        let server = Server::start(&[&ca.issue("server", &["127.0.0.1"])]);
        let stage = Stage::lenient();
        let give = |name: &str| {
            let leaf = users.issue(name, &[]);
            // Ended, so that each request asks anew.
            let status = json!({
                "clientCertificateData": leaf.pem, "clientKeyData": leaf.key_pem,
                "expirationTimestamp": "2001-01-01T00:00:00Z",
            });
            (counted(&stage, &credential(&status.to_string())), leaf.der)
        };
        let (plugin, first) = give("first");
        let cluster =
            json!({"server": server.url(), "certificate-authority-data": base64(&ca.pem)});
        let config = kubeconfig(&cluster, &exec(&plugin)).to_string();
        let client = connect(stage.folder.load(config).unwrap()).unwrap();
        let (_, second) = give("second");
        client.namespace("workers").unwrap().get(&super::reference()).unwrap_err();
        let seen = server.seen();
        assert_eq!(seen.first().unwrap().client_certs, [first]);
        assert_eq!(seen.last().unwrap().client_certs, [second]);
    }),
    ("1.6 a plugin that is not found", || {
        let plugin =
            json!({"command": "no-such-plugin", "installHint": "brew\ninstall \u{1b}[1mit"});
        let stage = Stage::lenient();
        let error = stage.client(&exec(&plugin)).unwrap_err();
        assert!(error.contains("the plugin no-such-plugin"), "{error}");
        assert!(error.contains("was not found: brew\\ninstall \\u{1b}[1mit"), "{error}");
    }),
    ("1.6 a plugin that fails", || {
        assert!(fails("exit 3").contains("failed with exit code 3"));
    }),
    ("1.6 KUBERNETES_EXEC_INFO", || {
        let nobody = json!({"server": "https://127.0.0.1:1"});
        assert_eq!(
            info(&nobody, &json!({"apiVersion": "client.authentication.k8s.io/v1beta1"})),
            r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{"interactive":false}}"#
        );
        let ca = Authority::new("ca").pem;
        let extension =
            json!({"name": "client.authentication.k8s.io/exec", "extension": {"audience": "abc"}});
        let other = json!({"name": "other", "extension": {"x": 1}});
        let full = json!({
            "server": "https://127.0.0.1:1/", "tls-server-name": "localhost",
            "certificate-authority-data": base64(&ca), "proxy-url": "http://127.0.0.1:1",
            "disable-compression": true, "extensions": [other, extension],
        });
        assert_eq!(
            info(&full, &json!({"provideClusterInfo": true})),
            format!(
                r#"{{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{{"cluster":{{"server":"https://127.0.0.1:1/","tls-server-name":"localhost","certificate-authority-data":"{}","proxy-url":"http://127.0.0.1:1","disable-compression":true,"config":{{"audience":"abc"}}}},"interactive":false}}}}"#,
                base64(&ca)
            )
        );
        let insecure = json!({"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": true});
        assert_eq!(
            info(&insecure, &json!({"provideClusterInfo": true})),
            r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://127.0.0.1:1","insecure-skip-tls-verify":true,"config":null},"interactive":false}}"#
        );
    }),
    ("2 client-python#1409: a plugin that fails is no anonymous request", || {
        fails("exit 3");
    }),
    ("2 fabric8#3998: expirationTimestamp counts", cached),
    ("2 kube-rs#1088: a plugin's certificate is used, and the plugin run once", || {
        let pair =
            |cert: &str, key: &str| json!({"clientCertificateData": cert, "clientKeyData": key});
        certificate(pair);
    }),
    ("2 kube-rs#1431: provideClusterInfo without a CA", || {
        let nobody = json!({"server": "https://127.0.0.1:1"});
        assert_eq!(
            info(&nobody, &json!({"provideClusterInfo": true})),
            r#"{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"cluster":{"server":"https://127.0.0.1:1","config":null},"interactive":false}}"#
        );
    }),
    ("2 kubernetes#99603: a certificate disables the plugin", || {
        let stage = Stage::lenient();
        let (cert, key) = stage.cluster.client_cert(User::Worker);
        let mut user = exec(&counted(&stage, "exit 1"));
        user["client-certificate-data"] = base64(cert).into();
        user["client-key-data"] = base64(key).into();
        stage.sent(&user);
        assert_eq!(runs(&stage), 0);
        user["exec"]["apiVersion"] = Value::Null;
        let error = load_text(kubeconfig(&super::stage::elsewhere(), &user).to_string());
        assert!(error.unwrap_err().contains("exec.apiVersion"), "it is looked at all the same");
    }),
    ("2 fabric8#7965: arguments go through no shell", arguments_are_no_shell),
];

#[test]
fn a_mutation_that_was_not_accepted_is_sent_again_with_the_new_credential() {
    let stage = Stage::strict();
    stage.folder.write("token", stage.cluster.token(User::Worker));
    let script = format!(
        "t=$(cat '{}')\necho '{{\"kind\": \"ExecCredential\", \"apiVersion\": \"client.authentication.k8s.io/v1\", \"status\": {{\"token\": \"'$t'\"}}}}'",
        stage.folder.path("token").display()
    );
    let client = stage.client(&exec(&counted(&stage, &script))).unwrap();
    let workers = client.namespace("workers").unwrap();
    workers.create(&crate::support::job("worker-001")).unwrap();
    stage.cluster.clear_journal();
    stage.cluster.fault(Fault::on("PATCH", "/configmaps/").answer(401, "application/json", "{}"));
    stage.folder.write("token", stage.cluster.token(User::Admin));
    workers.create(&crate::support::job("worker-001")).unwrap();
    let patches: Vec<_> = stage
        .cluster
        .journal()
        .into_iter()
        .filter(|e| e.method == "PATCH" && e.target.contains("/configmaps/"))
        .map(|e| e.user.unwrap())
        .collect();
    assert!(patches.windows(2).any(|pair| pair == ["worker", "admin"]), "{patches:?}");
}
