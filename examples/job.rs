//! A batch tool on top of the library: `cargo run --example job -- --help`.
//!
//! Exit codes: 0 done, 1 nothing was touched, 2 the command line is wrong, 3 something may have been
//! touched (the references on standard output say what is certain).

use std::error::Error as _;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use openshift_templates::{
    Client, Config, CreateOptions, DeleteOptions, Event, Kubeconfig, Manifest, Namespace,
    ResourceRef, Template, Wait,
};

/// Process an OpenShift Template, and create, look at and delete what it renders.
#[derive(Parser)]
struct Cli {
    /// The kubeconfig; without it KUBECONFIG, ~/.kube/config, or the pod's service account.
    #[arg(long, global = true)]
    kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig.
    #[arg(long, global = true)]
    context: Option<String>,
    /// The target namespace; without it the context's.
    #[arg(short, long, global = true)]
    namespace: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Render, and create nothing.
    Process(Job),
    /// Render and apply.
    Create {
        #[command(flatten)]
        job: Job,
        /// Have the server try everything and store nothing.
        #[arg(long)]
        dry_run: bool,
        /// Have the server try everything first, and stop if it refuses anything.
        #[arg(long)]
        preflight: bool,
        /// Fail if an object exists.
        #[arg(long)]
        require_new: bool,
        /// Take fields over from other field managers.
        #[arg(long)]
        force: bool,
        /// The owner of the applied fields.
        #[arg(long, default_value = "mini-scheduler")]
        field_manager: String,
    },
    /// Read the live objects.
    Get(Job),
    /// Say how each object is doing.
    Status(Job),
    /// Wait until a condition holds for every object.
    Wait {
        #[command(flatten)]
        job: Job,
        /// `absent`, or a condition: `Ready` or `Ready=True`.
        #[arg(long = "for", value_name = "CONDITION")]
        until: String,
        /// How long, in seconds.
        #[arg(long, default_value_t = 300)]
        timeout: u64,
    },
    /// Delete what the Template renders, in reverse order.
    Delete {
        #[command(flatten)]
        job: Job,
        /// Delete only what this field manager applied or created.
        #[arg(long, value_name = "FIELD_MANAGER")]
        only_managed_by: Option<String>,
        /// Have the server try everything and delete nothing.
        #[arg(long)]
        dry_run: bool,
    },
    /// Print the Roles that all of this needs, and what of them is missing.
    Access(Job),
    /// List the Template's parameters.
    Parameters(Job),
}

#[derive(Args)]
struct Job {
    /// The stored Template's name.
    #[arg(required_unless_present = "filename", conflicts_with = "filename")]
    template: Option<String>,
    /// A Template in a file, instead.
    #[arg(short, long)]
    filename: Option<PathBuf>,
    /// Where the Template is stored; without it the target namespace.
    #[arg(long)]
    template_namespace: Option<String>,
    /// A parameter. Can be repeated.
    #[arg(short, long, value_name = "NAME=VALUE", value_parser = pair)]
    parameter: Vec<(String, String)>,
    /// A file of parameters. Can be repeated; -p wins.
    #[arg(long)]
    param_file: Vec<PathBuf>,
    /// Leave out parameters that the Template does not have.
    #[arg(long)]
    ignore_unknown_parameters: bool,
    /// A label for every object. Can be repeated.
    #[arg(short, long, value_name = "KEY=VALUE", value_parser = pair)]
    label: Vec<(String, String)>,
    /// How to print objects.
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    output: Output,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Output {
    Json,
    Yaml,
    Name,
    Table,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it has no '='")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Job {
    fn template(&self) -> openshift_templates::Result<Template> {
        let mut template = match (&self.filename, &self.template) {
            (Some(path), _) => Template::from_file(path)?,
            (None, name) => Template::new(name.clone().unwrap_or_default()),
        };
        if let Some(namespace) = &self.template_namespace {
            template = template.in_namespace(namespace);
        }
        for path in &self.param_file {
            template = template.parameters_from_file(path)?;
        }
        for (key, value) in &self.label {
            template = template.label(key, value);
        }
        Ok(template
            .parameters(self.parameter.iter().cloned())
            .ignore_unknown_parameters(self.ignore_unknown_parameters))
    }

    fn print_objects(&self, objects: &[Manifest]) {
        let list = || serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects});
        match self.output {
            Output::Json => println!("{:#}", list()),
            Output::Yaml => print!("{}", serde_yaml::to_string(&list()).unwrap_or_default()),
            Output::Name | Output::Table => {
                let references: Vec<_> = objects.iter().filter_map(Manifest::reference).collect();
                self.print_references(&references);
            }
        }
    }

    fn print_references(&self, references: &[ResourceRef]) {
        match self.output {
            Output::Json => println!("{:#}", serde_json::json!(references)),
            Output::Yaml => print!("{}", serde_yaml::to_string(references).unwrap_or_default()),
            Output::Name => references.iter().for_each(|reference| println!("{reference}")),
            Output::Table => {
                for reference in references {
                    let (kind, name) = (reference.kind(), reference.name());
                    println!("{kind:<24} {name:<40} {}", reference.uid().unwrap_or("-"));
                }
            }
        }
    }
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut source = error.source();
            while let Some(cause) = source {
                eprintln!("  because: {cause}");
                source = cause.source();
            }
            ExitCode::from(if error.as_operation().is_some() { 3 } else { 1 })
        }
    }
}

