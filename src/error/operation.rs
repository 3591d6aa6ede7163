use std::error::Error as StdError;
use std::fmt;

use super::{Error, OwnershipError, Phase};
use crate::ResourceRef;

/// A create or delete that failed after it may have changed something.
#[derive(Debug)]
pub struct OperationError {
    operation: Operation,
    completed: Vec<ResourceRef>,
    failures: Vec<Failure>,
    not_attempted: Vec<ResourceRef>,
}

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Applying objects, in order, up to the first failure.
    Create,
    /// Deleting objects, in reverse order, all of them.
    Delete,
}

/// One object that could not be applied or deleted.
#[derive(Debug)]
pub struct Failure {
    resource: ResourceRef,
    error: Error,
    outcome: Outcome,
}

/// Whether a mutation that failed took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// No byte of the request can have left this process.
    NotSent,
    /// The server refused it and did nothing.
    Rejected,
    /// It may have taken effect: there was no answer, or none that says.
    Unknown,
}

impl Operation {
    fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Delete => "delete",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Outcome {
    fn of(error: &Error) -> Self {
        match error {
            // A look at the object before it would have been changed.
            Error::Api(answer) if !answer.subject().mutates() => Self::NotSent,
            Error::Transport(error) if !error.subject().mutates() => Self::NotSent,
            Error::Api(answer) if (300..500).contains(&answer.code()) => Self::Rejected,
            Error::Api(answer) if answer.is_schema_refusal() => Self::Rejected,
            Error::Transport(error) if error.phase() != Phase::Connect => Self::Unknown,
            // Each attempt was answered by a conflict.
            Error::Ownership(OwnershipError::KeepsChanging) => Self::Rejected,
            Error::Api(_) | Error::Operation(_) => Self::Unknown,
            // A credential that could not be had, and whatever else is found before sending.
            _ => Self::NotSent,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSent => "not sent",
            Self::Rejected => "rejected",
            Self::Unknown => "outcome unknown",
        })
    }
}

impl Failure {
    pub(crate) fn new(resource: ResourceRef, error: Error) -> Self {
        let outcome = Outcome::of(&error);
        Self { resource, error, outcome }
    }

    /// Which object.
    #[must_use]
    pub fn resource(&self) -> &ResourceRef {
        &self.resource
    }

    /// Why.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Whether it took effect all the same.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The parts, owned.
    #[must_use]
    pub fn into_parts(self) -> (ResourceRef, Error, Outcome) {
        (self.resource, self.error, self.outcome)
    }
}

impl OperationError {
    pub(crate) fn new(
        operation: Operation,
        completed: Vec<ResourceRef>,
        failures: Vec<Failure>,
        not_attempted: Vec<ResourceRef>,
    ) -> Self {
        Self { operation, completed, failures, not_attempted }
    }

    /// What was being done.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// What was applied (with the uids of the answers) or deleted, in that order.
    #[must_use]
    pub fn completed(&self) -> &[ResourceRef] {
        &self.completed
    }

    /// What failed, and why; one for a create, one or more for a delete.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        &self.failures
    }

    /// What a create did not come to. A delete tries every object, so that this is empty for it,
    /// unless it was cancelled or its deadline passed.
    #[must_use]
    pub fn not_attempted(&self) -> &[ResourceRef] {
        &self.not_attempted
    }

    /// What was completed, what failed, and what was not attempted, owned.
    ///
    /// ```no_run
    /// # fn run(error: openshift_templates::OperationError) {
    /// let (completed, failures, not_attempted) = error.into_parts();
    /// # let _ = (completed, failures, not_attempted);
    /// # }
    /// ```
    #[must_use]
    pub fn into_parts(self) -> (Vec<ResourceRef>, Vec<Failure>, Vec<ResourceRef>) {
        (self.completed, self.failures, self.not_attempted)
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed for ", self.operation)?;
        for (i, failure) in self.failures.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{} ({})", failure.resource, failure.outcome)?;
        }
        write!(f, "; {} completed", self.completed.len())?;
        if !self.not_attempted.is_empty() {
            write!(f, ", {} not attempted", self.not_attempted.len())?;
        }
        Ok(())
    }
}

impl StdError for OperationError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.failures.first().map(|failure| &failure.error as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ConfigError;

    #[test]
    fn a_credential_that_cannot_be_had_was_not_sent() {
        let error = Error::from(ConfigError::NotInCluster { missing: "token".to_owned() });
        let failure = Failure::new(ResourceRef::new("v1", "ConfigMap", "a"), error);
        assert_eq!(failure.outcome(), Outcome::NotSent);
    }
}
