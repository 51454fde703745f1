//! The log of deliveries: the rows of `keyed_state.webhook_delivery`, for administrators.

use super::endpoint::Endpoint;
use super::payload::{Due, Payloads};
use crate::error::{Code, Error};
use crate::json_write::to_json;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::value::time;
use serde::Serialize;
use uuid::Uuid;

/// The default and the maximum number of deliveries on a page.
const PAGE: (i32, i32) = (50, 500);

/// The maximum number of pending tests of an endpoint.
const MAX_TESTS: i64 = 10;

/// The states of a delivery.
const STATES: [&str; 4] = ["pending", "running", "done", "failed"];

const COLUMNS: &str = "d.number, d.id, d.record_id, d.operation, d.state, d.attempts, \
     case when d.state = 'pending' then d.due_at end, d.last_status, d.last_error, d.response, d.duration_ms, \
     d.created_at, d.finished_at";

#[derive(Serialize)]
struct Rendered {
    id: String,
    record_id: Option<String>,
    operation: String,
    state: String,
    attempts: i32,
    next_attempt_at: Option<String>,
    last_status: Option<i32>,
    last_error: Option<String>,
    response: Option<String>,
    duration_ms: Option<i32>,
    created_at: String,
    finished_at: Option<String>,
}

fn shown(rows: &Rows, row: usize) -> Rendered {
    let moment = |column| rows.get::<Option<i64>>(row, column).map(time::datetime);
    Rendered {
        id: rows.get::<Uuid>(row, 1).to_string(),
        record_id: rows.get::<Option<Uuid>>(row, 2).map(|id| id.to_string()),
        operation: rows.get(row, 3),
        state: rows.get(row, 4),
        attempts: rows.get(row, 5),
        next_attempt_at: moment(6),
        last_status: rows.get(row, 7),
        last_error: rows.get(row, 8),
        response: rows.get(row, 9),
        duration_ms: rows.get(row, 10),
        created_at: moment(11).unwrap_or_default(),
        finished_at: moment(12),
    }
}

/// The parameters of a page of the log.
#[derive(Debug, Default)]
pub struct LogQuery {
    /// The state; `None` for all.
    pub state: Option<String>,
    /// The size of the page.
    pub limit: Option<i32>,
    /// The cursor.
    pub cursor: Option<String>,
}

/// `{deliveries: […], next_cursor}`, newest first.
pub fn page(endpoint: &Endpoint, requested: &LogQuery) -> Result<String, Error> {
    let limit = requested.limit.unwrap_or(PAGE.0);
    if !(1..=PAGE.1).contains(&limit) {
        let message = format!("limit is a whole number from 1 to {}", PAGE.1);
        return Err(Error::at(Code::InvalidValue, "/limit", message));
    }
    if requested.state.as_deref().is_some_and(|state| !STATES.contains(&state)) {
        let message = format!("state must be one of {}", STATES.join(", "));
        return Err(Error::at(Code::InvalidValue, "/state", message));
    }
    let before = requested.cursor.as_deref().map_or(Ok(i64::MAX), str::parse::<i64>).map_err(|_| {
        Error::at(Code::InvalidValue, "/cursor", "the cursor is not one of a delivery log")
            .hint("Send the next_cursor of the previous page.")
    })?;
    let sql = format!(
        "select {COLUMNS} from keyed_state.webhook_delivery d where d.endpoint_id = $1 and d.number < $2 \
         and ($3 is null or d.state = $3) order by d.number desc limit $4"
    );
    #[derive(Serialize)]
    struct Page {
        deliveries: Vec<Rendered>,
        next_cursor: Option<String>,
    }
    as_owner(|| {
        connected(|spi| {
            let arguments = params![endpoint.id, before, requested.state.as_deref(), i64::from(limit) + 1];
            let rows = spi.run_once(&sql, Snapshot::Active, &arguments);
            let count = rows.len().min(limit as usize);
            let deliveries = (0..count).map(|row| shown(&rows, row)).collect();
            let next_cursor = (rows.len() > count).then(|| rows.get::<i64>(count - 1, 0).to_string());
            Ok(to_json(&Page { deliveries, next_cursor }))
        })
    })
}

