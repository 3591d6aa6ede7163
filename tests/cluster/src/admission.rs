//! What is checked before something new comes into a namespace.

use crate::http::Response;
use crate::status::{self, About};
use crate::store::{Phase, Store};

pub(crate) fn check_namespace(
    store: &Store,
    namespace: &str,
    about: About<'_>,
) -> Result<(), Response> {
    match store.phase(namespace) {
        None => Err(status::namespace_not_found(namespace)),
        Some(Phase::Terminating) => Err(status::namespace_terminating(about, namespace)),
        Some(Phase::Active) => Ok(()),
    }
}
