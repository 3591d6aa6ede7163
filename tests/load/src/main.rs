//! Creates, reads and deletes many jobs over one client by many threads, while a fault strikes one
//! in so many requests, and accounts for every object: what the client reported has to be what the
//! server holds in the end. The server is a process of its own, so that what this one takes of
//! memory, threads and files is the client's.
//!
//! ```text
//! cargo run --release -p openshift-templates-load -- --jobs 10000 --threads 64 --one-in 100
//! ```

mod figures;
mod footprint;
mod jobs;
mod ledger;
mod reconcile;
mod server;
mod server_process;

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::Parser;
use openshift_templates::{Client, Config, Kubeconfig, Timeouts};

use figures::Figures;
use jobs::Run;
use server::Faults;
use server_process::ServerProcess;

type Failure = Box<dyn std::error::Error + Send + Sync>;
type Result<T> = std::result::Result<T, Failure>;

/// Creates, reads and deletes jobs under faults, and accounts for every object.
#[derive(Parser)]
struct Arguments {
    /// How many jobs, of three objects each.
    #[arg(long, default_value_t = 10_000)]
    jobs: usize,
    /// How many threads share the one client.
    #[arg(long, default_value_t = 64)]
    threads: usize,
    /// A fault strikes one in so many requests.
    #[arg(long, default_value_t = 100)]
    one_in: usize,
    /// Be the server of such a run.
    #[arg(long, hide = true)]
    serve: bool,
}

/// Beyond this the client gives up on an answer; the server stalls for longer where it is to.
const TIMEOUT: Duration = Duration::from_secs(3);

/// glibc's allocator otherwise keeps a heap for each few threads, which fill up to their bound one
/// after the other: growth that is the allocator's hides what may be the client's.
const ONE_ARENA: &str = "MALLOC_ARENA_MAX";

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.serve {
        return server::serve();
    }
    if std::env::var_os(ONE_ARENA).is_none() {
        let this = std::env::current_exe()?;
        let again = Command::new(this).args(std::env::args_os().skip(1)).env(ONE_ARENA, "1").exec();
        return Err(again.into());
    }
    let mut server = ServerProcess::start()?;
    let config = Config::from_kubeconfig(Kubeconfig::file(server.kubeconfig()))?
        .timeouts(Timeouts::both(TIMEOUT)?);
    let workers = Client::connect(config)?.namespace("workers")?;
    server.set_faults(Some(Faults { one_in: arguments.one_in, stall: 2 * TIMEOUT }))?;

    let run = Run::new(&workers, arguments.jobs);
    let began = Instant::now();
    let footprints = run.work(arguments.threads)?;
    let wall = began.elapsed();
    // What is unknown is read while faults strike as before.
    let reconciled = reconcile::unknown(&workers, run.ledger())?;
    server.set_faults(None)?;

    let figures = Figures { run: &run, report: server.report()?, wall, reconciled, footprints };
    println!("{figures}");
    figures.check(arguments.threads)
}
