//! Statements of workers, which run as those of any other caller.

use axum::http::StatusCode;
use keyed_service::statement::{Argument, Statement};
use keyed_service::worker::{StatementError, WorkerDatabase, WorkerKey};
use tokio_postgres::Row;

use super::Database;
use super::effect::Effect::Write;
use crate::caller::Caller;
use crate::problem::Problem;

impl WorkerDatabase for Database {
    async fn write(
        &self,
        key: &WorkerKey,
        statement: Statement,
        arguments: &[Argument<'_>],
    ) -> Result<Row, StatementError> {
        let caller = Caller::with_digest(key.digest());
        self.call(Write, &caller, statement, arguments).await.map_err(|problem| StatementError {
            cause: problem.cause().unwrap_or(problem.detail()).to_owned(),
            is_rejection: is_rejection(&problem),
        })
    }
}

/// Whether the database rejects the arguments, rather than being out of reach or denying the key.
fn is_rejection(problem: &Problem) -> bool {
    !matches!(
        problem.status(),
        StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}
