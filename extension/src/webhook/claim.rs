//! Claims: leases of due deliveries to workers.

use super::endpoint::{self, Endpoint, find};
use super::payload::{Due, Payloads};
use super::queue::or_disable;
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::inbound::signature::encode_secret;
use crate::json_write::to_json;
use crate::postgres::guard::{as_owner, attempt};
use crate::postgres::parameter::params;
use crate::postgres::random;
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Connection, Snapshot, connected};
use serde::Serialize;
use uuid::Uuid;

/// The maximum number of deliveries in a claim.
const MAX_DELIVERIES: i32 = 100;
/// The maximum lease in seconds.
const MAX_LEASE: i32 = 3600;
/// The maximum number of deliveries to an endpoint that a caller may have in flight.
const MAX_IN_FLIGHT: i32 = 10;
/// The maximum size of the bodies of a claim; the remaining deliveries are released.
const MAX_BYTES: usize = 16 << 20;

/// The result of a claim.
#[derive(Serialize)]
struct Claim {
    claim: String,
    deliveries: Vec<Claimed>,
    /// Whether due deliveries were settled without being sent.
    is_settled: bool,
    #[serde(skip)]
    bytes: usize,
}

/// The parameters of a claim.
struct Lease {
    token: Uuid,
    seconds: i32,
    /// The maximum number of deliveries to an endpoint that are in flight.
    max_in_flight: i32,
}

/// A delivery to send.
#[derive(Serialize)]
struct Claimed {
    id: String,
    endpoint: String,
    url: String,
    body: String,
    secrets: Vec<String>,
}

/// Claims up to `max` due deliveries for some seconds: `{claim, deliveries: [{id, endpoint, url, body, secrets}], is_settled}`.
/// Each claim counts as an attempt. An endpoint with `max_in_flight` deliveries in flight gets no more.
pub fn claim(caller: &Caller, max: i32, lease: i32, max_in_flight: i32) -> Result<String, Error> {
    endpoint::require(caller, "deliver webhooks")?;
    let bounds = [
        ("max_deliveries", max, 1..=MAX_DELIVERIES),
        ("lease", lease, 1..=MAX_LEASE),
        ("max_in_flight", max_in_flight, 1..=MAX_IN_FLIGHT),
    ];
    for (name, number, range) in bounds {
        if !range.contains(&number) {
            let message = format!("{name} must be between {} and {}", range.start(), range.end());
            return Err(Error::at(Code::InvalidValue, format!("/{name}"), message));
        }
    }
    let mut bytes = [0u8; 16];
    random::fill(&mut bytes);
    let token = uuid::Builder::from_random_bytes(bytes).into_uuid();
    let mut claim = Claim { claim: token.to_string(), deliveries: Vec::new(), is_settled: false, bytes: 0 };
    let mut endpoints = as_owner(|| connected(with_due));
    endpoints.retain(|endpoint| caller.can_access_project(endpoint.project));
    for (position, endpoint) in endpoints.iter().enumerate() {
        pgrx::check_for_interrupts!();
        // Each endpoint gets a share, so that none starves.
        let (left, taken) = ((endpoints.len() - position) as i32, claim.deliveries.len() as i32);
        let share = ((max - taken) / left).max(1);
        if taken >= max || claim.bytes > MAX_BYTES {
            break;
        }
        let taken = as_owner(|| {
            connected(|spi| {
                let lease = Lease { token, seconds: lease, max_in_flight };
                let take = || take(spi, endpoint.id, &lease, share, MAX_BYTES - claim.bytes);
                // A template whose table is locked delays only its own deliveries.
                without_waiting(|| or_disable(spi, endpoint.id, attempt(take)))
            })
        });
        if let Some(taken) = taken.flatten() {
            claim.bytes += taken.bytes;
            claim.is_settled |= taken.is_settled;
            claim.deliveries.extend(taken.deliveries);
        }
    }
    Ok(to_json(&claim))
}

const IS_DUE: &str = "d.state in ('pending', 'running') and d.due_at <= now()";

/// The endpoints with due deliveries, in random order. Test deliveries are also sent to disabled
/// endpoints.
fn with_due(spi: &Connection) -> Vec<Endpoint> {
    let condition = format!(
        "e.enabled and exists (select from keyed_state.webhook_delivery d where d.endpoint_id = e.id and {IS_DUE}) \
         or exists (select from keyed_state.webhook_delivery d where d.endpoint_id = e.id and d.operation = 'test' and {IS_DUE})"
    );
    find(spi, &condition, "order by random()", &[])
}

