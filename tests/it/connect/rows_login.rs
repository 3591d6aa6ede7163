//! Who a client is: section 1.5 but for keys, and the rows of 1.7 that are about identities.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use openshift_templates::{Config, Impersonation, Kubeconfig};
use openshift_templates_testing::{Fault, User};
use serde_json::json;

use super::Row;
use super::rows_exec::{credential, exec};
use super::stage::{Stage, connect, kubeconfig, load_text, refused};

fn token_file(stage: &Stage) -> serde_json::Value {
    stage.folder.write("token", " from-file\r\n");
    json!({"tokenFile": "token"})
}

fn jwt(claims: &str) -> String {
    use base64::Engine as _;
    let encode = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.{}", encode("{}"), encode(claims), encode("signature"))
}

/// A revoked token is replaced, and only then is the request sent once more, mutations too.
fn renewed_after_401() {
    let stage = Stage::strict();
    let (worker, admin) =
        (stage.cluster.token(User::Worker).to_owned(), stage.cluster.token(User::Admin).to_owned());
    stage.folder.write("token", &worker);
    let client = stage.client(&json!({"tokenFile": "token"})).unwrap();
    let workers = client.namespace("workers").unwrap();
    let unauthorized =
        |method: &str| Fault::on(method, "/namespaces/").answer(401, "application/json", "{}");
    let users = || {
        let journal = stage.cluster.journal().into_iter();
        let users = journal.filter(|e| e.target.contains("/namespaces/")).map(|e| e.user.unwrap());
        users.collect::<Vec<_>>()
    };
    stage.cluster.fault(unauthorized("GET"));
    assert!(workers.get(&super::reference()).unwrap_err().is_unauthorized());
    assert_eq!(users(), ["worker"], "the file holds the same token");

    stage.folder.write("token", &admin);
    stage.cluster.clear_journal();
    stage.cluster.fault(unauthorized("GET"));
    assert!(workers.get(&super::reference()).unwrap_err().is_not_found());
    assert_eq!(users(), ["worker", "admin"]);

    stage.folder.write("token", &worker);
    stage.cluster.clear_journal();
    stage.cluster.fault(unauthorized("POST").times(2));
    assert!(workers.process(&crate::support::job("a")).unwrap_err().is_unauthorized());
    assert_eq!(users(), ["admin", "admin", "worker"], "a GET, and a POST twice at most");
}

