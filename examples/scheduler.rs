//! A mini scheduler: a pool of threads over one client, jobs from a JSON file, records kept as the
//! objects come into being.
//!
//! `scheduler run JOBS RECORDS` creates every job that the records do not show as done; started
//! again after it was killed, it goes on where it was. `scheduler clean JOBS RECORDS` deletes every
//! job by replaying its inputs, and only what this scheduler provably made.
//!
//! JOBS is a list of `{"id", "template", "namespace", "parameters": {..}}`, where `namespace` is the
//! Template's. The kubeconfig is found as kubectl finds it; the target namespace is the context's.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::sync::{Arc, Mutex, PoisonError};

use openshift_templates::{
    Client, Config, CreateOptions, DeleteOptions, Event, Namespace, Template,
};
use serde::{Deserialize, Serialize};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const FIELD_MANAGER: &str = "mini-scheduler";
const THREADS: usize = 4;

#[derive(Deserialize)]
struct Job {
    id: String,
    template: String,
    namespace: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
}

impl Job {
    fn template(&self) -> Template {
        let template = Template::new(&self.template).parameters(self.parameters.clone());
        match &self.namespace {
            Some(namespace) => template.in_namespace(namespace),
            None => template,
        }
    }
}

/// One line of the records. What is about to happen is written before it happens: whoever reads
/// them after a crash knows every object that may exist.
#[derive(Serialize, Deserialize)]
struct Record {
    job: String,
    what: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<openshift_templates::ResourceRef>,
}

struct Records(Mutex<File>);

impl Records {
    fn write(&self, job: &str, what: &str, reference: Option<&openshift_templates::ResourceRef>) {
        let reference = reference.cloned();
        let record = Record { job: job.to_owned(), what: what.to_owned(), reference };
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = serde_json::to_string(&record).map(|line| line + "\n");
        let written = line.map_err(Failure::from).and_then(|line| {
            file.write_all(line.as_bytes())?;
            Ok(file.sync_data()?)
        });
        if let Err(error) = written {
            // Without records nothing may be created.
            eprintln!("the records cannot be written: {error}");
            std::process::exit(1);
        }
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [command, jobs, records] = arguments.as_slice() else {
        return Err("usage: scheduler run|clean JOBS RECORDS".into());
    };
    let jobs: Vec<Job> = serde_json::from_reader(BufReader::new(File::open(jobs)?))?;
    let done = finished(records)?;
    let file = OpenOptions::new().create(true).append(true).open(records)?;
    let records = Arc::new(Records(Mutex::new(file)));

    let config = Config::infer()?;
    let name = config.default_namespace().unwrap_or("default").to_owned();
    let namespace = Client::connect(config)?.namespace(name)?;
    let failed = match command.as_str() {
        "run" => {
            let pending: Vec<_> = jobs.iter().filter(|job| !done.contains(&job.id)).collect();
            in_parallel(&pending, |job| create(&namespace, job, &records))
        }
        "clean" => {
            in_parallel(&jobs.iter().collect::<Vec<_>>(), |job| delete(&namespace, job, &records))
        }
        _ => return Err("usage: scheduler run|clean JOBS RECORDS".into()),
    };
    if failed > 0 {
        return Err(format!("{failed} of {} jobs failed", jobs.len()).into());
    }
    Ok(())
}

/// The jobs whose last word in the records is that they are complete.
fn finished(records: &str) -> Result<HashSet<String>, Failure> {
    let mut done = HashSet::new();
    let Ok(file) = File::open(records) else { return Ok(done) };
    for line in BufReader::new(file).lines() {
        // The last line may be torn, by the crash that ended it.
        let Ok(record) = serde_json::from_str::<Record>(&line?) else { continue };
        match record.what.as_str() {
            "complete" => drop(done.insert(record.job)),
            "deleted" => drop(done.remove(&record.job)),
            _ => {}
        }
    }
    Ok(done)
}

/// Takes jobs from one list by several threads; returns how many failed.
fn in_parallel(
    jobs: &[&Job],
    work: impl Fn(&Job) -> openshift_templates::Result<()> + Sync,
) -> usize {
    let (next, failed) = (Mutex::new(jobs.iter()), Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let job = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(job) = job else { return };
                    if let Err(error) = work(job) {
                        eprintln!("{}: {error}", job.id);
                        *failed.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                    }
                }
            });
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn create(
    namespace: &Namespace,
    job: &Job,
    records: &Arc<Records>,
) -> openshift_templates::Result<()> {
    let plan = namespace.plan(&job.template())?;
    let (id, kept) = (job.id.clone(), Arc::clone(records));
    let observed = namespace.clone().with_observer(move |event| match event {
        // Written before the observer returns, and so before the request leaves.
        Event::Before(_, reference) => kept.write(&id, "about to apply", Some(reference)),
        Event::Applied(applied) => kept.write(&id, "applied", Some(applied.reference())),
        _ => {}
    });
    observed.apply(&plan, &CreateOptions::new().field_manager(FIELD_MANAGER))?;
    records.write(&job.id, "complete", None);
    Ok(())
}

fn delete(
    namespace: &Namespace,
    job: &Job,
    records: &Arc<Records>,
) -> openshift_templates::Result<()> {
    let options = DeleteOptions::new().only_managed_by(FIELD_MANAGER);
    namespace.delete_with(&job.template(), &options)?;
    records.write(&job.id, "deleted", None);
    Ok(())
}
