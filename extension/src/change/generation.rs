//! Where the ids of transactions come from that positions are made of. They are those of one database in one cluster; after
//! a restore from a dump they begin anywhere. So the first write there begins the next generation, whose positions are
//! after all others.
//!
//! A row of `keyed_state.change_generation` counts only in the database that made it: a dump brings its cluster and database
//! along, but not the transaction that wrote the row (`xmin`), so one that is restored in place is known too.

use super::position::first_of;
use crate::postgres::invalidation;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::transaction;
use crate::postgres::write_ahead_log::{database, system_identifier, transaction_id};
use crate::template::catalog::{self, Change};
use crate::value::table_name::STATE;
use pgrx::pg_sys::Oid;
use std::cell::Cell;

/// The table.
pub(super) const TABLE: &str = "keyed_state.change_generation";

/// Whether a row `g` was made here, by this cluster `$1` and database `$2`.
pub(super) const IS_OF_HERE: &str =
    "g.system_identifier = $1 and g.database = $2 and g.written_by = g.xmin::text::bigint";

thread_local! {
    /// The generation of this database, once it is committed.
    static KNOWN: Cell<Option<i64>> = const { Cell::new(None) };
    /// The transaction of this session that began it: whether it is committed is not yet known.
    static BEGUN_IN: Cell<Option<u64>> = const { Cell::new(None) };
    static WATCHED: Cell<Oid> = const { Cell::new(Oid::INVALID) };
}

/// Forgets the generation when its table has changed.
pub fn on_change(change: &Change) {
    if let Change::Stale(stale) = change
        && stale.has(WATCHED.get())
    {
        KNOWN.set(None);
    }
}

/// The position of what this transaction writes, where the record was not written by a later one before.
pub fn position() -> i64 {
    first_of(KNOWN.get().unwrap_or_else(|| connected(current))) + transaction_id()
}

/// The present generation, which begins with this call if the database was restored.
pub fn current(spi: &Connection) -> i64 {
    if let Some(known) = KNOWN.get() {
        return known;
    }
    if let Some(table) = catalog::table_oid(STATE, "change_generation") {
        WATCHED.set(table);
        invalidation::watch(table);
    }
    let changes = invalidation::count();
    if let Some(found) = find(spi) {
        if BEGUN_IN.get() != Some(transaction::number()) && invalidation::count() == changes {
            KNOWN.set(Some(found));
        }
        return found;
    }
    BEGUN_IN.set(Some(transaction::number()));
    // Another session that does the same is waited for.
    let begin = format!(
        "insert into {TABLE} (generation, system_identifier, database, written_by) \
         select coalesce(max(g.generation), 0) + 1, $1, $2, 0 from {TABLE} g on conflict do nothing"
    );
    spi.run_once(&begin, Snapshot::Latest, &params![system_identifier(), database()]);
    sign(spi);
    find(spi).unwrap_or_default()
}

/// Notes the transaction that has written a row.
pub(super) fn sign(spi: &Connection) {
    let sql = format!("update {TABLE} set written_by = xmin::text::bigint where written_by = 0");
    spi.run_once(&sql, Snapshot::Latest, &[]);
}

fn find(spi: &Connection) -> Option<i64> {
    let sql = format!(
        "select g.generation::integer from {TABLE} g where {IS_OF_HERE} \
         and g.generation = (select max(newest.generation) from {TABLE} newest)"
    );
    let rows = spi.run_newest_and_own(&sql, &params![system_identifier(), database()]);
    rows.value::<i32>().map(i64::from)
}
