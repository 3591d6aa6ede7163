use std::fmt;
use std::sync::Arc;

use crate::{Applied, Failure, Operation, ResourceRef};

/// What is about to happen to one object, or has happened.
///
/// ```no_run
/// # use openshift_templates::{Event, Namespace, Template};
/// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
/// let workers = workers.clone().with_observer(|event| {
///     if let Event::Applied(applied) = event {
///         println!("{} {}", applied.reference(), applied.change());
///     }
/// });
/// workers.create(job)?;
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The next request will change this object. Whoever keeps records writes it down now: after
    /// this, only the event that follows says what became of it.
    Before(Operation, &'a ResourceRef),
    /// It was applied.
    Applied(&'a Applied),
    /// It was deleted, or was gone already.
    Deleted(&'a ResourceRef),
    /// It failed, with this outcome.
    Failed(&'a Failure),
}

/// Whom to tell. Called on the thread that works, between its requests.
#[derive(Clone, Default)]
pub(crate) struct Observer(Option<Arc<Callback>>);

type Callback = dyn Fn(Event<'_>) + Send + Sync;

impl Observer {
    pub(crate) fn new(observer: impl Fn(Event<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(observer)))
    }

    pub(crate) fn tell(&self, event: Event<'_>) {
        if let Some(observer) = &self.0 {
            observer(event);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Observer" } else { "no observer" })
    }
}
