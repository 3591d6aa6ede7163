//! Marked secrets on every path, and a look at everything that is printed or logged.

use std::error::Error as _;
use std::fmt::Write as _;
use std::sync::{Mutex, Once, PoisonError};

use openshift_templates::{Client, Config, Error};
use openshift_templates_testing::Fault;
use serde_json::{Value, json};

use super::pki::Authority;
use super::rows_exec::exec;
use super::servers::Proxy;
use super::stage::{Folder, Stage, base64, kubeconfig, load_text};

/// In each secret, and nowhere else.
const MARK: &str = "MARKED-SECRET";

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps what this library and its dependencies log, up to debug: at trace ureq writes headers.
struct Kept;

impl log::Log for Kept {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Debug
            || metadata.target().starts_with("openshift_templates")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            let line = format!("{} {}", record.target(), record.args());
            LOG.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    }

    fn flush(&self) {}
}

/// All that can be printed of an error.
fn printed(error: &Error) -> String {
    let mut text = format!("{error} {error:?} {error:#?}");
    let mut source = error.source();
    while let Some(cause) = source {
        write!(text, "{cause} {cause:?}").unwrap();
        source = cause.source();
    }
    text
}

fn clean(text: &str) {
    for secret in [MARK, &base64(MARK)[..16], &base64(format!("u:{MARK}"))[..]] {
        assert!(!text.contains(secret), "{text}");
    }
}

/// Loads, prints, connects, sends, fails, and prints again.
fn follow(config: Result<Config, Error>) {
    let connected = config.and_then(|config| {
        clean(&format!("{config:?} {config:#?}"));
        let client = Client::new(config.clone());
        clean(&format!("{client:?}"));
        client.and_then(|client| client.namespace("workers")?.get(&super::reference()).map(drop))
    });
    if let Err(error) = connected {
        clean(&printed(&error));
    }
}

pub(super) fn nothing_that_is_printed_holds_a_secret() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        log::set_logger(&Kept).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
    });
    let stage = Stage::strict();
    let folder = &stage.folder;
    folder.write("secret", format!("{MARK}\n"));
    folder.write("two-lines", format!("{MARK}\n{MARK}\n"));
    let plugin = |status: &str| {
        exec(&json!({
            "command": folder.script("plugin", &super::rows_exec::credential(status)),
            "args": [MARK], "env": [{"name": "SECRET", "value": MARK}],
        }))
    };
    let leaf = Authority::new(MARK);
    let leaf = leaf.issue("me", &[]);
    let key_with_mark = format!("{MARK}\n{}", leaf.key_pem);
    let users: Vec<Value> = vec![
        json!({"token": MARK}),
        json!({"token": format!("{MARK}\n{MARK}")}),
        json!({"token": [MARK]}),
        json!({"token": {MARK: MARK}}),
        json!({"tokenFile": "secret"}),
        json!({"tokenFile": "two-lines"}),
        json!({"username": "u", "password": MARK}),
        json!({"username": "u", "password": MARK, "token": MARK}),
        json!({"client-certificate-data": MARK, "client-key-data": MARK}),
        json!({"client-certificate-data": base64(MARK), "client-key-data": base64(MARK)}),
        json!({"client-certificate": "secret", "client-key": "secret"}),
        json!({"client-certificate-data": base64(&leaf.pem), "client-key-data": base64(MARK)}),
        json!({
            "client-certificate-data": base64(&leaf.pem), "client-key-data": base64(&key_with_mark),
        }),
        plugin(&json!({"token": MARK}).to_string()),
        plugin(&json!({"token": [MARK]}).to_string()),
        plugin(&json!({"token": format!("{MARK}\n{MARK}")}).to_string()),
        plugin(&json!({"clientCertificateData": MARK, "clientKeyData": MARK}).to_string()),
        plugin(&json!({"clientKeyData": MARK}).to_string()),
        plugin(MARK),
        exec(&json!({"command": "no-such-plugin", "args": [MARK]})),
        exec(&json!({"command": "false", "env": [{"name": "A", "value": MARK}]})),
        exec(&json!({"command": "x", "env": MARK})),
        json!({"auth-provider": {"name": "oidc", "config": {
            "idp-issuer-url": "i", "client-id": "c", "id-token": MARK, "client-secret": MARK,
        }}}),
        json!({"auth-provider": {"name": "oidc", "config": MARK}}),
        json!({"auth-provider": {"name": "gcp", "config": {"access-token": MARK}}}),
        json!(MARK),
    ];
    for user in users {
        follow(stage_config(&stage, &user));
        stage.cluster.fault(Fault::on("GET", "/").drop_before().times(2));
        follow(stage_config(&stage, &user));
        stage.cluster.clear_faults();
    }
    for text in [format!("[{MARK}"), format!("{MARK}: {MARK}: {MARK}"), format!("- {MARK}")] {
        clean(&load_text(text).unwrap_err());
    }
    // The login of a proxy, which answers, refuses, or is not there.
    let (answers, refuses) =
        (Proxy::http(([127, 0, 0, 1], stage.cluster.port()).into()), Proxy::refusing());
    let socks = Proxy::socks5(([127, 0, 0, 1], stage.cluster.port()).into());
    for (scheme, address) in [
        ("http", answers.address().to_string()),
        ("http", refuses.address().to_string()),
        ("socks5", socks.address().to_string()),
        ("http", "127.0.0.1:1".to_owned()),
        ("https", answers.address().to_string()),
        ("http", "127.0.0.1:x".to_owned()),
        ("ftp", "127.0.0.1:1".to_owned()),
    ] {
        let proxy = json!({"proxy-url": format!("{scheme}://u:{MARK}@{address}")});
        let text = kubeconfig(&stage.server_with(&proxy), &json!({"token": MARK})).to_string();
        let path = Folder::new();
        let path = path.write("config", text);
        follow(Config::from_kubeconfig(openshift_templates::Kubeconfig::file(path)));
    }
    // What a program sets.
    let config = || Config::new(stage.cluster.url()).unwrap().ca_pem(stage.cluster.ca_pem());
    follow(Ok(config().bearer_token(MARK)));
    follow(Ok(config().bearer_token(format!("{MARK}\n{MARK}"))));
    follow(Ok(config().bearer_token_with(|| Ok(MARK.to_owned()))));
    follow(Ok(config().bearer_token_with(|| Ok(format!("{MARK}\n{MARK}")))));
    follow(config().bearer_token_file(folder.path("two-lines")));
    follow(Ok(config().basic_auth("u", MARK)));
    follow(Ok(config().client_cert_pem(MARK, MARK)));
    follow(Ok(config().ca_pem(MARK)));
    follow(config().proxy(&format!("http://u:{MARK}@h:x")));
    follow(Config::new(&format!("https://u:{MARK}@h:x")));

    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner).join("\n");
    assert!(log.contains("ureq"), "dependencies do log");
    clean(&log);
}

fn stage_config(stage: &Stage, user: &Value) -> Result<Config, Error> {
    Config::from_kubeconfig(openshift_templates::Kubeconfig::file(stage.write(user)))
}
