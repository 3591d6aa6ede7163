//! The library against an API server over real TLS: one binary, one module a subject.

mod create;
mod delete;
mod get;
mod golden;
mod outcomes;
mod process;
mod secrecy;
mod sessions;
mod support;
mod verdicts;
