use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::{ConfigField, one_line};

/// A credential plugin did not give a credential, so that nothing was sent. Nothing that the
/// plugin wrote is kept; its standard error went to this process's.
#[derive(Clone, Debug)]
pub struct ExecError {
    field: ConfigField,
    command: String,
    problem: ExecProblem,
}

/// What went wrong with a credential plugin.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ExecProblem {
    /// There is no such executable.
    NotFound {
        /// What the kubeconfig says about installing it.
        install_hint: Option<String>,
    },
    /// It could not be started, or not be waited for.
    Start {
        /// Why.
        source: Arc<io::Error>,
    },
    /// `interactiveMode` is `Always`, and standard input is no terminal.
    NoTerminal,
    /// It was not done in time, and was stopped.
    TimedOut {
        /// The time that it had.
        limit: Duration,
    },
    /// It ended with a failure.
    Exit {
        /// The exit code; none when a signal ended it.
        code: Option<i32>,
    },
    /// Its output is no `ExecCredential` in JSON or YAML.
    NotAnExecCredential,
    /// Its output is of another version than the kubeconfig asks for.
    OtherVersion {
        /// The version asked for.
        expected: &'static str,
    },
    /// A field of its output is absent or cannot be used.
    Output {
        /// That field.
        field: &'static str,
    },
}

impl ExecError {
    pub(crate) fn new(field: ConfigField, command: &str, problem: ExecProblem) -> Self {
        Self { field, command: command.to_owned(), problem }
    }

    /// The entry that asks for the plugin.
    #[must_use]
    pub fn field(&self) -> &ConfigField {
        &self.field
    }

    /// The executable, without its arguments.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// What went wrong.
    #[must_use]
    pub fn problem(&self) -> &ExecProblem {
        &self.problem
    }
}

impl fmt::Display for ExecProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { install_hint: None } => {
                f.write_str("was not found: install it, or put it on the PATH")
            }
            Self::NotFound { install_hint: Some(hint) } => {
                write!(f, "was not found: {}", one_line(hint))
            }
            Self::Start { .. } => f.write_str("could not be run"),
            Self::NoTerminal => f.write_str(
                "wants to ask somebody (interactiveMode: Always), and standard input is no terminal",
            ),
            Self::TimedOut { limit } => write!(f, "was not done within {} s", limit.as_secs()),
            Self::Exit { code: Some(code) } => write!(f, "failed with exit code {code}"),
            Self::Exit { code: None } => f.write_str("was ended by a signal"),
            Self::NotAnExecCredential => f.write_str("wrote no ExecCredential, in JSON or YAML"),
            Self::OtherVersion { expected } => {
                write!(f, "did not answer in the version asked for, {expected}")
            }
            Self::Output { field } => {
                write!(f, "wrote an ExecCredential whose {field} is absent or unusable")
            }
        }
    }
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, command, problem } = self;
        write!(f, "the plugin {} ({field}) {problem}", one_line(command))
    }
}

impl Error for ExecError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            ExecProblem::Start { source } => Some(source),
            _ => None,
        }
    }
}
