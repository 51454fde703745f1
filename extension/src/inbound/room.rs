//! How much the log of an endpoint may hold: nobody who delivers can fill the disk, and nothing refused is lost.

use super::endpoint::Endpoint;
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, connected};
use crate::postgres::{datum, random, setting};
use pgrx::pg_sys::{self, Datum};

/// The most refused deliveries of an endpoint.
const MOST_REFUSED: i64 = 10_000;

/// Of so many deliveries that were done the payloads are kept, the newest ones.
const MOST_DONE: i64 = 1000;

/// Every so many-th delivery forgets the payloads of some that were done.
const TRIM_EVERY: u64 = 16;

/// Refuses to keep a further refused delivery where there is no room: what is not kept must be sent again. Whoever keeps
/// one has the endpoint until the transaction ends, so that several together find no more room than there is.
pub fn require(endpoint: &Endpoint, payload: &str) -> Result<(), Error> {
    let (count, bytes) = as_owner(|| {
        connected(|spi| {
            let id = [(pg_sys::INT4OID, Some(Datum::from(endpoint.id)))];
            let lock = "select from keyed_state.inbound_endpoint e where e.id = $1 for no key update";
            spi.run_once(lock, Access::Latest, &id);
            // The length of a long text is known without reading it.
            let sql = "select count(*), coalesce(sum(octet_length(d.payload)), 0)::bigint \
                       from keyed_state.inbound_delivery d where d.endpoint_id = $1 and d.status = 'failed'";
            let rows = spi.run_once(sql, Access::Latest, &id);
            let number = |column| rows.get(0, column).map_or(0, datum::read_i64);
            (number(0), number(1))
        })
    });
    if count < MOST_REFUSED && bytes + payload.len() as i64 <= setting::inbound_room() {
        return Ok(());
    }
    let message = format!(
        "the inbound endpoint {:?} keeps {count} refused deliveries of {bytes} bytes, as many as it may, and takes no \
         further one that it would have to keep",
        endpoint.slug
    );
    Err(Error::new(Code::StorageFull, message).hint(
        "mend its mapping and replay them, purge them by keyed.purge_deliveries, or raise keyed.inbound_room",
    ))
}

/// Forgets, now and then, the oldest payloads of deliveries that were done: what they said is in the records. Their lines
/// stay, with their ids.
pub fn trim(endpoint: &Endpoint) {
    if !random::next_u64().is_multiple_of(TRIM_EVERY) {
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
                 order by o.id limit 100 for update skip locked)";
    as_owner(|| {
        connected(|spi| {
            spi.run_once(
                sql,
                Access::Latest,
                &[
                    (pg_sys::INT4OID, Some(Datum::from(endpoint.id))),
                    (pg_sys::INT8OID, Some(Datum::from(MOST_DONE))),
                    (pg_sys::INT8OID, Some(Datum::from(setting::inbound_room()))),
                ],
            );
        });
    });
}
