//! The connection below TLS: there every byte of an exchange passes, so that is where an exchange is
//! kept within its limits, and where it is known whether anything of it was sent.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::rc::Rc;
use std::sync::Weak;
use std::time::{Duration, Instant};

use ureq::unversioned::transport::time::Duration as UreqDuration;
use ureq::unversioned::transport::{Buffers, NextTimeout, ShutdownHandle, Transport};
use ureq::{Error, Timeout};

use super::cancel::CancelToken;
use super::limits::Limits;

thread_local! {
    /// ureq hands connections from a pool to requests and does not tell them whose they are, but it
    /// uses them on the thread that sends.
    static CURRENT: RefCell<Option<Exchange>> = const { RefCell::new(None) };
}

/// One request on this thread, from before there is a connection until its answer is read.
#[derive(Clone)]
pub(super) struct Exchange {
    parts: Rc<Parts>,
}

struct Parts {
    limits: Limits,
    /// While a connection is being made, and until when it has to be there.
    is_connecting: Cell<bool>,
    connected_by: Cell<Option<Instant>>,
    is_sent: Cell<bool>,
}

impl Exchange {
    /// Carries out one.
    pub(super) fn run<T>(limits: &Limits, exchange: impl FnOnce(&Self) -> T) -> T {
        let this = Self {
            parts: Rc::new(Parts {
                limits: limits.clone(),
                is_connecting: Cell::new(false),
                connected_by: Cell::new(None),
                is_sent: Cell::new(false),
            }),
        };
        CURRENT.replace(Some(this.clone()));
        let result = exchange(&this);
        CURRENT.replace(None);
        this.detach();
        result
    }

    fn current() -> Result<Self, Error> {
        CURRENT.with_borrow(Clone::clone).ok_or(Error::ConnectionFailed)
    }

    /// Whether a byte of the request can have left.
    pub(super) fn is_sent(&self) -> bool {
        self.parts.is_sent.get()
    }

    /// From now on what cancels it ends its use of this connection.
    fn attach(&self, connection: &Weak<dyn ShutdownHandle>) {
        if let Some(cancel) = &self.parts.limits.cancel {
            cancel.attach(connection.clone());
        }
    }

    fn detach(&self) {
        if let Some(cancel) = &self.parts.limits.cancel {
            cancel.detach();
        }
    }

    /// The same timeout, or what is left of the exchange's own.
    fn cap(&self, mut timeout: NextTimeout) -> Result<NextTimeout, Error> {
        let Parts { limits, connected_by, .. } = &*self.parts;
        if limits.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Err(Error::Io(io::Error::other("cancelled")));
        }
        let ends = [(limits.end, Timeout::Global), (connected_by.get(), Timeout::Connect)];
        for (end, reason) in ends {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if let Some(left) = left.filter(|left| *left < *timeout.after) {
                timeout.after = UreqDuration::Exact(left);
                timeout.reason = reason;
            }
        }
        // A socket takes no timeout of zero.
        if timeout.after.is_zero() { Err(Error::Timeout(timeout.reason)) } else { Ok(timeout) }
    }
}

/// Does what makes a connection, all of it within one time. No byte of it is one of the request.
pub(super) fn connecting<T>(
    within: Duration,
    connect: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let exchange = Exchange::current()?;
    // A connection to a proxy is made in the course of making the one through it.
    if exchange.parts.is_connecting.replace(true) {
        return connect();
    }
    exchange.parts.connected_by.set(Instant::now().checked_add(within));
    let connected = connect();
    exchange.parts.connected_by.set(None);
    exchange.parts.is_connecting.set(false);
    connected
}

/// The same timeout, or what is left of the current exchange's own.
pub(super) fn capped(timeout: NextTimeout) -> Result<NextTimeout, Error> {
    Exchange::current()?.cap(timeout)
}

/// A connection, kept within the limits of the exchange that uses it.
pub(super) struct Line<T> {
    inner: T,
    handle: Option<Weak<dyn ShutdownHandle>>,
    /// Whether the exchange that uses it can cut it off.
    is_attached: bool,
}

impl<T> Line<T> {
    pub(super) fn new(inner: T, handle: Option<Weak<dyn ShutdownHandle>>) -> Self {
        Self { inner, handle, is_attached: false }
    }

    /// Before every use, so that whatever cancels the exchange either is seen or finds it attached.
    fn exchange(&mut self) -> Result<Exchange, Error> {
        let exchange = Exchange::current()?;
        if let (Some(handle), false) = (&self.handle, self.is_attached) {
            exchange.attach(handle);
            self.is_attached = true;
        }
        Ok(exchange)
    }
}

impl<T: Transport> Transport for Line<T> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let exchange = self.exchange()?;
        let timeout = exchange.cap(timeout)?;
        if !exchange.parts.is_connecting.get() {
            exchange.parts.is_sent.set(true);
        }
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        let timeout = self.exchange()?.cap(timeout)?;
        self.inner.await_input(timeout)
    }

    /// ureq asks this on the thread of the exchange that has just ended, before the connection goes
    /// to the pool: from here on it is not the exchange's to cut off.
    fn is_open(&mut self) -> bool {
        if let Ok(exchange) = Exchange::current() {
            exchange.detach();
        }
        self.is_attached = false;
        self.inner.is_open()
    }
}

impl<T> fmt::Debug for Line<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Line")
    }
}
