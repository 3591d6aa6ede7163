use std::time::Duration;

use serde_json::{Map, Value};

use crate::discovery::{ApiResource, Unsuitable};
use crate::observer::{Event, Observer};
use crate::request::{Request, Verb};
use crate::transport::{Limits, Success};
use crate::{Client, Result};

/// One operation under way: where it works, within what limits, and who hears of it.
pub(crate) struct Scope<'a> {
    client: &'a Client,
    namespace: &'a str,
    observer: &'a Observer,
    limits: Limits,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(
        client: &'a Client,
        namespace: &'a str,
        observer: &'a Observer,
        limits: Limits,
    ) -> Self {
        Self { client, namespace, observer, limits }
    }

    /// The target namespace.
    pub(crate) fn namespace(&self) -> &'a str {
        self.namespace
    }

    pub(crate) fn tell(&self, event: Event<'_>) {
        self.observer.tell(event);
    }

    /// Whether no further request may be sent.
    pub(crate) fn is_over(&self) -> bool {
        self.limits.interruption().is_some()
    }

    /// Sleeps, unless the deadline would come first; then there is no use in it, and `false`. Being
    /// cancelled ends it.
    pub(crate) fn pause(&self, pause: Duration) -> bool {
        if self.limits.remaining().is_some_and(|left| left <= pause) {
            return false;
        }
        match &self.limits.cancel {
            Some(cancel) => cancel.sleep(pause),
            None => std::thread::sleep(pause),
        }
        true
    }

    pub(crate) fn send(&self, request: &Request) -> Result<Success> {
        self.client.transport().send(request, &self.limits)
    }

    /// The object that a successful answer holds.
    pub(crate) fn object(&self, request: &Request) -> Result<Map<String, Value>> {
        self.send(request)?.into_object(request)
    }

    pub(crate) fn discover(&self, api_version: &str) -> Result<()> {
        self.client.discovery().ask(self.client.transport(), &self.limits, api_version)
    }

    pub(crate) fn resource(
        &self,
        api_version: &str,
        kind: &str,
        verb: Verb,
    ) -> Result<ApiResource, Unsuitable> {
        let (transport, discovery) = (self.client.transport(), self.client.discovery());
        discovery.resource(transport, &self.limits, api_version, kind, verb)
    }
}
