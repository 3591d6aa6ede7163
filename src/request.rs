//! Requests as data: what is sent is settled here, with no IO.

use std::fmt;

use serde_json::Value;

use crate::error::one_line;
use crate::names::{is_dns_label, is_dns_subdomain, push_percent_encoded};

/// The verb of the Kubernetes API; the HTTP method follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Create,
    Patch,
    Delete,
}

impl Verb {
    /// As access rules and discovery spell it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Create => "create",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }

    pub(crate) fn method(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Create => "POST",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether a second request could do something a second time.
    pub(crate) fn mutates(self) -> bool {
        self != Self::Get
    }
}

/// What a request is about, for error messages: it outlives the request.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Subject(Box<Parts>);

#[derive(Clone, PartialEq, Eq)]
struct Parts {
    verb: Verb,
    resource: String,
    name: Option<String>,
    namespace: Option<String>,
}

impl Subject {
    pub(crate) fn new(
        verb: Verb,
        resource: &str,
        name: Option<&str>,
        namespace: Option<&str>,
    ) -> Self {
        Self(Box::new(Parts {
            verb,
            resource: resource.to_owned(),
            name: name.map(str::to_owned),
            namespace: namespace.map(str::to_owned),
        }))
    }
}

impl Subject {
    pub(crate) fn mutates(&self) -> bool {
        self.0.verb.mutates()
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { verb, resource, name, namespace } = &*self.0;
        write!(f, "{} {resource}", verb.name())?;
        if let Some(name) = name {
            write!(f, " {name:?}")?;
        }
        if let Some(namespace) = namespace {
            write!(f, " in namespace {namespace:?}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The media type of a body. Server-side apply takes YAML, of which JSON is a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MediaType {
    Json,
    ApplyPatch,
}

impl MediaType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::ApplyPatch => "application/apply-patch+yaml",
        }
    }
}

/// One request, whole but for the server's address and the credentials.
pub(crate) struct Request {
    pub(crate) subject: Subject,
    pub(crate) verb: Verb,
    /// Path and query, percent-encoded, from the API's root on.
    pub(crate) target: String,
    pub(crate) body: Option<(MediaType, Vec<u8>)>,
}

impl Request {
    /// The discovery document of a group version. `None` for what cannot be one.
    pub(crate) fn discovery(api_version: &str) -> Option<Self> {
        let of = format!("the resources of {}", one_line(api_version));
        Some(Self {
            subject: Subject::new(Verb::Get, &of, None, None),
            verb: Verb::Get,
            target: group_version_path(api_version)?,
            body: None,
        })
    }

    /// A request about the objects of one resource in one namespace: about all of them when
    /// there is no `name`. `None` for a group version that cannot be one, and for whatever no
    /// segment of a path can be: then there is no such request.
    pub(crate) fn namespaced(
        verb: Verb,
        api_version: &str,
        namespace: &str,
        resource: &str,
        name: Option<&str>,
    ) -> Option<Self> {
        let mut target = group_version_path(api_version)?;
        for segment in ["namespaces", namespace, resource].into_iter().chain(name) {
            push_segment(&mut target, segment)?;
        }
        Some(Self {
            subject: Subject::new(verb, resource, name, Some(namespace)),
            verb,
            target,
            body: None,
        })
    }

    /// A question about the caller's own rights: nothing is stored.
    pub(crate) fn access_review() -> Self {
        Self {
            subject: Subject::new(Verb::Create, "selfsubjectaccessreviews", None, None),
            verb: Verb::Create,
            target: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned(),
            body: None,
        }
    }

    #[must_use]
    pub(crate) fn query(mut self, name: &str, value: &str) -> Self {
        self.target.push(if self.target.contains('?') { '&' } else { '?' });
        push_percent_encoded(&mut self.target, name, UNRESERVED);
        self.target.push('=');
        push_percent_encoded(&mut self.target, value, UNRESERVED);
        self
    }

    #[must_use]
    pub(crate) fn body(mut self, media_type: MediaType, body: &Value) -> Self {
        let mut text = Vec::with_capacity(length(body));
        // `Value`'s own writer cannot fail: there is no IO, and every key is a string.
        let _ = serde_json::to_writer(&mut text, body);
        self.body = Some((media_type, text));
        self
    }
}

/// About how long a value is as text: to the byte unless it has numbers, or strings to be escaped.
/// A buffer that grew instead would be copied, and end up with twice the room.
fn length(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => "false".len(),
        Value::Number(_) => 8,
        Value::String(text) => text.len() + "\"\"".len(),
        Value::Array(items) => 2 + items.iter().map(|item| length(item) + 1).sum::<usize>(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| name.len() + 4 + length(value);
            2 + fields.iter().map(field).sum::<usize>()
        }
    }
}

/// `v1` is the core group only; anything else is `group/version`. Groups and versions are DNS names
/// (apimachinery's rules for the names of an `APIService`), so nothing else can be served.
fn group_version_path(api_version: &str) -> Option<String> {
    let (mut path, version) = match api_version.split_once('/') {
        None => ("/api".to_owned(), api_version),
        Some((group, version)) if is_dns_subdomain(group) => (format!("/apis/{group}"), version),
        Some(_) => return None,
    };
    if !is_dns_label(version) {
        return None;
    }
    push_segment(&mut path, version)?;
    Some(path)
}

pub(crate) fn is_api_version(api_version: &str) -> bool {
    group_version_path(api_version).is_some()
}

