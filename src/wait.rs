use std::fmt;
use std::time::Duration;

use crate::Manifest;
use crate::status::condition;

/// What to wait for, and how often to look. How long is [`Namespace::with_deadline`]'s to say, as for
/// every operation.
///
/// [`Namespace::with_deadline`]: crate::Namespace::with_deadline
///
/// ```no_run
/// # use openshift_templates::{Namespace, ResourceRef, Wait};
/// # use std::time::Duration;
/// # fn run(workers: &Namespace, references: &Vec<ResourceRef>) -> openshift_templates::Result<()> {
/// let patient = workers.clone().with_deadline(Duration::from_secs(600));
/// patient.wait(references, &Wait::until_condition("Ready", "True"))?;
/// workers.delete(references)?;
/// workers.wait(references, &Wait::until_absent())?;
/// # Ok(()) }
/// ```
pub struct Wait {
    pub(crate) until: Until,
    pub(crate) interval: Duration,
}

pub(crate) enum Until {
    Absent,
    Condition { name: String, status: String },
    Predicate(Box<dyn Fn(&Manifest) -> bool + Send + Sync>),
}

impl Wait {
    /// Until the objects are gone: each reference's uid, when it has one (an object of the same
    /// name with another uid is another object), else its name.
    #[must_use]
    pub fn until_absent() -> Self {
        Self::until(Until::Absent)
    }

    /// Until this condition of each object's `status.conditions` has this status (`True`, `False`
    /// or `Unknown`). An object that does not exist has no condition.
    #[must_use]
    pub fn until_condition(name: impl Into<String>, status: impl Into<String>) -> Self {
        Self::until(Until::Condition { name: name.into(), status: status.into() })
    }

    /// Until each object exists and this holds for it.
    ///
    /// ```
    /// use openshift_templates::Wait;
    ///
    /// let running = Wait::until_each(|live| {
    ///     live.status().and_then(|status| status.get("phase")).is_some_and(|phase| phase == "Running")
    /// });
    /// # let _ = running;
    /// ```
    #[must_use]
    pub fn until_each(predicate: impl Fn(&Manifest) -> bool + Send + Sync + 'static) -> Self {
        Self::until(Until::Predicate(Box::new(predicate)))
    }

    fn until(until: Until) -> Self {
        Self { until, interval: Duration::from_secs(2) }
    }

    /// How long to wait between two looks, give or take a quarter, so that many waiters do not
    /// look all at once. Defaults to two seconds; at least a millisecond, at most an hour.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Whether this is what is being waited for. `live` is the object with the uid that is meant.
    pub(crate) fn holds(&self, live: Option<&Manifest>) -> bool {
        match (&self.until, live) {
            (Until::Absent, live) => live.is_none(),
            (_, None) => false,
            (Until::Condition { name, status }, Some(live)) => {
                condition(live, name).is_some_and(|(found, _)| found == *status)
            }
            (Until::Predicate(predicate), Some(live)) => predicate(live),
        }
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let until = match &self.until {
            Until::Absent => "absent".to_owned(),
            Until::Condition { name, status } => format!("{name}={status}"),
            Until::Predicate(_) => "a predicate".to_owned(),
        };
        f.debug_struct("Wait").field("until", &until).field("interval", &self.interval).finish()
    }
}
