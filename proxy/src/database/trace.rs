//! What the observation of a request learns from the database.

use std::time::Instant;

use tokio_postgres::Error;

use crate::admission::Admitted;
use crate::observation::{Observation, SqlState};

/// One attempt of a statement. A statement of the service itself leaves no trace.
#[derive(Clone, Copy)]
pub(super) struct Trace<'a> {
    observation: Option<&'a Observation>,
    function: &'static str,
    attempt: u64,
}

impl<'a> Trace<'a> {
    pub(super) fn of(admitted: Option<&'a Admitted>, function: &'static str) -> Trace<'a> {
        Trace { observation: admitted.and_then(Admitted::observation), function, attempt: 1 }
    }

    pub(super) fn attempt(self, attempt: u64) -> Trace<'a> {
        Trace { attempt, ..self }
    }

    /// The request waited for a connection since then.
    pub(super) fn waited(self, began: Instant) {
        if let Some(observation) = self.observation {
            observation.waited(began);
        }
    }

    /// The statement was sent then, and has ended. Without an outcome, nobody waited for its end.
    pub(super) fn asked<T>(self, began: Instant, outcome: Option<&Result<T, Error>>) {
        if let Some(observation) = self.observation {
            let error = outcome.and_then(|outcome| outcome.as_ref().err());
            observation.asked(self.function, self.attempt, began, error.and_then(SqlState::of));
        }
    }
}
