//! The server's certificate and the client's: section 1.4, and those rows of 1.5 that are about
//! keys.

use std::path::PathBuf;

use openshift_templates::Config;
use rcgen::{BasicConstraints, IsCa, KeyPair, SanType};
use serde_json::{Value, json};

use super::Row;
use super::fixtures::path;
use super::pki::{Authority, Leaf, pem, self_signed};
use super::servers::{Server, tls};
use super::stage::{
    Folder, Stage, base64, child, connect, elsewhere, kubeconfig, load, load_text, refused,
    refused_cluster,
};

const LOCAL: [&str; 2] = ["127.0.0.1", "localhost"];

/// Connects to a server with this CA.
fn trusting(server: &Server, ca: impl Into<Vec<u8>>) -> Result<(), String> {
    connect(Config::new(&server.url()).unwrap().ca_pem(ca)).map(drop)
}

/// Connects with this client certificate; what the server saw of it.
fn presented(cert: &str, key: &str) -> Result<Vec<Vec<u8>>, String> {
    let ca = Authority::new("ca");
    let server = Server::start(&[&ca.issue("server", &LOCAL)]);
    let config = Config::new(&server.url()).unwrap().ca_pem(ca.pem.as_str());
    connect(config.client_cert_pem(cert, key))?;
    Ok(server.seen()[0].client_certs.iter().map(|c| c.to_vec()).collect())
}

fn key_file(name: &str) -> String {
    std::fs::read_to_string(path("keys").join(name)).unwrap()
}

/// A kubeconfig whose user has a certificate and a key in files, issued to `name`.
pub(super) fn with_cert_files(stage: &Stage, name: &str) -> PathBuf {
    let leaf = Authority::new("users").issue(name, &[]);
    stage.folder.write("tls.crt", &leaf.pem);
    stage.folder.write("tls.key", &leaf.key_pem);
    // The embedded server would refuse a certificate that it does not know.
    let (cert, key) = stage.cluster.client_cert(openshift_templates_testing::User::Worker);
    stage.folder.write("tls.crt", cert);
    stage.folder.write("tls.key", key);
    stage.write(&json!({"client-certificate": "tls.crt", "client-key": "tls.key"}))
}

fn leaf_as_ca() {
    let leaf = self_signed(&LOCAL, IsCa::NoCa);
    trusting(&Server::start(&[&leaf]), leaf.pem.as_str()).unwrap();
    let signed = Authority::new("other").issue("server", &LOCAL);
    trusting(&Server::start(&[&signed]), signed.pem.as_str()).unwrap();
    let other_name = Authority::new("other").issue("server", &["kube.example.test"]);
    let error = trusting(&Server::start(&[&other_name]), other_name.pem.as_str()).unwrap_err();
    assert!(error.contains("for kube.example.test) is not for 127.0.0.1"), "{error}");
    let ended = Authority::new("other").issue_with(
        "server",
        &LOCAL,
        |params| params.not_after = rcgen::date_time_ymd(2001, 2, 3),
        &KeyPair::generate().unwrap(),
    );
    let error = trusting(&Server::start(&[&ended]), ended.pem.as_str()).unwrap_err();
    assert!(error.contains("ended at 2001-02-03T00:00:00Z"), "{error}");
}

fn ca_leaf_as_ca() {
    let leaf = self_signed(&LOCAL, IsCa::Ca(BasicConstraints::Unconstrained));
    trusting(&Server::start(&[&leaf]), leaf.pem.as_str()).unwrap();
}

fn server_name() {
    let ca = Authority::new("ca");
    let server = Server::start(&[&ca.issue("server", &["kube.example.test"])]);
    let config = Config::new(&server.url()).unwrap().ca_pem(ca.pem.as_str());
    let error = connect(config.clone()).unwrap_err();
    assert!(error.contains("set tls-server-name to one of its names"), "{error}");
    connect(config.clone().tls_server_name("kube.example.test")).unwrap();
    assert_eq!(server.seen()[0].sni.as_deref(), Some("kube.example.test"));
    let host = format!("host: 127.0.0.1:{}", server.port());
    assert!(server.seen()[0].head.contains(&host), "{:?}", server.seen());
    let error = connect(config.tls_server_name("no name")).unwrap_err();
    assert!(error.contains("tls_server_name must be a DNS name"), "{error}");

    let cluster = |name: &str| {
        let cluster = json!({
            "server": server.url(), "certificate-authority-data": base64(&ca.pem), "tls-server-name": name,
        });
        connect(load_text(kubeconfig(&cluster, &json!({})).to_string()).unwrap())
    };
    cluster("kube.example.test").unwrap();
    cluster("").unwrap_err();
}

