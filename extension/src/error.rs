//! Errors: codes, messages, hints. Pure; `postgres::raise` raises them.

mod code;
/// Errors as JSON.
pub mod detail;
/// The quotas, as an error names them.
pub mod quota;

pub use code::Code;

use quota::Reached;
use serde::Serialize;
use uuid::Uuid;

/// One fault at one place of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Its place in the request (RFC 6901 JSON pointer).
    pub pointer: String,
    /// Its own code, which may be narrower than that of the whole error.
    #[serde(serialize_with = "code::as_name")]
    pub code: Code,
    /// A sentence for a person.
    pub detail: String,
    /// What to do about it, where several faults are shown one by one.
    #[serde(skip)]
    pub hint: Option<String>,
}

/// The maximum number of faults in one error.
pub const MAX_FAULTS: usize = 100;

/// A refusal, before it is raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind it is.
    pub code: Code,
    /// A sentence for a person.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The places at fault, where the request has such.
    pub faults: Vec<Fault>,
    /// The record that holds the key, when the caller may see it.
    pub existing_id: Option<Uuid>,
    /// Which operation of an atomic batch was refused (counted from 0).
    pub failed_index: Option<usize>,
    /// Whether the same request may succeed when it is sent again as it is.
    pub is_retryable: bool,
    /// The quota that is reached.
    pub quota: Option<Box<Reached>>,
}

impl std::error::Error for Error {}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error {
    /// An error about the request as a whole.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = shortened(message.into());
        Error {
            code,
            message,
            hint: None,
            faults: Vec::new(),
            existing_id: None,
            failed_index: None,
            is_retryable: false,
            quota: None,
        }
    }

    /// An error about one place of the request.
    pub fn at(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let message = shortened(message.into());
        let fault = Fault { pointer: pointer.into(), code, detail: message.clone(), hint: None };
        Error { faults: vec![fault], ..Error::new(code, message) }
    }

    /// Adds what the caller can do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        let hint = shortened(hint.into());
        if let [only] = self.faults.as_mut_slice() {
            only.hint = Some(hint.clone());
        }
        Error { hint: Some(hint), ..self }
    }

    /// The error for missing, deleted and invisible records: always the same, so that it reveals nothing.
    pub fn not_found() -> Self {
        Error::new(Code::NotFound, keyed_errors::NOT_FOUND)
    }

    /// Moves every pointer below `prefix`, for an error that arose in a part of a larger request.
    pub fn below(mut self, prefix: &str) -> Self {
        for fault in &mut self.faults {
            fault.pointer.insert_str(0, prefix);
        }
        self
    }

    /// Takes `prefix` off every pointer, for an error that arose in what is the whole of the request.
    pub fn above(mut self, prefix: &str) -> Self {
        for fault in &mut self.faults {
            if let Some(rest) = fault.pointer.strip_prefix(prefix) {
                fault.pointer = rest.to_owned();
            }
        }
        self
    }

    /// Joins many errors into one: the first names it, all faults are kept.
    pub fn join(errors: Vec<Error>) -> Option<Error> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.faults.extend(errors.flat_map(|error| error.faults).take(MAX_FAULTS - 1));
        Some(first)
    }

    /// The message with the place of the first fault, unless it names that place itself.
    pub fn located_message(&self) -> String {
        let Some(fault) = self.faults.first() else { return self.message.clone() };
        let name = fault.pointer.rsplit('/').next().unwrap_or_default();
        let more = match self.faults.len() {
            1 => String::new(),
            MAX_FAULTS => format!(" (the first of at least {MAX_FAULTS} faults)"),
            count => format!(" (the first of {count} faults)"),
        };
        let mut words = self.message.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if words.any(|word| word == name) {
            format!("{}{more}", self.message)
        } else {
            format!("{}: {}{more}", fault.pointer, self.message)
        }
    }
}

/// No more than the beginning of a text that is longer than a person would read: messages quote what was sent, and
/// what was sent may be a megabyte.
fn shortened(text: String) -> String {
    const MAX: usize = 400;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
