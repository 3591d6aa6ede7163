//! The request's target, taken apart as the API server does.

/// What a path addresses.
#[derive(Debug)]
pub(crate) enum Target {
    /// `/version`, discovery, and anything that is not a resource.
    Path(String),
    Resource(ResourceTarget),
}

#[derive(Debug, Default)]
pub(crate) struct ResourceTarget {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) resource: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: Option<String>,
}

/// Splits `path?query` and decodes both.
pub(crate) fn parse(target: &str) -> (Target, Query) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let segments: Vec<String> =
        path.split('/').skip(1).map(|segment| decode(segment, false)).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let resource = match segments.as_slice() {
        ["api", version, rest @ ..] if !rest.is_empty() => resource("", version, rest),
        ["apis", group, version, rest @ ..] if !rest.is_empty() => resource(group, version, rest),
        _ => None,
    };
    let target = resource.map_or_else(|| Target::Path(path.to_owned()), Target::Resource);
    (target, Query::parse(query))
}

fn resource(group: &str, version: &str, rest: &[&str]) -> Option<ResourceTarget> {
    let owned = |text: &&str| (*text).to_owned();
    // A namespace's own path names it as the namespace of the request too: the 403 texts show that.
    let (namespace, rest) = match rest {
        ["namespaces", namespace] | ["namespaces", namespace, "status" | "finalize"] => {
            (Some(*namespace), rest)
        }
        ["namespaces", namespace, rest @ ..] => (Some(*namespace), rest),
        rest => (None, rest),
    };
    let mut rest = rest.iter().filter(|segment| !segment.is_empty());
    Some(ResourceTarget {
        group: group.to_owned(),
        version: version.to_owned(),
        namespace: namespace.map(str::to_owned),
        resource: rest.next().map(owned)?,
        name: rest.next().map(owned),
        subresource: rest.next().map(owned),
    })
}

/// The query's parameters.
#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(key, true), decode(value, true))
        });
        Self(pairs.collect())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

fn decode(text: &str, plus_is_space: bool) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let pair = (ahead.next().and_then(hex), ahead.next().and_then(hex));
        match (byte, pair) {
            (b'%', (Some(high), Some(low))) => {
                out.push(high * 16 + low);
                bytes = ahead;
            }
            (b'+', _) if plus_is_space => out.push(b' '),
            _ => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        for (path, expected) in [
            ("/api/v1/namespaces/ns/configmaps/a", ("", "v1", Some("ns"), "configmaps", Some("a"))),
            ("/api/v1/namespaces/ns", ("", "v1", Some("ns"), "namespaces", Some("ns"))),
            ("/api/v1/namespaces", ("", "v1", None, "namespaces", None)),
            (
                "/apis/apps/v1/namespaces/ns/deployments",
                ("apps", "v1", Some("ns"), "deployments", None),
            ),
            (
                "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Ax",
                ("rbac.authorization.k8s.io", "v1", None, "clusterroles", Some("system:x")),
            ),
        ] {
            let (Target::Resource(target), _) = parse(path) else {
                panic!("{path} is a resource");
            };
            let found = (
                target.group.as_str(),
                target.version.as_str(),
                target.namespace.as_deref(),
                target.resource.as_str(),
                target.name.as_deref(),
            );
            assert_eq!(found, expected, "{path}");
        }
        assert!(matches!(parse("/apis/apps/v1").0, Target::Path(path) if path == "/apis/apps/v1"));
    }

    #[test]
    fn queries_are_decoded() {
        let (_, query) = parse("/version?a=b%2Bc+d&a=2&flag");
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["b+c d", "2"]);
        assert_eq!(query.get("flag"), Some(""));
    }
}