fn p_521() {
    let leaf = Authority::new("users").issue("me", &[]);
    let error = presented(&leaf.pem, &key_file("p-521.sec1.pem")).unwrap_err();
    assert!(error.contains("unsupported kind (P-521)") && error.contains("aws-lc-rs"), "{error}");
}

fn issued_for(key: &str) -> Leaf {
    let key = KeyPair::from_pem(&key_file(key)).unwrap();
    Authority::new("users").issue_with("me", &[], |_| {}, &key)
}

pub(super) const ROWS: &[Row] = &[
    ("1.4 certificate-authority-data beside certificate-authority", || {
        let both = json!({"certificate-authority": "f", "certificate-authority-data": "eA=="});
        let error = refused_cluster(&merged(&both));
        assert!(error.contains("cannot be given together with certificate-authority"), "{error}");
    }),
    ("1.4 empty data beside a file", || {
        let stage = Stage::lenient();
        stage.folder.write("ca.pem", stage.cluster.ca_pem());
        let ca = json!({"certificate-authority-data": "", "certificate-authority": "ca.pem"});
        stage.sent_to(&stage.server_with(&ca), &json!({}));
    }),
    ("1.4 a CA file that is missing", || {
        let error = refused_cluster(&merged(&json!({"certificate-authority": "gone.pem"})));
        assert!(error.contains("gone.pem, the certificate-authority of cluster \"c\""), "{error}");
    }),
    ("1.4 base64 of the CA", || {
        super::fixtures::loads("base64-with-line-breaks.yaml");
        super::fixtures::loads("base64-folded.yaml");
        let error = refused_cluster(&merged(&json!({"certificate-authority-data": "#"})));
        assert!(error.contains("is not base64"), "{error}");
    }),
    ("1.4 a bundle with foreign blocks and a bad certificate", || {
        let ca = Authority::new("ca");
        let server = Server::start(&[&ca.issue("server", &LOCAL)]);
        let bundle = [
            "Subject: some text\n",
            &pem("CERTIFICATE", b"no certificate"),
            "-----BEGIN CERTIFICATE-----\n###\n-----END CERTIFICATE-----\n",
            &pem("X509 CRL", b"a list"),
            &pem("SOMETHING ELSE", b"else"),
            &Authority::new("unrelated").pem,
            &ca.pem,
        ]
        .concat();
        trusting(&server, bundle.as_str()).unwrap();
        trusting(&server, bundle.replace('\n', "\r\n")).unwrap();
        let error = trusting(&server, pem("CERTIFICATE", b"no certificate")).unwrap_err();
        assert!(error.contains("ca_pem holds no PEM certificate"), "{error}");
    }),
    ("1.4 a CA that is no PEM", || {
        let cluster = merged(&json!({"certificate-authority-data": base64("just text")}));
        let config = load_text(kubeconfig(&cluster, &json!({})).to_string()).unwrap();
        let error = connect(config).unwrap_err();
        assert!(error.contains("certificate-authority-data of cluster \"c\""), "{error}");
    }),
    ("1.4 no CA: the system's roots", || {
        let (ca, folder) = (Authority::new("ca"), Folder::new());
        let server = Server::start(&[&ca.issue("server", &LOCAL)]);
        let config = kubeconfig(&json!({"server": server.url()}), &json!({})).to_string();
        let config = folder.write("config", config).display().to_string();
        let roots = folder.write("roots/ca.pem", &ca.pem).display().to_string();
        let error = child("connect", &[("KUBECONFIG", &config)]).unwrap_err();
        assert!(error.contains("the system's roots"), "{error}");
        child("connect", &[("KUBECONFIG", &config), ("SSL_CERT_FILE", &roots)]).unwrap();
        let roots = folder.path("roots").display().to_string();
        child("connect", &[("KUBECONFIG", &config), ("SSL_CERT_DIR", &roots)]).unwrap();
    }),
    ("1.4 only an intermediate CA in the bundle", || {
        let intermediate = Authority::new("root").intermediate("intermediate");
        let server = Server::start(&[&intermediate.issue("server", &LOCAL)]);
        trusting(&server, intermediate.pem.as_str()).unwrap();
    }),
    ("1.4 the server's own leaf as CA", leaf_as_ca),
    ("1.4 a self-signed CA:TRUE certificate as CA", ca_leaf_as_ca),
    ("1.4 a certificate with a common name only", || {
        let ca = Authority::new("ca");
        let server = Server::start(&[&ca.issue("127.0.0.1", &[])]);
        let error = trusting(&server, ca.pem.as_str()).unwrap_err();
        assert!(error.contains("(CN=127.0.0.1, issued by CN=ca, for no name)"), "{error}");
    }),
    ("1.4 insecure-skip-tls-verify", || {
        let stage = Stage::lenient();
        let insecure = json!({"server": stage.cluster.url(), "insecure-skip-tls-verify": true});
        stage.sent_to(&insecure, &json!({}));
        for (name, value) in
            [("certificate-authority-data", "eA=="), ("certificate-authority", "f")]
        {
            let folder = Folder::new();
            folder.write("f", "x");
            let mut cluster = insecure.clone();
            cluster[name] = value.into();
            let error = folder.load(kubeconfig(&cluster, &json!({})).to_string()).unwrap_err();
            assert!(error.contains(&format!("{name} of cluster \"c\"")), "{error}");
            assert!(error.contains("together with insecure-skip-tls-verify"), "{error}");
        }
    }),
    ("1.4 tls-server-name", server_name),
    ("1.4 the least TLS version", || {
        let ca = Authority::new("ca");
        let leaf = ca.issue("server", &LOCAL);
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            let server = Server::with(tls(&[&leaf], &[version]));
            trusting(&server, ca.pem.as_str()).unwrap();
        }
    }),
    ("1.5 a client certificate without key, twice, or unreadable", || {
        let needed = refused(&json!({"client-certificate-data": "eA=="}));
        assert!(
            needed.contains("client-key of user \"u\"") && needed.contains("absent"),
            "{needed}"
        );
        let twice = json!({"client-certificate": "f", "client-certificate-data": "eA=="});
        assert!(refused(&twice).contains("together with client-certificate"));
        let unreadable = refused(&json!({"client-certificate": "gone", "client-key": "gone"}));
        assert!(unreadable.contains("gone, the client-certificate of user \"u\""), "{unreadable}");
        let key = json!({"client-certificate-data": "eA==", "client-key": "gone"});
        assert!(refused(&key).contains("gone, the client-key of user \"u\""));
    }),
    ("1.5 a key without a certificate", || {
        let config =
            load_text(kubeconfig(&elsewhere(), &json!({"client-key-data": "eA=="})).to_string());
        assert!(format!("{config:?}").contains("client_cert: None"));
    }),
    ("1.5 encodings of keys, whatever the label", || {
        let (p_256, rsa) = (issued_for("p-256.pkcs8.pem"), issued_for("rsa-2048.pkcs8.pem"));
        let ed25519 = issued_for("ed25519.pkcs8.pem");
        for (leaf, file) in [
            (&p_256, "p-256.pkcs8.pem"),
            (&p_256, "p-256.sec1-with-parameters.pem"),
            (&rsa, "rsa-2048.pkcs8.pem"),
            (&rsa, "rsa-2048.pkcs1.pem"),
            (&ed25519, "ed25519.pkcs8.pem"),
        ] {
            let key = key_file(file);
            let labels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"];
            let label = labels.iter().rev().find(|l| key.contains(&format!("BEGIN {l}"))).unwrap();
            for other in labels {
                let key = key.replace(&format!(" {label}-"), &format!(" {other}-"));
                let seen = presented(&leaf.pem, &key).unwrap_or_else(|e| panic!("{file}: {e}"));
                assert_eq!(seen, [leaf.der.to_vec()], "{file} as {other}");
            }
        }
        for (file, said) in [
            ("encrypted.pkcs8.pem", "is encrypted"),
            ("encrypted.pkcs1.pem", "is encrypted"),
            ("rsa-1024.pkcs8.pem", "RSA of 1024 bits"),
        ] {
            let error = presented(&p_256.pem, &key_file(file)).unwrap_err();
            assert!(error.contains(said) && error.contains("client_cert_pem"), "{error}");
        }
        p_521();
        let v1 = Authority::new("users").issue_v1("me");
        assert_eq!(presented(&v1.pem, &v1.key_pem).unwrap(), [v1.der.to_vec()]);
    }),
    ("1.5 key and certificate in one file", || {
        let leaf = Authority::new("users").issue("me", &[]);
        for both in [[&*leaf.key_pem, &*leaf.pem].concat(), [&*leaf.pem, &*leaf.key_pem].concat()] {
            assert_eq!(presented(&both, &both).unwrap(), [leaf.der.to_vec()]);
        }
    }),
    ("1.5 the leaf has to be the first of the chain", || {
        let ca = Authority::new("users");
        let leaf = ca.issue("me", &[]);
        let chain = presented(&[&*leaf.pem, &*ca.pem].concat(), &leaf.key_pem).unwrap();
        assert_eq!(chain.len(), 2);
        let error = presented(&[&*ca.pem, &*leaf.pem].concat(), &leaf.key_pem).unwrap_err();
        assert!(error.contains("does not belong to the client certificate"), "{error}");
    }),
    ("1.5 client certificate files that are replaced", || {
        let (ca, users, folder) = (Authority::new("ca"), Authority::new("users"), Folder::new());
        let server = Server::start(&[&ca.issue("server", &LOCAL)]);
        let (first, second) = (users.issue("first", &[]), users.issue("second", &[]));
        folder.write("crt", &first.pem);
        folder.write("key", &first.key_pem);
        let cluster =
            json!({"server": server.url(), "certificate-authority-data": base64(&ca.pem)});
        let user = json!({"client-certificate": "crt", "client-key": "key"});
        let client =
            connect(folder.load(kubeconfig(&cluster, &user).to_string()).unwrap()).unwrap();
        let workers = client.namespace("workers").unwrap();
        // Half of the pair is of no use, and the old one stays.
        folder.write("crt", &second.pem);
        let last = || {
            workers.get(&super::reference()).unwrap_err();
            server.seen().last().unwrap().client_certs[0].to_vec()
        };
        let start = std::time::Instant::now();
        while start.elapsed() < std::time::Duration::from_millis(1500) {
            assert_eq!(last(), first.der.to_vec());
        }
        folder.write("key", &second.key_pem);
        super::eventually(|| last() == second.der.to_vec());
    }),
    ("2 kube-rs#1767: the server's leaf as CA", leaf_as_ca),
    ("2 kube-rs#1562: a CA:TRUE server certificate as CA", || {
        ca_leaf_as_ca();
        // The exception that is documented: such a leaf, signed by the configured CA.
        let ca = Authority::new("ca");
        let is_ca = |params: &mut rcgen::CertificateParams| {
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        };
        let leaf = ca.issue_with("server", &LOCAL, is_ca, &KeyPair::generate().unwrap());
        let error = trusting(&Server::start(&[&leaf]), ca.pem.as_str()).unwrap_err();
        assert!(error.contains("is a CA's, which only serves when that certificate"), "{error}");
        trusting(&Server::start(&[&leaf]), leaf.pem.as_str()).unwrap();
        let unknown = Authority::new("unknown").issue("server", &LOCAL);
        let error = trusting(&Server::start(&[&unknown]), ca.pem.as_str()).unwrap_err();
        assert!(error.contains("issued by CN=unknown"), "{error}");
        assert!(error.contains("is not signed by the certificate of ca_pem"), "{error}");
    }),
    ("2 sofka#468: a P-521 client key", || {
        p_521();
        // A program can bring another provider, and it is used: here one that cannot do anything.
        let (ca, folder) = (Authority::new("ca"), Folder::new());
        let server = Server::start(&[&ca.issue("server", &LOCAL)]);
        let cluster =
            json!({"server": server.url(), "certificate-authority-data": base64(&ca.pem)});
        let config = folder.write("config", kubeconfig(&cluster, &json!({})).to_string());
        let environment = [("KUBECONFIG", config.to_str().unwrap())];
        child("connect", &environment).unwrap();
        child("provider", &environment).unwrap_err();
    }),
    ("2 kube-rs#1536: RSA keys of kubeadm", || {
        let leaf = issued_for("rsa-2048.pkcs8.pem");
        presented(&leaf.pem, &key_file("rsa-2048.pkcs1.pem")).unwrap();
    }),
    ("2 kube-rs#153: servers by IP address", || {
        let ca = Authority::new("ca");
        let server = Server::start(&[&ca.issue("server", &["127.0.0.1"])]);
        trusting(&server, ca.pem.as_str()).unwrap();
        assert_eq!(server.seen()[0].sni, None);
        // An address as a DNS name does not count.
        let as_name = |params: &mut rcgen::CertificateParams| {
            params.subject_alt_names = vec![SanType::DnsName("127.0.0.1".try_into().unwrap())];
        };
        let leaf = ca.issue_with("server", &[], as_name, &KeyPair::generate().unwrap());
        trusting(&Server::start(&[&leaf]), ca.pem.as_str()).unwrap_err();
    }),
    ("2 client-python#1889: tls-server-name", server_name),
];

fn merged(more: &Value) -> Value {
    let mut cluster = elsewhere();
    for (name, value) in more.as_object().unwrap() {
        cluster[name] = value.clone();
    }
    cluster
}

#[test]
fn a_file_with_a_ca_is_read_from_its_path() {
    let stage = Stage::lenient();
    let file = with_cert_files(&stage, "me");
    connect(load(&file).unwrap()).unwrap();
    assert_eq!(stage.cluster.journal()[0].user.as_deref(), Some("worker"));
}

#[test]
fn a_client_certificate_that_the_server_refuses_is_named() {
    let stage = Stage::strict();
    let leaf = Authority::new("users").issue("me", &[]);
    let user = json!({
        "client-certificate-data": base64(&leaf.pem), "client-key-data": base64(&leaf.key_pem),
    });
    let error = stage.client(&user).unwrap_err();
    assert!(error.contains("the server refused the client's certificate"), "{error}");
    assert!(error.contains("look at client-certificate-data of user \"u\""), "{error}");
}
