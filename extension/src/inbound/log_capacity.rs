//! Limits the size of an endpoint's log, so that senders cannot fill the disk and no failed delivery is lost.

use super::endpoint::Endpoint;
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::postgres::{random, setting};
use crate::template::catalog;

/// The maximum number of failed deliveries of an endpoint.
const MAX_FAILED: i64 = 10_000;

/// The number of newest successful deliveries whose payloads are kept.
const MAX_DONE: i64 = 1000;

/// Payloads are trimmed on average after this many deliveries, or after this fraction of the capacity.
const TRIM_EVERY: u64 = 256;
const TRIM_PART: u64 = 16;

/// The number and size of deliveries.
#[derive(Clone, Copy)]
struct Taken {
    deliveries: i64,
    bytes: i64,
}

impl Taken {
    fn with(self, payload: &str) -> Taken {
        Taken { deliveries: self.deliveries + 1, bytes: self.bytes + payload.len() as i64 }
    }

    fn fits(self) -> bool {
        self.deliveries <= MAX_FAILED && self.bytes <= setting::max_inbound_log_size()
    }
}

/// Rejects a failed delivery if the log is full, so that the sender retries it. Otherwise locks the endpoint until the
/// transaction ends, so that concurrent deliveries cannot exceed the limit. The log is counted only if the running total has
/// reached the limit, because the total does not subtract replayed and purged deliveries.
pub fn require(endpoint: &Endpoint, payload: &str) -> Result<(), Error> {
    let counted = as_owner(|| {
        connected(|spi| {
            let id = endpoint.id;
            let lock = "select from keyed_state.inbound_endpoint e where e.id = $1 for no key update";
            spi.run_once(lock, Snapshot::Latest, &params![id]);
            let adds_up = catalog::table_oid("keyed_state", "inbound_refused").is_some();
            let added = if adds_up { running_total(spi, endpoint) } else { None };
            let mut taken = added.unwrap_or_else(|| count(spi, endpoint));
            if added.is_some() && !taken.with(payload).fits() {
                taken = count(spi, endpoint);
            }
            if !taken.with(payload).fits() {
                return Err(taken);
            }
            if adds_up {
                let Taken { deliveries, bytes } = taken.with(payload);
                let sql = "insert into keyed_state.inbound_refused as r values ($1, $2, $3) on conflict (endpoint_id) \
                           do update set deliveries = excluded.deliveries, bytes = excluded.bytes";
                let number = |number| number;
                spi.run_once(sql, Snapshot::Latest, &params![id, number(deliveries), number(bytes)]);
            }
            Ok(())
        })
    });
    let Err(Taken { deliveries: count, bytes }) = counted else { return Ok(()) };
    let message = format!(
        "the inbound endpoint {:?} has reached the limit of stored deliveries: {count} failed deliveries of {bytes} \
         bytes",
        endpoint.slug
    );
    Err(Error::new(Code::StorageFull, message).hint(
        "Correct the mapping and replay the deliveries, purge them with keyed.purge_deliveries, or raise \
         keyed.max_inbound_log_size.",
    ))
}

/// The running total of the failed deliveries of an endpoint, which is an upper bound.
fn running_total(spi: &Connection, endpoint: &Endpoint) -> Option<Taken> {
    let sql = "select r.deliveries, r.bytes from keyed_state.inbound_refused r where r.endpoint_id = $1";
    taken(&spi.run_once(sql, Snapshot::Latest, &params![endpoint.id]))
}

/// The number and size of the failed deliveries of an endpoint.
fn count(spi: &Connection, endpoint: &Endpoint) -> Taken {
    // octet_length of a TOASTed text does not read it.
    let sql = "select count(*), coalesce(sum(octet_length(d.payload)), 0)::bigint \
               from keyed_state.inbound_delivery d where d.endpoint_id = $1 and d.status = 'failed'";
    let rows = spi.run_once(sql, Snapshot::Latest, &params![endpoint.id]);
    taken(&rows).unwrap_or(Taken { deliveries: 0, bytes: 0 })
}

fn taken(rows: &Rows) -> Option<Taken> {
    let number = |column| rows.get::<Option<i64>>(0, column).unwrap_or_default();
    (!rows.is_empty()).then(|| Taken { deliveries: number(0), bytes: number(1) })
}

/// Occasionally deletes the oldest payloads of successful deliveries. Their log entries remain.
pub fn trim(endpoint: &Endpoint, payload: &str) {
    let room = setting::max_inbound_log_size().max(1) as u64;
    let is_due = random::next_u64().is_multiple_of(TRIM_EVERY)
        || random::next_u64() % room < TRIM_PART * payload.len() as u64;
    if !is_due {
        return;
    }
    let sql = "with newest as ( \
                 select n.id, sum(octet_length(n.payload)) over (order by n.id desc) as total from ( \
                   select d.id, d.payload from keyed_state.inbound_delivery d \
                   where d.endpoint_id = $1 and d.status = 'done' and d.payload is not null \
                   order by d.id desc limit $2) n) \
               update keyed_state.inbound_delivery d set payload = null where d.id in ( \
                 select o.id from keyed_state.inbound_delivery o \
                 where o.endpoint_id = $1 and o.status = 'done' and o.payload is not null \
                   and o.id < (select coalesce(min(newest.id), 9223372036854775807) from newest where newest.total <= $3) \
                 order by o.id limit 400 for update skip locked)";
    as_owner(|| {
        connected(|spi| {
            let arguments = params![endpoint.id, MAX_DONE, setting::max_inbound_log_size()];
            without_waiting(|| spi.run_once(sql, Snapshot::Latest, &arguments).len());
        });
    });
}
