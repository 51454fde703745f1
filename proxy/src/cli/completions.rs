//! `completions`: what shells complete.

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use super::{Cli, Failure, print};

#[derive(Args)]
pub(crate) struct Completions {
    /// For which shell. For bash: keyed-proxy completions bash > /etc/bash_completion.d/keyed-proxy
    shell: Shell,
}

pub(crate) fn run(arguments: Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut <Cli as CommandFactory>::command(), "keyed-proxy", &mut script);
    print(&String::from_utf8_lossy(&script))
}
