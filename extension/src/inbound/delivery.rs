//! Processes a delivery, from the request to its log entry.
//!
//! A delivery and its log entry are one transaction, and the entry is inserted first. A second delivery with the same
//! id waits at the unique index on endpoint and `webhook-id`, and finds its response there. The writes of the delivery
//! run in a subtransaction, so a rejected one is rolled back and stays in the log.

use super::endpoint::{self, Endpoint};
use super::log::{self, Begun, Counts, Outcome};
use super::log_capacity;
use super::mapping::{self, Item};
use super::signature::{Signed, verify};
use crate::access::principal::Principal;
use crate::access::{Action, Caller};
use crate::batch::execute::execute;
use crate::batch::operation::{Conflict, Mode, Operation, OperationKind};
use crate::batch::single::of_operation;
use crate::error::{Code, Error};
use crate::postgres::caught::{Attempt, Caught};
use crate::postgres::guard::attempt;
use crate::postgres::raise::Raise;
use crate::postgres::{clock, role};
use crate::record::changes;
use crate::record::key::Key;
use crate::record::version::Preconditions;
use crate::template::catalog;
use crate::value::vector::Embedding;
use pgrx::prelude::PgSqlErrorCode;
use serde_json::value::RawValue;
use std::convert::Infallible;

/// The maximum size of a `webhook-id`.
const MAX_ID: usize = 255;

/// Microseconds from the Unix epoch to the PostgreSQL epoch.
const EPOCH: i64 = 946_684_800_000_000;

/// Processes a delivery. If its signature is valid and its body is JSON, it is logged in any case. Returns the status and the
/// body of the response.
pub fn deliver(token_hash: &[u8], headers: Signed, body: &str) -> Result<(u16, String), Error> {
    catalog::refresh();
    let endpoint = endpoint::by_token(token_hash)?;
    let endpoint = endpoint.filter(|endpoint| endpoint.enabled).ok_or_else(Error::not_found)?;
    if let Some(secret) = &endpoint.secret {
        verify(secret, headers, body, now())?;
    }
    if let Some(id) = headers.id
        && (id.is_empty() || id.len() > MAX_ID)
    {
        let message = format!("a webhook-id has 1 to {MAX_ID} bytes");
        return Err(Error::new(Code::MalformedRequest, message));
    }
    serde_json::from_str::<&RawValue>(body)
        .map_err(|error| Error::new(Code::MalformedRequest, format!("the body is not JSON: {error}")))?;
    let id = match log::begin(&endpoint, headers.id, body)? {
        Begun::New(id) => id,
        Begun::Observation(id, outcome) => return Ok(response(id, &outcome)),
    };
    let outcome = write(&endpoint, body);
    if outcome.is_err() {
        log_capacity::require(&endpoint, body)?;
    }
    log::finish(id, &outcome);
    log_capacity::trim(&endpoint, body);
    Ok(response(id, &outcome))
}

/// Seconds since 1970.
fn now() -> i64 {
    (clock::now() + EPOCH) / 1_000_000
}

/// The response to the sender. For a failure, it contains only the code. The log has the details.
fn response(id: i64, outcome: &Outcome) -> (u16, String) {
    match outcome {
        Ok(Counts { created, updated }) => (200, format!("{{\"created\":{created},\"updated\":{updated}}}")),
        Err(error) => {
            let code = error.code.name();
            (202, format!("{{\"delivery\":\"{id}\",\"status\":\"failed\",\"code\":\"{code}\"}}"))
        }
    }
}

/// Writes the items of a payload, all or none. Returns errors of the payload, the mapping or the rules; raises errors of the
/// session or the server.
pub fn write(endpoint: &Endpoint, payload: &str) -> Outcome {
    rejected(attempt(|| as_endpoint(endpoint, || run(endpoint, payload))))
}

/// Processes a payload and rolls back. Returns the items and the outcome.
pub fn dry_run(endpoint: &Endpoint, payload: &str) -> (Vec<Item>, Outcome) {
    let found = rejected(attempt(|| mapping::apply(&endpoint.template, &endpoint.mapping, payload)));
    let items = match found {
        Ok(items) => items,
        Err(error) => return (Vec::new(), Err(error)),
    };
    // The body always returns an error, so that the subtransaction is rolled back.
    let outcome = attempt(|| {
        let outcome = as_endpoint(endpoint, || run(endpoint, payload));
        Err::<Infallible, Outcome>(outcome)
    });
    let outcome = match outcome.catch(of_delivery) {
        Ok(Ok(never)) => match never {},
        Ok(Err(outcome)) => outcome,
        Err(error) => Err(error),
    };
    (items, outcome)
}

fn rejected<T>(outcome: Attempt<Result<T, Error>>) -> Result<T, Error> {
    match outcome.catch(of_delivery)? {
        Err(error) if error.code.status() >= 500 => error.raise(),
        outcome => outcome,
    }
}

/// The error of a delivery for an error of PostgreSQL, if the delivery caused it.
fn of_delivery(caught: &Caught) -> Option<Error> {
    // A user's trigger refers to a missing object or setting. The delivery is kept for a replay.
    if caught.state == PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT {
        return Some(Error::new(Code::InvalidValue, caught.message.clone()));
    }
    of_operation(caught)
}

/// Runs `body` as the role of the endpoint.
fn as_endpoint<R>(endpoint: &Endpoint, body: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    if role::name(endpoint.role).is_none() {
        return Err(endpoint.role_is_gone());
    }
    let project = endpoint.template.project_id;
    let principal = Principal {
        key: None,
        role: endpoint.role.to_u32(),
        project: Some(project),
        projects: Some(vec![project]),
        source: "inbound".to_owned(),
        label: format!("endpoint {}", endpoint.slug),
        numbers_as_strings: false,
    };
    principal.during(body)
}

fn run(endpoint: &Endpoint, payload: &str) -> Result<Counts, Error> {
    let (caller, template) = (Caller::current(), &endpoint.template);
    caller.require(Action::Create, template)?;
    caller.require(Action::Update, template)?;
    let items = mapping::apply(template, &endpoint.mapping, payload)?;
    let mut operations = Vec::with_capacity(items.len());
    let mut errors = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let attributes: &RawValue = serde_json::from_str(&item.attributes)
            .map_err(|error| Error::new(Code::InvalidValue, format!("an item cannot be read: {error}")))?;
        match changes::parse(template, attributes) {
            Ok(changes) => operations.push(Ok(Operation {
                index,
                kind: OperationKind::Upsert,
                template: std::rc::Rc::clone(template),
                id: None,
                key: Key::Value(item.key.clone()),
                changes,
                embedding: Embedding::Absent,
                preconditions: Preconditions::default(),
            })),
            Err(error) => errors.push(error.below(&format!("/items/{index}"))),
        }
    }
    if let Some(error) = Error::join(errors) {
        return Err(error);
    }
    let outcomes = execute(&caller, operations, Mode::Atomic(Conflict::Wait)).map_err(as_item)?;
    let created =
        outcomes.iter().filter(|outcome| matches!(outcome, Some(Ok(done)) if done.is_created())).count();
    Ok(Counts { created: created as i32, updated: (items.len() - created) as i32 })
}

/// Replaces pointers to operations by pointers to items.
fn as_item(mut error: Error) -> Error {
    for violation in &mut error.violations {
        if let Some(rest) = violation.pointer.strip_prefix("/operations/") {
            violation.pointer = format!("/items/{rest}");
        }
    }
    error
}
