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
    let script = String::from_utf8_lossy(&script);
    // For bash, clap_complete names the function of a command in one way and asks for it in another if the program has a
    // hyphen in its name.
    print(&match arguments.shell {
        Shell::Bash => script.replace("keyed__subcmd__proxy", "keyed__proxy"),
        _ => script.into_owned(),
    })
}
