//! The outcome of a command: a result on standard output, or a failure, which sets the exit code.

use std::io::Write;

/// Why a command failed.
pub(crate) enum Failure {
    /// A usage error: exit code 2, as for invalid arguments.
    Usage { message: String, help: &'static str },
    /// Any other failure: exit code 1.
    Running(anyhow::Error),
    /// The cursor of a change feed is no longer valid: exit code 3.
    Resync(String),
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Running(error)
    }
}

/// Writes a result to standard output. A closed pipe is an ordinary failure, not a panic.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::Running(anyhow::Error::new(error).context("cannot write the result")))
}