/// RFC 3986's unreserved marks: nothing else stands in a segment or a query as it is.
const UNRESERVED: &[u8] = b"-._~";

/// `None` for what would not be a segment of its own: clients and servers take the dots away.
fn push_segment(path: &mut String, segment: &str) -> Option<()> {
    if matches!(segment, "" | "." | "..") {
        return None;
    }
    path.push('/');
    push_percent_encoded(path, segment, UNRESERVED);
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn target(api_version: &str, resource: &str, name: &str) -> Option<String> {
        Request::namespaced(Verb::Get, api_version, "workers", resource, Some(name))
            .map(|request| request.target)
    }

    #[test]
    fn the_core_group_and_named_groups_have_their_own_roots() {
        assert_eq!(
            target("v1", "configmaps", "a").as_deref(),
            Some("/api/v1/namespaces/workers/configmaps/a")
        );
        assert_eq!(
            target("apps/v1", "deployments", "a").as_deref(),
            Some("/apis/apps/v1/namespaces/workers/deployments/a")
        );
    }

    #[test]
    fn names_are_percent_encoded_into_one_segment() {
        let cases = [
            ("system:x", "system%3Ax"),
            ("a?b=c", "a%3Fb%3Dc"),
            ("a#b", "a%23b"),
            ("a b", "a%20b"),
            ("a/../b", "a%2F..%2Fb"),
            ("é", "%C3%A9"),
            ("A_b~-.", "A_b~-."),
        ];
        for (name, segment) in cases {
            let expected = format!("/api/v1/namespaces/workers/roles/{segment}");
            assert_eq!(target("v1", "roles", name), Some(expected));
        }
    }

    #[test]
    fn what_is_no_group_version_makes_no_path() {
        for api_version in [
            "", "/", "a/", "/v1", "a/b/c", ".", "..", "../v1", "a/..", "A/v1", "a/V1", "v1 ",
            "a%2f/v1",
        ] {
            assert!(!is_api_version(api_version), "{api_version:?}");
            assert_eq!(target(api_version, "xs", "a"), None, "{api_version:?}");
        }
    }

    #[test]
    fn queries_are_encoded() {
        let request = Request::namespaced(Verb::Patch, "v1", "workers", "configmaps", Some("a"))
            .map(|r| r.query("fieldManager", "a&b =é").query("dryRun", "All"));
        assert_eq!(
            request.map(|r| r.target).as_deref(),
            Some(
                "/api/v1/namespaces/workers/configmaps/a?fieldManager=a%26b%20%3D%C3%A9&dryRun=All"
            )
        );
    }

    fn decoded(segment: &str) -> Vec<u8> {
        let mut bytes = segment.bytes();
        let mut text = Vec::new();
        while let Some(byte) = bytes.next() {
            text.push(match byte {
                b'%' => {
                    let digits: String = bytes.by_ref().take(2).map(char::from).collect();
                    u8::from_str_radix(&digits, 16).unwrap()
                }
                byte => byte,
            });
        }
        text
    }

    /// Texts that have led paths astray somewhere, and any others.
    fn text() -> impl Strategy<Value = String> {
        const KNOWN: &[&str] = &[
            "",
            ".",
            "..",
            "/",
            "%2f",
            "%2e%2e",
            "?",
            "#",
            "a/b",
            "a\\b",
            "..;",
            "a\r\nb: c",
            "\0",
            "v1",
            "apps/v1",
            "a",
            "\u{2024}\u{2024}",
            "\u{ff0f}",
            "\u{212a}",
            " ",
            "a/../../b",
        ];
        prop_oneof![
            prop::sample::select(KNOWN).prop_map(str::to_owned),
            ".{0,300}",
            prop::collection::vec(prop::sample::select(KNOWN), 0..4).prop_map(|all| all.concat()),
        ]
    }

    proptest! {
        #[test]
        fn a_path_has_the_segments_that_it_is_made_of_and_no_others(
            api_version in text(), namespace in text(), resource in text(), name in text(), value in text(),
        ) {
            let request =
                Request::namespaced(Verb::Get, &api_version, &namespace, &resource, Some(&name));
            let Some(request) = request else { return Ok(()) };
            let target = request.query("fieldManager", &value).target;
            let (path, query) = target.split_once('?').unwrap();
            let root = if api_version.contains('/') { "apis" } else { "api" };
            let mut expected = vec![root];
            expected.extend(api_version.split('/'));
            expected.extend(["namespaces", &namespace, &resource, &name]);
            let found: Vec<_> = path.split('/').skip(1).map(decoded).collect();
            prop_assert_eq!(found, expected.iter().map(|s| s.as_bytes().to_vec()).collect::<Vec<_>>());
            prop_assert!(expected.iter().all(|segment| !matches!(*segment, "" | "." | "..")));
            let (field, found) = query.split_once('=').unwrap();
            prop_assert_eq!((field, decoded(found)), ("fieldManager", value.into_bytes()));
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~%/".contains(&b);
            prop_assert!(path.bytes().all(is_plain));
        }

        #[test]
        fn a_group_version_is_one_or_two_dns_names(api_version in text()) {
            if let Some(request) = Request::discovery(&api_version) {
                let root = if api_version.contains('/') { "/apis/" } else { "/api/" };
                prop_assert_eq!(request.target, format!("{root}{api_version}"));
            }
        }
    }
}
