//! One row by an index, without a statement: what a lookup needs and no more.
//!
//! Starting and ending the executor costs more than finding the row does. This is what the executor would do for
//! `select … where column = $1`.

use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};

/// A comparison that a B-tree on one column is searched with.
#[derive(Clone, Copy)]
pub struct Equality {
    /// The function behind `=`.
    pub function: Oid,
    /// The collation of the column, or none.
    pub collation: Oid,
}

/// `uuid = uuid`.
pub const UUID: Equality = Equality { function: Oid::from_u32(pg_sys::F_UUID_EQ), collation: Oid::INVALID };
/// `text = text` on a column of collation "C".
pub const KEY: Equality =
    Equality { function: Oid::from_u32(pg_sys::F_TEXTEQ), collation: pg_sys::C_COLLATION_OID };

/// A row that was found, valid while it is lent.
pub struct Found {
    slot: *mut pg_sys::TupleTableSlot,
}

impl Found {
    /// The value of a column, by its number in the table, counted from 1.
    pub fn get(&self, column: AttrNumber) -> Option<Datum> {
        let position = column as usize - 1;
        // SAFETY: every attribute of the slot was deformed; columns of the table are counted from 1.
        unsafe {
            assert!(position < (*self.slot).tts_nvalid as usize, "the column exists");
            (!*(*self.slot).tts_isnull.add(position)).then(|| *(*self.slot).tts_values.add(position))
        }
    }
}

/// Which row is wanted, and in which state of the database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The only one, as the calling statement sees it.
    Only,
    /// The last one in the order of the index, among all that is committed by now or our own.
    Last,
}

/// Lends the visible row of a table whose first indexed column equals a value. The table must be locked by the caller.
///
/// The index may be partial as long as every visible row that it can find satisfies its predicate: a row version
/// enters a partial index only if it does.
pub fn find_one<R>(
    table: Oid,
    index: Oid,
    equality: Equality,
    value: Datum,
    which: Which,
    read: impl FnOnce(&Found) -> R,
) -> Option<R> {
    // SAFETY: the table is locked and exists, and the index is one of its own; everything opened is closed below, and
    // by the resource owner when an error unwinds. The slot holds the row's page until it is dropped.
    unsafe {
        let table = pg_sys::table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        let index = pg_sys::index_open(index, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let mut key = pg_sys::ScanKeyData::default();
        pg_sys::ScanKeyEntryInitialize(
            &mut key,
            0,
            1,
            pg_sys::BTEqualStrategyNumber as pg_sys::StrategyNumber,
            Oid::INVALID,
            equality.collation,
            equality.function,
            value,
        );
        let direction = match which {
            Which::Only => pg_sys::ScanDirection::ForwardScanDirection,
            Which::Last => {
                pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
                pg_sys::ScanDirection::BackwardScanDirection
            }
        };
        let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
        let scan = pg_sys::index_beginscan(table, index, pg_sys::GetActiveSnapshot(), 1, 0);
        pg_sys::index_rescan(scan, &mut key, 1, std::ptr::null_mut(), 0);
        let found = pg_sys::index_getnext_slot(scan, direction, slot);
        let result = found.then(|| {
            pg_sys::slot_getsomeattrs_int(slot, (*(*table).rd_att).natts);
            read(&Found { slot })
        });
        pg_sys::index_endscan(scan);
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        if which == Which::Last {
            pg_sys::PopActiveSnapshot();
        }
        pg_sys::index_close(index, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        result
    }
}
