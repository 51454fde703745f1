//! Replays deliveries, and tests mappings.

use super::definition::Given;
use super::delivery::{self, write};
use super::endpoint::{self, Endpoint};
use super::log::{self, Counts};
use super::logged_error::error_json;
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::json_write::{raw, to_json};
use crate::value::member::missing;
use serde::Serialize;
use serde_json::value::RawValue;

/// The maximum number of deliveries in a call.
const MAX: i64 = 100;

/// The options of a trial, which override those of the endpoint.
const TRIAL: [&str; 5] = ["payload", "items", "external_key", "key_prefix", "mapping"];

/// Processes a stored failed delivery again with the current endpoint. Returns the status and the log entry.
pub fn replay(caller: &Caller, endpoint: Option<&Endpoint>, id: i64) -> Result<(u16, String), Error> {
    let unknown = || Error::new(Code::NotFound, format!("delivery {id} does not exist"));
    let (delivery, payload) = log::get(id, true).ok_or_else(unknown)?;
    let own = endpoint::by_id(delivery.endpoint)?.ok_or_else(unknown)?;
    if endpoint.is_some_and(|endpoint| endpoint.id != own.id) || !caller.can_view(&own.template) {
        return Err(unknown());
    }
    own.require_configurer(caller)?;
    let payload = payload.filter(|_| !delivery.is_done).ok_or_else(|| {
        Error::new(Code::Conflict, format!("delivery {id} already succeeded"))
            .hint("Replay only failed deliveries.")
    })?;
    let outcome = write(&own, &payload);
    log::finish(id, &outcome);
    let (delivery, _) = log::get(id, false).ok_or_else(unknown)?;
    Ok((if outcome.is_ok() { 200 } else { 202 }, delivery.to_json(None)))
}

#[derive(Serialize)]
struct Replayed {
    done: usize,
    failed: usize,
    next_cursor: Option<String>,
}

/// Replays failed deliveries of an endpoint, oldest first, each separately: `{done, failed, next_cursor}`.
pub fn replay_all(endpoint: &Endpoint, cursor: Option<&str>) -> Result<String, Error> {
    let after = cursor.map_or(Ok(0), str::parse::<i64>).map_err(|_| {
        Error::at(Code::InvalidValue, "/cursor", "the cursor is not one of a replay")
            .hint("Send the next_cursor of the previous call.")
    })?;
    let ids = log::failed(endpoint, after, MAX);
    let (mut done, mut failed) = (0, 0);
    for id in &ids {
        pgrx::check_for_interrupts!();
        let Some((_, Some(payload))) = log::get(*id, false) else { continue };
        let outcome = write(endpoint, &payload);
        if outcome.is_ok() {
            done += 1;
        } else {
            failed += 1;
        }
        log::finish(*id, &outcome);
    }
    let next = ids.last().filter(|_| ids.len() as i64 == MAX);
    Ok(to_json(&Replayed { done, failed, next_cursor: next.map(i64::to_string) }))
}

#[derive(Serialize)]
struct Tried<'a> {
    items: Vec<ShownItem<'a>>,
    created: i32,
    updated: i32,
    error: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct ShownItem<'a> {
    external_key: &'a str,
    attributes: Option<&'a RawValue>,
}

/// Shows the items and the outcome of a payload, with the endpoint's mapping or another one, and rolls back.
/// `{items: [{external_key, attributes}], created, updated, error}`.
pub fn dry_run(mut endpoint: Endpoint, body: &str) -> Result<String, Error> {
    let given = Given::parse(body, &TRIAL)?;
    let payload = given.payload.ok_or_else(|| missing("payload", ""))?;
    endpoint.mapping = given.mapping(&endpoint.template, Some(&endpoint.mapping))?;
    let (items, outcome) = delivery::dry_run(&endpoint, payload.get());
    let Counts { created, updated } = outcome.as_ref().copied().unwrap_or_default();
    let error = outcome.err().map(|error| error_json(&error));
    let items =
        items.iter().map(|item| ShownItem { external_key: &item.key, attributes: raw(&item.attributes) });
    Ok(to_json(&Tried { items: items.collect(), created, updated, error: error.as_deref().and_then(raw) }))
}
