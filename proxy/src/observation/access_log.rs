//! The access log: one line per request, as events with the target `access`.
//!
//! A line contains what identifies a request and the cause of its errors, but no content from the caller: no body, key,
//! token, path or query. It contains the client address only for requests without a known key.

use axum::extract::MatchedPath;
use opentelemetry::trace::TraceId;
use uuid::Uuid;

use super::facts::{Ended, Identity, Outcome};
use super::observed::Observation;
use crate::problem::Reason;

/// The target of the events, for use in `KEYED_LOG`.
pub const TARGET: &str = "access";

/// Writes the line. `trace` is the trace of the request.
pub(super) fn write(observation: &Observation, outcome: &Outcome, trace: Option<TraceId>) {
    if !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
        return;
    }
    let facts = observation.facts();
    let (key, role, endpoint) = match facts.identity.as_deref() {
        Some(Identity::Key { id, role, .. }) => (Some(id.as_str()), role.as_deref(), None),
        Some(Identity::Endpoint { slug, .. }) => (None, None, Some(slug.as_str())),
        None => (None, None, None),
    };
    // Nothing else identifies callers without a known key.
    let address = observation.address().filter(|_| facts.identity.is_none());
    let id = observation.id();
    tracing::info!(
        target: TARGET,
        request_id = id.as_str(),
        instance = id.other_instance().map(tracing::field::display),
        trace_id = trace.map(tracing::field::display),
        method = observation.method(),
        route = facts.route.as_ref().map(MatchedPath::as_str),
        status = outcome.status,
        duration_us = micros(outcome.time),
        wait_us = micros(facts.waited),
        database_us = micros(facts.in_database),
        statements = facts.statements,
        replica = facts.replica,
        bytes_in = outcome.bytes_received,
        bytes_out = outcome.bytes_sent,
        address = address.map(|it| tracing::field::display(it.to_canonical())),
        key,
        role,
        endpoint,
        project = facts.project(),
        sqlstate = facts.sqlstate.as_ref().map(|it| it.as_str()),
        rejected_by = facts.rejection.map(Reason::name),
        ended = match outcome.ended {
            Ended::Complete => None,
            Ended::ClientGone => Some("client gone"),
            Ended::TooSlow => Some("client too slow"),
            Ended::BrokenOff => Some("broken off"),
        },
        "request"
    );
}

/// Writes a line for a connection that was rejected before its first request: 503 if there are too many connections,
/// 400 if it does not use TLS.
pub(crate) fn connection(id: Uuid, status: u16, reason: Option<Reason>) {
    let rejected_by = reason.map(Reason::name);
    tracing::info!(target: TARGET, request_id = %id, status, rejected_by, "connection");
}

fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
