//! The server as seen from the client's process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};

use serde::de::DeserializeOwned;

use crate::Result;
use crate::server::{Command, Faults, Report};

/// Ends with its standard input, so with this process however that ends.
pub(crate) struct ServerProcess {
    child: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    kubeconfig: PathBuf,
}

impl ServerProcess {
    pub(crate) fn start() -> Result<Self> {
        let mut child = Process::new(std::env::current_exe()?)
            .arg("--serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (commands, answers) = (child.stdin.take(), child.stdout.take());
        let answers = BufReader::new(answers.ok_or("the server has no output")?);
        let mut server = Self { child, commands, answers, kubeconfig: PathBuf::new() };
        server.kubeconfig = server.answer()?;
        Ok(server)
    }

    pub(crate) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    pub(crate) fn set_faults(&mut self, faults: Option<Faults>) -> Result<()> {
        self.command(&Command::SetFaults(faults))
    }

    pub(crate) fn report(&mut self) -> Result<Report> {
        self.command(&Command::Report)
    }

    fn command<T: DeserializeOwned>(&mut self, command: &Command) -> Result<T> {
        let commands = self.commands.as_mut().ok_or("the server has no input")?;
        commands.write_all((serde_json::to_string(command)? + "\n").as_bytes())?;
        self.answer()
    }

    fn answer<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err("the server has ended".into());
        }
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.commands.take());
        // It is gone either way, and nothing else is to be done about it.
        _ = self.child.wait();
    }
}
