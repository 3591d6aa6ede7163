use std::time::{Duration, Instant};

#[cfg(doc)]
use crate::Error;
use crate::observer::Observer;
use crate::operations;
use crate::scope::Scope;
use crate::transport::Limits;
use crate::{
    Access, Applied, CancelToken, Client, CreateOptions, DeleteOptions, Event, Manifest,
    MissingAccess, ObjectStatus, Parameter, Plan, ProcessedTemplate, ResourceRef, Result,
    Selection, Template, Timeouts, Wait,
};

/// Everything that can be done with Templates in one namespace.
///
/// Each operation settles its inputs, its rendering and all of its targets before it touches the
/// first object. See [`Error`] for what a failure says.
#[derive(Clone, Debug)]
pub struct Namespace {
    client: Client,
    name: String,
    timeouts: Timeouts,
    deadline: Option<Duration>,
    cancel: Option<CancelToken>,
    observer: Observer,
}

impl Namespace {
    pub(crate) fn new(client: Client, name: String, timeouts: Timeouts) -> Self {
        Self { client, name, timeouts, deadline: None, cancel: None, observer: Observer::default() }
    }

    /// The namespace's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The client that this handle belongs to.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The same namespace with other bounds on each request. Defaults to the
    /// [configuration's](crate::Config::timeouts).
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Timeouts};
    /// # fn run(workers: &Namespace) -> openshift_templates::Result<()> {
    /// let patient = workers.clone().with_timeouts(Timeouts::both(std::time::Duration::from_secs(300))?);
    /// # let _ = patient;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// The same namespace with a bound on each operation as a whole, counted from its beginning.
    /// Defaults to none: an operation takes as long as its requests, each of which has its
    /// [timeouts](crate::Config::timeouts); [`wait`](Self::wait) alone ends after five minutes.
    ///
    /// At the deadline the request in flight is cut off, however fast its answer drips, and no
    /// further one is sent. A credential plugin that is running ends by its own limit.
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// let hurried = workers.clone().with_deadline(std::time::Duration::from_secs(90));
    /// if let Err(error) = hurried.create(job) {
    ///     assert!(!error.is_timeout(), "not done in time: {error}");
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The same namespace, whose operations end when the token is cancelled. See [`CancelToken`].
    #[must_use]
    pub fn with_cancel_token(mut self, token: &CancelToken) -> Self {
        self.cancel = Some(token.clone());
        self
    }

    /// The same namespace, telling what is about to happen to each object and what has happened, on
    /// the thread that does it. See [`Event`].
    #[must_use]
    pub fn with_observer(mut self, observer: impl Fn(Event<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Observer::new(observer);
        self
    }

    /// Has OpenShift render a Template, and creates nothing.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] for bad names, unknown parameters and parameters that would be
    /// generated; [`Error::Discovery`] when the cluster has no template API; [`Error::Api`] and
    /// [`Error::Transport`] as the server and the network have it.
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace) -> openshift_templates::Result<()> {
    /// let processed = workers.process(&Template::new("worker-template").in_namespace("infra"))?;
    /// println!("{} objects", processed.manifests().len());
    /// # Ok(()) }
    /// ```
    pub fn process(&self, template: &Template) -> Result<ProcessedTemplate> {
        operations::process::process(&self.begin(), template)
    }

    /// The parameters that a Template defines, without rendering it: so that a job can be checked,
    /// or a form shown, before anything is asked of the server.
    ///
    /// # Errors
    ///
    /// Those of [`process`](Self::process) that concern reading the Template.
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace) -> openshift_templates::Result<()> {
    /// let template = Template::new("worker-template").in_namespace("infra");
    /// for parameter in workers.parameters(&template)? {
    ///     println!("{} {}", parameter.name(), parameter.is_required());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn parameters(&self, template: &Template) -> Result<Vec<Parameter>> {
        Ok(crate::template::parameters(&operations::process::read(&self.begin(), template)?))
    }

    /// Renders a Template and applies its objects in order, with the default [`CreateOptions`].
    /// Returns references to them, with the uids that the server gave.
    ///
    /// # Errors
    ///
    /// As [`create_with`](Self::create_with).
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace) -> openshift_templates::Result<()> {
    /// let job = Template::new("worker-template").in_namespace("infra").parameter("VM_NAME", "a");
    /// for reference in workers.create(&job)? {
    ///     println!("{reference} {:?}", reference.uid());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn create(&self, template: &Template) -> Result<Vec<ResourceRef>> {
        self.create_with(template, &CreateOptions::default())
    }

    /// Renders a Template and applies its objects in order, by server-side apply, up to the first
    /// failure. There is no rollback, no pruning and no waiting for readiness.
    ///
    /// # Errors
    ///
    /// [`Error::Operation`] once the first apply was tried; [`Error::InvalidManifest`] for an
    /// object that must not be touched, and whatever [`process`](Self::process) fails with, before
    /// anything was.
    ///
    /// ```no_run
    /// # use openshift_templates::{CreateOptions, Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// workers.create_with(job, &CreateOptions::new().field_manager("deployer").force(true))?;
    /// # Ok(()) }
    /// ```
    pub fn create_with(
        &self,
        template: &Template,
        options: &CreateOptions,
    ) -> Result<Vec<ResourceRef>> {
        let applied = operations::create::create(&self.begin(), template, options)?;
        Ok(applied.into_iter().map(|applied| applied.reference).collect())
    }

    /// Everything of a create that touches nothing: renders, checks every target, and brings the
    /// objects into the form in which they are sent.
    ///
    /// # Errors
    ///
    /// As [`create_with`](Self::create_with), but for [`Error::Operation`].
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// for reference in workers.plan(job)?.references() {
    ///     println!("would apply {reference}");
    /// }
    /// # Ok(()) }
    /// ```
    pub fn plan(&self, template: &Template) -> Result<Plan> {
        operations::create::plan(&self.begin(), template)
    }

    /// Applies exactly what a plan holds, in order, up to the first failure, and says what happened
    /// to each object. [`create_with`](Self::create_with) is [`plan`](Self::plan) and this in one.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::PlanNamespace`](crate::InvalidInput::PlanNamespace) for a plan of another
    /// namespace; otherwise as [`create_with`](Self::create_with). A plan is checked again, as it
    /// may have been edited.
    ///
    /// ```no_run
    /// # use openshift_templates::{CreateOptions, Namespace, Plan};
    /// # fn run(workers: &Namespace, plan: &Plan) -> openshift_templates::Result<()> {
    /// for applied in workers.apply(plan, &CreateOptions::new().compare(true))? {
    ///     println!("{} {}", applied.reference(), applied.change());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn apply(&self, plan: &Plan, options: &CreateOptions) -> Result<Vec<Applied>> {
        operations::create::apply(&self.begin(), plan, options)
    }

    /// Reads the live objects, whole, in order, one after the other (so they are no snapshot). The
    /// uid of a reference is ignored: what is there now is what is read.
    ///
    /// # Errors
    ///
    /// The first error ends it, an object that does not exist too
    /// ([`is_not_found`](Error::is_not_found)); there is no partial list.
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// for live in workers.get(job)? {
    ///     println!("{live:?} {:?}", live.status());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn get<'a>(&self, selection: impl Into<Selection<'a>>) -> Result<Vec<Manifest>> {
        operations::get::get(&self.begin(), selection.into())
    }

    /// Deletes in reverse order, with the default [`DeleteOptions`]. Returns what is gone, in the
    /// order of deletion; an object that was not there counts as gone.
    ///
    /// # Errors
    ///
    /// As [`delete_with`](Self::delete_with).
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, ResourceRef, Template};
    /// # fn run(workers: &Namespace, job: &Template, saved: &Vec<ResourceRef>) -> openshift_templates::Result<()> {
    /// workers.delete(job)?;   // in another process, from the same inputs
    /// workers.delete(saved)?; // by what create() returned, each uid a precondition
    /// # Ok(()) }
    /// ```
    pub fn delete<'a>(&self, selection: impl Into<Selection<'a>>) -> Result<Vec<ResourceRef>> {
        self.delete_with(selection, &DeleteOptions::default())
    }

    /// Deletes in reverse order. By a Template it deletes whatever has the rendered names now; by
    /// references with a uid only the very objects that were referred to. Success means that the
    /// server accepted it: finalizers can keep an object for a while.
    ///
    /// # Errors
    ///
    /// [`Error::Operation`] with every failure, after all objects were tried; any other error
    /// before the first was.
    ///
    /// ```no_run
    /// # use openshift_templates::{DeleteOptions, Namespace, PropagationPolicy, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// let options = DeleteOptions::new().propagation(PropagationPolicy::Foreground);
    /// workers.delete_with(job, &options)?;
    /// # Ok(()) }
    /// ```
    pub fn delete_with<'a>(
        &self,
        selection: impl Into<Selection<'a>>,
        options: &DeleteOptions,
    ) -> Result<Vec<ResourceRef>> {
        operations::delete::delete(&self.begin(), selection.into(), options)
    }

    /// How each object is doing: absent, present, ready or not, by the conventions for conditions. A
    /// reference's uid counts: another object of the same name is not the one that is meant.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), but an object that does not exist is no error.
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// for object in workers.status(job)? {
    ///     println!("{} {}", object.reference(), object.state());
    /// }
    /// # Ok(()) }
    /// ```
    pub fn status<'a>(&self, selection: impl Into<Selection<'a>>) -> Result<Vec<ObjectStatus>> {
        operations::wait::status(&self.begin(), selection.into())
    }

    /// Waits until something holds for every object, by looking at them now and then. Answers that
    /// can pass (no connection, 429, 5xx) are looked beyond until the handle's
    /// [deadline](Self::with_deadline), which here defaults to five minutes.
    ///
    /// # Errors
    ///
    /// [`Error::Wait`] when the deadline passes, with the last state of each object that it did
    /// not hold for; otherwise as [`get`](Self::get).
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template, Wait};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// workers.delete(job)?;
    /// workers.wait(job, &Wait::until_absent())?;
    /// # Ok(()) }
    /// ```
    pub fn wait<'a>(&self, selection: impl Into<Selection<'a>>, wait: &Wait) -> Result<()> {
        let deadline = self.deadline.unwrap_or(operations::wait::PATIENCE);
        operations::wait::wait(&self.begin_within(Some(deadline)), selection.into(), wait)
    }

    /// The rights that process, create, get and delete need for this Template, with these
    /// parameters. It renders the Template to know, so it needs those two rights itself.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// print!("{}", workers.access(job)?.to_yaml());
    /// # Ok(()) }
    /// ```
    pub fn access(&self, template: &Template) -> Result<Access> {
        operations::access::access(&self.begin(), template)
    }

    /// Asks the server (by `SelfSubjectAccessReview`) which of these rights are missing, before any
    /// work starts. Every identity may ask this.
    ///
    /// # Errors
    ///
    /// [`Error::Api`] and [`Error::Transport`]: a right that is missing is no error.
    ///
    /// ```no_run
    /// # use openshift_templates::{Namespace, Template};
    /// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
    /// let missing = workers.check_access(&workers.access(job)?)?;
    /// assert!(missing.is_empty(), "ask for: {missing:?}");
    /// # Ok(()) }
    /// ```
    pub fn check_access(&self, access: &Access) -> Result<Vec<MissingAccess>> {
        operations::access::check(&self.begin(), access)
    }

    /// The beginning of one operation: from here on its deadline runs.
    fn begin(&self) -> Scope<'_> {
        self.begin_within(self.deadline)
    }

    fn begin_within(&self, deadline: Option<Duration>) -> Scope<'_> {
        let limits = Limits {
            timeouts: self.timeouts,
            end: deadline.and_then(|deadline| Instant::now().checked_add(deadline)),
            cancel: self.cancel.clone(),
        };
        Scope::new(&self.client, &self.name, &self.observer, limits)
    }
}