fn run(cli: Cli) -> openshift_templates::Result<()> {
    let config = match (&cli.kubeconfig, &cli.context) {
        (None, None) => Config::infer()?,
        (path, context) => {
            let source = path.as_ref().map_or_else(Kubeconfig::search, Kubeconfig::file);
            Config::from_kubeconfig(match context {
                Some(context) => source.context(context),
                None => source,
            })?
        }
    };
    let name = cli.namespace.as_deref().or(config.default_namespace()).unwrap_or("default");
    let name = name.to_owned();
    let namespace = Client::connect(config)?.namespace(name)?;

    match cli.command {
        Command::Process(job) => {
            let processed = namespace.process(&job.template()?)?;
            job.print_objects(processed.manifests());
            if let Some(message) = processed.message() {
                eprintln!("{message}");
            }
        }
        Command::Create { job, dry_run, preflight, require_new, force, field_manager } => {
            let options = CreateOptions::new()
                .field_manager(field_manager)
                .force(force)
                .dry_run(dry_run)
                .preflight(preflight)
                .require_new(require_new);
            let plan = namespace.plan(&job.template()?)?;
            let namespace = with_progress(namespace, Some(plan.manifests().len()));
            let applied = namespace.apply(&plan, &options)?;
            let references: Vec<_> = applied.iter().map(|a| a.reference().clone()).collect();
            job.print_references(&references);
        }
        Command::Get(job) => job.print_objects(&namespace.get(&job.template()?)?),
        Command::Status(job) => {
            for object in namespace.status(&job.template()?)? {
                println!("{:<60} {}", object.reference().to_string(), object.state());
            }
        }
        Command::Wait { job, until, timeout } => {
            let wait = match until.split_once('=') {
                _ if until == "absent" => Wait::until_absent(),
                Some((condition, status)) => Wait::until_condition(condition, status),
                None => Wait::until_condition(until, "True"),
            };
            let patient = namespace.with_deadline(Duration::from_secs(timeout));
            patient.wait(&job.template()?, &wait)?;
        }
        Command::Delete { job, only_managed_by, dry_run } => {
            let mut options = DeleteOptions::new().dry_run(dry_run);
            if let Some(manager) = only_managed_by {
                options = options.only_managed_by(manager);
            }
            let namespace = with_progress(namespace, None);
            job.print_references(&namespace.delete_with(&job.template()?, &options)?);
        }
        Command::Access(job) => {
            let access = namespace.access(&job.template()?)?;
            print!("{}", access.to_yaml());
            for missing in namespace.check_access(&access)? {
                eprintln!("missing: {missing}");
            }
        }
        Command::Parameters(job) => {
            for parameter in namespace.parameters(&job.template()?)? {
                let default = match (parameter.value(), parameter.is_generated()) {
                    (Some(_), _) => "has a default",
                    (None, true) => "give a value",
                    (None, false) if parameter.is_required() => "required",
                    (None, false) => "",
                };
                let about = parameter.description().unwrap_or_default();
                println!("{:<24} {default:<16} {about}", parameter.name());
            }
        }
    }
    Ok(())
}

/// A bar on a terminal, a line for each object in a log.
fn with_progress(namespace: Namespace, count: Option<usize>) -> Namespace {
    let bar = std::io::stderr().is_terminal().then(|| match count {
        Some(count) => ProgressBar::new(count as u64)
            .with_style(ProgressStyle::default_bar().progress_chars("=> ")),
        None => ProgressBar::new_spinner(),
    });
    namespace.with_observer(move |event| {
        let line = match event {
            Event::Before(operation, reference) => format!("{operation} {reference}"),
            Event::Applied(applied) => format!("{} {}", applied.reference(), applied.change()),
            Event::Deleted(reference) => format!("{reference} deleted"),
            Event::Failed(failure) => format!("{} {}", failure.resource(), failure.outcome()),
            _ => return,
        };
        match (&bar, event) {
            (Some(bar), Event::Before(..)) => bar.set_message(line),
            (Some(bar), _) => bar.inc(1),
            (None, Event::Before(..)) => {}
            (None, _) => eprintln!("{line}"),
        }
    })
}
