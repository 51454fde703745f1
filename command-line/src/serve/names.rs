//! Warns about misspelled settings in the environment, which would have no effect.

use clap::Command;

use crate::renamed::is_former;

const PREFIX: &str = "KEYED_";

/// The minimum similarity of a name to be suggested.
const SIMILAR: f64 = 0.8;

/// A warning for each variable that begins with `KEYED_` and is not a setting of `program`.
pub(super) fn unknown(program: &Command, variables: impl Iterator<Item = String>) -> Vec<String> {
    let mut known = Vec::new();
    collect(program, &mut known);
    let mut unknown: Vec<String> = variables
        .filter(|name| name.starts_with(PREFIX) && !known.contains(name) && !is_former(name))
        .collect();
    unknown.sort_unstable();
    unknown
        .iter()
        .map(|name| {
            let likeness = |other: &String| strsim::jaro(suffix(name), suffix(other));
            let closest = known.iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
            match closest.filter(|it| likeness(it) >= SIMILAR) {
                Some(closest) => format!("{name} is not a setting: did you mean {closest}?"),
                None => format!("{name} is not a setting, and has no effect"),
            }
        })
        .collect()
}

fn suffix(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

/// Collects the variables of a command and of its subcommands, which may share its environment.
fn collect(command: &Command, names: &mut Vec<String>) {
    names.extend(command.get_arguments().filter_map(|it| it.get_env()?.to_str().map(str::to_owned)));
    for subcommand in command.get_subcommands() {
        collect(subcommand, names);
    }
}

#[cfg(test)]
mod tests {
    fn unknown(names: &[&str]) -> Vec<String> {
        super::unknown(
            &<crate::Cli as clap::CommandFactory>::command(),
            names.iter().map(|it| (*it).to_owned()),
        )
    }

    #[test]
    fn misspelled_name_gets_a_suggestion() {
        assert_eq!(
            unknown(&["KEYED_POOL_SIZ"]),
            ["KEYED_POOL_SIZ is not a setting: did you mean KEYED_POOL_SIZE?"]
        );
        assert_eq!(unknown(&["KEYED_QQXXYYZZ"]), ["KEYED_QQXXYYZZ is not a setting, and has no effect"]);
    }

    #[test]
    fn known_settings_and_unrelated_variables_are_not_reported() {
        assert!(
            unknown(&["KEYED_LOG", "KEYED_KEY_RATE", "KEYED_DATABASE_URL_FILE", "PATH", "OTEL_X"]).is_empty()
        );
    }
}
