use std::ffi::OsString;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::*;
use crate::error::ConfigProblem;

const CLUSTER: &str = "{name: c, cluster: {server: 'https://h:6443'}}";
const CONTEXT: &str = "{name: x, context: {cluster: c, user: u, namespace: n}}";

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A kubeconfig whose current context is complete but for what `user` says.
fn with_user(user: &str) -> String {
    format!(
        "current-context: x\nclusters: [{CLUSTER}]\ncontexts: [{CONTEXT}]\nusers: [{{name: u, user: {user}}}]\n"
    )
}

fn with_cluster(cluster: &str) -> String {
    format!(
        "current-context: x\nclusters: [{{name: c, cluster: {cluster}}}]\ncontexts: [{CONTEXT}]\n"
    )
}

fn load(path: &Path) -> Result<Config, ConfigError> {
    Kubeconfig::file(path).load(&Environment::default())
}

fn load_text(text: impl AsRef<[u8]>) -> Result<Config, ConfigError> {
    let files = Files::new();
    load(&files.write("config", text))
}

fn search(list: &[&Path], home: Option<PathBuf>) -> Result<Config, ConfigError> {
    let list = std::env::join_paths(list).unwrap();
    let kubeconfig = Some(list).filter(|list: &OsString| !list.is_empty());
    Kubeconfig::search().load(&Environment { kubeconfig, home, ..Environment::default() })
}

fn problem(result: Result<Config, ConfigError>) -> (String, ConfigProblem) {
    match result {
        Err(ConfigError::Invalid { field, problem }) => (field.name().to_owned(), problem),
        other => panic!("{other:?}"),
    }
}

fn bearer(config: &Config) -> String {
    let login = config.credential.as_ref().unwrap().login(Instant::now()).unwrap();
    login.authorization.unwrap().expose().strip_prefix("Bearer ").unwrap().to_owned()
}

#[test]
fn the_current_context_says_what_counts() {
    let config = load_text(with_user("{token: t}")).unwrap();
    assert_eq!(config.server.to_string(), "https://h:6443");
    assert_eq!(config.default_namespace(), Some("n"));
    assert_eq!(bearer(&config), "t");
    assert!(!config.accepts_invalid_certs());
}

#[test]
fn another_context_can_be_asked_for() {
    let files = Files::new();
    let text = with_user("{}") + "extensions: []\n";
    let text = text.replace(
        "contexts: [",
        "contexts: [{name: 'n/h:6443/kube~admin', context: {cluster: c}}, ",
    );
    let path = files.write("config", text);
    let load = |name: &str| Kubeconfig::file(&path).context(name).load(&Environment::default());
    assert!(load("n/h:6443/kube~admin").is_ok());
    let Err(ConfigError::Missing { kind: "context", name, .. }) = load("other") else { panic!() };
    assert_eq!(name, "other");
}

#[test]
fn what_is_empty_or_null_is_not_set() {
    for user in ["null", "{}", "{token: '', tokenFile: null, exec: null, as: '', as-groups: []}"] {
        assert!(load_text(with_user(user)).unwrap().credential.is_none(), "{user}");
    }
    let config = load_text(with_cluster(
        "{server: 'https://h', certificate-authority-data: '', proxy-url: '', insecure-skip-tls-verify: null}",
    ));
    assert!(config.unwrap().ca.is_none());
}

#[test]
fn a_missing_user_is_anonymous_and_a_missing_cluster_an_error() {
    let text =
        format!("current-context: x\nclusters: [{CLUSTER}]\ncontexts: [{CONTEXT}]\nusers: null\n");
    assert!(load_text(text).unwrap().credential.is_none());
    let text = format!("current-context: x\ncontexts: [{CONTEXT}]\n");
    assert!(matches!(load_text(text), Err(ConfigError::Missing { kind: "cluster", .. })));
    let text = format!("current-context: gone\nclusters: [{CLUSTER}]\ncontexts: [{CONTEXT}]\n");
    assert!(matches!(load_text(text), Err(ConfigError::Missing { kind: "context", .. })));
}

