//! The work: each job is created, read and deleted, as a scheduler would.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use openshift_templates::{Namespace, Operation, ResourceRef, Template};

use crate::Result;
use crate::footprint::Footprint;
use crate::ledger::{Ledger, name};

pub(crate) struct Run<'a> {
    workers: &'a Namespace,
    ledger: Ledger,
    next: AtomicUsize,
    renderings: AtomicU64,
    failed: AtomicU64,
}

/// What the process took when the first fifth of the jobs was done, and when nearly all were.
pub(crate) struct Footprints {
    pub(crate) early: Footprint,
    pub(crate) late: Footprint,
}

impl<'a> Run<'a> {
    pub(crate) fn new(workers: &'a Namespace, jobs: usize) -> Self {
        let (next, renderings) = (AtomicUsize::new(0), AtomicU64::new(0));
        Self { workers, ledger: Ledger::new(jobs), next, renderings, failed: AtomicU64::new(0) }
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How many operations asked for a rendering.
    pub(crate) fn renderings(&self) -> u64 {
        self.renderings.load(Ordering::SeqCst)
    }

    /// How many operations failed.
    pub(crate) fn failed(&self) -> u64 {
        self.failed.load(Ordering::SeqCst)
    }

    /// Does all jobs by so many threads.
    pub(crate) fn work(&self, threads: usize) -> Result<Footprints> {
        let (mut early, mut late) = (None, None);
        let jobs = self.ledger.len();
        let one_thread = || -> Result<Vec<(usize, Footprint)>> {
            let mut looks = Vec::new();
            loop {
                let number = self.next.fetch_add(1, Ordering::SeqCst);
                if number >= jobs {
                    return Ok(looks);
                }
                // While all the threads are at work.
                if number == jobs / 5 || number == jobs - jobs / 20 - 1 {
                    looks.push((number, Footprint::now()?));
                }
                self.job(number)?;
            }
        };
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(one_thread)).collect();
            for thread in running {
                for (number, look) in thread.join().map_err(|_| "a thread panicked")?? {
                    *(if number == jobs / 5 { &mut early } else { &mut late }) = Some(look);
                }
            }
            Ok::<_, crate::Failure>(())
        })?;
        let early = early.ok_or("there are too few jobs to look at the process twice")?;
        let late = late.ok_or("there are too few jobs to look at the process twice")?;
        Ok(Footprints { early, late })
    }

    fn job(&self, number: usize) -> Result<()> {
        let job = Template::new("worker-template")
            .in_namespace("infra")
            .parameter("VM_NAME", name(number));
        let created = self.tried(true, || self.workers.create(&job));
        let references = created.as_ref().ok().cloned();
        self.ledger.note(number, Operation::Create, created)?;
        if let Some(references) = &references {
            self.read(&job, references, number.is_multiple_of(2))?;
        }
        match references {
            // One in ten stays, whether it came into being whole or not.
            _ if number % 10 == 9 => Ok(()),
            Some(references) if number.is_multiple_of(2) => {
                let deleted = self.tried(false, || self.workers.delete(&references));
                self.ledger.note(number, Operation::Delete, deleted)
            }
            _ => {
                let deleted = self.tried(true, || self.workers.delete(&job));
                self.ledger.note(number, Operation::Delete, deleted)
            }
        }
    }

    /// What is read are the objects that were created.
    fn read(&self, job: &Template, created: &[ResourceRef], by_reference: bool) -> Result<()> {
        let read = if by_reference {
            self.tried(false, || self.workers.get(created))
        } else {
            self.tried(true, || self.workers.get(job))
        };
        let Ok(read) = read else { return Ok(()) };
        let uids = read.iter().map(openshift_templates::Manifest::uid);
        if uids.eq(created.iter().map(ResourceRef::uid)) {
            return Ok(());
        }
        Err(format!("other objects were read than created: {created:?}").into())
    }

    fn tried<T>(
        &self,
        renders: bool,
        operation: impl FnOnce() -> openshift_templates::Result<T>,
    ) -> openshift_templates::Result<T> {
        self.renderings.fetch_add(u64::from(renders), Ordering::SeqCst);
        operation().inspect_err(|_| {
            self.failed.fetch_add(1, Ordering::SeqCst);
        })
    }
}
