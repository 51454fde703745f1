//! Errors with codes, messages and hints. `postgres::raise` raises them. Pure.

mod code;
/// Errors as JSON.
pub mod detail;
/// Names of quotas.
pub mod quota;

pub use code::Code;

use quota::Reached;
use serde::Serialize;
use uuid::Uuid;

/// An invalid member or value in a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// Its JSON pointer in the request (RFC 6901).
    pub pointer: String,
    /// Its code, which can be more specific than that of the error.
    #[serde(serialize_with = "code::as_name")]
    pub code: Code,
    /// A message for people.
    pub detail: String,
    /// Its hint, for clients that show violations separately.
    #[serde(skip)]
    pub hint: Option<String>,
}

/// The maximum number of violations in one error.
pub const MAX_VIOLATIONS: usize = 100;

/// An error, before it is raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Its code.
    pub code: Code,
    /// The message.
    pub message: String,
    /// The hint.
    pub hint: Option<String>,
    /// The violations in the request.
    pub violations: Vec<Violation>,
    /// The record that already has the key, if it is visible to the caller.
    pub existing_id: Option<Uuid>,
    /// The failed operation of an atomic batch, counted from 0.
    pub failed_index: Option<usize>,
    /// Whether a retry of the same request can succeed.
    pub is_retryable: bool,
    /// The quota that was reached.
    pub quota: Option<Box<Reached>>,
}

impl std::error::Error for Error {}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error {
    /// An error of the whole request.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = shortened(message.into());
        Error {
            code,
            message,
            hint: None,
            violations: Vec::new(),
            existing_id: None,
            failed_index: None,
            is_retryable: false,
            quota: None,
        }
    }

    /// An error with a violation at this pointer.
    pub fn at(code: Code, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        let message = shortened(message.into());
        let violation = Violation { pointer: pointer.into(), code, detail: message.clone(), hint: None };
        Error { violations: vec![violation], ..Error::new(code, message) }
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        let hint = shortened(hint.into());
        if let [only] = self.violations.as_mut_slice() {
            only.hint = Some(hint.clone());
        }
        Error { hint: Some(hint), ..self }
    }

    /// The error for missing, deleted and invisible records. It is always the same, so that it discloses nothing.
    pub fn not_found() -> Self {
        Error::new(Code::NotFound, keyed_errors::NOT_FOUND)
    }

    /// Adds `prefix` to all pointers, for an error in a part of a request.
    pub fn below(mut self, prefix: &str) -> Self {
        for violation in &mut self.violations {
            violation.pointer.insert_str(0, prefix);
        }
        self
    }

    /// Removes `prefix` from all pointers, for a part that is the whole request.
    pub fn above(mut self, prefix: &str) -> Self {
        for violation in &mut self.violations {
            if let Some(rest) = violation.pointer.strip_prefix(prefix) {
                violation.pointer = rest.to_owned();
            }
        }
        self
    }

    /// Joins errors into one, with the code and message of the first, and all violations.
    pub fn join(errors: Vec<Error>) -> Option<Error> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        first.violations.extend(errors.flat_map(|error| error.violations).take(MAX_VIOLATIONS - 1));
        Some(first)
    }

    /// The message with the pointer of the first violation, unless the message already names the member.
    pub fn located_message(&self) -> String {
        let Some(violation) = self.violations.first() else { return self.message.clone() };
        let name = violation.pointer.rsplit('/').next().unwrap_or_default();
        let more = match self.violations.len() {
            1 => String::new(),
            MAX_VIOLATIONS => format!(" (the first of at least {MAX_VIOLATIONS} errors)"),
            count => format!(" (the first of {count} errors)"),
        };
        let mut words = self.message.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if words.any(|word| word == name) {
            format!("{}{more}", self.message)
        } else {
            format!("{}: {}{more}", violation.pointer, self.message)
        }
    }
}

/// Truncates a long text. Messages quote input, which can be large.
fn shortened(text: String) -> String {
    const MAX: usize = 400;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
