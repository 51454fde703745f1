//! The program `keyed-proxy`.

use std::process::ExitCode;

fn main() -> ExitCode {
    keyed_command_line::main()
}
