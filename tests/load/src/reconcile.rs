//! What is unknown after an operation is known after a read.

use openshift_templates::{Namespace, ResourceRef, State};

use crate::Result;
use crate::ledger::{Known, Ledger};

/// Reads may be struck by faults too; this many in a row are not.
const TRIES: usize = 20;

/// Reads every object whose state is unknown and notes what it is; returns how many there were.
pub(crate) fn unknown(workers: &Namespace, ledger: &Ledger) -> Result<usize> {
    let objects = ledger.objects();
    let unknown: Vec<_> = objects.filter(|(_, _, known)| *known == Known::Unknown).collect();
    for (number, reference, _) in &unknown {
        ledger.set(*number, reference, read(workers, reference)?)?;
    }
    Ok(unknown.len())
}

fn read(workers: &Namespace, reference: &ResourceRef) -> Result<Known> {
    let mut last = None;
    for _ in 0..TRIES {
        match look(workers, reference) {
            Ok(known) => return Ok(known),
            Err(error) => last = Some(error),
        }
    }
    Err(format!("{reference} could not be read: {last:?}").into())
}

fn look(workers: &Namespace, reference: &ResourceRef) -> Result<Known> {
    let one = std::slice::from_ref(reference);
    let status = workers.status(one)?;
    if status.iter().all(|object| *object.state() == State::Absent) {
        return Ok(Known::Absent);
    }
    let live = workers.get(one)?;
    let uid = live.first().and_then(|object| object.uid()).ok_or("an object without a uid")?;
    Ok(Known::Present(uid.to_owned()))
}
