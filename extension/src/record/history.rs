//! Pages of a record's history.

use crate::access::{Action, Caller};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::json::write_string;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::record::read;
use crate::record::shape::write_value;
use crate::value::table_name::SideTable;
use uuid::Uuid;

/// The default and the maximum number of entries on a page.
const DEFAULT_LIMIT: i32 = 100;
const MAX_LIMIT: i32 = 1000;
/// A page ends when it exceeds this size in bytes, because an entry may contain two strings of several megabytes.
const PAGE_SIZE: usize = 8 << 20;

/// The history of a live or deleted record, newest first: `{history:[…],next_cursor}`.
pub fn page(caller: &Caller, id: Uuid, limit: Option<i32>, cursor: Option<&str>) -> Result<String, Error> {
    let template = read::template_of(caller, id, Action::Read)?;
    read::require_visible(caller, &template, id)?;
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Error::at(
            Code::InvalidValue,
            "/limit",
            format!("limit must be a number from 1 to {MAX_LIMIT}"),
        ));
    }
    let before: i32 = match cursor {
        None => i32::MAX,
        Some(cursor) => {
            cursor.strip_prefix('v').and_then(|version| version.parse().ok()).ok_or_else(|| {
                Error::at(Code::InvalidValue, "/cursor", "the cursor is not valid for a history")
                    .hint("Send the next_cursor of the previous page, unchanged.")
            })?
        }
    };
    let sql = format!(
        "select h.version, h.at, h.actor, h.source, h.operation, h.external_key, h.changes from {} h \
         where h.record_id = $1 and h.version < $2 order by h.version desc limit $3",
        SideTable::History.sql(template.id)
    );
    as_owner(|| {
        connected(|spi| {
            // One extra row shows whether there is another page.
            let arguments = params![id, before, i64::from(limit) + 1];
            let rows = template.run(spi, &sql, Snapshot::Active, &arguments);
            if rows.is_empty() && cursor.is_none() {
                return Err(Error::not_found());
            }
            let count = rows.len().min(limit as usize);
            let mut out = String::from("{\"history\":[");
            let (mut version, mut shown) = (0, 0);
            for row in 0..count {
                pgrx::check_for_interrupts!();
                if out.len() > PAGE_SIZE {
                    break;
                }
                shown += 1;
                version = rows.get::<Option<i32>>(row, 0).unwrap_or_default();
                out.push_str(if row > 0 { ",{\"version\":" } else { "{\"version\":" });
                out.push_str(&version.to_string());
                for (name, kind, number) in [
                    ("at", AttributeType::DateTime, 1),
                    ("actor", AttributeType::String, 2),
                    ("source", AttributeType::String, 3),
                    ("operation", AttributeType::String, 4),
                    ("external_key", AttributeType::String, 5),
                ] {
                    out.push(',');
                    write_string(&mut out, name);
                    out.push(':');
                    write_value(&mut out, kind, rows.datum(row, number));
                }
                out.push_str(",\"changes\":");
                out.push_str(&rows.get::<Option<String>>(row, 6).unwrap_or_default());
                out.push('}');
            }
            out.push_str("],\"next_cursor\":");
            out.push_str(&if rows.len() > shown { format!("\"v{version}\"") } else { "null".to_owned() });
            out.push('}');
            Ok(out)
        })
    })
}
