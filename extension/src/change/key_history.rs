//! The records that have or had a key, each with the time range, from the current rows and the
//! history.

use crate::access::{Action, Caller, visibility};
use crate::error::Error;
use crate::json_write::write_string;
use crate::postgres::guard::{as_owner, not_migrated};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::Template;
use crate::value::standard_column::ENDS_KEY;
use crate::value::table_name::SideTable;
use crate::value::{key, time};
use uuid::Uuid;

/// The maximum number of records in a response, newest first.
const MAX_RECORDS: i64 = 1000;

/// The key that a record lost with a history row, as indexed by [`crate::define::ddl`].
pub const ENDED_KEY: &str = "(case when changes ? 'external_key' then changes -> 'external_key' ->> 'old' \
     else external_key end) collate \"C\"";
/// A time range in which a record had the key.
struct HeldKey {
    record: Uuid,
    from: Option<i64>,
    until: Option<i64>,
    ended_by: Option<String>,
}

/// `{holders: [{id, from, until, ended_by}]}`: the records that are visible to the caller, newest
/// first.
pub fn of_key(caller: &Caller, template: &Template, key: &str) -> Result<String, Error> {
    caller.require(Action::Read, template)?;
    let key = key::normalize(key)?;
    if template.history_position.is_none() {
        return Err(not_migrated());
    }
    let scope = visibility::row_of_any(caller, template);
    let mut holdings = as_owner(|| connected(|spi| holdings(spi, template, scope.as_deref(), key)));
    holdings.sort_by_key(|it| std::cmp::Reverse((it.until.unwrap_or(i64::MAX), it.from)));
    let mut out = String::from("{\"holders\":[");
    for (position, holding) in holdings.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str(&format!("{{\"id\":\"{}\",\"from\":", holding.record));
        write_time(&mut out, holding.from);
        out.push_str(",\"until\":");
        write_time(&mut out, holding.until);
        out.push_str(",\"ended_by\":");
        match &holding.ended_by {
            Some(operation) => write_string(&mut out, operation),
            None => out.push_str("null"),
        }
        out.push('}');
    }
    out.push_str("]}");
    Ok(out)
}

fn write_time(out: &mut String, at: Option<i64>) {
    match at {
        Some(at) => {
            out.push('"');
            time::write_datetime(out, at);
            out.push('"');
        }
        None => out.push_str("null"),
    }
}

/// Reads the key changes of the records that have or had this key.
fn holdings(spi: &Connection, template: &Template, scope: Option<&str>, key: &str) -> Vec<HeldKey> {
    let (table, history) = (template.table_sql(), SideTable::History.sql(template.id));
    let scope = visibility::and(scope);
    let sql = format!(
        "with holder as (select t.id from {table} t where t.external_key = $1 \
           union select record_id from {history} where {ENDED_KEY} = $1 and {ENDS_KEY}), \
         seen as (select t.id from {table} t where t.id in (select holder.id from holder){scope} limit {MAX_RECORDS}) \
         select h.record_id, h.at, h.operation, h.external_key from seen join {history} h on h.record_id = seen.id \
         where h.operation <> 'update' or h.changes ? 'external_key' order by h.record_id, h.version"
    );
    let rows = template.run(spi, &sql, Snapshot::Active, &params![key]);
    let mut holdings: Vec<HeldKey> = Vec::new();
    let mut is_open = false;
    for (record, at, operation, held) in rows.iter::<(Uuid, i64, String, Option<String>)>() {
        let is_another = holdings.last().is_none_or(|last| last.record != record);
        is_open &= !is_another;
        let is_held = held.as_deref() == Some(key) && operation != "delete" && operation != "purge";
        if is_open && !is_held {
            if let Some(last) = holdings.last_mut() {
                (last.until, last.ended_by) = (Some(at), Some(operation));
            }
            is_open = false;
        } else if !is_open && is_held {
            holdings.push(HeldKey { record, from: Some(at), until: None, ended_by: None });
            is_open = true;
        }
    }
    holdings
}
