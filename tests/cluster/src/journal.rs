//! What the server received and what it answered.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::http::Request;

/// One request and how it was answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exchange {
    /// Which connection it came over; they are numbered from 1 in the order in which they were accepted.
    pub connection: u64,
    /// Whether its connection took up an earlier TLS session instead of a whole handshake.
    pub resumed: bool,
    /// The user that the credentials belong to; `system:anonymous` without any, `None` when they are refused.
    pub user: Option<String>,
    /// The request's method.
    pub method: String,
    /// Path and query, exactly as received.
    pub target: String,
    /// The headers in the order received, the names as written.
    pub headers: Vec<(String, String)>,
    /// The body; a chunked one is put together.
    pub body: Vec<u8>,
    /// Every byte of the request, as it came.
    pub raw: Vec<u8>,
    /// The status of the answer; `None` while there is none, and for good when the connection was dropped instead.
    pub status: Option<u16>,
}

impl Exchange {
    /// The value of a header, whatever the case of its name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    next: u64,
    list: Vec<(u64, Exchange)>,
}

impl Journal {
    /// Returns the number under which the answer is to be noted; it stays valid when the journal is cleared in between.
    pub(crate) fn record(
        &self,
        connection: u64,
        resumed: bool,
        user: Option<&str>,
        request: &Request,
    ) -> u64 {
        let mut entries = self.lock();
        let serial = entries.next;
        entries.next += 1;
        let exchange = Exchange {
            connection,
            resumed,
            user: user.map(str::to_owned),
            method: request.method.clone(),
            target: request.target.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            raw: request.raw.clone(),
            status: None,
        };
        entries.list.push((serial, exchange));
        serial
    }

    pub(crate) fn answered(&self, serial: u64, status: u16) {
        let mut entries = self.lock();
        // It is among the latest, however long the journal has become.
        if let Some((_, exchange)) = entries.list.iter_mut().rfind(|(key, _)| *key == serial) {
            exchange.status = Some(status);
        }
    }

    pub(crate) fn all(&self) -> Vec<Exchange> {
        let entries = self.lock();
        entries.list.iter().map(|(_, exchange)| exchange.clone()).collect()
    }

    pub(crate) fn take(&self) -> Vec<Exchange> {
        let taken = std::mem::take(&mut self.lock().list);
        taken.into_iter().map(|(_, exchange)| exchange).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
