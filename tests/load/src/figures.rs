//! What a run came to: the table for people, and the conditions that it has to meet.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::Result;
use crate::jobs::{Footprints, Run};
use crate::ledger::Known;
use crate::server::Report;

pub(crate) struct Figures<'a> {
    pub(crate) run: &'a Run<'a>,
    pub(crate) report: Report,
    pub(crate) wall: Duration,
    pub(crate) reconciled: usize,
    pub(crate) footprints: Footprints,
}

/// What allocators and pages may differ by, in KiB, besides a tenth.
const MEMORY: u64 = 1024;
/// What the client keeps open besides one connection for each thread: those waiting in its pool.
const POOL: u64 = 16;
/// Standard input and output, the pipes to the server, and what is read for these figures.
const OWN_FILES: u64 = 16;

impl Figures<'_> {
    /// Everything is accounted for, nothing came twice, and nothing grew.
    pub(crate) fn check(&self, threads: usize) -> Result<()> {
        self.check_objects()?;
        let Report { same_mutation, renderings, .. } = self.report;
        if same_mutation != 1 {
            return Err(format!("one mutation came {same_mutation} times").into());
        }
        if renderings > self.run.renderings() {
            let asked = self.run.renderings();
            return Err(format!("{renderings} renderings came, {asked} were asked for").into());
        }
        let Footprints { early, late } = self.footprints;
        let memory = early.memory + early.memory / 10 + MEMORY;
        let files = u64::try_from(threads)? + POOL + OWN_FILES;
        for (what, value, bound) in [
            ("KiB of memory", late.memory, memory),
            ("threads", late.threads, early.threads),
            ("open files", late.files, files),
        ] {
            if value > bound {
                return Err(format!("{value} {what}, which may be {bound}").into());
            }
        }
        Ok(())
    }

    /// What the server holds is what the client said.
    fn check_objects(&self) -> Result<()> {
        let mut reported = BTreeMap::new();
        for (_, reference, state) in self.run.ledger().objects() {
            match state {
                Known::Absent => {}
                Known::Present(uid) => drop(reported.insert(reference.to_string(), uid)),
                Known::Unknown => return Err(format!("{reference} is still unknown").into()),
            }
        }
        let stored = self.report.objects.iter();
        let stored: BTreeMap<_, _> =
            stored.map(|o| (format!("{}/{}", o.kind, o.name), o.uid.clone())).collect();
        if stored == reported {
            return Ok(());
        }
        let (there, told) = (without(&stored, &reported), without(&reported, &stored));
        Err(format!("the server has {there:?}, the client was told of {told:?}").into())
    }
}

/// What the second does not have, or has with another uid.
fn without<'a>(
    first: &'a BTreeMap<String, String>,
    second: &BTreeMap<String, String>,
) -> Vec<&'a String> {
    first.iter().filter(|(key, uid)| second.get(*key) != Some(uid)).map(|(key, _)| key).collect()
}

impl fmt::Display for Figures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { objects, requests, connections, struck, renderings, same_mutation } =
            &self.report;
        let Footprints { early, late } = self.footprints;
        writeln!(f, "| what | figure |")?;
        writeln!(f, "|---|---|")?;
        writeln!(f, "| jobs, of three objects each | {} |", self.run.ledger().len())?;
        writeln!(f, "| requests, over {connections} connections | {requests} |")?;
        writeln!(f, "| of these struck by a fault | {struck} |")?;
        writeln!(f, "| operations that failed | {} |", self.run.failed())?;
        writeln!(f, "| objects of unknown state, settled by reading | {} |", self.reconciled)?;
        writeln!(f, "| objects left in the end, as the client reports | {} |", objects.len())?;
        writeln!(f, "| times the same mutation came, at most | {same_mutation} |")?;
        let asked = self.run.renderings();
        writeln!(f, "| renderings that came, of those asked for | {renderings} of {asked} |")?;
        writeln!(f, "| wall time | {:.1} s |", self.wall.as_secs_f64())?;
        let grew = |what, unit, early, late| format!("| {what} | {early} to {late}{unit} |");
        writeln!(f, "{}", grew("the client's memory", " KiB", early.memory, late.memory))?;
        writeln!(f, "{}", grew("its threads", "", early.threads, late.threads))?;
        write!(f, "{}", grew("its open files", "", early.files, late.files))
    }
}
