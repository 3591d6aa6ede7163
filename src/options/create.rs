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
#[allow(clippy::struct_excessive_bools, reason = "each is an independent switch")]
pub struct CreateOptions {
    pub(crate) field_manager: String,
    pub(crate) force: bool,
    pub(crate) dry_run: bool,
    pub(crate) preflight: bool,
    pub(crate) require_new: bool,
    pub(crate) compare: bool,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            field_manager: "mini-scheduler".to_owned(),
            force: false,
            dry_run: false,
            preflight: false,
            require_new: false,
            compare: false,
        }
    }
}

impl CreateOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The owner of the applied fields, nonblank, printable, at most 128 bytes (the API's bounds).
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

    /// Whether the server shall try every object and store none. All refusals are reported
    /// together, as [`Error::Preflight`](crate::Error::Preflight). Defaults to `false`. The uid of
    /// an object that would have been created is made up by the server.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Whether to make a dry run of every object before the first is touched: schema, admission,
    /// quota, rights and conflicts then fail as [`Error::Preflight`](crate::Error::Preflight), all
    /// refusals together. Defaults to `false`.
    ///
    /// It cannot foresee what changes in between, nor an object that only an earlier one of the
    /// same Template makes possible (that is refused although it would succeed), nor webhooks that
    /// do not support dry runs.
    #[must_use]
    pub fn preflight(mut self, preflight: bool) -> Self {
        self.preflight = preflight;
        self
    }

    /// Whether an object that exists is a conflict, instead of being brought into the rendered
    /// state. Defaults to `false`.
    ///
    /// [`force`](Self::force) and [`compare`](Self::compare) have nothing to do then.
    ///
    /// Objects are created by POST then, so that of two racing creators one fails. The API notes
    /// their fields as this manager's by `Update`, not by `Apply`: a later `create` that changes
    /// one of them needs [`force`](Self::force).
    #[must_use]
    pub fn require_new(mut self, require_new: bool) -> Self {
        self.require_new = require_new;
        self
    }

    /// Whether to read each object before applying it, to tell changed ones from unchanged ones in
    /// [`Applied::change`](crate::Applied::change). Defaults to `false`. It needs the verb `get`.
    #[must_use]
    pub fn compare(mut self, compare: bool) -> Self {
        self.compare = compare;
        self
    }

    pub(crate) fn check(&self) -> Result<()> {
        let manager = &self.field_manager;
        let fits = manager.len() <= 128 && !manager.contains(char::is_control);
        if manager.trim().is_empty() || !fits {
            let shape = Shape::of(manager, |_| true);
            return Err(InvalidInput::FieldManager { shape }.into());
        }
        Ok(())
    }
}
