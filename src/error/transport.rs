use std::error::Error;
use std::fmt;

use crate::request::Subject;

/// There was no usable answer: the network, a proxy, TLS, or something that is not an API server.
#[derive(Debug)]
pub struct TransportError {
    parts: Box<Parts>,
}

#[derive(Debug)]
struct Parts {
    subject: Subject,
    phase: Phase,
    how: Break,
    source: Box<dyn Error + Send + Sync>,
}

/// How a request ended without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    Failed,
    /// One of the request's own timeouts ran out.
    TimedOut,
    Interrupted(Interruption),
}

/// Why an operation may go no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interruption {
    Deadline,
    Cancelled,
}

impl fmt::Display for Interruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Deadline => "the operation's deadline has passed",
            Self::Cancelled => "the operation was cancelled",
        })
    }
}

impl Error for Interruption {}

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Before there was a connection: name resolution, TCP, a proxy's consent, TLS. Nothing of the
    /// request was sent.
    Connect,
    /// Sending the request or waiting for the answer's beginning.
    Exchange,
    /// The answer began, and then did not arrive whole or made no sense.
    Answer,
}

impl TransportError {
    pub(crate) fn new(
        subject: Subject,
        phase: Phase,
        how: Break,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { parts: Box::new(Parts { subject, phase, how, source: source.into() }) }
    }

    pub(crate) fn answer(subject: Subject, problem: AnswerProblem) -> Self {
        Self::new(subject, Phase::Answer, Break::Failed, problem)
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.parts.subject
    }

    /// How far the request came.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.parts.phase
    }

    /// Whether a configured [timeout](crate::Timeouts) or the operation's
    /// [deadline](crate::Namespace::with_deadline) ran out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.parts.how, Break::TimedOut | Break::Interrupted(Interruption::Deadline))
    }

    /// Whether the operation was [cancelled](crate::CancelToken).
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.parts.how == Break::Interrupted(Interruption::Cancelled)
    }

    /// The [limit](crate::Config::answer_limit) in bytes, when it was a successful answer longer
    /// than that.
    ///
    /// ```no_run
    /// # use openshift_templates::{Error, Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) {
    /// if let Err(Error::Transport(error)) = workers.process(job) {
    ///     assert!(error.exceeded_limit().is_none(), "raise Config::answer_limit");
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn exceeded_limit(&self) -> Option<u64> {
        match self.parts.source.downcast_ref() {
            Some(AnswerProblem::TooLong { limit }) => Some(*limit),
            _ => None,
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { subject, phase, how, .. } = &*self.parts;
        let what = match (phase, how) {
            (Phase::Connect, Break::Failed) => "could not connect",
            (Phase::Connect, Break::TimedOut) => "connecting took too long",
            (Phase::Exchange, Break::Failed) => "the connection broke before an answer",
            (Phase::Exchange, Break::TimedOut) => "the server did not answer in time",
            (Phase::Answer, Break::Failed) => "the answer is unusable",
            (Phase::Answer, Break::TimedOut) => "the answer did not arrive in time",
            (Phase::Connect, Break::Interrupted(why)) => {
                return write!(f, "{subject}: not sent, {why}");
            }
            (_, Break::Interrupted(why)) => return write!(f, "{subject}: cut off, {why}"),
        };
        write!(f, "{subject}: {what}")
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.parts.source)
    }
}

/// What is wrong with an answer that says success. Texts of serde quote values, so a position is
/// all that is kept of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnswerProblem {
    TooLong { limit: u64 },
    TooDeep,
    Truncated,
    NotJson { line: usize, column: usize },
    NotAnObject,
    NotSuccess,
    OtherObject { field: &'static str },
    NoUid,
    Field { field: &'static str },
}

impl From<serde_json::Error> for AnswerProblem {
    fn from(error: serde_json::Error) -> Self {
        // A body whose end only the closing of the connection marks can be cut anywhere.
        if error.is_eof() {
            return Self::Truncated;
        }
        // serde_json has no other sign of it.
        if error.to_string().starts_with("recursion limit exceeded") {
            return Self::TooDeep;
        }
        Self::NotJson { line: error.line(), column: error.column() }
    }
}

impl fmt::Display for AnswerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { limit } => {
                write!(f, "the answer is longer than {limit} bytes (Config::answer_limit)")
            }
            Self::TooDeep => f.write_str("the answer nests deeper than 127 levels"),
            Self::Truncated => f.write_str("the answer ends too early"),
            Self::NotJson { line, column } => {
                write!(f, "the answer is not JSON at line {line} column {column}")
            }
            Self::NotAnObject => f.write_str("the answer is no JSON object"),
            Self::NotSuccess => f.write_str("the answer is a Status that does not say Success"),
            Self::OtherObject { field } => {
                write!(f, "the answer is about another object: its {field} differs")
            }
            Self::NoUid => f.write_str("the answer holds no metadata.uid"),
            Self::Field { field } => write!(f, "the answer's {field} is of the wrong type"),
        }
    }
}

impl Error for AnswerProblem {}
