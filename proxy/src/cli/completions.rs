//! `completions`: completion scripts for shells.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::outcome::{Failure, print};

#[derive(Args)]
pub(crate) struct Completions {
    /// The shell. For bash: keyed-proxy completions bash > /etc/bash_completion.d/keyed-proxy
    shell: Shell,
}

/// `command` is that of the whole program.
pub(crate) fn run(arguments: Completions, mut command: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, "keyed-proxy", &mut script);
    print(&String::from_utf8_lossy(&script))
}
