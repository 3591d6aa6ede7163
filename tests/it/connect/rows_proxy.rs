//! Proxies: the rest of section 1.7. All of them lead to loopback addresses, whatever they are
//! asked for.

use std::net::{SocketAddr, TcpListener};

use openshift_templates_testing::{Cluster, User};
use serde_json::{Value, json};

use super::Row;
use super::pki::{Authority, Leaf};
use super::servers::{Proxy, Server};
use super::stage::{Folder, Stage, base64, child, connect, kubeconfig, load_text, refused_cluster};

fn address(cluster: &Cluster) -> SocketAddr {
    (cluster.host().parse::<std::net::IpAddr>().unwrap(), cluster.port()).into()
}

/// A cluster by a name that only a proxy can resolve.
fn behind(stage: &Stage, proxy_url: &str) -> Value {
    stage.server_with(&json!({
        "server": "https://kube.example.test:6443",
        "tls-server-name": "localhost",
        "proxy-url": proxy_url,
    }))
}

/// A port on which nobody listens.
fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// What the environment makes of a server: the proxy that the configuration shows.
fn inferred(server: &str, environment: &[(&str, &str)]) -> String {
    let folder = Folder::new();
    let config = kubeconfig(&json!({"server": server}), &json!({})).to_string();
    let config = folder.write("config", config).display().to_string();
    let environment = [environment, &[("KUBECONFIG", &*config)]].concat();
    match child("load", &environment) {
        Ok(text) => {
            let (_, proxy) = text.split_once("proxy: ").unwrap();
            let proxy = proxy.split_once(", compression").unwrap().0;
            let inner = proxy.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')'));
            inner.unwrap_or(proxy).to_owned()
        }
        Err(error) => error,
    }
}

fn is_direct(server: &str, no_proxy: &str) -> bool {
    let environment = [("HTTPS_PROXY", "http://p.example:1"), ("NO_PROXY", no_proxy)];
    inferred(server, &environment) == "None"
}

fn https_proxy() {
    let (ca, users) = (Authority::new("cluster-ca"), Authority::new("users"));
    let server = Server::start(&[&ca.issue("server", &["kube.example.test"])]);
    let me = users.issue("me", &[]);
    let go = |proxy: &Leaf| {
        let proxy = Proxy::https(([127, 0, 0, 1], server.port()).into(), proxy);
        let cluster = json!({
            "server": "https://kube.example.test:6443", "certificate-authority-data": base64(&ca.pem),
            "proxy-url": format!("https://u:p@localhost:{}", proxy.address().port()),
        });
        let user = json!({
            "client-certificate-data": base64(&me.pem), "client-key-data": base64(&me.key_pem),
        });
        let connected = connect(load_text(kubeconfig(&cluster, &user).to_string()).unwrap());
        (connected.map(drop), proxy)
    };
    let (connected, proxy) = go(&ca.issue("proxy", &["localhost"]));
    connected.unwrap();
    assert!(proxy.asked()[0].contains("Proxy-Authorization: Basic dTpw"));
    assert!(proxy.client_certs.lock().unwrap().is_empty(), "it does not see who logs in");
    assert_eq!(server.seen()[0].client_certs, std::slice::from_ref(&me.der));
    // Its own name, and not the server's.
    let (connected, proxy) = go(&ca.issue("proxy", &["kube.example.test"]));
    let error = connected.unwrap_err();
    assert!(error.contains("the proxy's certificate (CN=proxy"), "{error}");
    assert!(error.contains("is not for localhost"), "{error}");
    assert!(proxy.asked().is_empty());
    let (connected, _) = go(&Authority::new("other").issue("proxy", &["localhost"]));
    assert!(connected.unwrap_err().contains("the system's roots and the cluster's CAs"));
}

