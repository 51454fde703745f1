//! Writes vectors, in the transaction of their records and only if they differ.

use super::{queue, table};
use crate::error::Error;
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::{Firing, Row};
use crate::template::{Template, column};
use crate::value::table_name::SideTable;
use crate::value::vector::{DIMENSIONS, Embedding};
use uuid::Uuid;

/// Sets or removes the vector of a record for a caller, whose privilege must have been checked. It overrides the vector
/// of the model.
pub fn apply(template: &Template, record: Uuid, embedding: &Embedding) -> Result<(), Error> {
    if *embedding == Embedding::Absent {
        return Ok(());
    }
    put(template, record, embedding)?;
    queue::settle_by_hand(template, record);
    Ok(())
}

/// Writes or removes the vector of a record. An equal vector is not written again.
pub fn put(template: &Template, record: Uuid, embedding: &Embedding) -> Result<(), Error> {
    let table = SideTable::Vectors.sql(template.id);
    match embedding {
        Embedding::Absent => {}
        Embedding::Null if template.vector_schema.is_none() => {}
        Embedding::Null => {
            let sql = format!("delete from {table} v where v.record_id = $1");
            run(template, &sql, &params![record]);
        }
        Embedding::Value(vector) => {
            let schema = table::require(template)?;
            // FOR NO KEY UPDATE prevents a concurrent deletion and a concurrent write of the vector.
            let sql = format!(
                "insert into {table} as v (record_id, embedding) \
                 select t.id, $2::{schema}.vector({DIMENSIONS}) from {} t \
                 where t.id = $1 and t.deleted_at is null for no key update \
                 on conflict (record_id) do update set embedding = excluded.embedding, live = true \
                 where not v.live or v.embedding operator({schema}.<>) excluded.embedding",
                template.table_sql()
            );
            run(template, &sql, &params![record, vector.components()]);
        }
    }
    Ok(())
}

/// Updates the vector after a write of its record: sets `live` to false on deletion, which removes it from the index, and
/// to true on restore; deletes it when the row is removed.
pub fn sync_row(template: &Template, firing: &Firing) {
    if template.vector_schema.is_none() {
        return;
    }
    let is_live = |row: &Row| row.get(column::DELETED_AT).is_none();
    let Some(old) = &firing.old else { return };
    let Some(record) = old.get(column::ID).map(datum::read_uuid) else { return };
    let table = SideTable::Vectors.sql(template.id);
    match &firing.new {
        None => {
            let sql = format!("delete from {table} v where v.record_id = $1");
            run(template, &sql, &params![record]);
        }
        Some(new) if is_live(old) != is_live(new) => {
            let sql = format!("update {table} v set live = $2 where v.record_id = $1 and v.live <> $2");
            run(template, &sql, &params![record, is_live(new)]);
        }
        Some(_) => {}
    }
}

fn run(template: &Template, sql: &str, arguments: &[Parameter]) {
    as_owner(|| {
        connected(|spi| {
            template.run(spi, sql, Snapshot::Latest, arguments);
        });
    });
}
