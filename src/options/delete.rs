use std::time::Duration;

use crate::{InvalidInput, Manifest, ResourceRef, Result, Shape};

/// What happens to the objects that a deleted object owns (the API's `propagationPolicy`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PropagationPolicy {
    /// The object goes at once, its dependents after it.
    #[default]
    Background,
    /// The object stays, marked as being deleted, until its dependents are gone.
    Foreground,
    /// The dependents stay.
    Orphan,
}

impl PropagationPolicy {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Background => "Background",
            Self::Foreground => "Foreground",
            Self::Orphan => "Orphan",
        }
    }
}

/// How [`delete_with`](crate::Namespace::delete_with) deletes.
///
/// ```
/// use openshift_templates::{DeleteOptions, PropagationPolicy};
///
/// let options = DeleteOptions::new().propagation(PropagationPolicy::Foreground).dry_run(true);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteOptions {
    pub(crate) propagation: PropagationPolicy,
    pub(crate) dry_run: bool,
    pub(crate) grace_period: Option<Duration>,
    pub(crate) only_managed_by: Option<String>,
    unchanged_since: Vec<(ResourceRef, Option<String>)>,
}

impl DeleteOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What happens to dependents. Defaults to [`PropagationPolicy::Background`], as kubectl's
    /// does; the API's own default differs by kind.
    #[must_use]
    pub fn propagation(mut self, policy: PropagationPolicy) -> Self {
        self.propagation = policy;
        self
    }

    /// Whether the server shall do everything but delete. Defaults to `false`.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// How long a pod may take to end, in whole seconds; zero ends it at once. Defaults to what
    /// the object says.
    #[must_use]
    pub fn grace_period(mut self, grace_period: Duration) -> Self {
        self.grace_period = Some(grace_period);
        self
    }

    /// Deletes an object only if this field manager applied or created it, which is read from the
    /// object first. What that read found is a precondition: an object that another took the name
    /// of in between is left alone. Defaults to deleting whatever has the name.
    ///
    /// Any entry of that manager in `metadata.managedFields` counts, `Apply` or `Update`, so an object
    /// that it shares with others is its own too. Objects of others, and objects that do not say, are left alone and reported as failures
    /// with an [`OwnershipError`](crate::OwnershipError). It needs the verb `get`.
    ///
    /// ```no_run
    /// # use openshift_templates::{DeleteOptions, Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// // After a restart, with nothing saved: what this scheduler did not make is not its to delete.
    /// workers.delete_with(job, &DeleteOptions::new().only_managed_by("mini-scheduler"))?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn only_managed_by(mut self, field_manager: impl Into<String>) -> Self {
        self.only_managed_by = Some(field_manager.into());
        self
    }

    /// Deletes these objects only if they are still as they were read: each one's uid and
    /// resourceVersion become preconditions of its deletion. Objects not among them are not
    /// affected. Defaults to none.
    ///
    /// ```no_run
    /// # use openshift_templates::{DeleteOptions, Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// let live = workers.get(job)?;
    /// workers.delete_with(job, &DeleteOptions::new().unchanged_since(&live))?;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn unchanged_since(mut self, live: &[Manifest]) -> Self {
        self.unchanged_since = live
            .iter()
            .filter_map(|object| {
                let version = object.resource_version().map(str::to_owned);
                Some((object.reference()?, version))
            })
            .collect();
        self
    }

    /// The uid and resourceVersion that the object was read with. The version of its group does not
    /// matter: it is the same object.
    pub(crate) fn read_as(&self, target: &ResourceRef) -> Option<(Option<&str>, Option<&str>)> {
        let same = |(read, _): &&(ResourceRef, Option<String>)| {
            (read.group(), read.kind(), read.name())
                == (target.group(), target.kind(), target.name())
        };
        let found = self.unchanged_since.iter().find(same);
        found.map(|(read, version)| (read.uid(), version.as_deref()))
    }

    pub(crate) fn check(&self) -> Result<()> {
        let no_version = |(_, version): &&(ResourceRef, Option<String>)| {
            version.as_deref().unwrap_or_default().is_empty()
        };
        if let Some((read, _)) = self.unchanged_since.iter().find(no_version) {
            return Err(InvalidInput::NoResourceVersion { resource: read.to_string() }.into());
        }
        match &self.only_managed_by {
            Some(manager) if manager.trim().is_empty() => {
                Err(InvalidInput::FieldManager { shape: Shape::of(manager, |_| true) }.into())
            }
            _ => Ok(()),
        }
    }
}
