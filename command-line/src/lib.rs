//! The program `keyed-proxy`: one module per subcommand.
//!
//! A subcommand consists of a variant of [`Command`], a struct of its arguments (with their help texts as comments),
//! and a function `run` that returns `Ok` or a [`Failure`], which determines the exit code.

/// The outcome of a command.
mod outcome;

/// Errors that name the environment variable of a setting.
mod named;

/// Former names of settings.
mod renamed;

/// CSV, NDJSON or XLSX.
mod format;

/// The database connection of administrative commands.
mod connection;

/// `serve`.
mod serve;

/// Shared by commands that call a running proxy.
mod service;

/// Output files.
mod output;

/// A file → records.
mod import;

/// Records → a file.
mod export;

/// The feed of changes → lines.
mod changes;

/// API keys.
mod keys;

/// Problems of a database.
mod doctor;

/// The SQL of a demo.
mod demo;

/// The OpenAPI document.
mod openapi;

/// Completion scripts for shells.
mod completions;

/// Manual pages.
mod man_pages;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use outcome::Failure;

use keyed_proxy::settings::Settings;
use named::{from_environment, named};

/// The HTTP server of the keyed extension for PostgreSQL.
#[derive(Parser)]
#[command(
    name = "keyed-proxy",
    version,
    after_help = "Without a command, keyed-proxy runs serve with the settings from the environment: see keyed-proxy serve --help."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve HTTP requests until stopped by SIGINT or SIGTERM.
    Serve(Box<Settings>),
    /// Import a CSV, NDJSON or XLSX file through a running proxy: rows with a key create records or change them.
    Import(Box<import::Import>),
    /// Export records as CSV, NDJSON or XLSX through a running proxy.
    Export(Box<export::Export>),
    /// Print the change feed as NDJSON, through a running proxy.
    Changes(Box<changes::Changes>),
    /// Issue, list and revoke API keys.
    #[command(subcommand)]
    Keys(keys::Keys),
    /// Report problems of a database and how to solve them. Changes nothing.
    Doctor(doctor::Doctor),
    /// Print SQL that creates a demo project with a few thousand records: keyed-proxy demo | psql DATABASE
    ///
    /// Run it as a superuser of a database with the extension. It creates the project `crm` and the role `sales_bern`,
    /// and prints an API key of that role and the token of an inbound endpoint, which are shown only once. If the
    /// schema `crm` exists, it has no effect.
    Demo,
    /// Print the HTTP interface as an OpenAPI 3.1 document.
    Openapi,
    /// Print a completion script for a shell.
    Completions(completions::Completions),
    /// Write manual pages into a folder, one for each command.
    ManPages(man_pages::ManPages),
}

impl Cli {
    /// The command that the arguments name, or `serve`.
    pub(crate) fn command(self) -> Result<Command, clap::Error> {
        match self.command {
            Some(command) => Ok(command),
            None => Ok(Command::Serve(Box::new(from_environment()?))),
        }
    }
}

/// The commands, which also accept former names of settings.
fn command() -> clap::Command {
    <Cli as CommandFactory>::command()
        .mut_subcommand("serve", |serve| renamed::with_former_names(serve, |name| std::env::var_os(name)))
}

fn parse() -> Result<Cli, clap::Error> {
    Cli::from_arg_matches(&command().try_get_matches()?)
}

/// Runs the command given by the arguments of this process.
pub fn main() -> ExitCode {
    let parsed = parse().map_err(named).and_then(Cli::command);
    let done = match parsed.unwrap_or_else(|error| error.exit()) {
        Command::Serve(settings) => serve::run(*settings, &<Cli as CommandFactory>::command()),
        Command::Import(import) => import::run(*import),
        Command::Export(export) => export::run(*export),
        Command::Changes(changes) => changes::run(*changes),
        Command::Keys(keys) => keys::run(keys),
        Command::Doctor(doctor) => doctor::run(doctor),
        Command::Demo => demo::run(),
        Command::Openapi => openapi::run(),
        Command::Completions(completions) => {
            completions::run(completions, <Cli as CommandFactory>::command())
        }
        Command::ManPages(man_pages) => man_pages::run(man_pages, <Cli as CommandFactory>::command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage { message, help }) => {
            eprintln!("keyed-proxy: {message}\nSee keyed-proxy {help} --help.");
            ExitCode::from(2)
        }
        Err(Failure::Running(error)) => {
            eprintln!("keyed-proxy: {error:#}");
            ExitCode::FAILURE
        }
        Err(Failure::Resync(message)) => {
            eprintln!("keyed-proxy: {message}");
            ExitCode::from(3)
        }
    }
}

#[cfg(test)]
mod layers;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        <Cli as CommandFactory>::command().debug_assert();
    }

    #[test]
    fn default_command_is_serve() {
        let cli = Cli::try_parse_from(["keyed-proxy"]).expect("no command is needed");
        assert!(matches!(cli.command(), Ok(Command::Serve(_))));
    }
}
