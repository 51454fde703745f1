//! Settings of the service from the environment, and errors that name the environment variable of a setting.

use clap::error::{ContextKind, ContextValue};
use clap::{Args, FromArgMatches};
use keyed_proxy::settings::Settings;

use crate::renamed::with_former_names;

/// Adds the environment variable to an error about a setting, because most settings are set there.
pub(crate) fn named(error: clap::Error) -> clap::Error {
    with_variable(error, &Settings::augment_args(clap::Command::new("keyed-proxy")))
}

/// The settings from the environment, or the defaults.
pub(crate) fn from_environment() -> Result<Settings, clap::Error> {
    let command = Settings::augment_args(clap::Command::new("keyed-proxy"));
    let command = with_former_names(command, |name| std::env::var_os(name));
    let matches = command.try_get_matches_from(["keyed-proxy"]).map_err(named)?;
    Settings::from_arg_matches(&matches)
}

/// Adds to an error about the value of a flag the environment variable that also sets it.
fn with_variable(mut error: clap::Error, command: &clap::Command) -> clap::Error {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return error };
    let long = flag.trim_start_matches('-').split([' ', '=']).next().unwrap_or_default().to_owned();
    let argument = command.get_arguments().find(|argument| argument.get_long() == Some(&long));
    if let Some(variable) = argument.and_then(clap::Arg::get_env) {
        let name = format!("{flag} ({})", variable.to_string_lossy());
        error.insert(ContextKind::InvalidArg, ContextValue::String(name));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Settings for which zero is valid: no limit, no wait, or none.
    const ZERO_IS_VALID: [&str; 6] = [
        "KEYED_READ_WAIT",
        "KEYED_KEY_RATE",
        "KEYED_PUBLIC_RATE",
        "KEYED_AUTH_FAILURES",
        "KEYED_TRUSTED_PROXIES",
        "KEYED_DRAIN",
    ];

    #[test]
    fn error_names_the_setting_out_of_range() {
        let command = Settings::augment_args(clap::Command::new("keyed-proxy"));
        for argument in command.get_arguments() {
            let (Some(long), Some(variable)) = (argument.get_long(), argument.get_env()) else { continue };
            let variable = variable.to_string_lossy();
            let kind = argument.get_value_names().and_then(|names| names.first()).expect("a kind of value");
            for value in
                ["0", "-1", "18446744073709551615", "340282366920938463463374607431768211456", "", "rubbish"]
            {
                let given = [
                    "keyed-proxy".to_owned(),
                    "--database-url=host=/run".to_owned(),
                    format!("--{long}={value}"),
                ];
                let given = if long.starts_with("database-url") {
                    [&given[..1], &given[2..]].concat()
                } else {
                    given.to_vec()
                };
                let outcome = command.clone().try_get_matches_from(given).map_err(named);
                let outcome = match outcome {
                    Ok(matches) => Settings::from_arg_matches(&matches).expect("they were parsed").validate(),
                    Err(error) => Err(error.to_string()),
                };
                match outcome {
                    Err(message) => assert!(message.contains(&*variable), "{variable}={value:?}: {message}"),
                    Ok(()) => {
                        let is_number = ["N", "SIZE", "SECONDS"].contains(&kind.as_str());
                        let is_meant = value == "0" && ZERO_IS_VALID.contains(&&*variable);
                        assert!(!is_number || is_meant, "{variable}={value:?} is accepted");
                    }
                }
            }
        }
    }
}
