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
    timed_out: bool,
    source: Box<dyn Error + Send + Sync>,
}

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Name resolution, TCP, a proxy's consent, TLS: nothing of the request was sent.
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
        timed_out: bool,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self { parts: Box::new(Parts { subject, phase, timed_out, source: source.into() }) }
    }

    pub(crate) fn answer(subject: Subject, problem: AnswerProblem) -> Self {
        Self::new(subject, Phase::Answer, false, problem)
    }

    pub(crate) fn subject(&self) -> &Subject {
        &self.parts.subject
    }

    /// How far the request came.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.parts.phase
    }

    /// Whether a configured [timeout](crate::Timeouts) ran out.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.parts.timed_out
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { subject, phase, timed_out, .. } = &*self.parts;
        let what = match (phase, timed_out) {
            (Phase::Connect, false) => "could not connect",
            (Phase::Connect, true) => "connecting took too long",
            (Phase::Exchange, false) => "the connection broke before an answer",
            (Phase::Exchange, true) => "the server did not answer in time",
            (Phase::Answer, false) => "the answer is unusable",
            (Phase::Answer, true) => "the answer did not arrive in time",
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
    Truncated,
    NotJson { line: usize, column: usize },
    NotAnObject,
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
        Self::NotJson { line: error.line(), column: error.column() }
    }
}

impl fmt::Display for AnswerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("the answer ends too early"),
            Self::NotJson { line, column } => {
                write!(f, "the answer is not JSON at line {line} column {column}")
            }
            Self::NotAnObject => f.write_str("the answer is no JSON object"),
            Self::OtherObject { field } => {
                write!(f, "the answer is about another object: its {field} differs")
            }
            Self::NoUid => f.write_str("the answer holds no metadata.uid"),
            Self::Field { field } => write!(f, "the answer's {field} is of the wrong type"),
        }
    }
}

impl Error for AnswerProblem {}
