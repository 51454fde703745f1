//! The log of deliveries: the rows of `keyed_state.inbound_delivery`.

use super::endpoint::Endpoint;
use super::logged_error::error_json;
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::json_write::{raw, to_json};
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Jsonb, Timestamp, params};
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::value::time;
use pgrx::pg_sys::Datum;
use serde::Serialize;
use serde_json::value::RawValue;

/// The default and the maximum number of deliveries on a page.
const PAGE: (i32, i32) = (50, 500);

/// The numbers of records that a delivery created and updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// New records.
    pub created: i32,
    /// Existing records, whether or not they changed.
    pub updated: i32,
}

/// The outcome of a delivery.
pub type Outcome = Result<Counts, Error>;

/// The log entry of a delivery that has begun.
pub enum Begun {
    /// A new delivery.
    New(i64),
    /// A delivery with a known `webhook-id`, and its outcome.
    Observation(i64, Outcome),
}

const COLUMNS: &str =
    "d.id, d.endpoint_id, d.webhook_id, d.received_at, d.status, d.error::text, d.created, d.updated";

/// Inserts the log entry of a delivery, or finds the one with the same `webhook-id`. Of two concurrent deliveries, the second
/// waits here until the first has ended.
pub fn begin(endpoint: &Endpoint, webhook_id: Option<&str>, payload: &str) -> Result<Begun, Error> {
    let id = endpoint.id;
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                "insert into keyed_state.inbound_delivery (endpoint_id, webhook_id, payload, status) \
                 values ($1, $2, $3, 'done') on conflict (endpoint_id, webhook_id) do nothing returning id",
                Snapshot::Latest,
                &params![id, webhook_id, payload],
            );
            if !rows.is_empty() {
                return Ok(Begun::New(rows.get::<Option<i64>>(0, 0).unwrap_or_default()));
            }
            let sql = format!(
                "select {COLUMNS} from keyed_state.inbound_delivery d where d.endpoint_id = $1 and d.webhook_id = $2"
            );
            let rows = spi.run_once(&sql, Snapshot::Latest, &params![id, webhook_id]);
            match read(&rows).pop() {
                Some(delivery) => Ok(Begun::Observation(delivery.id, delivery.outcome())),
                None => Err(Error::new(Code::SerializationFailure, "the same delivery is being processed")
                    .hint("Send it again.")),
            }
        })
    })
}

/// Stores the outcome of a delivery.
pub fn finish(id: i64, outcome: &Outcome) {
    let (status, error, counts) = match outcome {
        Ok(counts) => ("done", None, *counts),
        Err(error) => ("failed", Some(error_json(error)), Counts::default()),
    };
    as_owner(|| {
        connected(|spi| {
            spi.run_once(
                "update keyed_state.inbound_delivery set status = $2, error = $3, created = $4, updated = $5 \
                 where id = $1",
                Snapshot::Latest,
                &params![id, status, error.as_deref().map(Jsonb), counts.created, counts.updated],
            );
        });
    });
}

/// A log entry.
pub struct Delivery {
    /// Its id.
    pub id: i64,
    /// The endpoint.
    pub endpoint: i32,
    /// Whether it succeeded.
    pub is_done: bool,
    webhook_id: Option<String>,
    received_at: i64,
    error: Option<String>,
    counts: Counts,
}

fn read(rows: &Rows) -> Vec<Delivery> {
    let delivery = |row| {
        let text = |column| rows.get::<Option<String>>(row, column);
        let number = |column| rows.get::<Option<i32>>(row, column).unwrap_or_default();
        Some(Delivery {
            id: rows.get(row, 0),
            endpoint: number(1),
            webhook_id: text(2),
            received_at: rows.get::<Option<i64>>(row, 3).unwrap_or_default(),
            is_done: text(4)? == "done",
            error: text(5),
            counts: Counts { created: number(6), updated: number(7) },
        })
    };
    (0..rows.len()).filter_map(delivery).collect()
}

impl Delivery {
    /// Its outcome, for the sender.
    fn outcome(&self) -> Outcome {
        if self.is_done {
            return Ok(self.counts);
        }
        let code = self.error.as_deref().and_then(|error| {
            let error: serde_json::Value = serde_json::from_str(error).ok()?;
            Code::parse(error["code"].as_str()?)
        });
        Err(Error::new(code.unwrap_or(Code::InvalidValue), "the delivery was rejected"))
    }

    /// `{id, webhook_id, received_at, status, error, created, updated, payload?}`.
    pub fn to_json(&self, payload: Option<&str>) -> String {
        #[derive(Serialize)]
        struct Rendered<'a> {
            id: String,
            webhook_id: Option<&'a str>,
            received_at: String,
            status: &'static str,
            error: Option<&'a RawValue>,
            created: i32,
            updated: i32,
            #[serde(skip_serializing_if = "Option::is_none")]
            payload: Option<&'a RawValue>,
        }
        to_json(&Rendered {
            id: self.id.to_string(),
            webhook_id: self.webhook_id.as_deref(),
            received_at: time::datetime(self.received_at),
            status: if self.is_done { "done" } else { "failed" },
            error: self.error.as_deref().and_then(raw),
            created: self.counts.created,
            updated: self.counts.updated,
            payload: payload.and_then(raw),
        })
    }
}

