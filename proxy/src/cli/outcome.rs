//! The outcome of a command: a result on standard output, or a failure, which sets the exit code.

use std::io::Write;

/// Why a command did not do what it was asked to.
pub(crate) enum Failure {
    /// It was asked wrongly: exit code 2, as for arguments that cannot be read.
    Usage { message: String, help: &'static str },
    /// It could not be done: exit code 1.
    Running(anyhow::Error),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Running(error)
    }
}

/// Writes a result to standard output. That its reader went away is a failure like others, not a panic.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::Running(anyhow::Error::new(error).context("cannot write the result")))
}
