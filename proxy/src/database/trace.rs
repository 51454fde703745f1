//! What the metrics, and the observation of a request, learn from the database.

use std::time::Instant;

use tokio_postgres::Error;
use tokio_postgres::types::PgLsn;

use crate::admission::Admitted;
use crate::metrics::{Metrics, StatementKind};
use crate::observation::{Observation, SqlState};

/// One attempt of a statement. One of the service itself has no observation.
#[derive(Clone, Copy)]
pub(super) struct Trace<'a> {
    metrics: &'a Metrics,
    observation: Option<&'a Observation>,
    kind: StatementKind,
    function: &'static str,
    replica: Option<u64>,
    attempt: u64,
}

impl<'a> Trace<'a> {
    pub(super) fn new(
        metrics: &'a Metrics,
        admitted: Option<&'a Admitted>,
        kind: StatementKind,
        function: &'static str,
        replica: Option<u64>,
    ) -> Trace<'a> {
        let observation = admitted.and_then(Admitted::observation);
        Trace { metrics, observation, kind, function, replica, attempt: 1 }
    }

    pub(super) fn attempt(self, attempt: u64) -> Trace<'a> {
        Trace { attempt, ..self }
    }

    /// The request waited for a connection since then.
    pub(super) fn waited(self, began: Instant) {
        if let Some(observation) = self.observation {
            let time = observation.waited(began);
            self.metrics.pool_wait.observe(time.as_secs_f64());
        }
    }

    /// The log reached this position after the statement.
    pub(super) fn wrote(self, position: Option<PgLsn>) {
        if let (Some(observation), Some(position)) = (self.observation, position) {
            observation.wrote(position);
        }
    }

    /// The statement was sent then, and has ended. Without an outcome, no request waited for its end.
    pub(super) fn asked<T>(self, began: Instant, outcome: Option<&Result<T, Error>>) {
        let error = outcome.and_then(|outcome| outcome.as_ref().err()).and_then(SqlState::of);
        if let Some(sqlstate) = &error {
            self.metrics.database_error(sqlstate.as_str());
        }
        if let Some(observation) = self.observation {
            let time = observation.asked(self.function, self.attempt, began, error, self.replica);
            self.metrics.statement(self.kind, time);
        }
    }
}
