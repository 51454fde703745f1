//! The access log: one line for each request, by events of the target `access`.
//!
//! It names what helps to find a request and its cause, and nothing that is the caller's own: no body, key, token, path or
//! query. The address of the client is there only if it has no known key.

use axum::extract::MatchedPath;
use opentelemetry::trace::TraceId;
use uuid::Uuid;

use super::facts::{Ended, Identity, Outcome};
use super::observed::Observation;
use crate::problem::Reason;

/// The target of the events, which `KEYED_LOG` can name.
pub const TARGET: &str = "access";

/// `trace`: the trace in which the request is.
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
    // Of callers without a known key nothing else says who they are.
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
        rejected_by = facts.refusal.map(Reason::name),
        ended = match outcome.ended {
            Ended::Complete => None,
            Ended::ClientGone => Some("client gone"),
            Ended::TooSlow => Some("client too slow"),
            Ended::BrokenOff => Some("broken off"),
        },
        "request"
    );
}

/// A connection that was answered before it sent a request: 503 if there are too many, 400 if it does not use TLS.
pub(crate) fn connection(id: Uuid, status: u16, reason: Option<Reason>) {
    let rejected_by = reason.map(Reason::name);
    tracing::info!(target: TARGET, request_id = %id, status, rejected_by, "connection");
}

fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