pub(super) const ROWS: &[Row] = &[
    ("1.5 an http server", || {
        for user in [
            json!({"token": "t"}),
            json!({"username": "u"}),
            json!({"client-certificate-data": "eA==", "client-key-data": "eA=="}),
            exec(&json!({"command": "x"})),
        ] {
            let config = kubeconfig(&json!({"server": "http://h"}), &user).to_string();
            let error = load_text(config).unwrap_err();
            assert!(error.contains("credentials need an https:// server"), "{error}");
        }
        let impersonation = kubeconfig(&json!({"server": "http://h"}), &json!({"as": "bob"}));
        load_text(impersonation.to_string()).unwrap();
    }),
    ("1.5 token beside tokenFile", || {
        let stage = Stage::lenient();
        let mut user = token_file(&stage);
        user["token"] = "inline".into();
        assert_eq!(stage.authorization(&user).as_deref(), Some("Bearer from-file"));
        user["tokenFile"] = "gone".into();
        assert_eq!(stage.authorization(&user).as_deref(), Some("Bearer inline"));
    }),
    ("1.5 an empty token beside tokenFile", || {
        let stage = Stage::lenient();
        let mut user = token_file(&stage);
        user["token"] = "".into();
        assert_eq!(stage.authorization(&user).as_deref(), Some("Bearer from-file"));
    }),
    ("1.5 white space in tokenFile", || {
        let stage = Stage::lenient();
        let user = token_file(&stage);
        assert_eq!(stage.authorization(&user).as_deref(), Some("Bearer from-file"));
    }),
    ("1.5 a tokenFile that is missing", || {
        let error = refused(&json!({"tokenFile": "gone"}));
        assert!(error.contains("gone, the tokenFile of user \"u\""), "{error}");
    }),
    ("1.5 an inline token with a line break", || {
        let stage = Stage::lenient();
        assert_eq!(stage.authorization(&json!({"token": "t\n"})).as_deref(), Some("Bearer t"));
        let error = refused(&json!({"token": "a\nb"}));
        assert!(error.contains("token of user \"u\"") && error.contains("no HTTP header"));
    }),
    ("1.5 reading a token again", renewed_after_401),
    ("1.5 username and password", || {
        let stage = Stage::lenient();
        let sent = |user| stage.authorization(&user).unwrap();
        assert_eq!(sent(json!({"username": "u", "password": "p"})), "Basic dTpw");
        assert_eq!(sent(json!({"username": "u"})), "Basic dTo=");
        assert_eq!(sent(json!({"password": "p"})), "Basic OnA=");
        let config = Config::new(stage.cluster.url()).unwrap().ca_pem(stage.cluster.ca_pem());
        stage.cluster.clear_journal();
        connect(config.basic_auth("u", "p")).unwrap();
        assert_eq!(stage.cluster.journal()[0].header("authorization"), Some("Basic dTpw"));
    }),
    ("1.5 token beside basic", || {
        let error = refused(&json!({"token": "t", "username": "u"}));
        assert!(
            error.contains("username of user \"u\"") && error.contains("with token"),
            "{error}"
        );
        let error = refused(&json!({"tokenFile": "gone", "password": "p"}));
        assert!(error.contains("with tokenFile"), "{error}");
    }),
    ("1.5 token beside a client certificate", || {
        let stage = Stage::lenient();
        let (cert, key) = stage.cluster.client_cert(User::Worker);
        let user = json!({
            "token": "t",
            "client-certificate-data": super::stage::base64(cert),
            "client-key-data": super::stage::base64(key),
        });
        let sent = stage.sent(&user);
        assert_eq!(sent.header("authorization"), Some("Bearer t"));
    }),
    ("1.5 which of several counts", || {
        let stage = Stage::lenient();
        let runs = stage.folder.path("runs").display().to_string();
        let script = format!("echo x >> {runs}\n{}", credential("{\"token\": \"plugin\"}"));
        let plugin = stage.folder.script("plugin", &script);
        let mut with_token = exec(&json!({"command": plugin}));
        with_token["token"] = "t".into();
        assert_eq!(stage.authorization(&with_token).as_deref(), Some("Bearer t"));
        let mut basic = exec(&json!({"command": plugin}));
        basic["username"] = "u".into();
        assert_eq!(stage.authorization(&basic).as_deref(), Some("Basic dTo="));
        let (cert, key) = stage.cluster.client_cert(User::Worker);
        let mut with_cert = exec(&json!({"command": plugin}));
        with_cert["client-certificate-data"] = super::stage::base64(cert).into();
        with_cert["client-key-data"] = super::stage::base64(key).into();
        assert_eq!(stage.authorization(&with_cert), None);
        assert_eq!(stage.folder.read("runs"), "", "what is written down disables the plugin");
    }),
    ("1.5 what is logged", super::secrets::nothing_that_is_printed_holds_a_secret),
    ("1.7 gcp and azure", || {
        for (name, plugin) in [("gcp", "gke-gcloud-auth-plugin"), ("azure", "kubelogin")] {
            let error = refused(&json!({"token": "t", "auth-provider": {"name": name}}));
            assert!(error.contains(plugin), "{error}");
        }
    }),
    ("1.7 oidc", || {
        let stage = Stage::lenient();
        let provider = |token: &str| {
            let config =
                json!({"idp-issuer-url": "https://i", "client-id": "c", "id-token": token});
            json!({"auth-provider": {"name": "oidc", "config": config}})
        };
        let valid = jwt("{\"exp\": 9999999999}");
        let sent = stage.authorization(&provider(&valid));
        assert_eq!(sent, Some(format!("Bearer {valid}")));
        let error = refused(&provider(&jwt("{\"exp\": 1000}")));
        assert!(error.contains("ended at 1970-01-01T00:16:40Z"), "{error}");
        assert!(error.contains("exec plugin"), "{error}");
        let error = refused(&json!({"auth-provider": {"name": "oidc", "config": {}}}));
        assert!(error.contains("idp-issuer-url"), "{error}");
        let mut beside = provider(&valid);
        beside["exec"] = exec(&json!({"command": "x"}))["exec"].clone();
        assert!(refused(&beside).contains("together with auth-provider"));
    }),
    ("1.7 other providers", || {
        let error = refused(&json!({"auth-provider": {"name": "x"}}));
        assert!(error.contains("auth-provider.name of user \"u\""), "{error}");
    }),
    ("1.7 as and its companions", || {
        let stage = Stage::lenient();
        let sent = stage.sent(&json!({
            "token": "t", "as": "bob", "as-uid": "7", "as-groups": ["a", "b"],
            "as-user-extra": {"scopes": ["x", "y"]},
        }));
        let impersonation: Vec<_> = sent
            .headers
            .iter()
            .filter(|(name, _)| name.to_lowercase().starts_with("impersonate"))
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!(
            impersonation,
            [
                "impersonate-user: bob",
                "impersonate-uid: 7",
                "impersonate-group: a",
                "impersonate-group: b",
                "impersonate-extra-scopes: x",
                "impersonate-extra-scopes: y",
            ]
        );
        let bob = Impersonation::user("bob").uid("7").group("a").extra("scopes", "x");
        let config = Config::new(stage.cluster.url()).unwrap().ca_pem(stage.cluster.ca_pem());
        stage.cluster.clear_journal();
        connect(config.impersonate(bob)).unwrap();
        assert_eq!(stage.cluster.journal()[0].header("impersonate-extra-scopes"), Some("x"));
        let config = Config::new(stage.cluster.url()).unwrap();
        connect(config.impersonate(Impersonation::user(""))).unwrap_err();
    }),
    ("1.7 the encoding of extra keys", || {
        let stage = Stage::lenient();
        let extra = json!({"example.org/Foo%Bar é": ["x"]});
        let sent = stage.sent(&json!({"as": "bob", "as-user-extra": extra}));
        let name = "impersonate-extra-example.org%2ffoo%25bar%20%c3%a9";
        assert_eq!(sent.header(name), Some("x"));
    }),
    ("1.7 values in raw UTF-8", || {
        let stage = Stage::lenient();
        let sent = stage.sent(&json!({"as": "bøb"}));
        let raw = "impersonate-user: bøb\r\n".as_bytes();
        assert!(sent.raw.windows(raw.len()).any(|window| window == raw));
        assert!(refused(&json!({"as": "a\nb"})).contains("no HTTP header"));
    }),
    ("1.7 companions without as", || {
        for (field, value) in [
            ("as-uid", json!("1")),
            ("as-groups", json!(["g"])),
            ("as-user-extra", json!({"a": ["b"]})),
        ] {
            let error = refused(&json!({field: value}));
            assert!(error.contains(&format!("{field} of user \"u\"")), "{error}");
            assert!(error.contains("without as"), "{error}");
        }
    }),
    ("1.7 disable-compression", || {
        let stage = Stage::lenient();
        let sent = stage.sent(&json!({}));
        assert_eq!(sent.header("accept-encoding"), Some("gzip"));
        let off = stage.server_with(&json!({"disable-compression": true}));
        assert_eq!(stage.sent_to(&off, &json!({})).header("accept-encoding"), None);
    }),
    ("2 kubernetes#68164: a service account's token is rotated", renewed_after_401),
    ("2 kubernetes_asyncio#253: clients of one configuration share what was renewed", || {
        let stage = Stage::strict();
        stage.folder.write("token", stage.cluster.token(User::Worker));
        let user = json!({"tokenFile": "token"});
        let config = Config::from_kubeconfig(Kubeconfig::file(stage.write(&user))).unwrap();
        let clients = [connect(config.clone()).unwrap(), connect(config).unwrap()];
        stage.folder.write("token", stage.cluster.token(User::Admin));
        stage.cluster.fault(Fault::on("GET", "/api/v1").answer(401, "text/plain", "no"));
        stage.cluster.clear_journal();
        for client in clients {
            client.namespace("workers").unwrap().get(&super::reference()).unwrap_err();
        }
        let users: Vec<_> = stage.cluster.journal().into_iter().map(|e| e.user.unwrap()).collect();
        assert_eq!(users, ["worker", "admin", "admin", "admin", "admin"]);
    }),
    ("2 client-python#362: as is not dropped", || {
        let stage = Stage::lenient();
        let sent = stage.sent(&json!({"token": "t", "as": "bob"}));
        assert_eq!(sent.header("impersonate-user"), Some("bob"));
    }),
    ("2 kubectl#935: act-as is no field", || {
        let stage = Stage::lenient();
        assert_eq!(stage.sent(&json!({"act-as": "bob"})).header("impersonate-user"), None);
    }),
    ("2 fabric8#1505: a password for OpenShift", || {
        let stage = Stage::strict();
        let error = stage.client(&json!({"username": "u", "password": "p"})).unwrap_err();
        assert!(error.contains("oc login"), "{error}");
    }),
];

