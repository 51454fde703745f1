//! A request as spans, following OpenTelemetry's semantic conventions for HTTP servers and database clients.

use std::time::Instant;

use axum::extract::MatchedPath;
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanKind, Status, TraceId};

use super::Observation;
use super::facts::{Ended, Facts, Identity, Outcome, Phase, Step};
use crate::problem::Reason;
use crate::traces::{Parent, Span};

/// Exports a completed request, if spans are exported. Returns its trace, which may come from the caller.
///
/// `responded`: when the head of the response was known.
pub(super) fn export(
    observation: &Observation,
    outcome: &Outcome,
    responded: Option<Instant>,
) -> Option<TraceId> {
    let facts = observation.facts();
    // Callers without a valid key can neither force sampling nor choose the trace.
    let parent = observation.parent().filter(|_| facts.identity.is_some());
    let Some(traces) = observation.traces() else { return parent.map(Parent::trace) };
    let began = observation.began();
    let ended = began + outcome.time;
    let request = Span {
        name: match facts.route.as_ref() {
            Some(route) => format!("{} {}", observation.method(), route.as_str()).into(),
            None => observation.method().into(),
        },
        kind: SpanKind::Server,
        started: began,
        ended,
        attributes: attributes(observation, &facts, outcome),
        // In OpenTelemetry's conventions, a 4xx status is not a server error.
        status: match outcome.ended {
            _ if outcome.status >= 500 => Status::error(""),
            Ended::BrokenOff => Status::error("the response was interrupted"),
            Ended::Complete | Ended::ClientGone | Ended::TooSlow => Status::Unset,
        },
    };
    traces.export(parent, request, || {
        let response = responded.map(|responded| part("answer", SpanKind::Internal, responded, ended));
        facts.phases.iter().map(span).chain(response).collect()
    })
}

fn attributes(observation: &Observation, facts: &Facts, outcome: &Outcome) -> Vec<KeyValue> {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let mut attributes = vec![
        KeyValue::new("http.request.method", observation.method()),
        KeyValue::new("http.response.status_code", i64::from(outcome.status)),
        KeyValue::new("http.request.body.size", number(outcome.bytes_received)),
        KeyValue::new("http.response.body.size", number(outcome.bytes_sent)),
        KeyValue::new("keyed.request_id", observation.id().as_str().to_owned()),
    ];
    let mut text = |name: &'static str, value: Option<&str>| {
        attributes.extend(value.map(|value| KeyValue::new(name, value.to_owned())));
    };
    text("http.route", facts.route.as_ref().map(MatchedPath::as_str));
    match facts.identity.as_deref() {
        Some(Identity::Key { id, role, .. }) => {
            text("keyed.key", Some(id));
            text("keyed.role", role.as_deref());
        }
        Some(Identity::Endpoint { slug, .. }) => text("keyed.endpoint", Some(slug)),
        None => {}
    }
    text("keyed.project", facts.project());
    text("keyed.rejected_by", facts.rejection.map(Reason::name));
    text("db.response.status_code", facts.sqlstate.as_ref().map(|it| it.as_str()));
    if outcome.status >= 500 {
        text("error.type", Some(&outcome.status.to_string()));
    }
    attributes
}

fn span(phase: &Phase) -> Span {
    let (name, kind) = match phase.step {
        Step::Receive => ("receive", SpanKind::Internal),
        Step::Authenticate => ("authenticate", SpanKind::Internal),
        Step::Wait => ("wait for a connection", SpanKind::Internal),
        Step::Statement { function, .. } => (function, SpanKind::Client),
    };
    let mut span = part(name, kind, phase.began, phase.ended);
    if let Step::Statement { function, attempt, sqlstate, replica } = phase.step {
        span.attributes.push(KeyValue::new("db.system.name", "postgresql"));
        span.attributes.push(KeyValue::new("db.stored_procedure.name", function));
        if attempt > 1 {
            span.attributes.push(KeyValue::new("keyed.attempt", i64::try_from(attempt).unwrap_or(i64::MAX)));
        }
        if let Some(replica) = replica {
            span.attributes.push(KeyValue::new("keyed.replica", i64::try_from(replica).unwrap_or(i64::MAX)));
        }
        if let Some(sqlstate) = sqlstate {
            span.attributes.push(KeyValue::new("db.response.status_code", sqlstate.as_str().to_owned()));
            span.status = Status::error("");
        }
    }
    span
}

fn part(name: &'static str, kind: SpanKind, started: Instant, ended: Instant) -> Span {
    Span { name: name.into(), kind, started, ended, attributes: Vec::new(), status: Status::Unset }
}
