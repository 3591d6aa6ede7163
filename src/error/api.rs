use std::error::Error;
use std::fmt;
use std::time::Duration;

use serde::Deserialize;

use super::one_line;
use crate::request::Subject;

/// An answer of the API server that is not success: its `Status`, whole, when it sent one.
///
/// `Display` and `Debug` leave out the server's own text, which can quote values from a manifest;
/// ask [`message`](Self::message) and [`causes`](Self::causes) for it.
#[derive(Clone)]
pub struct ApiError {
    subject: Subject,
    code: u16,
    status: Option<Status>,
    text: String,
    retry_after: Option<Duration>,
    advice: Option<&'static str>,
}

/// The `Status` object of the Kubernetes API conventions, as far as errors need it.
#[derive(Clone, Default, Deserialize)]
struct Status {
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    details: Option<Details>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    group: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    causes: Option<Vec<StatusCause>>,
    /// Lenient: an odd number here must not cost the whole Status.
    #[serde(default)]
    retry_after_seconds: Option<f64>,
}

/// One entry of a Status' `details.causes`: which field, and what is wrong with it.
#[derive(Clone, Deserialize)]
pub struct StatusCause {
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    field: Option<String>,
}

impl StatusCause {
    /// A word such as `FieldValueInvalid`, `FieldManagerConflict` or `NamespaceTerminating`.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The server's text, which can quote the value.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The field, in the server's notation: `.data.a`, `spec.selector`, `template.parameters[0]`.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

impl fmt::Debug for StatusCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StatusCause")
            .field("reason", &self.reason)
            .field("field", &self.field)
            .finish_non_exhaustive()
    }
}

/// Text kept from an answer that is not a Status: a proxy's page is of use by its first lines.
const TEXT_LIMIT: usize = 4096;

impl ApiError {
    pub(crate) fn new(
        subject: Subject,
        code: u16,
        body: &[u8],
        retry_after_header: Option<Duration>,
    ) -> Self {
        let status = serde_json::from_slice::<Status>(body)
            .ok()
            .filter(|status| status.kind.as_deref() == Some("Status"));
        let text = match &status {
            Some(status) => status.message.clone().unwrap_or_default(),
            None => String::from_utf8_lossy(body.get(..TEXT_LIMIT).unwrap_or(body)).into_owned(),
        };
        let asked = status
            .as_ref()
            .and_then(|s| s.details.as_ref()?.retry_after_seconds)
            .filter(|seconds| *seconds > 0.0)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let retry_after = asked.or(retry_after_header);
        Self { subject, code, status, text, retry_after, advice: None }
    }

    /// What this side knows of the reason.
    #[must_use]
    pub(crate) fn advise(mut self, advice: &'static str) -> Self {
        self.advice = Some(advice);
        self
    }

    /// The HTTP status code.
    ///
    /// ```no_run
    /// # fn run(error: &openshift_templates::ApiError) {
    /// assert!(error.code() >= 300);
    /// # }
    /// ```
    #[must_use]
    pub fn code(&self) -> u16 {
        self.code
    }

    /// The Status' reason: a word such as `NotFound`, `Conflict` or `Invalid`. None when the
    /// answer held no Status (a proxy's page, the aggregation layer's plain text), or a Status
    /// without a reason, as server-side apply sends for an object that the schema refuses.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.status.as_ref()?.reason.as_deref().filter(|r| !r.is_empty())
    }

    /// Whether the answer held a Status of the Kubernetes API. When it did not, something else
    /// than the API itself answered.
    #[must_use]
    pub fn has_status(&self) -> bool {
        self.status.is_some()
    }

    /// The server's own text: the Status' message, or the beginning (4 KiB) of a body that is no
    /// Status. **It can quote values of the manifest or of parameters**; log it knowingly.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.text
    }

    /// The Status' causes: every field that the server complained of.
    ///
    /// ```no_run
    /// # fn run(error: &openshift_templates::ApiError) {
    /// for cause in error.causes() {
    ///     println!("{:?}: {:?}", cause.field(), cause.reason());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn causes(&self) -> &[StatusCause] {
        self.details().and_then(|d| d.causes.as_deref()).unwrap_or_default()
    }

    /// How long the server asks to wait before the next attempt, if it says.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    fn details(&self) -> Option<&Details> {
        self.status.as_ref()?.details.as_ref()
    }

    /// Go's rule: a reason that the API conventions define speaks for itself; only without one
    /// does the code count.
    pub(super) fn is(&self, code: u16, reasons: &[&str]) -> bool {
        const KNOWN: &[&str] = &[
            "AlreadyExists",
            "BadRequest",
            "Conflict",
            "Expired",
            "Forbidden",
            "Gone",
            "InternalError",
            "Invalid",
            "MethodNotAllowed",
            "NotAcceptable",
            "NotFound",
            "RequestEntityTooLarge",
            "ServerTimeout",
            "ServiceUnavailable",
            "StoreReadError",
            "Timeout",
            "TooManyRequests",
            "Unauthorized",
            "UnsupportedMediaType",
        ];
        match self.reason() {
            Some(reason) if KNOWN.contains(&reason) => reasons.contains(&reason),
            _ => self.code == code,
        }
    }

    /// Whether this says that exactly the object `name` of `group` is absent: not its namespace,
    /// not its API, and not whatever a proxy on the way failed to find.
    pub(crate) fn is_absence_of(&self, group: &str, name: &str) -> bool {
        self.code == 404
            && self.reason() == Some("NotFound")
            && self.details().is_some_and(|details| {
                details.name.as_deref() == Some(name)
                    && details.group.as_deref().is_none_or(|g| g.is_empty() || g == group)
                    && details.kind.as_deref() != Some("namespaces")
            })
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Whether the namespace is what was not found.
    pub(crate) fn is_absence_of_namespace(&self) -> bool {
        self.code == 404 && self.details().is_some_and(|d| d.kind.as_deref() == Some("namespaces"))
    }

    /// Whether server-side apply refused the object by its schema. It answers 500 then, without a
    /// reason, before anything is written.
    pub(crate) fn is_schema_refusal(&self) -> bool {
        self.code == 500
            && self.status.as_ref().and_then(|s| s.message.as_deref()).is_some_and(|message| {
                message.starts_with("failed to create typed patch object")
                    || message.starts_with("failed to convert new object")
            })
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: the server answered {}", self.subject, self.code)?;
        if let Some(reason) = self.reason() {
            write!(f, " {}", one_line(reason))?;
        } else if !self.has_status() {
            f.write_str(" without a Status")?;
        }
        let mut separator = " (fields: ";
        for field in self.causes().iter().filter_map(StatusCause::field) {
            write!(f, "{separator}{}", one_line(field))?;
            separator = ", ";
        }
        f.write_str(if separator == ", " { ")" } else { "" })?;
        self.advice.map_or(Ok(()), |advice| write!(f, ": {advice}"))
    }
}

