//! Why the database returned no row, and the error that the caller gets.

use std::error::Error as _;
use std::io;

use deadpool_postgres::{PoolError, TimeoutType};
use keyed_errors::Code;
use tokio_postgres::Error;

use super::effect::Effect;
use crate::error::problem_of;
use crate::problem::{Problem, Reason};

/// An error of the database.
pub(crate) enum Failure {
    /// The proxy rejected the statement before it was sent: the version of the extension is incompatible, or a limit of the
    /// client is exceeded.
    Refused(Problem),
    NoConnection(PoolError),
    /// The statement could not be prepared, so nothing of it has run.
    Unsent(Error),
    Sent(Error),
    TimedOut {
        sent: bool,
    },
    /// The replica has not replayed the required position.
    Behind,
}

impl Failure {
    /// Whether the statement was rolled back because of a concurrent one.
    pub(crate) fn is_lost_race(&self) -> bool {
        matches!(self, Failure::Sent(error) if lost_race(error))
    }

    /// Whether the connection was closed, or led to a read-only server, and the statement can be repeated on another
    /// without a second effect.
    pub(crate) fn is_repeatable(&self, effect: Effect) -> bool {
        match self {
            Failure::Sent(error) if is_read_only(error) => true,
            Failure::Unsent(error) => is_loss(error),
            Failure::Sent(error) => is_loss(error) && effect != Effect::Write,
            Failure::Refused(_) | Failure::NoConnection(_) | Failure::TimedOut { .. } | Failure::Behind => {
                false
            }
        }
    }

    /// Whether the primary may answer a read that a replica did not: the failure is not the fault of the request, or the
    /// replica does not know its key yet.
    pub(crate) fn is_of_the_replica(&self) -> bool {
        match self {
            Failure::Refused(_) => false,
            Failure::NoConnection(_) | Failure::Unsent(_) | Failure::TimedOut { .. } | Failure::Behind => {
                true
            }
            Failure::Sent(error) if is_loss(error) => true,
            Failure::Sent(error) => sqlstate(error).is_none_or(|state| {
                let code = Code::of_sqlstate(state);
                matches!(code, Code::Internal | Code::Unavailable | Code::Unauthorized)
            }),
        }
    }

    /// Whether the statement was sent where nothing can be written.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Failure::Sent(error) if is_read_only(error))
    }

    /// The response to it. If the response to a write is lost, its outcome is unknown.
    pub(crate) fn into_problem(self, effect: Effect) -> Problem {
        let in_doubt = |problem: Problem| match effect {
            Effect::Lookup | Effect::Read | Effect::PrimaryRead | Effect::WriteOnce => problem,
            Effect::Write => problem.with_outcome_unknown(),
        };
        match self {
            Failure::Refused(problem) => problem,
            Failure::NoConnection(error @ PoolError::Timeout(TimeoutType::Wait)) => {
                Problem::unavailable("every connection to the database is busy", error.to_string())
                    .with_reason(Reason::PoolWait)
            }
            Failure::NoConnection(PoolError::Backend(error)) => {
                Problem::unavailable("the database cannot be reached", chain(error.into()))
            }
            Failure::NoConnection(error) => {
                Problem::unavailable("the database cannot be reached", error.to_string())
            }
            // Not by the table: here the statement is rejected (the extension is missing or another
            // version), not the request.
            Failure::Unsent(error) => match sqlstate(&error) {
                // Readiness says within moments which versions fit.
                Some("42883" | "3F000") => Problem::unavailable(
                    "the extension in the database lacks a function that this proxy calls",
                    chain(error.into()),
                ),
                Some(state) if Code::of_sqlstate(state) != Code::Unavailable => {
                    Problem::internal(chain(error.into()))
                }
                _ => Problem::unavailable("the connection to the database broke", chain(error.into())),
            },
            Failure::Sent(error) => match error.as_db_error() {
                Some(refusal) => problem_of(refusal),
                None if is_loss(&error) => in_doubt(Problem::unavailable(
                    "the connection to the database broke",
                    chain(error.into()),
                )),
                None => Problem::internal(chain(error.into())),
            },
            Failure::Behind => {
                Problem::internal("a read of a replica was not sent to the primary".to_owned())
            }
            Failure::TimedOut { sent } => {
                let problem = Problem::new(Code::Timeout, "the database did not respond in time")
                    .with_cause("no response within the request timeout".into());
                if sent { in_doubt(problem) } else { problem }
            }
        }
    }
}

fn sqlstate(error: &Error) -> Option<&str> {
    error.code().map(|state| state.code())
}

/// Whether the statement was rolled back because of a concurrent one, or of what a standby replays.
pub(crate) fn lost_race(error: &Error) -> bool {
    matches!(sqlstate(error), Some("40001" | "40P01"))
}

/// Whether nothing can be written where the statement was sent.
pub(crate) fn is_read_only(error: &Error) -> bool {
    sqlstate(error) == Some("25006")
}

/// Whether the session ended, rather than the statement failing.
pub(crate) fn is_loss(error: &Error) -> bool {
    match sqlstate(error) {
        // After a fatal error there is no session: for example, a standby ends those that conflict with recovery.
        Some(state) => {
            state.starts_with("57P")
                || state.starts_with("08")
                || error.as_db_error().is_some_and(|error| matches!(error.severity(), "FATAL" | "PANIC"))
        }
        None => error.is_closed() || error.source().is_some_and(|source| source.is::<io::Error>()),
    }
}

/// An error with all its reasons, for the log.
fn chain(error: anyhow::Error) -> String {
    format!("{error:#}")
}
