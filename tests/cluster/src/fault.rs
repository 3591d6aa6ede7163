//! Faults: what the server does instead of, before or after answering as it should.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::listener::Reception;

/// A fault for the requests that match it.
///
/// ```
/// use openshift_templates_testing::{Cluster, Fault};
///
/// let cluster = Cluster::start();
/// cluster.fault(Fault::on("PATCH", "/configmaps/").skip(1).drop_after());
/// ```
#[derive(Clone, Debug)]
#[must_use = "a fault has no effect until the cluster gets it"]
pub struct Fault {
    method: String,
    target: String,
    skip: usize,
    every: usize,
    times: Option<usize>,
    plan: Plan,
}

/// What is to happen to one request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    pub(crate) delay: Option<Duration>,
    pub(crate) action: Action,
    pub(crate) form: Form,
    pub(crate) cut: Option<Cut>,
    /// How long to pause before each byte of the answer.
    pub(crate) drip: Option<Duration>,
    pub(crate) then: Then,
    /// Whether a connection that ends does so by a reset.
    pub(crate) is_reset: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Action {
    #[default]
    Process,
    Answer {
        status: u16,
        content_type: String,
        body: Vec<u8>,
        headers: Vec<(String, String)>,
    },
    AnswerRaw(Vec<u8>),
    DropBefore,
    DropAfter,
}

/// How much of the answer is written before the connection is closed, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    After(usize),
    AllBut(usize),
}

/// How an answer is put on the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    pub(crate) interim: Option<u16>,
    pub(crate) is_compressed: bool,
    pub(crate) is_chunked: bool,
}

/// What becomes of the connection after the answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Then {
    #[default]
    Go,
    Close,
    CloseAtNext,
    CloseAndReceive(Reception),
}

impl Fault {
    /// Matches a method (`*` for any) and a piece of the target, which is path and query as received.
    pub fn on(method: &str, target_substring: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target_substring.to_owned(),
            skip: 0,
            every: 1,
            times: Some(1),
            plan: Plan::default(),
        }
    }

    /// How many matching requests it strikes. Defaults to 1.
    pub fn times(mut self, times: usize) -> Self {
        self.times = Some(times);
        self
    }

    /// Strikes every matching request.
    pub fn always(mut self) -> Self {
        self.times = None;
        self
    }

    /// How many matching requests it leaves alone first. Defaults to 0.
    pub fn skip(mut self, matches: usize) -> Self {
        self.skip = matches;
        self
    }

    /// Strikes one in so many matching requests, the first that is not skipped among them, for good; 0 counts as 1.
    pub fn every(mut self, matches: usize) -> Self {
        self.every = matches.max(1);
        self.times = None;
        self
    }

    /// Waits before doing anything else. Can be combined with any other action.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.plan.delay = Some(delay);
        self
    }

    /// Answers this without processing the request.
    pub fn answer(self, status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.with(Action::Answer {
            status,
            content_type: content_type.to_owned(),
            body: body.into(),
            headers: Vec::new(),
        })
    }

    /// Adds a header to the answer given with [`answer`](Self::answer).
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Action::Answer { headers, .. } = &mut self.plan.action {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Writes these bytes without processing the request, then closes the connection.
    pub fn answer_raw(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.with(Action::AnswerRaw(bytes.into()))
    }

    /// Reads the request, then closes the connection: nothing is processed, nothing answered.
    pub fn drop_before(self) -> Self {
        self.with(Action::DropBefore)
    }

    /// Processes the request, then closes the connection without an answer.
    pub fn drop_after(self) -> Self {
        self.with(Action::DropAfter)
    }

    /// Processes the request and writes so many bytes of the answer, its head included, then closes the connection.
    pub fn truncate_answer(mut self, bytes: usize) -> Self {
        self.plan.cut = Some(Cut::After(bytes));
        self
    }

    /// Processes the request and writes the answer without so many bytes at its end, then closes the connection.
    pub fn lose_end(mut self, bytes: usize) -> Self {
        self.plan.cut = Some(Cut::AllBut(bytes));
        self
    }

    /// Writes the answer byte by byte, with this pause before each.
    pub fn drip(mut self, pause: Duration) -> Self {
        self.plan.drip = Some(pause);
        self
    }

    /// Writes the answer's body in chunks of 64 bytes, without a length.
    pub fn chunked(mut self) -> Self {
        self.plan.form.is_chunked = true;
        self
    }

    /// Compresses the answer, however short and whoever asks.
    pub fn compressed(mut self) -> Self {
        self.plan.form.is_compressed = true;
        self
    }

    /// Writes an interim answer (1xx) before the answer.
    pub fn interim(mut self, status: u16) -> Self {
        self.plan.form.interim = Some(status);
        self
    }

    /// Answers, then closes the connection without having said so.
    pub fn close_after_answer(self) -> Self {
        self.then(Then::Close)
    }

    /// Answers, and closes the connection when the next request begins to arrive, unread.
    pub fn close_at_next(self) -> Self {
        self.then(Then::CloseAtNext)
    }

    /// Answers, then closes the connection, and from then on does this to new ones.
    pub fn close_and_receive(self, reception: Reception) -> Self {
        self.then(Then::CloseAndReceive(reception))
    }

    /// Whenever this fault closes the connection, it does so by a TCP reset.
    pub fn by_reset(mut self) -> Self {
        self.plan.is_reset = true;
        self
    }

    fn then(mut self, then: Then) -> Self {
        self.plan.then = then;
        self
    }

    fn with(mut self, action: Action) -> Self {
        self.plan.action = action;
        self
    }

    fn matches(&self, method: &str, target: &str) -> bool {
        (self.method == "*" || self.method == method) && target.contains(&self.target)
    }

    /// Whether it strikes a request that it matches; counts either way.
    fn strikes(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        match &mut self.times {
            None => {
                self.skip = self.every - 1;
                true
            }
            Some(0) => false,
            Some(times) => {
                *times -= 1;
                true
            }
        }
    }
}

#[derive(Default)]
pub(crate) struct Faults {
    list: Mutex<Vec<Fault>>,
    struck: AtomicU64,
    closing: Mutex<bool>,
    closed: Condvar,
}

impl Faults {
    pub(crate) fn add(&self, fault: Fault) {
        self.lock().push(fault);
    }

    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// The first fault that matches and strikes decides.
    pub(crate) fn plan(&self, method: &str, target: &str) -> Plan {
        let mut list = self.lock();
        let struck = list.iter_mut().find_map(|fault| {
            (fault.matches(method, target) && fault.strikes()).then(|| fault.clone())
        });
        match struck {
            Some(fault) => {
                self.struck.fetch_add(1, Ordering::SeqCst);
                fault.plan
            }
            None => Plan::default(),
        }
    }

    pub(crate) fn struck(&self) -> u64 {
        self.struck.load(Ordering::SeqCst)
    }

    /// Waits, but not beyond the server's end.
    pub(crate) fn wait(&self, delay: Duration) {
        let end = Instant::now() + delay;
        let mut closing = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        while !*closing {
            let Some(left) =
                end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
            else {
                return;
            };
            let waited = self.closed.wait_timeout(closing, left);
            closing = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    pub(crate) fn close(&self) {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.closed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Fault>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