impl fmt::Debug for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiError")
            .field("subject", &self.subject)
            .field("code", &self.code)
            .field("reason", &self.reason())
            .field("causes", &self.causes())
            .field("retry_after", &self.retry_after)
            .finish_non_exhaustive()
    }
}

impl Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::request::Verb;

    fn api(code: u16, body: &str) -> ApiError {
        let subject = Subject::new(Verb::Get, "configmaps", Some("a"), Some("workers"));
        ApiError::new(subject, code, body.as_bytes(), None)
    }

    #[test]
    fn the_reason_counts_before_the_code() {
        let body = r#"{"kind":"Status","reason":"NotFound","code":404}"#;
        assert!(Error::from(api(500, body)).is_not_found());
        assert!(!Error::from(api(404, r#"{"kind":"Status","reason":"Gone"}"#)).is_not_found());
        assert!(Error::from(api(404, r#"{"kind":"Status","reason":"Own"}"#)).is_not_found());
        assert!(Error::from(api(404, "404 page not found\n")).is_not_found());
        assert!(
            Error::from(api(409, r#"{"kind":"Status","reason":"AlreadyExists"}"#)).is_conflict()
        );
    }

    #[test]
    fn neither_display_nor_debug_holds_the_servers_text() {
        let error = api(
            422,
            r#"{"kind":"Status","reason":"Invalid","message":"MARK","details":{"causes":[
                {"reason":"FieldValueInvalid","message":"MARK","field":"spec.a"}]}}"#,
        );
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("MARK"), "{shown}");
        assert!(shown.contains("spec.a"), "{shown}");
        assert_eq!(error.message(), "MARK");
        assert_eq!(
            error.to_string(),
            "get configmaps \"a\" in namespace \"workers\": the server answered 422 Invalid (fields: spec.a)"
        );
    }

    #[test]
    fn a_404_is_about_the_object_only_when_it_names_it() {
        let about = |details: &str| {
            api(404, &format!(r#"{{"kind":"Status","reason":"NotFound","details":{details}}}"#))
                .is_absence_of("apps", "a")
        };
        assert!(about(r#"{"name":"a","group":"apps","kind":"deployments"}"#));
        assert!(about(r#"{"name":"a","kind":"deployments"}"#));
        assert!(!about(r#"{"name":"a","group":"other","kind":"deployments"}"#));
        assert!(!about(r#"{"name":"b","group":"apps","kind":"deployments"}"#));
        assert!(!about(r#"{"name":"a","kind":"namespaces"}"#));
        assert!(!about("{}"));
        assert!(!api(404, "404 page not found\n").is_absence_of("apps", "a"));
    }

    #[test]
    fn retry_after_prefers_the_status() {
        let subject = || Subject::new(Verb::Get, "configmaps", Some("a"), Some("workers"));
        let header = Some(Duration::from_secs(9));
        let body = br#"{"kind":"Status","details":{"retryAfterSeconds":2}}"#;
        let own = ApiError::new(subject(), 429, body, header);
        assert_eq!(own.retry_after(), Some(Duration::from_secs(2)));
        assert_eq!(ApiError::new(subject(), 429, b"busy", header).retry_after(), header);
    }
}