#[test]
fn several_files_are_merged_the_first_winning() {
    let files = Files::new();
    let first = files.write("1", "current-context: ''\nusers: [{name: u, user: {token: first}}]\n");
    let second = files.write("2", with_user("{token: second}"));
    let missing = files.path("missing");
    let config = search(&[&missing, &first, &second], None).unwrap();
    assert_eq!(bearer(&config), "first");
    assert_eq!(bearer(&search(&[&second, &first], None).unwrap()), "second");
}

#[test]
fn without_a_list_the_home_folder_is_looked_at() {
    let files = Files::new();
    files.write(".kube/config", with_user("{token: home}"));
    let home = Some(files.0.path().to_owned());
    assert_eq!(bearer(&search(&[], home.clone()).unwrap()), "home");
    // A list of nothing but missing files is a list.
    let missing = search(&[&files.path("missing")], home);
    assert!(matches!(missing, Err(ConfigError::NotConfigured { .. })), "{missing:?}");
}

#[test]
fn a_broken_file_is_an_error_though_another_would_do() {
    let files = Files::new();
    let good = files.write("good", with_user("{token: t}"));
    for text in ["a: [\n", "- a\n", "just text\n", "a: *nothing\n"] {
        let broken = files.write("broken", text);
        let result = search(&[&good, &broken], None);
        assert!(matches!(result, Err(ConfigError::Parse { .. })), "{text}: {result:?}");
    }
    let result = search(&[&good, files.0.path()], None);
    assert!(matches!(result, Err(ConfigError::Read { .. })), "a folder is no file: {result:?}");
    let missing = load(&files.path("missing"));
    assert!(matches!(missing, Err(ConfigError::Read { .. })), "{missing:?}");
}

#[test]
fn nothing_configured_says_where_it_looked() {
    let files = Files::new();
    let empty = files.write("empty", "# nothing\n");
    let error = search(&[&empty], None).unwrap_err();
    assert!(matches!(error, ConfigError::NotConfigured { .. }));
    assert!(error.to_string().contains("empty"), "{error}");
}

#[test]
fn paths_are_relative_to_the_file_of_their_entry() {
    let files = Files::new();
    files.write("a/token", " from a\n");
    files.write("b/ca.pem", "CA");
    let users = files.write("a/config", "users: [{name: u, user: {tokenFile: token}}]\n");
    let rest = files.write(
        "b/config",
        format!(
            "current-context: x\ncontexts: [{CONTEXT}]\nclusters: [{{name: c, cluster: {{server: 'https://h', certificate-authority: ca.pem}}}}]\n"
        ),
    );
    let config = search(&[&users, &rest], None).unwrap();
    assert_eq!(bearer(&config), "from a");
    assert_eq!(*config.ca.unwrap().text(Instant::now()), *b"CA");
}

#[test]
fn a_token_file_wins_over_a_token_when_it_can_be_read() {
    let files = Files::new();
    files.write("token", "file");
    let load = |user: &str| load(&files.write("config", with_user(user)));
    assert_eq!(bearer(&load("{token: inline, tokenFile: token}").unwrap()), "file");
    assert_eq!(bearer(&load("{token: inline, tokenFile: missing}").unwrap()), "inline");
    assert!(matches!(load("{tokenFile: missing}"), Err(ConfigError::Read { field: Some(_), .. })));
}

