use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Plugin, Stdin};
use crate::error::ExecProblem;

/// A credential is some kilobytes.
const OUTPUT_LIMIT: u64 = 1024 * 1024;

impl Plugin {
    /// Runs the plugin, with no shell in between and in the caller's folder, and returns what it
    /// wrote. Its standard error is this process's, as with kubectl.
    pub(super) fn start(&self) -> Result<Vec<u8>, ExecProblem> {
        let not_found = || ExecProblem::NotFound { install_hint: self.install_hint.clone() };
        let program = find(&self.command).ok_or_else(not_found)?;
        let interactive = self.stdin == Stdin::Terminal;
        let mut child = Command::new(program)
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("KUBERNETES_EXEC_INFO", &self.info)
            .stdin(if interactive { Stdio::inherit() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => not_found(),
                _ => start(source),
            })?;
        let output = self.wait(&mut child);
        if output.is_err() {
            // It may have ended by itself, which makes no difference.
            let _ = child.kill();
            let _ = child.wait();
        }
        output
    }

    fn wait(&self, child: &mut Child) -> Result<Vec<u8>, ExecProblem> {
        let end = Instant::now() + self.limit;
        let timed_out = || ExecProblem::TimedOut { limit: self.limit };
        let Some(stdout) = child.stdout.take() else { return Err(timed_out()) };
        let (sender, receiver) = mpsc::channel();
        // A process that the plugin leaves behind can hold the pipe open beyond the plugin's end:
        // this thread then ends with that process, and nobody waits for it.
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stdout.take(OUTPUT_LIMIT + 1).read_to_end(&mut bytes);
            sender.send(read.map(|_| bytes))
        });
        let bytes = match receiver.recv_timeout(self.limit) {
            Ok(read) => read.map_err(start)?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                return Err(timed_out());
            }
        };
        if u64::try_from(bytes.len()).is_ok_and(|length| length > OUTPUT_LIMIT) {
            return Err(ExecProblem::NotAnExecCredential);
        }
        let status = wait_until(child, end).map_err(start)?.ok_or_else(timed_out)?;
        if !status.success() {
            return Err(ExecProblem::Exit { code: status.code() });
        }
        Ok(bytes)
    }
}

fn start(source: io::Error) -> ExecProblem {
    ExecProblem::Start { source: Arc::new(source) }
}

/// The standard library waits for ever or not at all. A plugin ends when it has written, so that
/// there is next to nothing to wait for.
fn wait_until(child: &mut Child, end: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Like Go's `exec.LookPath`: by this process's `PATH`, and never in the current folder. The
/// standard library would take the `PATH` that the plugin is to get.
fn find(command: &str) -> Option<PathBuf> {
    let path = Path::new(command);
    if !cfg!(unix) || path.components().count() > 1 || path.is_absolute() {
        return Some(path.to_owned());
    }
    std::env::split_paths(&std::env::var_os("PATH")?)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(path))
        .find(|candidate| is_executable(candidate))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}