pub(super) const ROWS: &[Row] = &[
    ("1.7 the schemes of proxy-url", || {
        for url in ["p:1", "p", "ftp://p:1", "socks4://p:1", "http://"] {
            let error = refused_cluster(&json!({"server": "https://h", "proxy-url": url}));
            assert!(error.contains("proxy-url of cluster \"c\" in "), "{error}");
            assert!(error.contains("http://, https:// or socks5://"), "{error}");
        }
        let unset = json!({"server": "https://h", "proxy-url": ""});
        let config = load_text(kubeconfig(&unset, &json!({})).to_string()).unwrap();
        assert!(format!("{config:?}").contains("proxy: None"));
        let stage = Stage::lenient();
        let (http, socks) =
            (Proxy::http(address(&stage.cluster)), Proxy::socks5(address(&stage.cluster)));
        for url in [
            format!("http://{}", http.address()),
            format!("HTTP://{}/", http.address()),
            format!("socks5://{}", socks.address()),
            format!("socks5h://{}", socks.address()),
        ] {
            stage.sent_to(&behind(&stage, &url), &json!({}));
        }
        assert_eq!((http.asked().len(), socks.asked().len()), (2, 2));
        https_proxy();
    }),
    ("1.7 the login in proxy-url", || {
        let stage = Stage::lenient();
        let http = Proxy::http(address(&stage.cluster));
        let url = format!("http://us%40er:p%3Ass%25@{}", http.address());
        stage.sent_to(&behind(&stage, &url), &json!({}));
        let expected = format!("Proxy-Authorization: Basic {}", base64("us@er:p:ss%"));
        assert!(http.asked()[0].contains(&expected), "{:?}", http.asked());
        let socks = Proxy::socks5(address(&stage.cluster));
        let url = format!("socks5://us%40er:p%25@{}", socks.address());
        stage.sent_to(&behind(&stage, &url), &json!({}));
        assert_eq!(socks.asked(), ["us@er:p%@kube.example.test"]);
        let refusing = Proxy::refusing();
        let cluster = behind(&stage, &format!("http://user:secret@{}", refusing.address()));
        let config = load_text(kubeconfig(&cluster, &json!({})).to_string()).unwrap();
        let error = connect(config).unwrap_err();
        assert!(error.contains("407") && error.contains("proxy-url of cluster"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }),
    ("1.7 names are resolved by the proxy", || {
        let stage = Stage::lenient();
        let (http, socks) =
            (Proxy::http(address(&stage.cluster)), Proxy::socks5(address(&stage.cluster)));
        stage.sent_to(&behind(&stage, &format!("socks5://{}", socks.address())), &json!({}));
        stage.sent_to(&behind(&stage, &format!("http://{}", http.address())), &json!({}));
        assert_eq!(socks.asked(), ["kube.example.test"]);
        assert!(http.asked()[0].starts_with("CONNECT kube.example.test:6443 HTTP/1.1\r\n"));
    }),
    ("1.7 an https proxy", https_proxy),
    ("1.7 NO_PROXY and proxy-url", || {
        let stage = Stage::lenient();
        let proxy = Proxy::http(address(&stage.cluster));
        let url = format!("http://{}", proxy.address());
        // A server on this machine, which the environment would exempt twice.
        let cluster = stage.server_with(&json!({"proxy-url": url}));
        let config = stage.folder.write("config", kubeconfig(&cluster, &json!({})).to_string());
        let config = config.display().to_string();
        child("connect", &[("KUBECONFIG", &config), ("NO_PROXY", "*")]).unwrap();
        assert_eq!(proxy.asked().len(), 1);
    }),
    ("1.7 the environment for https servers", || {
        let h = "https://h.example";
        let upper_first = [("HTTPS_PROXY", "http://upper:1"), ("https_proxy", "http://lower:1")];
        assert_eq!(inferred(h, &upper_first), "http://upper:1 (HTTPS_PROXY)");
        assert_eq!(inferred(h, &upper_first[1..]), "http://lower:1 (https_proxy)");
        assert_eq!(inferred(h, &[("HTTPS_PROXY", "p:1")]), "http://p:1 (HTTPS_PROXY)");
        assert_eq!(
            inferred(h, &[("HTTP_PROXY", "http://p:1"), ("ALL_PROXY", "http://p:1")]),
            "None"
        );
        assert!(inferred(h, &[("HTTPS_PROXY", "ftp://p")]).contains("HTTPS_PROXY must be a URL"));
        let stage = Stage::strict();
        let proxy = Proxy::http(address(&stage.cluster));
        let cluster = behind(&stage, "");
        let user = json!({"token": stage.cluster.token(User::Worker)});
        let config = stage.folder.write("config", kubeconfig(&cluster, &user).to_string());
        let config = config.display().to_string();
        let url = proxy.address().to_string();
        child("connect", &[("KUBECONFIG", &config), ("HTTPS_PROXY", &url)]).unwrap();
        assert_eq!(stage.cluster.journal()[0].user.as_deref(), Some("worker"));
        assert_eq!(proxy.asked().len(), 1);
    }),
    ("1.7 the environment for http servers", || {
        let h = "http://h.example";
        assert_eq!(inferred(h, &[("HTTPS_PROXY", "http://p:1")]), "None");
        assert_eq!(inferred(h, &[("HTTP_PROXY", "socks5://p:1")]), "socks5://p:1 (HTTP_PROXY)");
        // The exception that is documented.
        let error = inferred(h, &[("http_proxy", "http://p:1")]);
        assert!(error.contains("http_proxy is an HTTP proxy for an http:// server"), "{error}");
    }),
    ("1.7 loopback is never proxied by the environment", || {
        for server in ["https://localhost:1", "https://127.0.0.9", "https://[::1]:1"] {
            assert!(is_direct(server, ""), "{server}");
        }
    }),
    ("1.7 the entries of NO_PROXY", || {
        let name = "https://kube.example.test";
        for (server, no_proxy, direct) in [
            (name, "example.test", true),
            (name, ".example.test", true),
            (name, "*.example.test", true),
            (name, " KUBE.example.TEST ,x", true),
            (name, "kube.example.test:443", true),
            (name, "kube.example.test:444", false),
            (name, "ample.test", false),
            (name, "10.0.0.0/8", false),
            ("https://example.test", ".example.test", false),
            ("https://10.1.2.3", "10.0.0.0/8", true),
            ("https://10.1.2.3", "10.1.2.3", true),
            ("https://[fd00::1]", "fd00::/8", true),
            ("https://10.1.2.3", "*", true),
            ("https://10.1.2.3", "10.", false),
            ("https://10.1.2.3", "10.1.2.*", false),
        ] {
            assert_eq!(is_direct(server, no_proxy), direct, "{server} {no_proxy}");
        }
    }),
    ("2 client-python#2460: NO_PROXY is not ignored", || {
        assert!(is_direct("https://kube.example.test", "kube.example.test"));
    }),
    ("2 client-python#1862: proxy-url is not ignored", || {
        let stage = Stage::lenient();
        let url = format!("http://{}", nobody());
        let cluster = stage.server_with(&json!({"proxy-url": url}));
        let config = stage.folder.load(kubeconfig(&cluster, &json!({})).to_string()).unwrap();
        let error = connect(config).unwrap_err();
        assert!(error.contains(&format!("through the proxy {url}")), "{error}");
        assert_eq!(stage.cluster.connections(), 0);
    }),
    ("2 kube-rs#1203: HTTPS_PROXY and a server on this machine", || {
        let stage = Stage::lenient();
        let config = stage.write(&json!({})).display().to_string();
        let dead = format!("http://{}", nobody());
        child("connect", &[("KUBECONFIG", &config), ("HTTPS_PROXY", &dead)]).unwrap();
    }),
    ("2 kubernetes#23003: CIDR in NO_PROXY", || {
        assert!(is_direct("https://10.1.2.3", "10.0.0.0/8,fd00::/8"));
        assert!(is_direct("https://[fd00::1]", "10.0.0.0/8,fd00::/8"));
        assert!(!is_direct("https://11.1.2.3", "10.0.0.0/8,fd00::/8"));
    }),
    ("2 kubernetes#102079: an https proxy has a CA of its own", || {
        let (ca, proxy_ca) = (Authority::new("cluster-ca"), Authority::new("proxy-ca"));
        let server = Server::start(&[&ca.issue("server", &["kube.example.test"])]);
        let proxy = proxy_ca.issue("proxy", &["localhost"]);
        let proxy = Proxy::https(([127, 0, 0, 1], server.port()).into(), &proxy);
        let cluster = json!({
            "server": "https://kube.example.test:6443", "certificate-authority-data": base64(&ca.pem),
            "proxy-url": format!("https://localhost:{}", proxy.address().port()),
        });
        let folder = Folder::new();
        let config = folder.write("config", kubeconfig(&cluster, &json!({})).to_string());
        let roots = folder.write("roots.pem", &proxy_ca.pem).display().to_string();
        let config = config.display().to_string();
        child("connect", &[("KUBECONFIG", &config), ("SSL_CERT_FILE", &roots)]).unwrap();
        child("connect", &[("KUBECONFIG", &config)]).unwrap_err();
        // The server is not verified with the roots that the proxy is verified with.
        let intruder = Server::start(&[&proxy_ca.issue("server", &["kube.example.test"])]);
        let proxy = proxy_ca.issue("proxy", &["localhost"]);
        let proxy = Proxy::https(([127, 0, 0, 1], intruder.port()).into(), &proxy);
        let mut cluster = cluster;
        cluster["proxy-url"] = format!("https://localhost:{}", proxy.address().port()).into();
        folder.write("config", kubeconfig(&cluster, &json!({})).to_string());
        let error = child("connect", &[("KUBECONFIG", &config), ("SSL_CERT_FILE", &roots)]);
        assert!(error.unwrap_err().contains("the server's certificate"));
    }),
];

#[test]
fn a_proxy_that_says_nothing_is_waited_for_as_long_as_connecting_may_take() {
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    for scheme in ["http", "https", "socks5"] {
        let bound = std::time::Duration::from_millis(200);
        let timeouts = openshift_templates::Timeouts::new(bound, bound * 50).unwrap();
        let config = openshift_templates::Config::new("https://kube.example.test")
            .unwrap()
            .timeouts(timeouts)
            .proxy(&format!("{scheme}://{}", mute.local_addr().unwrap()))
            .unwrap();
        let start = std::time::Instant::now();
        let error = openshift_templates::Client::connect(config).unwrap_err();
        assert!(error.is_timeout(), "{scheme}: {error:?}");
        let openshift_templates::Error::Transport(error) = error else { panic!("{scheme}") };
        assert_eq!(error.phase(), openshift_templates::Phase::Connect);
        assert!(start.elapsed() < bound * 40, "{scheme}: {:?}", start.elapsed());
    }
}
