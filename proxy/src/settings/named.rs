//! Errors about the value of a flag that name the variable, too.

use clap::error::{ContextKind, ContextValue};

/// Adds to an error about the value of a flag of this command the variable that sets it, too.
pub(super) fn with_variable(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let long = flag.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default().to_owned();
    let argument = command.get_arguments().find(|argument| argument.get_long() == Some(&long));
    if let Some(variable) = argument.and_then(clap::Arg::get_env) {
        let name = format!("{flag} ({})", variable.to_string_lossy());
        error.insert(ContextKind::InvalidArg, ContextValue::String(name));
    }
    error
}
