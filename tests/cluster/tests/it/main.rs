//! The embedded cluster against what a real one was recorded to answer, and its own tools.

// A failure here is the test's own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod breaks;
mod compare;
mod corpus;
mod disagreements;
mod faults;
mod process;
mod recordings;
mod server;
mod support;
mod writes;
