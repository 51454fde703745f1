//! `completions`: completion scripts for shells.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::outcome::{Failure, print};

#[derive(Args)]
pub(crate) struct Completions {
    /// The shell. For bash: keyed-proxy completions bash > /etc/bash_completion.d/keyed-proxy
    shell: Shell,
}

/// `command` is the command of the whole program.
pub(crate) fn run(arguments: Completions, mut command: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, "keyed-proxy", &mut script);
    let script = String::from_utf8_lossy(&script);
    // If the program's name has a hyphen, the bash script of clap_complete defines a function under one name and calls
    // it under another.
    print(&match arguments.shell {
        Shell::Bash => script.replace("keyed__subcmd__proxy", "keyed__proxy"),
        _ => script.into_owned(),
    })
}
