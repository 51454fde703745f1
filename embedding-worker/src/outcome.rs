//! The outcomes of texts: a vector for each, or the reason why there is none.

use std::time::Duration;

use crate::settings::DIMENSION;
use crate::vector::Vector;

/// A reason for missing vectors that does not depend on the text.
#[derive(Debug)]
pub struct Failure {
    /// For the log.
    pub message: String,
    /// The Retry-After of the server.
    pub retry_after: Option<Duration>,
}

/// A vector, or the reason why this text cannot be embedded.
pub type Outcome = Result<Vector, String>;

/// Why a request failed.
#[derive(Debug, PartialEq, Eq)]
pub enum Failed {
    /// The server rejects one of the texts.
    Texts(String),
    /// Temporary: the server is overloaded, fails or cannot be reached.
    Temporary {
        /// For the log.
        message: String,
        /// The Retry-After of the server.
        retry_after: Option<Duration>,
        /// Whether one of the texts may be the cause.
        may_depend_on_text: bool,
        /// Whether the server is overloaded.
        is_busy: bool,
    },
    /// Permanent: the key, the address or the model is wrong.
    Permanent(String),
    /// The vectors of the model have this unsupported length.
    Length(usize),
}

/// The error for a model with another vector length.
pub fn wrong_length(length: usize) -> String {
    format!(
        "the model returns vectors of {length} numbers instead of {DIMENSION}: choose another model, or set \
        KEYED_EMBED_DIMENSIONS={DIMENSION} for one with a variable length"
    )
}

impl Failed {
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Failed::Texts(message) | Failed::Permanent(message) => Failure { message, retry_after: None },
            Failed::Temporary { message, retry_after, .. } => Failure { message, retry_after },
            Failed::Length(length) => Failure { message: wrong_length(length), retry_after: None },
        }
    }

    /// Whether a request with fewer texts may succeed.
    pub(crate) fn may_depend_on_text(&self) -> bool {
        match self {
            Failed::Texts(_) => true,
            Failed::Temporary { may_depend_on_text, .. } => *may_depend_on_text,
            Failed::Permanent(_) | Failed::Length(_) => false,
        }
    }
}
