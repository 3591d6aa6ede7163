//! Credential plugins: client-go's `client.authentication.k8s.io`, versions v1 and v1beta1.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::credential::Login;
use crate::error::{ConfigError, ConfigField, ExecError, ExecProblem};

mod info;
mod output;
mod process;

pub(super) use info::{ClusterInfo, Info};
use output::Output;

/// A plugin, and what it gave last. Whoever needs a credential while it runs waits for that run.
pub(crate) struct Plugin {
    pub(super) field: ConfigField,
    pub(super) version: Version,
    /// An absolute path, or a bare name that is looked for on the `PATH`.
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) install_hint: Option<String>,
    pub(super) stdin: Stdin,
    /// `KUBERNETES_EXEC_INFO`.
    pub(super) info: String,
    pub(super) limit: Duration,
    pub(super) runs: Runs,
}

/// What came of the runs so far.
#[derive(Default)]
pub(super) struct Runs {
    ended: AtomicU64,
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    output: Option<Output>,
    failure: Option<ExecError>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V1Beta1,
}

/// What a plugin has for its standard input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stdin {
    Nothing,
    Terminal,
    /// It needs a terminal, and there is none.
    Missing,
}

/// A credential that ends within this time could end on its way to the server.
const EARLY: jiff::SignedDuration = jiff::SignedDuration::from_secs(10);

impl Version {
    pub(super) const SUPPORTED: &'static str =
        "client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1";

    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::V1, Self::V1Beta1].into_iter().find(|version| version.name() == text)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V1 => "client.authentication.k8s.io/v1",
            Self::V1Beta1 => "client.authentication.k8s.io/v1beta1",
        }
    }
}

impl Stdin {
    /// A person has to think; a program does not.
    pub(super) fn limit(self) -> Duration {
        Duration::from_secs(if self == Self::Terminal { 300 } else { 60 })
    }
}

impl Plugin {
    /// The credential of the last run for as long as it is valid, without an end for ever.
    pub(super) fn login(&self) -> Result<Login, ConfigError> {
        self.login_unless(|_| false)
    }

    /// Another credential than the one that the server refused, from a new run unless there has
    /// been one since.
    pub(super) fn login_again(&self, refused: &Login) -> Result<Login, ConfigError> {
        self.login_unless(|last| last == refused)
    }

    fn login_unless(&self, is_bad: impl Fn(&Login) -> bool) -> Result<Login, ConfigError> {
        let ended = self.runs.ended.load(Ordering::SeqCst);
        let mut last = self.runs.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(output) = &last.output
            && output.ends.is_none_or(|ends| Timestamp::now() + EARLY < ends)
            && !is_bad(&output.login)
        {
            return Ok(output.login.clone());
        }
        // Who has waited for a run that failed does not try the same once more, after all others.
        if let Some(failure) = &last.failure
            && self.runs.ended.load(Ordering::SeqCst) != ended
        {
            return Err(ConfigError::Exec(Box::new(failure.clone())));
        }
        let result = self.run();
        self.runs.ended.fetch_add(1, Ordering::SeqCst);
        match result {
            Ok(output) => {
                let login = output.login.clone();
                *last = Last { output: Some(output), failure: None };
                Ok(login)
            }
            Err(failure) => {
                last.failure = Some(failure.clone());
                Err(ConfigError::Exec(Box::new(failure)))
            }
        }
    }

    fn run(&self) -> Result<Output, ExecError> {
        let run = || {
            if self.stdin == Stdin::Missing {
                return Err(ExecProblem::NoTerminal);
            }
            Output::parse(&self.start()?, self.version)
        };
        let output = run().map_err(|problem| self.error(problem))?;
        if output.login.has_unusable_header() {
            return Err(self.error(ExecProblem::Output { field: "status.token" }));
        }
        Ok(output)
    }

    fn error(&self, problem: ExecProblem) -> ExecError {
        ExecError::new(self.field.clone(), &self.command, problem)
    }
}

#[cfg(test)]
mod tests;
