//! Initializes the log, and changes its level while the service runs.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, fmt, reload};

use keyed_proxy::observation::access_log;
use keyed_proxy::settings::{LogFormat, Settings};
use keyed_service::log::Writer;

const LEVELS: &str = "The levels are off, error, warn, info, debug and trace; those of targets follow a level for everything \
                      else, as in info,access=off.";

/// The program's name as a log target, and its crates.
const PROGRAM: &str = "keyed_proxy";
const CRATES: [&str; 3] = ["keyed_command_line", "keyed_embedding_worker", "keyed_service"];

/// The level of the log.
pub(super) struct LogLevel {
    current: Mutex<String>,
    handle: reload::Handle<EnvFilter, Registry>,
}

impl LogLevel {
    /// Sets the filter. Returns whether it differs from the previous one.
    pub(super) fn set(&self, filter: &str) -> Result<bool, String> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if *current == filter {
            return Ok(false);
        }
        self.handle.reload(parse(filter)?).map_err(|error| error.to_string())?;
        filter.clone_into(&mut current);
        Ok(true)
    }
}

/// Starts the log. When the writer is dropped, it writes the remaining lines.
pub(super) fn start(settings: &Settings) -> Result<(LogLevel, Writer), String> {
    let (filter, handle) = reload::Layer::new(parse(&settings.log)?);
    let log = tracing_subscriber::registry().with(filter);
    let writer =
        Writer::start(std::io::stderr()).map_err(|error| format!("cannot start the log: {error}"))?;
    let lines = fmt::layer().with_writer(writer.lines());
    match settings.log_format {
        LogFormat::Text => log.with(lines.with_ansi(std::io::stderr().is_terminal())).init(),
        LogFormat::Json => log.with(lines.json()).init(),
    }
    Ok((LogLevel { current: Mutex::new(settings.log.clone()), handle }, writer))
}

/// Parses the filter in `KEYED_LOG`.
///
/// The library treats a word that is not a level as a target and disables everything else. A misspelled level would
/// therefore disable the log, so it is rejected.
pub(super) fn parse(filter: &str) -> Result<EnvFilter, String> {
    let directives: Vec<&str> = filter.split(',').map(str::trim).collect();
    let is_level = |word: &str| word.parse::<LevelFilter>().is_ok();
    let is_word = |directive: &str| !directive.is_empty() && !directive.contains(['=', '[']);
    let is_ours = |word: &str| {
        let name = word.split("::").next().unwrap_or_default();
        word == access_log::TARGET || name == PROGRAM || CRATES.contains(&name)
    };
    if let Some(word) = directives.iter().find(|it| is_word(it) && !is_level(it) && !is_ours(it)) {
        return Err(format!("KEYED_LOG: {word:?} is not a level. {LEVELS}"));
    }
    let parsed = EnvFilter::builder()
        .parse(with_all_crates(&directives).join(","))
        .map_err(|error| format!("KEYED_LOG is not a log filter: {error}. {LEVELS}"))?;
    // With only `access=off`, the library also disables all other targets.
    if parsed.max_level_hint() == Some(LevelFilter::OFF) && !directives.iter().any(|it| is_level(it)) {
        return Err(format!("KEYED_LOG: {filter:?} switches off the whole log. {LEVELS}"));
    }
    Ok(parsed)
}

/// A directive for the program applies to each of its crates that has no own directive.
fn with_all_crates(directives: &[&str]) -> Vec<String> {
    let target = |directive: &str| directive.split(['=', '[', ':']).next().unwrap_or_default().to_owned();
    let mut all: Vec<String> = directives.iter().map(|&it| it.to_owned()).collect();
    for level in directives.iter().filter_map(|directive| directive.strip_prefix(PROGRAM)) {
        if level.is_empty() || level.starts_with(['=', '[']) {
            let others = CRATES.iter().filter(|name| !directives.iter().any(|it| target(it) == **name));
            all.extend(others.map(|name| format!("{name}{level}")));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_has_a_level_and_levels_of_targets() {
        for filter in [
            "info",
            "WARN",
            "off",
            "warn,keyed_proxy=debug",
            "info,access=off",
            "info, access=off",
            "access",
            "keyed_proxy::database",
            "keyed_embedding_worker",
            "hyper=trace",
            "warn,[request]=debug",
        ] {
            assert!(parse(filter).is_ok(), "{filter}");
        }
    }

    #[test]
    fn directive_for_the_program_applies_to_its_crates() {
        assert_eq!(with_all_crates(&["info", "keyed_proxy::database=debug"]).len(), 2);
        assert_eq!(
            with_all_crates(&["keyed_proxy=debug", "keyed_service=warn"]),
            [
                "keyed_proxy=debug",
                "keyed_service=warn",
                "keyed_command_line=debug",
                "keyed_embedding_worker=debug"
            ]
        );
    }

    #[test]
    fn typo_does_not_disable_the_log() {
        for filter in
            ["infos", "warning,access=off", "info,acces", "info,access=of", "access=off", "hyper=off"]
        {
            let message = parse(filter).expect_err(filter);
            assert!(message.starts_with("KEYED_LOG"), "{message}");
            assert!(message.contains("off, error, warn, info, debug and trace"), "{message}");
        }
    }
}
