//! Queues deliveries from the feed of changes.

use super::endpoint::{self, Endpoint, disable, find};
use crate::access::Caller;
use crate::change::{horizon, page};
use crate::error::{Code, Error};
use crate::json_write::to_json;
use crate::postgres::caught::{Attempt, Caught, Class};
use crate::postgres::guard::{as_owner, attempt};
use crate::postgres::parameter::params;
use crate::postgres::raise::Raise;
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Connection, Snapshot, connected};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::HashMap;
use uuid::Uuid;

/// The maximum number of entries that are queued for an endpoint in one transaction.
const PAGE: usize = 500;
/// The maximum number of endpoints that are locked in one transaction.
const MAX_ENDPOINTS: usize = 10;
/// The number of pending deliveries at which no more are queued for an endpoint. The feed retains the remaining changes. A
/// claim reads past pending deliveries that wait for an earlier delivery of their record, so this also limits the cost of a
/// claim.
const MAX_WAITING: i64 = 1000;
/// The numbers of finished deliveries that are retained for an endpoint.
const RETAINED: [(&str, i64); 2] = [("done", 1000), ("failed", 10_000)];
/// The maximum number of finished deliveries that are deleted together.
const MAX_DELETED: i64 = 2000;

/// The queued deliveries.
#[derive(Default, Serialize)]
struct Queued {
    queued: usize,
    has_more: bool,
}

/// The members of an entry that determine whether it is delivered.
#[derive(Deserialize)]
struct Head<'a> {
    id: &'a str,
    template_id: &'a str,
    operation: &'a str,
}

/// Queues the deliveries of new changes for endpoints that the caller may access: `{queued, has_more}`.
pub fn queue(caller: &Caller) -> Result<String, Error> {
    endpoint::require(caller, "deliver webhooks")?;
    let enabled = as_owner(|| connected(|spi| find(spi, "e.enabled", "order by random()", &[])));
    let mut newest = HashMap::new();
    let mut total = Queued::default();
    let mut locked = 0;
    for endpoint in enabled.iter().filter(|it| caller.can_access_project(it.project)) {
        pgrx::check_for_interrupts!();
        let newest = match newest.get(&endpoint.project) {
            Some(newest) => *newest,
            None => {
                // A template whose table is locked delays only its own project.
                let found = without_waiting(|| horizon::newest_settled(endpoint.project));
                let found = found.transpose()?.flatten();
                newest.insert(endpoint.project, found);
                found
            }
        };
        let has_news = newest.is_some_and(|newest| newest >= endpoint.feed_position.position);
        if !has_news && endpoint.violation().is_none() {
            continue;
        }
        if locked == MAX_ENDPOINTS {
            // If nothing was queued, endpoints with too many pending deliveries would make the worker poll without a
            // pause.
            total.has_more |= total.queued > 0;
            break;
        }
        locked += 1;
        let queued = as_owner(|| {
            connected(|spi| {
                without_waiting(|| or_disable(spi, endpoint.id, attempt(|| queue_for(spi, endpoint.id))))
            })
        });
        let queued = queued.flatten().unwrap_or_default();
        total.queued += queued.queued;
        total.has_more |= queued.has_more;
    }
    Ok(to_json(&total))
}

/// The result of processing an endpoint. An endpoint whose definition has become invalid is disabled, so that it does not
/// block the others.
pub fn or_disable<R>(spi: &Connection, endpoint: i32, outcome: Attempt<Result<R, Error>>) -> Option<R> {
    let violation = |caught: &Caught| {
        let message = || Error::new(Code::InvalidValue, caught.message.clone());
        (caught.class() == Class::Data).then(message)
    };
    match outcome.catch(violation).and_then(|result| result) {
        Ok(result) => Some(result),
        Err(error) if error.code.status() >= 500 => error.raise(),
        Err(error) => {
            disable(spi, endpoint, &error.message);
            None
        }
    }
}

fn queue_for(spi: &Connection, id: i32) -> Result<Queued, Error> {
    let lock = || find(spi, "e.id = $1 and e.enabled", "for update of e skip locked", &params![id]).pop();
    // Another worker has locked it.
    let Some(endpoint) = without_waiting(lock).flatten() else { return Ok(Queued::default()) };
    if let Some(violation) = endpoint.violation() {
        return Err(Error::new(Code::Forbidden, violation));
    }
    let waiting = "select count(*) from (select from keyed_state.webhook_delivery d \
                   where d.endpoint_id = $1 and d.state in ('pending', 'running') limit $2) w";
    let arguments = params![id, MAX_WAITING];
    if spi.run_once(waiting, Snapshot::Latest, &arguments).value::<i64>() >= Some(MAX_WAITING) {
        return Ok(Queued::default());
    }
    let following = endpoint.following(|template| endpoint.has_template(template))?;
    let read = page::entries(spi, &following, endpoint.feed_position, PAGE)?;
    let queued = insert(spi, &endpoint, &read.entries)?;
    let sql = "update keyed_state.webhook_endpoint e set place = $2 where e.id = $1";
    spi.run_once(sql, Snapshot::Latest, &params![id, &read.feed_position.to_string()]);
    if queued > 0 {
        trim(spi, id);
    }
    Ok(Queued { queued, has_more: read.has_more })
}

fn insert(spi: &Connection, endpoint: &Endpoint, entries: &str) -> Result<usize, Error> {
    let unexpected =
        |error| Error::new(Code::Internal, format!("an entry of the feed cannot be read: {error}"));
    let entries: Vec<&RawValue> = serde_json::from_str(entries).map_err(unexpected)?;
    let (mut templates, mut records, mut operations, mut texts) = (vec![], vec![], vec![], vec![]);
    for entry in entries {
        let head: Head = serde_json::from_str(entry.get()).map_err(unexpected)?;
        if endpoint.has_operation(head.operation) {
            templates.push(head.template_id.parse::<i32>().unwrap_or_default());
            records.push(Uuid::try_parse(head.id).unwrap_or_default());
            operations.push(head.operation);
            texts.push(entry.get());
        }
    }
    if !texts.is_empty() {
        spi.run_once(
            "insert into keyed_state.webhook_delivery (endpoint_id, template_id, record_id, operation, entry) \
             select $1, u.template, u.record, u.operation, u.entry \
             from unnest($2, $3, $4, $5) with ordinality u (template, record, operation, entry, place) order by u.place",
            Snapshot::Latest,
            &params![endpoint.id, &templates, &records, &operations, &texts],
        );
    }
    Ok(texts.len())
}

/// Deletes the oldest finished deliveries.
fn trim(spi: &Connection, endpoint: i32) {
    for (state, kept) in RETAINED {
        let sql = "delete from keyed_state.webhook_delivery d where d.number in (select o.number \
                   from keyed_state.webhook_delivery o where o.endpoint_id = $1 and o.state = $2 \
                   order by o.number desc offset $3 limit $4 for update skip locked) and d.state = $2";
        spi.run_once(sql, Snapshot::Latest, &params![endpoint, state, kept, MAX_DELETED]);
    }
}
