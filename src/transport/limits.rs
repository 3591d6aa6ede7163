use std::time::{Duration, Instant};

use super::cancel::CancelToken;
use crate::Timeouts;
use crate::error::Interruption;

/// How long the requests of one operation may take.
#[derive(Clone, Default)]
pub(crate) struct Limits {
    /// For each request.
    pub(crate) timeouts: Timeouts,
    /// For all of them together.
    pub(crate) end: Option<Instant>,
    pub(crate) cancel: Option<CancelToken>,
}

impl Limits {
    pub(crate) fn interruption(&self) -> Option<Interruption> {
        if self.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Some(Interruption::Cancelled);
        }
        self.remaining().is_some_and(|left| left.is_zero()).then_some(Interruption::Deadline)
    }

    /// What is left until the deadline, if there is one.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }
}