#[test]
fn no_part_of_an_identity_is_left_out() {
    let refused = |user: &str| problem(load_text(with_user(user)));
    let without = |field: &str| (field.to_owned(), ConfigProblem::Without { other: "as" });
    assert_eq!(refused("{as-groups: [g]}"), without("as-groups"));
    assert_eq!(refused("{as-uid: '1'}"), without("as-uid"));
    assert_eq!(refused("{as-user-extra: {a: [b]}}"), without("as-user-extra"));
    for (name, plugin) in [("gcp", "gke-gcloud-auth-plugin"), ("azure", "kubelogin")] {
        let user = format!("{{token: t, auth-provider: {{name: {name}}}}}");
        let replaced = ConfigProblem::ReplacedProvider { plugin };
        assert_eq!(refused(&user), ("auth-provider.name".to_owned(), replaced));
    }
    let unknown = refused("{auth-provider: {name: x}}");
    assert_eq!(unknown, ("auth-provider.name".to_owned(), ConfigProblem::UnknownProvider));
    let headers = |user: &str| {
        let impersonation = load_text(with_user(user)).unwrap().impersonation.unwrap();
        let headers = impersonation.headers();
        headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>()
    };
    assert_eq!(headers("{as: bob}"), ["impersonate-user: bob"]);
    assert_eq!(
        headers("{as: bob, as-uid: 7, as-groups: [a, b], as-user-extra: {Sc/o: [x, y]}}"),
        [
            "impersonate-user: bob",
            "impersonate-uid: 7",
            "impersonate-group: a",
            "impersonate-group: b",
            "impersonate-extra-sc%2fo: x",
            "impersonate-extra-sc%2fo: y",
        ]
    );
}

#[test]
fn the_environment_names_a_proxy_unless_the_kubeconfig_does() {
    let files = Files::new();
    let proxy = |cluster: &str, environment: &Environment| {
        let path = files.write("config", with_cluster(cluster));
        let config = Kubeconfig::file(path).load(environment);
        config.map(|config| config.proxy.map(|proxy| proxy.to_string()))
    };
    let environment = Environment {
        https_proxy: Some(("HTTPS_PROXY", "p.example:1".to_owned())),
        http_proxy: Some(("http_proxy", "socks5://q.example:2".to_owned())),
        no_proxy: Some("exempt.example".to_owned()),
        ..Environment::default()
    };
    let url = |url: &str| Some(url.to_owned());
    let https = "{server: 'https://h'}";
    assert_eq!(proxy(https, &Environment::default()).unwrap(), None);
    assert_eq!(proxy(https, &environment).unwrap(), url("http://p.example:1"));
    assert_eq!(proxy("{server: 'http://h'}", &environment).unwrap(), url("socks5://q.example:2"));
    assert_eq!(proxy("{server: 'https://exempt.example'}", &environment).unwrap(), None);
    assert_eq!(proxy("{server: 'https://127.0.0.1:1'}", &environment).unwrap(), None);
    let own = "{server: 'https://exempt.example', proxy-url: 'socks5://r:3'}";
    assert_eq!(proxy(own, &environment).unwrap(), url("socks5://r:3"));
    for url in ["ftp://p", "p:1", "http://"] {
        let refused = proxy(&format!("{{server: 'https://h', proxy-url: '{url}'}}"), &environment);
        let Err(ConfigError::Invalid { field, problem }) = refused else { panic!("{url}") };
        assert_eq!((field.name(), problem), ("proxy-url", ConfigProblem::NotAProxyUrl));
    }
    let environment = Environment {
        http_proxy: Some(("HTTP_PROXY", "http://q.example:2".to_owned())),
        ..Environment::default()
    };
    let refused = proxy("{server: 'http://h'}", &environment);
    let Err(ConfigError::Invalid { field, problem }) = refused else { panic!("{refused:?}") };
    assert_eq!((field.name(), problem), ("HTTP_PROXY", ConfigProblem::HttpProxyWithoutTls));
}

