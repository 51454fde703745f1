//! `man-pages`: manual pages, generated from the text of `--help`.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::{Args, Command};

use super::outcome::Failure;

#[derive(Args)]
pub(crate) struct ManPages {
    /// The folder, such as /usr/local/share/man/man1. It must exist.
    folder: PathBuf,
}

/// `command` is the command of the whole program.
pub(crate) fn run(arguments: ManPages, command: Command) -> Result<(), Failure> {
    let folder = arguments.folder;
    clap_mangen::generate_to(without_machine_defaults(command), &folder)
        .map_err(|error| anyhow!(error))
        .with_context(|| format!("cannot write manual pages into {}", folder.display()))?;
    Ok(())
}

/// Removes defaults that depend on this machine, because a manual page is read on other machines. The help text says
/// how they are computed.
fn without_machine_defaults(command: Command) -> Command {
    let says_its_default = |help: String| help.contains("Default: ");
    command.mut_subcommands(|command| {
        command.mut_args(|argument| {
            let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string);
            let hide = help.is_some_and(says_its_default);
            argument.hide_default_value(hide)
        })
    })
}
