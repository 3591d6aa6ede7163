//! Process OpenShift Templates and apply, read and delete what they render: a small blocking
//! client for schedulers and batch tools.
//!
//! ```no_run
//! use openshift_templates::{Client, Config, Kubeconfig, Template};
//!
//! # fn main() -> Result<(), openshift_templates::Error> {
//! let config = Config::from_kubeconfig(Kubeconfig::search())?;
//! let workers = Client::connect(config)?.namespace("workers")?;
//! let job = Template::new("worker-template").in_namespace("infra").parameter("VM_NAME", "worker-001");
//!
//! let references = workers.create(&job)?;
//! for live in workers.get(&job)? {
//!     println!("{live:?}: {:?}", live.status());
//! }
//! workers.delete(&job)?; // or, with each uid as a precondition: workers.delete(&references)?
//! # let _ = references;
//! # Ok(()) }
//! ```
//!
//! | to | look at |
//! |---|---|
//! | connect from a kubeconfig or a pod | [`Config`], [`Kubeconfig`], [`Client`] |
//! | say what to render | [`Template`], [`ParameterValue`] |
//! | render, apply, read, delete | [`Namespace`] |
//! | find objects again | [`ResourceRef`], [`Selection`] |
//! | read rendered and live objects | [`ProcessedTemplate`], [`Manifest`] |
//! | bound the waiting, or end it | [`Timeouts`], [`Namespace::with_deadline`], [`CancelToken`] |
//! | know what failed, and whether it took effect | [`Error`], [`OperationError`], [`Outcome`] |
//!
//! Everything blocks. There is no async runtime, no thread kept running, no file written and no
//! cache on disk.

#![forbid(unsafe_code)]

mod access;
mod client;
mod config;
mod discovery;
mod error;
mod manifest;
mod names;
mod namespace;
mod observer;
mod operations;
mod options;
mod plan;
mod request;
mod resource;
mod scope;
mod secret_data;
mod status;
mod target;
mod template;
mod timeouts;
mod transport;
mod wait;
mod yaml;

pub use access::{Access, AccessRule, MissingAccess};
pub use client::Client;
pub use config::{Config, Impersonation, Kubeconfig};
pub use error::{
    ApiError, ConfigError, ConfigField, ConfigProblem, DiscoveryError, Error, ExecError,
    ExecProblem, Failure, InvalidInput, ManifestError, ManifestProblem, Operation, OperationError,
    Outcome, OwnershipError, Phase, PreflightError, Result, Shape, StatusCause, TransportError,
    WaitError,
};
pub use manifest::Manifest;
pub use namespace::Namespace;
pub use observer::Event;
pub use operations::process::ProcessedTemplate;
pub use options::{CreateOptions, DeleteOptions, PropagationPolicy};
pub use plan::{Applied, Change, Plan};
pub use resource::{ResourceRef, Selection};
pub use status::{ObjectStatus, State};
pub use template::{Parameter, ParameterValue, Template};
pub use timeouts::Timeouts;
pub use transport::CancelToken;
pub use wait::Wait;

/// The README's programs, so that they compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

const _: fn() = || {
    fn is_shared_by_threads<T: Send + Sync + 'static>() {}
    is_shared_by_threads::<Client>();
    is_shared_by_threads::<Namespace>();
    is_shared_by_threads::<Error>();
};
const _: () = assert!(size_of::<Error>() <= 64, "an error is moved at every `?`");
