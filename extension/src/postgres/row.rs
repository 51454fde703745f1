//! Tests whether a committed row exists, regardless of the transaction's snapshot.

use super::compat;
use pgrx::pg_sys::{self, Datum, Oid, Snapshot};

/// Whether a table with an integer primary key has this row now. Works in a parallel plan and on a standby, and holds no lock
/// afterwards.
pub fn exists(table: Oid, number: i32) -> bool {
    // SnapshotSelf sees all commits, and leaves no predicate lock in a SERIALIZABLE transaction. It can miss a row that is
    // updated concurrently, so a second scan uses an MVCC snapshot. systable_beginscan without a snapshot takes a new one for
    // a table that is not a catalog.
    let now: Snapshot = &raw mut pg_sys::SnapshotSelfData;
    has_row(table, number, now) || has_row(table, number, std::ptr::null_mut())
}

fn has_row(table: Oid, number: i32, snapshot: Snapshot) -> bool {
    let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
    // SAFETY: the table is open until the end of the scan. The key compares its first column, an integer. The snapshot is
    // PostgreSQL's own, or null.
    unsafe {
        let relation = pg_sys::try_relation_open(table, lock);
        if relation.is_null() {
            return false;
        }
        let mut key = pg_sys::ScanKeyData::default();
        pg_sys::ScanKeyInit(
            &mut key,
            1,
            pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber,
            pg_sys::F_INT4EQ.into(),
            Datum::from(number),
        );
        let index = compat::primary_key(relation);
        let has_index = index != Oid::INVALID;
        let scan = pg_sys::systable_beginscan(relation, index, has_index, snapshot, 1, &mut key);
        let exists = !pg_sys::systable_getnext(scan).is_null();
        pg_sys::systable_endscan(scan);
        pg_sys::relation_close(relation, lock);
        exists
    }
}
