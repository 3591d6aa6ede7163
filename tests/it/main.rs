//! The library against an API server over real TLS: one binary, one module a subject.

mod create;
mod delete;
mod get;
mod golden;
mod outcomes;
mod ownership;
mod plans;
mod process;
mod secrecy;
mod sessions;
mod support;
mod templates;
mod verdicts;
mod waiting;
