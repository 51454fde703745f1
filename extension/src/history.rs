//! What happened to a record: one row for each change, written by a trigger in the same transaction.

use crate::access::{Caller, Right};
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::postgres::datum;
use crate::postgres::function::{Answer, Call};
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, connected};
use crate::postgres::trigger::Firing;
use crate::record::guard::{changed_attributes, operation};
use crate::record::shape::write_value;
use crate::record_id;
use crate::template::definition::Kind;
use crate::template::{catalog, column, ddl};
use pgrx::pg_sys::{self, Datum};
use uuid::Uuid;

/// How many entries a page has when the request does not say, and at the most.
const DEFAULT_LIMIT: i32 = 100;
const MOST_LIMIT: i32 = 1000;

/// `keyed.write_history() returns trigger`, after each row.
///
/// Row by row, and not by statement with transition tables: for one row, which is what upserts write, a pair of
/// transition tables costs more than the whole entry.
pub fn write_history(call: &Call) -> Result<Answer, Error> {
    let firing = Firing::from_call(call.info())?;
    let template = catalog::by_table(firing.table)?;
    let operation = operation(&firing);
    let mut changes = String::from("{");
    let (old, new) = (firing.old.as_ref(), firing.new.as_ref());
    let mut write_change = |slug: &str, kind: Kind, number: i16| {
        if changes.len() > 1 {
            changes.push(',');
        }
        changes.push('"');
        changes.push_str(slug);
        changes.push_str("\":{\"old\":");
        write_value(&mut changes, kind, old.and_then(|row| row.get(number)));
        changes.push_str(",\"new\":");
        write_value(&mut changes, kind, new.and_then(|row| row.get(number)));
        changes.push('}');
    };
    let key_changed = match (old, new) {
        (Some(old), Some(new)) => !new.same(old, column::EXTERNAL_KEY),
        _ => false,
    };
    if key_changed {
        write_change("external_key", Kind::String, column::EXTERNAL_KEY);
    }
    for attribute in changed_attributes(&template, &firing) {
        write_change(&attribute.slug, attribute.kind, attribute.column);
    }
    changes.push('}');
    if operation == "update" && changes.len() == 2 {
        return Ok(Answer::Datum(firing.pass()));
    }
    let Some(row) = new.or(old) else { return Ok(Answer::Datum(firing.pass())) };
    let Some(id) = row.get(column::ID) else { return Ok(Answer::Datum(firing.pass())) };
    let (actor, source) = Caller::actor_and_source();
    let table = ddl::history_sql(template.id);
    // A record made by this session a moment ago has no history yet: its first version needs no search.
    let is_first = operation == "create" && record_id::is_fresh(datum::read_uuid(id));
    let sql = if is_first {
        format!("insert into {table} values ($1, 1, now(), $2, $3, $4, $5, $6)")
    } else {
        format!(
            "insert into {table} select $1, coalesce(max(h.version), 0) + 1, now(), $2, $3, $4, $5, $6 \
             from {table} h where h.record_id = $1"
        )
    };
    as_owner(|| {
        let plan = template.plan(&sql, || {
            use pg_sys::{JSONBOID, TEXTOID, UUIDOID};
            vec![UUIDOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, JSONBOID]
        });
        connected(|spi| {
            let arguments = [
                Some(id),
                datum::text(&actor),
                datum::text(&source),
                datum::text(operation),
                row.get(column::EXTERNAL_KEY),
                datum::jsonb(&changes),
            ];
            spi.run(&plan, Access::Latest, &arguments);
        });
    });
    Ok(Answer::Datum(firing.pass()))
}

/// The history of a record, deleted ones included, newest first: `{history:[…],next_cursor}`.
pub fn read(caller: &Caller, id: Uuid, limit: Option<i32>, cursor: Option<&str>) -> Result<String, Error> {
    let template = crate::record::read::template_of(caller, id, Right::Read)?;
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MOST_LIMIT).contains(&limit) {
        return Err(Error::at(Code::InvalidValue, "/limit", format!("limit is a number from 1 to {MOST_LIMIT}")));
    }
    let before: i32 = match cursor {
        None => i32::MAX,
        Some(cursor) => cursor.strip_prefix('v').and_then(|version| version.parse().ok()).ok_or_else(|| {
            Error::at(Code::InvalidValue, "/cursor", "this is not a cursor of a history")
                .hint("send next_cursor of the page before, unchanged")
        })?,
    };
    let sql = format!(
        "select h.version, h.at, h.actor, h.source, h.operation, h.external_key, h.changes from {} h \
         where h.record_id = $1 and h.version < $2 order by h.version desc limit $3",
        ddl::history_sql(template.id)
    );
    as_owner(|| {
        let plan = template.plan(&sql, || vec![pg_sys::UUIDOID, pg_sys::INT4OID, pg_sys::INT8OID]);
        connected(|spi| {
            // One row more than wanted tells whether there is another page.
            let arguments = [datum::uuid(id), Some(Datum::from(before)), Some(Datum::from(i64::from(limit) + 1))];
            let rows = spi.run(&plan, Access::Snapshot, &arguments);
            if rows.is_empty() && cursor.is_none() {
                return Err(Error::not_found());
            }
            let shown = rows.len().min(limit as usize);
            let mut out = String::from("{\"history\":[");
            let mut version = 0;
            for row in 0..shown {
                version = rows.get(row, 0).map_or(0, datum::read_i32);
                out.push_str(if row > 0 { ",{\"version\":" } else { "{\"version\":" });
                out.push_str(&version.to_string());
                for (name, kind, number) in [
                    ("at", Kind::DateTime, 1),
                    ("actor", Kind::String, 2),
                    ("source", Kind::String, 3),
                    ("operation", Kind::String, 4),
                    ("external_key", Kind::String, 5),
                ] {
                    out.push(',');
                    write_string(&mut out, name);
                    out.push(':');
                    write_value(&mut out, kind, rows.get(row, number));
                }
                out.push_str(",\"changes\":");
                out.push_str(&rows.get(row, 6).map(datum::read_jsonb).unwrap_or_default());
                out.push('}');
            }
            out.push_str("],\"next_cursor\":");
            out.push_str(&if rows.len() > shown { format!("\"v{version}\"") } else { "null".to_owned() });
            out.push('}');
            Ok(out)
        })
    })
}