/// Claims due deliveries to an endpoint, oldest first. The lock keeps other workers from exceeding the number in flight.
fn take(spi: &Connection, id: i32, lease: &Lease, max: i32, max_bytes: usize) -> Result<Claim, Error> {
    let mut claim =
        Claim { claim: lease.token.to_string(), deliveries: Vec::new(), is_settled: false, bytes: 0 };
    let lock = || find(spi, "e.id = $1", "for no key update of e skip locked", &params![id]).pop();
    let Some(endpoint) = without_waiting(lock).flatten() else { return Ok(claim) };
    if let Some(violation) = endpoint.violation().filter(|_| endpoint.enabled) {
        return Err(Error::new(Code::Forbidden, violation));
    }
    let due = mark(spi, &endpoint, lease, max);
    let payloads = Payloads::of(spi, &endpoint, &due)?;
    let secrets = [Some(&endpoint.secret), endpoint.previous_secret.as_ref()];
    let secrets: Vec<String> = secrets.into_iter().flatten().map(|secret| encode_secret(secret)).collect();
    let (mut withheld, mut released) = (Vec::new(), Vec::new());
    for due in &due {
        if claim.bytes > max_bytes {
            released.push(due.number);
            continue;
        }
        let Some(body) = payloads.body(spi, due) else {
            withheld.push(due.number);
            continue;
        };
        claim.bytes += body.len();
        let (slug, url) = (endpoint.slug.clone(), endpoint.url.clone());
        claim.deliveries.push(Claimed {
            id: due.id.to_string(),
            endpoint: slug,
            url,
            body,
            secrets: secrets.clone(),
        });
    }
    if !withheld.is_empty() {
        claim.is_settled = true;
        let sql = "update keyed_state.webhook_delivery d set state = 'done', claim = null, finished_at = now(), \
                   last_error = 'not sent: the role of the endpoint no longer sees the record' where d.number = any ($1)";
        spi.run_once(sql, Snapshot::Latest, &params![withheld]);
    }
    if !released.is_empty() {
        let sql = "update keyed_state.webhook_delivery d set state = 'pending', claim = null, due_at = now(), \
                   attempts = d.attempts - 1 where d.number = any ($1)";
        spi.run_once(sql, Snapshot::Latest, &params![released]);
    }
    Ok(claim)
}

/// Marks due deliveries without an earlier unfinished delivery of the same record as running. A subquery finds the first
/// delivery of each record, and only the index of records can evaluate it. NOT EXISTS became a nested loop over all
/// deliveries of the endpoint after each burst, until the next ANALYZE.
fn mark(spi: &Connection, endpoint: &Endpoint, lease: &Lease, max: i32) -> Vec<Due> {
    let sql = format!(
        "with due as materialized (select d.number from keyed_state.webhook_delivery d \
           where d.endpoint_id = $1 and {IS_DUE} and ($2 or d.operation = 'test') \
           and (d.record_id is null or d.number = (select b.number from keyed_state.webhook_delivery b \
             where b.endpoint_id = d.endpoint_id and b.record_id = d.record_id and b.state in ('pending', 'running') \
             order by b.endpoint_id, b.record_id, b.number limit 1)) \
           order by d.due_at, d.number \
           limit (select greatest(least($3, $6 - count(*)), 0) from keyed_state.webhook_delivery r \
             where r.endpoint_id = $1 and r.state = 'running' and r.due_at > now()) \
           for no key update of d skip locked) \
         update keyed_state.webhook_delivery d set state = 'running', claim = $4, attempts = d.attempts + 1, \
           due_at = now() + $5 * interval '1 second' \
         from due where d.number = due.number \
         returning d.number, d.id, d.template_id, d.record_id, d.operation, coalesce(d.entry, ''), d.created_at"
    );
    let arguments =
        params![endpoint.id, endpoint.enabled, max, lease.token, lease.seconds, lease.max_in_flight];
    let marked = || -> Vec<Due> {
        let rows = spi.run_once(&sql, Snapshot::Latest, &arguments);
        let due = rows.iter::<(i64, Uuid, Option<i32>, Option<Uuid>, String, String, i64)>();
        let due = due.map(|(number, id, template, record, operation, entry, created_at)| Due {
            number,
            id,
            subject: template.zip(record),
            operation,
            entry,
            created_at,
        });
        due.collect()
    };
    let mut due = without_waiting(marked).unwrap_or_default();
    due.sort_by_key(|due| due.number);
    due
}
