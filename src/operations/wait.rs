use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use crate::error::WaitError;
use crate::request::Verb;
use crate::scope::Scope;
use crate::target::Target;
use crate::{Error, Manifest, ObjectStatus, Result, Selection, Wait};

/// How long to wait when nobody says: a pod and a virtual machine are up by then, or never.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// Looks at each object until all are as they should be. There is no watch: a look now and then is
/// cheap, and survives whatever happens to connections.
pub(crate) fn wait(scope: &Scope<'_>, selection: Selection<'_>, wait: &Wait) -> Result<()> {
    let mut pending: Vec<(Target, ObjectStatus)> = super::targets(scope, selection, Verb::Get)?
        .into_iter()
        .map(|target| {
            let unseen = ObjectStatus::of(target.reference.clone(), None);
            (target, unseen)
        })
        .collect();
    loop {
        let mut last_error = None;
        let mut pause = jittered(wait.interval);
        let mut left = Vec::new();
        for (target, seen) in pending {
            match super::read(scope, &target) {
                Ok(live) => {
                    let meant = live.filter(|live| is_meant(&target, live));
                    if !wait.holds(meant.as_ref()) {
                        let seen = ObjectStatus::of(target.reference.clone(), meant.as_ref());
                        left.push((target, seen));
                    }
                }
                Err(error) if passes(&error) => {
                    pause = pause.max(error.retry_after().unwrap_or_default());
                    // That time is over says less than what went wrong before.
                    last_error = last_error.or((!scope.is_over()).then_some(error));
                    left.push((target, seen));
                }
                Err(error) => return Err(error),
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        pending = left;
        if !scope.pause(pause) {
            let pending = pending.into_iter().map(|(_, seen)| seen).collect();
            return Err(WaitError::new(pending, last_error).into());
        }
    }
}

/// How each object is doing now.
pub(crate) fn status(scope: &Scope<'_>, selection: Selection<'_>) -> Result<Vec<ObjectStatus>> {
    super::targets(scope, selection, Verb::Get)?
        .into_iter()
        .map(|target| {
            let live = super::read(scope, &target)?.filter(|live| is_meant(&target, live));
            let uid = live.as_ref().and_then(Manifest::uid).map(str::to_owned);
            let reference = match uid {
                Some(uid) => target.reference.with_uid(uid),
                None => target.reference,
            };
            Ok(ObjectStatus::of(reference, live.as_ref()))
        })
        .collect()
}

/// Whether it is the very object of the reference, not another that took its name.
fn is_meant(target: &Target, live: &Manifest) -> bool {
    match target.reference.uid() {
        None | Some("") => true,
        uid => live.uid() == uid,
    }
}

/// Whether the next look may find it mended.
fn passes(error: &Error) -> bool {
    match error {
        Error::Transport(error) => !error.is_cancelled(),
        Error::Api(answer) => matches!(answer.code(), 429 | 500..=599),
        _ => false,
    }
}

/// Between three and five quarters of the interval.
fn jittered(interval: Duration) -> Duration {
    let random = RandomState::new().hash_one(0) % 1000;
    let interval = interval.clamp(Duration::from_millis(1), Duration::from_secs(3600));
    interval.mul_f64(0.75 + 0.5 * f64::from(u32::try_from(random).unwrap_or(500)) / 1000.0)
}
