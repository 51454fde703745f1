//! `import`: sends a file to a running proxy in chunks and shows the progress.

/// The arguments.
mod arguments;
/// One request with the file.
mod attempt;
/// Renders an import as a command line.
mod command_line;
/// The file of rejected rows.
mod failed;
/// `--interactive`.
mod interactive;
/// The progress on the terminal.
mod progress;
/// The response of the service.
mod response;
/// Sends the file.
mod transfer;

pub(crate) use self::arguments::Import;
use self::attempt::Attempt;
use super::connection::runtime;
use super::outcome::Failure;

pub(crate) fn run(import: Import) -> Result<(), Failure> {
    import.check()?;
    runtime()?.block_on(async {
        if import.interactive {
            return interactive::run(import).await;
        }
        let attempt = if import.dry_run { Attempt::Dry } else { Attempt::Real };
        let counts = import.send(attempt).await?;
        import.report(&counts, attempt)
    })
}
