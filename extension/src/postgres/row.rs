//! Whether a row exists now.

use super::compat;
use pgrx::pg_sys::{self, Datum, Oid, Snapshot};

/// Whether a table with an integer primary key has this row now: regardless of the transaction's snapshot, also in a
/// parallel plan or on a standby, and without a lasting lock.
pub fn exists(table: Oid, number: i32) -> bool {
    // To look at what is committed now needs no snapshot, so a SERIALIZABLE transaction keeps no note of having read the
    // row: it does not depend on what others write to the table. Such a look can miss a row that is updated at the same
    // moment, which a snapshot finds. A scan without one takes that of the catalog, which is new for every table that is
    // none of the catalog's.
    let now: Snapshot = &raw mut pg_sys::SnapshotSelfData;
    has_row(table, number, now) || has_row(table, number, std::ptr::null_mut())
}

fn has_row(table: Oid, number: i32, snapshot: Snapshot) -> bool {
    let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
    // SAFETY: the table is open until the end of the scan; the key compares its first column, an integer. The snapshot is
    // one of PostgreSQL's own, or none.
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
