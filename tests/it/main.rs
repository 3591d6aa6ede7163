//! The library against an API server over real TLS: one binary, one module a subject.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this is a test, its helpers too, and fails by panicking"
)]

mod anywhere;
mod connect;
mod corpora;
mod counts;
mod create;
mod delete;
mod documents;
mod examples;
mod faults;
mod gate;
mod get;
mod golden;
mod hostile;
mod interruptions;
mod limits;
mod outcomes;
mod ownership;
mod plans;
mod process;
mod relay;
mod secrecy;
mod sessions;
mod site;
mod support;
mod templates;
mod verdicts;
mod waiting;
