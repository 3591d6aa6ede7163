//! The one error type, made of leaves that hold data. Sentences are made in `Display` alone.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

mod api;
mod certificate;
mod config;
mod discovery;
mod exec;
mod input;
mod manifest;
mod operation;
mod ownership;
mod preflight;
mod transport;
mod wait;

pub use api::{ApiError, StatusCause};
pub(crate) use certificate::{CertificateError, CertificateProblem, Presented};
pub use config::{ConfigError, ConfigField, ConfigProblem};
pub use discovery::DiscoveryError;
pub use exec::{ExecError, ExecProblem};
pub use input::{InvalidInput, Shape};
pub use manifest::{ManifestError, ManifestProblem};
pub use operation::{Failure, Operation, OperationError, Outcome};
pub use ownership::OwnershipError;
pub use preflight::PreflightError;
pub(crate) use transport::{AnswerProblem, Break, Interruption};
pub use transport::{Phase, TransportError};
pub use wait::WaitError;

/// What every fallible function of this crate returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, by who has to act.
///
/// **Any error but [`Error::Operation`] means that no object was touched**: inputs, credentials,
/// rendering and every target are settled before the first mutation.
///
/// `Display` and `Debug` hold what this level knows: the verb, the identity, the code, the reason
/// and the fields that the server complained of. They never hold a token, a parameter's value or
/// a body. The cause is had through [`source`](StdError::source) and is not printed twice.
///
/// ```no_run
/// use openshift_templates::{Error, Namespace, Template};
///
/// # fn run(workers: &Namespace, job: &Template) {
/// match workers.create(job) {
///     Ok(references) => println!("{} objects", references.len()),
///     Err(Error::Operation(error)) => {
///         for failure in error.failures() {
///             println!("{}: {} ({})", failure.resource(), failure.error(), failure.outcome());
///         }
///     }
///     Err(error) => println!("nothing was touched: {error}"),
/// }
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The kubeconfig, the pod's credentials or a [`Config`](crate::Config) cannot be used.
    Config(Box<ConfigError>),
    /// The caller passed something that no cluster could accept.
    InvalidInput(InvalidInput),
    /// The Template rendered an object that this library will not touch.
    InvalidManifest(Box<ManifestError>),
    /// The cluster does not serve the kind.
    Discovery(DiscoveryError),
    /// The API server answered with something other than success.
    Api(Box<ApiError>),
    /// There was no usable answer.
    Transport(TransportError),
    /// A dry run says that the server would refuse objects.
    Preflight(Box<PreflightError>),
    /// An object was left alone because it is not provably the caller's. Only within an
    /// [`Error::Operation`].
    Ownership(OwnershipError),
    /// What was waited for did not come in time.
    Wait(Box<WaitError>),
    /// A create or delete took effect in part, or may have.
    Operation(Box<OperationError>),
}

impl Error {
    /// The API server's answer, of this error or of the first failure of an operation.
    ///
    /// ```no_run
    /// # fn run(error: openshift_templates::Error) {
    /// if let Some(answer) = error.as_api() {
    ///     println!("{} {}", answer.code(), answer.reason().unwrap_or("without a reason"));
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn as_api(&self) -> Option<&ApiError> {
        match self {
            Self::Api(error) => Some(error),
            _ => self.first_failure()?.error().as_api(),
        }
    }

    /// What an interrupted create or delete did and did not do.
    ///
    /// ```no_run
    /// # fn run(error: openshift_templates::Error) {
    /// if let Some(operation) = error.as_operation() {
    ///     println!("{} done before it stopped", operation.completed().len());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn as_operation(&self) -> Option<&OperationError> {
        match self {
            Self::Operation(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the server said that something does not exist (reason `NotFound`, or a 404).
    ///
    /// Like all predicates here it speaks of the first failure of an [`Error::Operation`] or
    /// [`Error::Preflight`], and
    /// takes the reason before the code, as Go's `apierrors` package does.
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// match workers.get(job) {
    ///     Ok(objects) => println!("{} objects", objects.len()),
    ///     Err(error) if error.is_not_found() => println!("not there (yet)"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.as_api().is_some_and(|e| e.is(404, &["NotFound"]))
    }

    /// Whether the identity may not do this (reason `Forbidden`, or a 403).
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.as_api().is_some_and(|e| e.is(403, &["Forbidden"]))
    }

