use std::fmt::Write;

use crate::error::{ConfigError, ConfigField, ConfigProblem};

/// Whom requests are made as, instead of as who logs in. The server asks whether that is allowed
/// (the verb `impersonate`).
///
/// The fields are a kubeconfig's `as`, `as-uid`, `as-groups` and `as-user-extra`.
///
/// ```
/// use openshift_templates::{Config, Impersonation};
///
/// let bob = Impersonation::user("bob").group("developers").extra("example.org/reason", "ticket 1");
/// let config = Config::new("https://api.example.com:6443")?.impersonate(bob);
/// # let _ = config;
/// # Ok::<(), openshift_templates::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impersonation {
    user: String,
    uid: Option<String>,
    groups: Vec<String>,
    extra: Vec<(String, String)>,
}

impl Impersonation {
    /// This user, who must not be empty. Groups that the user really has are not added by the
    /// server.
    #[must_use]
    pub fn user(name: impl Into<String>) -> Self {
        Self { user: name.into(), uid: None, groups: Vec::new(), extra: Vec::new() }
    }

    /// The uid. Defaults to none.
    #[must_use]
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// One more group. Defaults to none.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.groups.push(group.into());
        self
    }

    /// One more value of an extra field, whose name the server reads in lower case. Defaults to
    /// none.
    #[must_use]
    pub fn extra(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra.push((name.into(), value.into()));
        self
    }

    /// The headers, in lower case as HTTP libraries write them.
    pub(crate) fn headers(&self) -> Vec<(String, &str)> {
        let mut headers = vec![("impersonate-user".to_owned(), self.user.as_str())];
        headers.extend(self.uid.as_deref().map(|uid| ("impersonate-uid".to_owned(), uid)));
        for group in &self.groups {
            headers.push(("impersonate-group".to_owned(), group));
        }
        for (name, value) in &self.extra {
            headers.push((format!("impersonate-extra-{}", header_name(name)), value));
        }
        headers
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let field = || ConfigField::setter("impersonate");
        let invalid = |problem| Err(ConfigError::Invalid { field: field(), problem });
        if self.user.is_empty() {
            return invalid(ConfigProblem::Needed);
        }
        if self.headers().iter().any(|(_, value)| !is_header_value(value)) {
            return invalid(ConfigProblem::NotAHeaderValue);
        }
        Ok(())
    }
}

/// What RFC 9110 lets stand in a header's value, UTF-8 included.
pub(super) fn is_header_value(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'\t' | b' '..=b'~' | 0x80..))
}

/// As client-go does it: whatever is no token character of RFC 7230, and the percent sign, is
/// percent-encoded, and the server decodes it. Case does not count in a header's name.
fn header_name(name: &str) -> String {
    let mut encoded = String::new();
    for byte in name.to_ascii_lowercase().bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a `String` does not fail.
            let _ = write!(encoded, "%{byte:02x}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_extra_fields_are_encoded_as_client_go_does_it() {
        assert_eq!(header_name("example.org/Foo%Bar é"), "example.org%2ffoo%25bar%20%c3%a9");
        assert_eq!(header_name("scopes"), "scopes");
    }
}
