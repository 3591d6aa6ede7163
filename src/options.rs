use crate::{InvalidInput, Result, Shape};

/// How [`create_with`](crate::Namespace::create_with) applies.
///
/// ```
/// use openshift_templates::CreateOptions;
///
/// let options = CreateOptions::new().field_manager("deployer").force(true);
/// # let _ = options;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CreateOptions {
    pub(crate) field_manager: String,
    pub(crate) force: bool,
    pub(crate) dry_run: bool,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self { field_manager: "mini-scheduler".to_owned(), force: false, dry_run: false }
    }
}

impl CreateOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The owner of the applied fields, nonblank, at most 128 characters (the API's bound).
    /// Defaults to `mini-scheduler`, the original's name, so that objects of jobs started by it
    /// stay with their owner.
    #[must_use]
    pub fn field_manager(mut self, name: impl Into<String>) -> Self {
        self.field_manager = name.into();
        self
    }

    /// Whether to take fields over from other field managers instead of failing with a conflict.
    /// Defaults to `false`.
    #[must_use]
    pub fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// Whether the server shall do everything but store the objects. Defaults to `false`. The uid
    /// of an object that a dry run would have created is made up by the server.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        let manager = &self.field_manager;
        if manager.trim().is_empty() || manager.chars().count() > 128 {
            let shape = Shape::of(manager, |_| true);
            return Err(InvalidInput::FieldManager { shape }.into());
        }
        Ok(())
    }
}

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
}
