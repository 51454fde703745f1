//! The start of the log, and its level, which can change while the service runs.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, fmt, reload};

use crate::log::Writer;
use crate::settings::{LogFormat, Settings};

/// The level of the log.
pub(super) struct LogLevel {
    current: Mutex<String>,
    handle: reload::Handle<EnvFilter, Registry>,
}

impl LogLevel {
    /// Sets another filter. Whether it is another one.
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

/// Starts the log. Its writer writes what is left when it is dropped.
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

/// A filter of events, as `KEYED_LOG` says it.
pub(super) fn parse(filter: &str) -> Result<EnvFilter, String> {
    EnvFilter::builder().parse(filter).map_err(|error| format!("KEYED_LOG is not a log filter: {error}"))
}
