use std::time::Duration;

use crate::{InvalidInput, Result};

/// How long one request may wait. An operation makes several requests, each with these bounds.
///
/// - `connect` bounds name resolution, TCP, a proxy's consent and TLS together. Defaults to 10 s.
/// - `read` is the longest wait between two bytes, in either direction: a slow answer that keeps
///   coming is not cut off. Defaults to 60 s.
///
/// Both defaults are the original's.
///
/// ```
/// use std::time::Duration;
/// use openshift_templates::Timeouts;
///
/// let timeouts = Timeouts::new(Duration::from_secs(5), Duration::from_secs(30))?;
/// assert_eq!(timeouts.connect(), Duration::from_secs(5));
/// assert_eq!(Timeouts::default().read(), Duration::from_secs(60));
/// # Ok::<(), openshift_templates::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    connect: Duration,
    read: Duration,
}

/// Beyond this a bound is a mistake in the unit, and sums of it overflow somewhere.
const ABSURD: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Timeouts {
    /// Bounds connecting and reading each.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::Timeout`] when one of them is zero or a year and more.
    pub fn new(connect: Duration, read: Duration) -> Result<Self> {
        for (argument, value) in [("connect", connect), ("read", read)] {
            if value.is_zero() || value >= ABSURD {
                return Err(InvalidInput::Timeout { argument }.into());
            }
        }
        Ok(Self { connect, read })
    }

    /// The same bound for connecting and for reading.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::Timeout`] when it is zero or a year and more.
    ///
    /// ```
    /// use std::time::Duration;
    /// use openshift_templates::Timeouts;
    ///
    /// assert!(Timeouts::both(Duration::from_secs(5)).is_ok());
    /// assert!(Timeouts::both(Duration::ZERO).is_err());
    /// ```
    pub fn both(bound: Duration) -> Result<Self> {
        Self::new(bound, bound)
    }

    /// The bound on connecting.
    #[must_use]
    pub fn connect(&self) -> Duration {
        self.connect
    }

    /// The longest wait between two bytes.
    #[must_use]
    pub fn read(&self) -> Duration {
        self.read
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), read: Duration::from_secs(60) }
    }
}