    /// Whether the credentials were not accepted (reason `Unauthorized`, or a 401).
    #[must_use]
    pub fn is_unauthorized(&self) -> bool {
        self.as_api().is_some_and(|e| e.is(401, &["Unauthorized"]))
    }

    /// Whether the object is in a state that contradicts the request: another field manager owns a
    /// field, the uid is another one, or the object exists (reason `Conflict` or `AlreadyExists`,
    /// or a 409).
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.as_api().is_some_and(|e| e.is(409, &["Conflict", "AlreadyExists"]))
    }

    /// Whether time ran out: a configured [timeout](crate::Timeouts), the operation's
    /// [deadline](crate::Namespace::with_deadline), or the server's own (reason `Timeout`, or a
    /// 504). Of a mutation this says nothing about whether it took effect: see
    /// [`Failure::outcome`].
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Transport(error) => error.is_timeout(),
            Self::Wait(_) => true,
            Self::Api(error) => error.is(504, &["Timeout"]),
            _ => self.first_failure().is_some_and(|failure| failure.error().is_timeout()),
        }
    }

    /// Whether the operation was ended by its [`CancelToken`](crate::CancelToken), whatever had
    /// failed before.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Transport(error) => error.is_cancelled(),
            _ => self.failures().iter().any(|failure| failure.error().is_cancelled()),
        }
    }

    /// Whether the server asks to slow down (reason `TooManyRequests`, or a 429, or a 503 that says
    /// when to come again). [`retry_after`](Self::retry_after) says for how long. The library does
    /// not send anything again on its own. Of a mutation, only the 429 says that it was refused:
    /// see [`Failure::outcome`].
    #[must_use]
    pub fn is_throttled(&self) -> bool {
        self.as_api().is_some_and(|e| {
            let told_to_wait = e.code() == 503 && e.retry_after().is_some();
            told_to_wait || e.is(429, &["TooManyRequests"])
        })
    }

    /// How long the server asks to wait before the next attempt, if it says: the Status' own
    /// `retryAfterSeconds`, else the `Retry-After` header, which is seconds or a date.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.as_api()?.retry_after()
    }

    /// Whether the namespace is being deleted, so that nothing can be rendered or created in it.
    /// Deleting by [references](crate::ResourceRef) still works there.
    #[must_use]
    pub fn is_namespace_terminating(&self) -> bool {
        self.as_api().is_some_and(|e| {
            e.causes().iter().any(|cause| cause.reason() == Some("NamespaceTerminating"))
        })
    }

    fn first_failure(&self) -> Option<&Failure> {
        self.failures().first()
    }

    fn failures(&self) -> &[Failure] {
        match self {
            Self::Operation(error) => error.failures(),
            Self::Preflight(error) => error.refusals(),
            _ => &[],
        }
    }

    fn leaf(&self) -> &(dyn StdError + 'static) {
        match self {
            Self::Config(leaf) => &**leaf,
            Self::InvalidInput(leaf) => leaf,
            Self::InvalidManifest(leaf) => &**leaf,
            Self::Discovery(leaf) => leaf,
            Self::Api(leaf) => &**leaf,
            Self::Transport(leaf) => leaf,
            Self::Preflight(leaf) => &**leaf,
            Self::Ownership(leaf) => leaf,
            Self::Wait(leaf) => &**leaf,
            Self::Operation(leaf) => &**leaf,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.leaf(), f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.leaf().source()
    }
}

macro_rules! from_leaf {
    ($($leaf:ident => $variant:ident),* $(,)?) => {
        $(impl From<$leaf> for Error {
            fn from(leaf: $leaf) -> Self {
                Self::$variant(leaf.into())
            }
        })*
    };
}

from_leaf! {
    ConfigError => Config,
    InvalidInput => InvalidInput,
    ManifestError => InvalidManifest,
    DiscoveryError => Discovery,
    ApiError => Api,
    TransportError => Transport,
    PreflightError => Preflight,
    OwnershipError => Ownership,
    WaitError => Wait,
    OperationError => Operation,
}

/// Text from the other side, fit for one line of a log: no control characters, no more than a
/// few words of it.
pub(crate) fn one_line(text: &str) -> String {
    const LIMIT: usize = 200;
    let mut line = String::new();
    for c in text.chars().take(LIMIT) {
        match c {
            '"' | '\'' => line.push(c),
            c => line.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(LIMIT).is_some() {
        line.push('…');
    }
    line
}
