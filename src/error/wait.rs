use std::error::Error as StdError;
use std::fmt;

use super::Error;
use crate::ObjectStatus;

/// What was waited for did not come in time.
#[derive(Debug)]
pub struct WaitError {
    pending: Vec<ObjectStatus>,
    last_error: Option<Error>,
}

impl WaitError {
    pub(crate) fn new(pending: Vec<ObjectStatus>, last_error: Option<Error>) -> Self {
        Self { pending, last_error }
    }

    /// The objects for which it did not hold, each in the state in which it was last seen. An
    /// object that could not be read at all counts as absent here.
    #[must_use]
    pub fn pending(&self) -> &[ObjectStatus] {
        &self.pending
    }
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the deadline passed, waiting for ")?;
        for (i, object) in self.pending.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{} ({})", object.reference(), object.state())?;
        }
        Ok(())
    }
}

impl StdError for WaitError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.last_error.as_ref().map(|error| error as _)
    }
}
