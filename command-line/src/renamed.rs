//! Former names of the service's settings. Their variables and flags are accepted for one release, with a warning in the log.

use std::ffi::OsString;

use clap::Command;

/// The prefix of environment variables.
const PREFIX: &str = "KEYED_";

/// The variables of renamed settings: the former name, and the current one. Flags are named accordingly.
const RENAMED: [(&str, &str); 10] = [
    ("KEYED_ADDRESS_CONNECTIONS", "KEYED_MAX_CONNECTIONS_PER_ADDRESS"),
    ("KEYED_CONNECTIONS", "KEYED_MAX_CONNECTIONS"),
    ("KEYED_FILES", "KEYED_MAX_TRANSFERS"),
    ("KEYED_FILE_TIMEOUT", "KEYED_TRANSFER_TIMEOUT"),
    ("KEYED_KEY_CONNECTIONS", "KEYED_MAX_DATABASE_CONNECTIONS_PER_KEY"),
    ("KEYED_KEY_FILES", "KEYED_MAX_TRANSFERS_PER_KEY"),
    ("KEYED_KEY_REQUESTS", "KEYED_MAX_REQUESTS_PER_KEY"),
    ("KEYED_LEAST_RATE", "KEYED_MINIMUM_RATE"),
    ("KEYED_REFUSAL_MEMORY", "KEYED_INVALID_KEY_TTL"),
    ("KEYED_REQUESTS", "KEYED_MAX_REQUESTS"),
];

/// Makes a command with the service's settings accept former names. `variable` reads the environment.
///
/// The variable of a former name replaces the default, so the current variable and the flag override it.
pub(crate) fn with_former_names(
    mut command: Command,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Command {
    for (former, current) in RENAMED {
        let former_value = variable(former);
        command = command.mut_args(|argument| {
            if argument.get_env().is_none_or(|name| name != current) {
                return argument;
            }
            // clap requires names and defaults with a static lifetime.
            let argument = argument.alias(&*flag(former).leak());
            match &former_value {
                Some(value) => argument.default_value(&*value.clone().leak()),
                None => argument,
            }
        });
    }
    command
}

/// Whether a variable is the former name of a setting.
pub(crate) fn is_former(variable: &str) -> bool {
    RENAMED.iter().any(|(former, _)| *former == variable)
}

/// A warning for each former name in the environment and in the arguments of the process.
pub(crate) fn notices(variable: impl Fn(&str) -> Option<OsString>, arguments: &[OsString]) -> Vec<String> {
    let mut notices = Vec::new();
    for (former, current) in RENAMED {
        if variable(former).is_some() {
            notices.push(match variable(current) {
                None => format!("{former} is now {current}. The next release ignores the former name."),
                Some(_) => format!("{former} has no effect, because {current} is set. Remove it."),
            });
        }
        let (former, current) = (format!("--{}", flag(former)), format!("--{}", flag(current)));
        let is_former = |argument: &str| argument.split('=').next() == Some(&*former);
        if arguments.iter().any(|argument| argument.to_str().is_some_and(is_former)) {
            notices.push(format!("{former} is now {current}. The next release rejects the former name."));
        }
    }
    notices
}

fn flag(variable: &str) -> String {
    variable.strip_prefix(PREFIX).unwrap_or(variable).to_ascii_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};
    use keyed_proxy::settings::Settings;

    use super::*;

    fn command(environment: &[(&str, &str)]) -> Command {
        let command = Settings::augment_args(Command::new("keyed-proxy"));
        with_former_names(command, |name| value_in(environment, name))
    }

    fn value_in(environment: &[(&str, &str)], name: &str) -> Option<OsString> {
        environment.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value))
    }

    fn rate(environment: &[(&str, &str)], arguments: &[&str]) -> usize {
        let arguments = ["keyed-proxy"].iter().chain(arguments);
        let matches = command(environment).try_get_matches_from(arguments).expect("good arguments");
        Settings::from_arg_matches(&matches).expect("all settings").bounds.minimum_rate
    }

    #[test]
    fn flag_overrides_former_variable() {
        let former = [("KEYED_LEAST_RATE", "8KiB")];
        assert_eq!(rate(&former, &[]), 8 << 10);
        assert_eq!(rate(&former, &["--minimum-rate", "16KiB"]), 16 << 10);
        assert_eq!(rate(&former, &["--least-rate", "16KiB"]), 16 << 10);
        assert_eq!(rate(&[], &[]), 4 << 10);
    }

    #[test]
    fn every_current_name_is_a_setting_and_no_former_one_is() {
        let command = command(&[]);
        let is_setting =
            |name: &str| command.get_arguments().any(|it| it.get_env().is_some_and(|it| it == name));
        for (former, current) in RENAMED {
            assert!(is_setting(current), "{current}");
            assert!(!is_setting(former), "{former}");
        }
        command.debug_assert();
    }

    #[test]
    fn notice_names_the_current_or_effective_setting() {
        let of = |environment: &[(&str, &str)], arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            notices(|name| value_in(environment, name), &arguments)
        };
        assert_eq!(
            of(&[("KEYED_FILES", "2")], &["--key-files=1", "--files-of=1"]),
            [
                "KEYED_FILES is now KEYED_MAX_TRANSFERS. The next release ignores the former name.",
                "--key-files is now --max-transfers-per-key. The next release rejects the former name."
            ]
        );
        assert_eq!(
            of(&[("KEYED_FILES", "2"), ("KEYED_MAX_TRANSFERS", "3")], &[]),
            ["KEYED_FILES has no effect, because KEYED_MAX_TRANSFERS is set. Remove it."]
        );
        assert!(of(&[("KEYED_MAX_TRANSFERS", "3")], &["--max-transfers", "3"]).is_empty());
    }
}
