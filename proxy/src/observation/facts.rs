//! Facts about a request, collected while it is served.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::MatchedPath;
use tokio_postgres::types::PgLsn;

use crate::problem::Reason;

/// The maximum number of phases that are stored per request. An import has a statement for each chunk.
const MAX_PHASES: usize = 64;

/// The owner of a request's credential at the last lookup. Used for logs and fair sharing, never for access control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// An API key: its id, its role, and its project if it is limited to exactly one.
    Key { id: String, role: Option<String>, project: Option<String> },
    /// The inbound endpoint with this slug, and its project.
    Endpoint { slug: String, project: Option<String> },
}

/// A SQLSTATE that the server reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SqlState([u8; 5]);

impl SqlState {
    /// The SQLSTATE of an error, if the server reported it.
    pub(crate) fn of(error: &tokio_postgres::Error) -> Option<SqlState> {
        SqlState::read(error.code()?.code())
    }

    fn read(code: &str) -> Option<SqlState> {
        let code: [u8; 5] = code.as_bytes().try_into().ok()?;
        code.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase()).then_some(SqlState(code))
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// A phase of a request. The remaining time was spent in the proxy.
#[allow(dead_code, reason = "for traces")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    pub(crate) step: Step,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// From the first poll of the body to its last byte.
    Receive,
    /// The lookup of the credential. Most requests have no such phase, because credentials are cached.
    Authenticate,
    /// The wait for a database connection.
    Wait,
    /// A statement, by the function that it calls, and the replica that answered it.
    Statement { function: &'static str, attempt: u64, sqlstate: Option<SqlState>, replica: Option<u64> },
}

/// The collected facts.
#[derive(Default)]
pub(crate) struct Facts {
    /// The route pattern, never the path, which may contain a secret, such as the token of an inbound endpoint.
    pub(crate) route: Option<MatchedPath>,
    pub(crate) identity: Option<Arc<Identity>>,
    /// The project in the request header.
    pub(crate) project: Option<String>,
    /// The first phases. The sums below include all phases.
    pub(crate) phases: Vec<Phase>,
    pub(crate) waited: Duration,
    pub(crate) in_database: Duration,
    pub(crate) statements: u64,
    /// The error of the last statement; `None` after a successful retry.
    pub(crate) sqlstate: Option<SqlState>,
    /// The replica that answered the last statement; none for the primary.
    pub(crate) replica: Option<u64>,
    /// The position after the last write.
    pub(crate) position: Option<PgLsn>,
    /// The limit that the request exceeded.
    pub(crate) rejection: Option<Reason>,
}

impl Facts {
    pub(super) fn add(&mut self, step: Step, began: Instant) -> Duration {
        let ended = Instant::now();
        let time = ended.saturating_duration_since(began);
        match step {
            Step::Wait => self.waited += time,
            Step::Statement { sqlstate, replica, .. } => {
                self.in_database += time;
                self.statements += 1;
                self.sqlstate = sqlstate;
                self.replica = replica;
            }
            Step::Receive | Step::Authenticate => {}
        }
        if self.phases.len() < MAX_PHASES {
            self.phases.push(Phase { step, began, ended });
        }
        time
    }

    /// The project in the request header, or else the project of the credential.
    pub(crate) fn project(&self) -> Option<&str> {
        let bound = match self.identity.as_deref()? {
            Identity::Key { project, .. } | Identity::Endpoint { project, .. } => project.as_deref(),
        };
        // A caller without a valid credential could send anything.
        self.project.as_deref().or(bound)
    }
}

/// The status in logs and metrics if the client disconnected before the response, as in nginx.
pub(crate) const CLIENT_GONE: u16 = 499;

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Complete,
    /// The client closed the connection first.
    ClientGone,
    /// The client read too slowly, and the proxy closed the connection.
    TooSlow,
    /// The proxy aborted the response after its status was sent.
    BrokenOff,
}

/// A completed request.
pub(crate) struct Outcome {
    pub(crate) status: u16,
    pub(crate) ended: Ended,
    pub(crate) time: Duration,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_codes_of_the_server_are_sqlstates() {
        assert_eq!(SqlState::read("40P01").map(|it| it.as_str().to_owned()), Some("40P01".to_owned()));
        for text in ["", "4000", "400011", "4000a", "40\u{e9}01", "40 01"] {
            assert_eq!(SqlState::read(text), None, "{text:?}");
        }
    }

    #[test]
    fn long_request_keeps_first_statements_and_totals() {
        let mut facts = Facts::default();
        let failed = SqlState::read("40001");
        for attempt in 1..=1000 {
            let sqlstate = failed.filter(|_| attempt < 1000);
            facts
                .add(Step::Statement { function: "batch", attempt, sqlstate, replica: None }, Instant::now());
        }
        assert_eq!((facts.phases.len(), facts.statements), (MAX_PHASES, 1000));
        assert_eq!(facts.sqlstate, None, "the last one succeeded");
    }

    #[test]
    fn project_is_logged_only_for_a_known_caller() {
        let mut facts = Facts { project: Some("crm".to_owned()), ..Facts::default() };
        assert_eq!(facts.project(), None);
        let (id, project) = ("1".to_owned(), Some("shop".to_owned()));
        facts.identity = Some(Arc::new(Identity::Key { id, role: None, project }));
        assert_eq!(facts.project(), Some("crm"));
        facts.project = None;
        assert_eq!(facts.project(), Some("shop"));
    }
}