fn entry(spi: &Connection, id: Uuid) -> Option<String> {
    let sql = format!("select {COLUMNS} from keyed_state.webhook_delivery d where d.id = $1");
    let rows = spi.run_once(&sql, Snapshot::Latest, &params![id]);
    (!rows.is_empty()).then(|| to_json(&shown(&rows, 0)))
}

/// A delivery with the body that would be sent now; null if nothing would be sent.
pub fn read(endpoint: &Endpoint, id: Uuid) -> Result<String, Error> {
    let sql = format!(
        "select {COLUMNS}, d.template_id, coalesce(d.entry, '') from keyed_state.webhook_delivery d \
         where d.endpoint_id = $1 and d.id = $2"
    );
    #[derive(Serialize)]
    struct Whole {
        #[serde(flatten)]
        shown: Rendered,
        body: Option<String>,
    }
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_once(&sql, Snapshot::Active, &params![endpoint.id, id]);
            if rows.is_empty() {
                return Err(Error::new(Code::NotFound, format!("delivery {id} does not exist")));
            }
            let due = Due {
                number: rows.get(0, 0),
                id,
                subject: rows.get::<Option<i32>>(0, 13).zip(rows.get::<Option<Uuid>>(0, 2)),
                operation: rows.get(0, 3),
                entry: rows.get(0, 14),
                created_at: rows.get(0, 11),
            };
            // Without its role, an endpoint sends nothing.
            let payloads = match endpoint.violation() {
                Some(_) => None,
                None => Some(Payloads::of(spi, endpoint, std::slice::from_ref(&due))?),
            };
            let body = payloads.and_then(|payloads| payloads.body(spi, &due));
            Ok(to_json(&Whole { shown: shown(&rows, 0), body }))
        })
    })
}

/// The endpoint of a delivery.
pub fn endpoint_of(id: Uuid) -> Option<i32> {
    let sql = "select d.endpoint_id from keyed_state.webhook_delivery d where d.id = $1";
    as_owner(|| connected(|spi| spi.run_once(sql, Snapshot::Latest, &params![id]).value::<i32>()))
}

/// Makes a delivery to an endpoint due: a finished one again, a pending one immediately. Returns its log
/// entry.
pub fn replay(endpoint: &Endpoint, id: Uuid) -> Result<String, Error> {
    let unknown = || Error::new(Code::NotFound, format!("delivery {id} does not exist"));
    let sql = "update keyed_state.webhook_delivery d set state = 'pending', due_at = now(), finished_at = null, \
               attempts = case when d.state = 'pending' then d.attempts else 0 end \
               where d.endpoint_id = $1 and d.id = $2 and d.state <> 'running' returning d.number";
    as_owner(|| {
        connected(|spi| {
            let is_queued = !spi.run_once(sql, Snapshot::Latest, &params![endpoint.id, id]).is_empty();
            if !is_queued && endpoint_of(id) == Some(endpoint.id) {
                let message = format!("delivery {id} is being sent");
                return Err(Error::new(Code::Conflict, message).hint("Wait for the outcome of this attempt."));
            }
            entry(spi, id).filter(|_| is_queued).ok_or_else(unknown)
        })
    })
}

/// Queues a test delivery to an endpoint. Returns its log entry.
pub fn test(endpoint: &Endpoint) -> Result<String, Error> {
    let sql = "insert into keyed_state.webhook_delivery (endpoint_id, operation) select $1, 'test' \
               where (select count(*) from keyed_state.webhook_delivery d where d.endpoint_id = $1 \
                 and d.operation = 'test' and d.state in ('pending', 'running')) < $2 returning id";
    as_owner(|| {
        connected(|spi| {
            let id = spi.run_once(sql, Snapshot::Latest, &params![endpoint.id, MAX_TESTS]).value::<Uuid>();
            let many = || {
                Error::new(Code::Conflict, format!("{MAX_TESTS} tests of this endpoint wait to be sent"))
                    .hint(
                        "Wait until they are sent. Tests are sent only while a proxy with KEYED_WEBHOOK_API_KEY is running.",
                    )
            };
            id.ok_or_else(many).and_then(|id| entry(spi, id).ok_or_else(Error::not_found))
        })
    })
}
