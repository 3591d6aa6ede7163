//! What the `log` crate is told: one line for each request, and what the server warns of. No query,
//! header or body is in it, and nothing breaks its line.

use std::time::Duration;

use super::Answer;
use crate::error::{Phase, one_line};
use crate::request::Request;

/// Debug level, once an exchange is over.
pub(super) fn exchange(
    request: &Request,
    result: &Result<Answer, (Phase, ureq::Error)>,
    time: Duration,
) {
    let (method, path) = (request.verb.method(), path(request));
    match result {
        Ok(answer) => log::debug!("{method} {path}: {} in {time:?}", answer.status),
        Err((Phase::Connect, _)) => log::debug!("{method} {path}: not sent, after {time:?}"),
        Err(_) => log::debug!("{method} {path}: no answer, after {time:?}"),
    }
}

/// Warn level: what an administrator wants its users to see.
pub(super) fn warnings(request: &Request, warnings: &[String]) {
    for warning in warnings {
        log::warn!("{}: the server warns: {}", request.subject, one_line(warning));
    }
}

fn path(request: &Request) -> &str {
    request.target.split('?').next().unwrap_or_default()
}
