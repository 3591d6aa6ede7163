//! What the client's answers say about each object.

use std::sync::{Mutex, MutexGuard, PoisonError};

use openshift_templates::{Error, Operation, OperationError, Outcome, ResourceRef};

use crate::{Failure, Result};

/// The kinds of the worker template, and what is added to its name.
const KINDS: [(&str, &str, &str); 3] = [
    ("v1", "ConfigMap", "-config"),
    ("v1", "Secret", "-secret"),
    ("kubevirt.io/v1", "VirtualMachine", ""),
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Known {
    #[default]
    Absent,
    Present(String),
    Unknown,
}

/// What is known of the objects of each job. It is made whole at the start, so that it does not
/// look like growth of the client.
pub(crate) struct Ledger(Vec<Mutex<[Known; KINDS.len()]>>);

impl Ledger {
    pub(crate) fn new(jobs: usize) -> Self {
        Self((0..jobs).map(|_| Mutex::default()).collect())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn job(&self, number: usize) -> Result<MutexGuard<'_, [Known; KINDS.len()]>> {
        let job = self.0.get(number).ok_or("there is no such job")?;
        Ok(job.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Every object with the number of its job, and what is known of it.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (usize, ResourceRef, Known)> {
        (0..self.len()).flat_map(|number| {
            let job = self.job(number).map(|job| job.clone()).unwrap_or_default();
            references(number).into_iter().zip(job).map(move |(r, known)| (number, r, known))
        })
    }

    /// Settles what an object of a job is.
    pub(crate) fn set(&self, number: usize, reference: &ResourceRef, known: Known) -> Result<()> {
        *entry(&mut *self.job(number)?, reference)? = known;
        Ok(())
    }

    /// Notes what an operation on some of a job's objects reported: all of them are done, or
    /// some.
    pub(crate) fn note(
        &self,
        number: usize,
        operation: Operation,
        reported: openshift_templates::Result<Vec<ResourceRef>>,
    ) -> Result<()> {
        let (completed, failures) = match reported {
            Ok(completed) => (completed, Vec::new()),
            Err(Error::Operation(error)) => parts(*error),
            // It ended before any object was touched.
            Err(_) => return Ok(()),
        };
        let mut job = self.job(number)?;
        for reference in completed {
            *entry(&mut job, &reference)? = match operation {
                Operation::Delete => Known::Absent,
                _ => Known::Present(reference.uid().ok_or("a reference has no uid")?.to_owned()),
            };
        }
        for (reference, outcome) in failures {
            if outcome == Outcome::Unknown {
                *entry(&mut job, &reference)? = Known::Unknown;
            }
        }
        Ok(())
    }
}

fn parts(error: OperationError) -> (Vec<ResourceRef>, Vec<(ResourceRef, Outcome)>) {
    let (completed, failures, _) = error.into_parts();
    let outcome = |failure: openshift_templates::Failure| {
        let (reference, _, outcome) = failure.into_parts();
        (reference, outcome)
    };
    (completed, failures.into_iter().map(outcome).collect())
}

pub(crate) fn name(number: usize) -> String {
    format!("load-{number:06}")
}

fn references(number: usize) -> [ResourceRef; KINDS.len()] {
    let name = name(number);
    KINDS.map(|(version, kind, suffix)| ResourceRef::new(version, kind, format!("{name}{suffix}")))
}

fn entry<'a>(job: &'a mut [Known; KINDS.len()], reference: &ResourceRef) -> Result<&'a mut Known> {
    let kind = KINDS.iter().position(|(_, kind, _)| *kind == reference.kind());
    let known = kind.and_then(|kind| job.get_mut(kind));
    known.ok_or_else(|| Failure::from(format!("{reference} is of no kind of the Template")))
}
