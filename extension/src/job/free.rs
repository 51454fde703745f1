//! Locks records that no other transaction is writing.

use crate::postgres::parameter::params;
use crate::postgres::skip_locked::without_waiting;
use crate::postgres::spi::{Connection, Rows, Snapshot};
use std::collections::HashSet;
use uuid::Uuid;

/// Locks the rows of these live records in the side table, skipping locked ones; for a record without a row it locks
/// the record itself, so that it is not deleted before it has one. Waits for nothing, so it cannot deadlock. Returns
/// the records that are locked and those that are not.
pub fn lock_free(
    spi: &Connection,
    records: &str,
    beside: &str,
    wanted: &[Uuid],
) -> (HashSet<Uuid>, Vec<Uuid>) {
    without_waiting(|| lock(spi, records, beside, wanted))
        .unwrap_or_else(|| (HashSet::new(), wanted.to_vec()))
}

fn lock(spi: &Connection, records: &str, beside: &str, wanted: &[Uuid]) -> (HashSet<Uuid>, Vec<Uuid>) {
    let select = |sql: &str, some: &[Uuid]| uuids(&spi.run_once(sql, Snapshot::Latest, &params![some]));
    let sql = format!(
        "select b.record_id from {beside} b where b.record_id = any ($1) for no key update skip locked"
    );
    let mut locked: HashSet<Uuid> = select(&sql, wanted).into_iter().collect();
    let missing = |locked: &HashSet<Uuid>| -> Vec<Uuid> {
        wanted.iter().filter(|id| !locked.contains(id)).copied().collect()
    };
    let left = missing(&locked);
    if left.is_empty() {
        return (locked, left);
    }
    let sql = format!("select b.record_id from {beside} b where b.record_id = any ($1)");
    let kept: HashSet<Uuid> = select(&sql, &left).into_iter().collect();
    let bare: Vec<Uuid> = left.into_iter().filter(|id| !kept.contains(id)).collect();
    if !bare.is_empty() {
        let sql = format!("select t.id from {records} t where t.id = any ($1) for share skip locked");
        locked.extend(select(&sql, &bare));
    }
    let busy = missing(&locked);
    (locked, busy)
}

/// The ids in the first column.
pub fn uuids(rows: &Rows) -> Vec<Uuid> {
    rows.column::<Uuid>().collect()
}
