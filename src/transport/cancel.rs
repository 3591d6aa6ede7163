use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use ureq::unversioned::transport::ShutdownHandle;

/// Ends operations from another thread. Clones are the same token; a token that was cancelled stays
/// so.
///
/// An operation that is cancelled sends no further request, and the one in flight is cut off: a
/// blocked read or write ends at once, a connection that is being made with its TLS handshake at
/// the latest, or with its [timeout](crate::Timeouts). What was done is reported as for any other
/// failure: the mutation in flight is of [unknown](crate::Outcome::Unknown) outcome.
///
/// Other operations on the same [`Client`](crate::Client) are not affected.
///
/// ```no_run
/// # use openshift_templates::{CancelToken, Namespace, Template};
/// # fn run(workers: &Namespace, job: &Template) {
/// let token = CancelToken::new();
/// let cancellable = workers.clone().with_cancel_token(&token);
/// std::thread::scope(|threads| {
///     let created = threads.spawn(|| cancellable.create(job));
///     token.cancel();
///     if let Ok(Err(error)) = created.join() {
///         assert!(error.is_cancelled());
///     }
/// });
/// # }
/// ```
#[derive(Clone, Default)]
pub struct CancelToken {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    cancelled: Condvar,
}

#[derive(Default)]
struct State {
    is_cancelled: bool,
    /// The connections on which requests are in flight, by the thread that sent each.
    in_flight: Vec<(ThreadId, Weak<dyn ShutdownHandle>)>,
}

impl CancelToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the operations that have this token, now and from now on. It does not wait for them.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.is_cancelled = true;
        // Under the lock: a connection is taken out of the list before another request can get it.
        for (_, connection) in state.in_flight.drain(..) {
            if let Some(connection) = connection.upgrade() {
                connection.shutdown();
            }
        }
        self.shared.cancelled.notify_all();
    }

    /// Whether [`cancel`](Self::cancel) was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state().is_cancelled
    }

    /// Sleeps until the time is over or the token is cancelled.
    pub(crate) fn sleep(&self, duration: Duration) {
        let end = Instant::now().checked_add(duration);
        let mut state = self.state();
        while !state.is_cancelled {
            let left = end.map_or(duration, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return;
            }
            let waited = self.shared.cancelled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// From now on the request of this thread is in flight on that connection.
    pub(super) fn attach(&self, connection: Weak<dyn ShutdownHandle>) {
        self.state().in_flight.push((thread::current().id(), connection));
    }

    /// This thread has no request in flight any more.
    pub(super) fn detach(&self) {
        let this = thread::current().id();
        self.state().in_flight.retain(|(thread, _)| *thread != this);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CancelToken").field("cancelled", &self.is_cancelled()).finish()
    }
}