#[test]
fn a_function_can_give_the_tokens() {
    let stage = Stage::strict();
    let tokens = [stage.cluster.token(User::Worker), "revoked", stage.cluster.token(User::Admin)]
        .map(str::to_owned);
    let calls = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let config = Config::new(stage.cluster.url()).unwrap().ca_pem(stage.cluster.ca_pem());
    let config = config.bearer_token_with(move || {
        let call = counted.fetch_add(1, Ordering::SeqCst);
        Ok(tokens[call.min(2)].clone() + "\n")
    });
    let client = connect(config).unwrap();
    let error = client.namespace("workers").unwrap().get(&super::reference()).unwrap_err();
    assert!(error.is_not_found(), "{error:?}");
    let users: Vec<_> = stage.cluster.journal().into_iter().map(|e| e.user).collect();
    assert_eq!(users[0].as_deref(), Some("worker"));
    assert_eq!(users[1], None, "and this one was refused");
    assert!(users[2..].iter().all(|user| user.as_deref() == Some("admin")));

    let failure = Mutex::new(Some("the vault is closed"));
    let config = Config::new(stage.cluster.url()).unwrap().ca_pem(stage.cluster.ca_pem());
    let config = config
        .bearer_token_with(move || Err(failure.lock().unwrap().take().unwrap_or("again").into()));
    stage.cluster.clear_journal();
    let error = connect(config).unwrap_err();
    assert!(error.contains("the vault is closed"), "{error}");
    assert!(stage.cluster.journal().is_empty(), "nothing was sent");
}