/// The parameters of a page of the log.
#[derive(Debug, Default)]
pub struct LogQuery {
    /// `done` or `failed`; `None` for all.
    pub status: Option<String>,
    /// The size of the page.
    pub limit: Option<i32>,
    /// The cursor.
    pub cursor: Option<String>,
}

/// `{deliveries: […], next_cursor}`, newest first, without payloads.
pub fn page(endpoint: &Endpoint, requested: &LogQuery) -> Result<String, Error> {
    let limit = requested.limit.unwrap_or(PAGE.0);
    if !(1..=PAGE.1).contains(&limit) {
        return Err(Error::at(
            Code::InvalidValue,
            "/limit",
            format!("limit is a whole number from 1 to {}", PAGE.1),
        ));
    }
    if requested.status.as_deref().is_some_and(|status| !["done", "failed"].contains(&status)) {
        return Err(Error::at(Code::InvalidValue, "/status", "status must be done or failed"));
    }
    let after = match requested.cursor.as_deref().map(str::parse::<i64>) {
        None => i64::MAX,
        Some(Ok(id)) => id,
        Some(Err(_)) => {
            return Err(Error::at(Code::InvalidValue, "/cursor", "the cursor is not one of a delivery log")
                .hint("Send the next_cursor of the previous page."));
        }
    };
    let sql = format!(
        "select {COLUMNS} from keyed_state.inbound_delivery d where d.endpoint_id = $1 and d.id < $2 \
         and ($3 is null or d.status = $3) order by d.id desc limit $4"
    );
    let mut deliveries = as_owner(|| {
        connected(|spi| {
            read(&spi.run_once(
                &sql,
                Snapshot::Latest,
                &params![endpoint.id, after, requested.status.as_deref(), i64::from(limit) + 1],
            ))
        })
    });
    let has_more = deliveries.len() > limit as usize;
    deliveries.truncate(limit as usize);
    let next = deliveries.last().filter(|_| has_more).map(|last| format!("\"{}\"", last.id));
    let shown: Vec<String> = deliveries.iter().map(|delivery| delivery.to_json(None)).collect();
    Ok(format!(
        "{{\"deliveries\":[{}],\"next_cursor\":{}}}",
        shown.join(","),
        next.as_deref().unwrap_or("null")
    ))
}

/// A delivery and its payload, unless it was purged. `lock` prevents concurrent replays.
pub fn get(id: i64, lock: bool) -> Option<(Delivery, Option<String>)> {
    let lock = if lock { " for update" } else { "" };
    let sql =
        format!("select {COLUMNS}, d.payload from keyed_state.inbound_delivery d where d.id = $1{lock}");
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Latest, &params![id]);
            let delivery = read(&rows).pop()?;
            Some((delivery, rows.get::<Option<String>>(0, 8)))
        })
    })
}

/// The failed deliveries of an endpoint after this one, oldest first, locked; those being replayed are skipped.
pub fn failed(endpoint: &Endpoint, after: i64, max: i64) -> Vec<i64> {
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(
                "select d.id from keyed_state.inbound_delivery d where d.endpoint_id = $1 and d.status = 'failed' \
                 and d.id > $2 order by d.id limit $3 for update skip locked",
                Snapshot::Latest,
                &params![endpoint.id, after, max],
            );
            rows.column::<i64>().collect()
        })
    })
}

/// Purges deliveries that were received before a time, and returns their number. Successful deliveries with a `webhook-id` keep
/// an entry without payload, so that the same delivery has no second effect. Failed ones are deleted.
pub fn purge(before: Datum, status: &str) -> Result<i64, Error> {
    Caller::current().require_admin("purge deliveries")?;
    let statements: &[&str] = match status {
        "done" => &[
            "delete from keyed_state.inbound_delivery \
             where status = 'done' and webhook_id is null and received_at < $1",
            "update keyed_state.inbound_delivery set payload = null \
             where status = 'done' and payload is not null and received_at < $1",
        ],
        "failed" => {
            &["delete from keyed_state.inbound_delivery where status = 'failed' and received_at < $1"]
        }
        _ => return Err(Error::at(Code::InvalidValue, "/status", "status must be done or failed")),
    };
    let before = datum::read_i64(before);
    time::check_range("before", before)
        .map_err(|error| error.hint("Use now() to purge everything received so far."))?;
    let before = params![Timestamp(before)];
    let run = |spi: &Connection, sql: &&str| spi.run_once(sql, Snapshot::Latest, &before).len() as i64;
    Ok(as_owner(|| connected(|spi| statements.iter().map(|sql| run(spi, sql)).sum())))
}