#[test]
fn contradictions_and_wrong_types_name_their_field() {
    let files = Files::new();
    files.write("f", "x");
    let user = |user: &str| problem(load(&files.write("config", with_user(user))));
    let cluster = |cluster: &str| problem(load(&files.write("config", with_cluster(cluster))));
    let beside = |name: &str, other| (name.to_owned(), ConfigProblem::Beside { other });
    assert_eq!(
        user("{client-certificate: f, client-certificate-data: eA==}"),
        beside("client-certificate-data", "client-certificate")
    );
    assert_eq!(user("{client-certificate: f}"), ("client-key".into(), ConfigProblem::Needed));
    assert_eq!(
        user("{token: [a]}"),
        ("token".into(), ConfigProblem::NotA { expected: "string", found: "list" })
    );
    assert_eq!(
        user("{client-certificate-data: '#'}"),
        ("client-certificate-data".into(), ConfigProblem::NotBase64)
    );
    assert_eq!(cluster("{}"), ("server".into(), ConfigProblem::Needed));
    assert_eq!(cluster("{server: 'h:6443'}"), ("server".into(), ConfigProblem::NotAUrl));
    assert_eq!(
        cluster("{server: 'https://h', certificate-authority: f, insecure-skip-tls-verify: true}"),
        beside("certificate-authority", "insecure-skip-tls-verify")
    );
    assert_eq!(
        cluster("{server: 'https://h', insecure-skip-tls-verify: 'true'}"),
        (
            "insecure-skip-tls-verify".into(),
            ConfigProblem::NotA { expected: "boolean", found: "string" }
        )
    );
    let twice = with_user("{}").replace("clusters: [", &format!("clusters: [{CLUSTER}, "));
    assert_eq!(problem(load_text(twice)), ("clusters".into(), ConfigProblem::DuplicateName));
}

#[test]
fn verification_is_off_only_when_it_is_said() {
    for (value, off) in [("true", true), ("yes", true), ("false", false), ("no", false)] {
        let cluster = format!("{{server: 'https://h', insecure-skip-tls-verify: {value}}}");
        let config = load_text(with_cluster(&cluster)).unwrap();
        assert_eq!(config.accepts_invalid_certs(), off, "{value}");
    }
}

#[test]
fn files_are_read_as_editors_and_shells_write_them() {
    let text = with_user("{token: t}");
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let data = STANDARD.encode("CA");
    let json = format!(
        "{{\"current-context\":\"x\",\t\"clusters\":[{{\"name\":\"c\",\"cluster\":{{\"server\":\"https://h\",\"certificate-authority-data\":\"{data}\\n\"}}}}],\"contexts\":[{{\"name\":\"x\",\"context\":{{\"cluster\":\"c\"}}}}]}}"
    );
    for bytes in [
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        [b"\xff\xfe".to_vec(), utf16].concat(),
        text.replace('\n', "\r\n").into_bytes(),
        format!("{text}---\nnot: this\n").into_bytes(),
        json.into_bytes(),
    ] {
        let shown = String::from_utf8_lossy(&bytes).into_owned();
        assert!(load_text(bytes).is_ok(), "{shown}");
    }
    let merged = "base: &b {server: 'https://h'}\ncurrent-context: x\nclusters: [{name: c, cluster: {<<: *b}}]\ncontexts: [{name: x, context: {cluster: c}}]\n";
    assert!(load_text(merged).is_ok());
    let doubled = with_user("{token: a, token: b}");
    assert_eq!(bearer(&load_text(doubled).unwrap()), "b", "the last of two equal keys wins");
}

#[test]
fn no_error_shows_what_is_secret() {
    let files = Files::new();
    for user in [
        "{token: \"MARK\\nMARK\"}",
        "{token: {MARK: MARK}}",
        "{client-certificate-data: 'MARK#', client-key-data: MARK}",
        "{token: MARK, password: MARK}",
        "{exec: {command: x, args: {a: MARK}}}",
        "[MARK",
        "MARK: MARK: MARK",
    ] {
        let error = load(&files.write("config", with_user(user))).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("MARK"), "{user}: {error:?}");
    }
    let config = load(&files.write("config", with_user("{token: MARK}"))).unwrap();
    assert!(!format!("{config:?}").contains("MARK"));
}
