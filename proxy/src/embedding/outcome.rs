//! The outcomes of texts: a vector for each, or why there is none.

use std::time::Duration;

use super::vector::Vector;
use crate::settings::embedding::DIMENSION;

/// Why there are no vectors, for a reason that does not depend on the text.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// The Retry-After of the server.
    pub(crate) retry_after: Option<Duration>,
}

/// A vector, or why this very text has none.
pub(crate) type Outcome = Result<Vector, String>;

/// Why a request failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// The server refuses what was sent: one of the texts.
    Texts(String),
    /// It may pass: the server is busy, broken or out of reach.
    Passing {
        message: String,
        retry_after: Option<Duration>,
        /// Whether it may as well be one of the texts that breaks it.
        may_be_a_text: bool,
        /// Whether the server is overloaded.
        is_busy: bool,
    },
    /// It will not pass by itself: the key, the address, the model.
    Lasting(String),
    /// The model's vectors have this unsupported length.
    Length(usize),
}

/// The error for a model with another vector length.
pub(super) fn wrong_length(length: usize) -> String {
    format!(
        "the model returns vectors of {length} numbers instead of {DIMENSION}: choose another model, or set \
        KEYED_EMBED_DIMENSIONS={DIMENSION} for one with a variable length"
    )
}

impl Failed {
    pub(super) fn into_failure(self) -> Failure {
        match self {
            Failed::Texts(message) | Failed::Lasting(message) => Failure { message, retry_after: None },
            Failed::Passing { message, retry_after, .. } => Failure { message, retry_after },
            Failed::Length(length) => Failure { message: wrong_length(length), retry_after: None },
        }
    }

    /// Whether fewer texts may fare better.
    pub(super) fn may_be_a_text(&self) -> bool {
        match self {
            Failed::Texts(_) => true,
            Failed::Passing { may_be_a_text, .. } => *may_be_a_text,
            Failed::Lasting(_) | Failed::Length(_) => false,
        }
    }
}
