//! Results of queries on the schema `keyed` as JSON.

use crate::access::principal::Principal;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::spi::connected;

/// The rows of a query as a JSON array of objects.
///
/// The query calls a function that checks the caller. With an API key, the query runs as the owner, because the login of the
/// proxy cannot read the tables. Without one, it runs as the caller.
pub(super) fn lines(query: &str, arguments: &[Parameter]) -> String {
    as_reader(|| own_lines(query, arguments))
}

/// Runs `read` as the owner with an API key, or as the caller without one.
pub(super) fn as_reader<R>(read: impl FnOnce() -> R) -> R {
    match Principal::current() {
        Some(_) => as_owner(read),
        None => read(),
    }
}

/// Like [`lines`], as separate objects.
pub(super) fn records(query: &str, arguments: &[Parameter]) -> Vec<String> {
    as_reader(|| own_records(query, arguments))
}

/// Like [`lines`], always as the caller.
pub(super) fn own_lines(query: &str, arguments: &[Parameter]) -> String {
    format!("[{}]", own_records(query, arguments).join(","))
}

fn own_records(query: &str, arguments: &[Parameter]) -> Vec<String> {
    let sql = format!(
        "select row_to_json(line)::text \
         from (select line, row_number() over () as position from ({query}) line) lines order by position"
    );
    connected(|spi| spi.run_newest_and_own(&sql, arguments).column().collect())
}

/// An SQL expression that formats a `timestamptz` like [`time::write_datetime`](crate::value::time::write_datetime); null for
/// infinity.
pub(super) fn utc(column: &str) -> String {
    let name = column.rsplit('.').next().unwrap_or(column);
    let digits = format!(r#"to_char({column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')"#);
    format!("rtrim(rtrim({digits}, '0'), '.') || 'Z' as {name}")
}

/// The slugs of projects; `None` for all.
pub(super) fn slugs(projects: Option<&[i32]>) -> Option<Vec<String>> {
    let sql = "select p.slug from keyed_state.project p where p.id = any ($1) order by p.slug";
    projects.map(|ids| {
        as_owner(|| connected(|spi| spi.run_newest_and_own(sql, &params![ids]).column().collect()))
    })
}
