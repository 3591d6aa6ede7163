use std::error::Error as StdError;
use std::fmt;

use super::Failure;

/// The server would refuse some of the objects. Nothing was touched: it was asked by dry runs.
#[derive(Debug)]
pub struct PreflightError {
    refusals: Vec<Failure>,
}

impl PreflightError {
    pub(crate) fn new(refusals: Vec<Failure>) -> Self {
        Self { refusals }
    }

    /// Every refusal, in the order of the objects. Their outcomes are those of the dry runs.
    #[must_use]
    pub fn refusals(&self) -> &[Failure] {
        &self.refusals
    }

    /// Every refusal, owned.
    #[must_use]
    pub fn into_refusals(self) -> Vec<Failure> {
        self.refusals
    }
}

impl fmt::Display for PreflightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the dry run failed for ")?;
        for (i, refusal) in self.refusals.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, refusal.resource())?;
        }
        f.write_str("; nothing was touched")
    }
}

impl StdError for PreflightError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.refusals.first().map(|refusal| refusal.error() as _)
    }
}
