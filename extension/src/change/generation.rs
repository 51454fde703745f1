//! Generations of positions. A position contains a transaction id, which is valid in one database of one cluster only: a
//! database that is restored from a dump has other ids. So the first write after a restore begins the next generation, whose
//! positions follow all earlier ones.
//!
//! A row of `keyed_state.change_generation` is valid only in the database that wrote it. A dump includes its cluster and
//! database, but not the transaction that wrote it (`xmin`). So a restore in the same database is detected too.

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

/// Whether the row `g` was written in this cluster (`$1`) and database (`$2`).
pub(super) const IS_LOCAL: &str =
    "g.system_identifier = $1 and g.database = $2 and g.written_by = g.xmin::text::bigint";

thread_local! {
    /// The generation of this database, after its row was committed.
    static KNOWN: Cell<Option<i64>> = const { Cell::new(None) };
    /// The transaction of this session that began the generation. It may not have committed yet.
    static BEGUN_IN: Cell<Option<u64>> = const { Cell::new(None) };
    static WATCHED: Cell<Oid> = const { Cell::new(Oid::INVALID) };
}

/// Clears the cached generation when its table changes.
pub fn on_change(change: &Change) {
    if let Change::Stale(stale) = change
        && stale.has(WATCHED.get())
    {
        KNOWN.set(None);
    }
}

/// The position of a row that this transaction writes, unless a later transaction has already written
/// the record.
pub fn position() -> i64 {
    first_of(KNOWN.get().unwrap_or_else(|| connected(current))) + transaction_id()
}

/// The current generation. Begins a new one if the database was restored.
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
    // Waits for a concurrent session that begins the same generation.
    let begin = format!(
        "insert into {TABLE} (generation, system_identifier, database, written_by) \
         select coalesce(max(g.generation), 0) + 1, $1, $2, 0 from {TABLE} g on conflict do nothing"
    );
    spi.run_once(&begin, Snapshot::Latest, &params![system_identifier(), database()]);
    sign(spi);
    find(spi).unwrap_or_default()
}

/// Stores the transaction that wrote a row.
pub(super) fn sign(spi: &Connection) {
    let sql = format!("update {TABLE} set written_by = xmin::text::bigint where written_by = 0");
    spi.run_once(&sql, Snapshot::Latest, &[]);
}

fn find(spi: &Connection) -> Option<i64> {
    let sql = format!(
        "select g.generation::integer from {TABLE} g where {IS_LOCAL} \
         and g.generation = (select max(newest.generation) from {TABLE} newest)"
    );
    let rows = spi.run_newest_and_own(&sql, &params![system_identifier(), database()]);
    rows.value::<i32>().map(i64::from)
}
