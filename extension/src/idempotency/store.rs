//! The table of stored responses.

use super::capacity;
use super::plans::run;
use super::replay::{self, Texts};
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::postgres::advisory_lock::{LockKind, Mode, try_lock};
use crate::postgres::datum::{self, Argument};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Interval, Parameter, params};
use crate::postgres::random;
use crate::postgres::spi::{Snapshot, connected};
use crate::value::written::Subject;
use pgrx::pg_sys::{self, Datum};
use sha2::{Digest, Sha256};

/// The lifetime of a response.
const LIFETIME: &str = "interval '24 hours'";

/// On average, one of this many requests deletes expired responses, at most twice as many. So the table shrinks after a peak,
/// and no request deletes for long.
const PURGE_EVERY: u64 = 16;
const PURGE_AT_ONCE: u64 = 2 * PURGE_EVERY;

/// A request with an Idempotency-Key.
pub struct Request {
    /// The id of its API key.
    pub api_key: i32,
    /// Its Idempotency-Key.
    pub key: String,
    /// The SHA-256 of the rest of the request.
    pub fingerprint: Vec<u8>,
}

/// The stored response, filtered by the caller's current privileges. If there is none, returns `None`, and no other
/// transaction runs the request before this one ends.
pub fn find(request: &Request) -> Result<Option<Texts>, Error> {
    if !try_lock(LockKind::Request, request.number(), Mode::Exclusive) {
        return Err(Error::new(
            Code::RequestInProgress,
            "a request with this Idempotency-Key is in progress",
        )
        .hint("Retry after the first request has completed: its response is stored."));
    }
    // Read after the lock is taken, with a new snapshot: the previous holder has committed.
    let sql = format!(
        "select r.fingerprint, r.answer[1], r.answer[2], r.answer[3], r.answer[4], r.answer[5], {} \
         from (values ($1, $2)) asked (key_id, idempotency_key) left join keyed_state.idempotent_request r \
         on r.key_id = asked.key_id and r.idempotency_key = asked.idempotency_key \
         and r.created_at >= now() - {LIFETIME}",
        capacity::is_full("asked.key_id"),
    );
    let (found, is_full) = as_owner(|| {
        connected(|spi| {
            let rows = run(spi, &sql, &params![request.api_key, &request.key]);
            let found = rows.get::<Option<Vec<u8>>>(0, 0).map(|fingerprint| {
                let response = (1..=5).map(|column| rows.get::<Option<String>>(0, column)).collect();
                (fingerprint, response)
            });
            (found, rows.get::<Option<bool>>(0, 6).unwrap_or_default())
        })
    });
    match found {
        None if is_full => Err(capacity::none_left()),
        None => Ok(None),
        Some((fingerprint, _)) if fingerprint != request.fingerprint => Err(Error::new(
            Code::IdempotencyKeyReused,
            "this Idempotency-Key was used for another request: method, address, project or body differ",
        )
        .hint("Use another key for another request. Repeat a request unchanged, byte for byte.")),
        Some((_, response)) => replay::visible(&Caller::current(), response).map(Some),
    }
}

/// Stores the response of a request.
pub fn keep(request: &Request, response: Datum) -> Result<(), Error> {
    let elements = datum::text_elements(response).unwrap_or_default();
    let element = |position: usize| elements.get(position).copied().flatten();
    let subject = element(replay::SUBJECT);
    let texts = |elements: [Argument; 5]| datum::array_from(elements.into_iter(), pg_sys::TEXTOID);
    let response = match subject.and_then(|subject| Subject::parse(&datum::read_text(subject))) {
        Some(Subject::NotStored) => return Ok(()),
        // Stores only that the request has run.
        Some(Subject::Secret) => texts([None, None, None, None, subject]),
        Some(_) => match element(replay::STORED_BODY) {
            Some(body) => texts([element(0), element(1), Some(body), element(replay::TAG), subject]),
            None => Some(response),
        },
        None => {
            return Err(Error::at(Code::InvalidValue, "/answer", "the answer has no subject"));
        }
    };
    let sql = format!(
        "insert into keyed_state.idempotent_request as r (key_id, idempotency_key, fingerprint, answer) \
         values ($1, $2, $3, $4) on conflict (key_id, idempotency_key) do update \
         set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at \
         where r.created_at < excluded.created_at - {LIFETIME} returning pg_column_size(r.answer), {}",
        capacity::was_full("r.key_id"),
    );
    let response = Parameter::of_type(pg_sys::TEXTARRAYOID, response);
    let kept = as_owner(|| {
        let arguments = params![request.api_key, &request.key, request.fingerprint.as_slice(), response];
        let kept = connected(|spi| {
            run(spi, &sql, &arguments)
                .first::<(Option<i32>, Option<bool>)>()
                .map(|(size, was_full)| (size.unwrap_or_default(), was_full.unwrap_or_default()))
        });
        if let Some((size, was_full)) = kept {
            capacity::recount(request.api_key, size, was_full);
        }
        if random::next_u64().is_multiple_of(PURGE_EVERY) {
            forget_expired(PURGE_AT_ONCE);
        }
        kept
    });
    if kept.is_none() {
        return Err(Error::new(
            Code::SerializationFailure,
            "the request was run by a transaction that is not visible to this one",
        ));
    }
    Ok(())
}

/// Deletes up to this many expired responses of all API keys, oldest first, and returns their number. Locked ones are
/// skipped.
pub fn forget_expired(max: u64) -> i64 {
    let sql = format!(
        "delete from keyed_state.idempotent_request r where (r.key_id, r.idempotency_key) in ( \
           select o.key_id, o.idempotency_key from keyed_state.idempotent_request o \
           where o.created_at < now() - {LIFETIME} order by o.created_at limit {max} for update skip locked)"
    );
    as_owner(|| connected(|spi| run(spi, &sql, &[]).len() as i64))
}

/// Deletes all responses that are older, except locked ones, and returns their number.
pub fn purge(older_than: Datum) -> i64 {
    as_owner(|| {
        connected(|spi| {
            let sql = "delete from keyed_state.idempotent_request r where (r.key_id, r.idempotency_key) in ( \
                         select o.key_id, o.idempotency_key from keyed_state.idempotent_request o \
                         where o.created_at < now() - $1 for update skip locked)";
            spi.run_once(sql, Snapshot::Latest, &params![Interval(older_than)]).len() as i64
        })
    })
}

impl Request {
    /// The number of its lock. A collision only serializes two requests.
    fn number(&self) -> u64 {
        let digest =
            Sha256::new().chain_update(self.api_key.to_be_bytes()).chain_update(&self.key).finalize();
        digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}
