//! Index lookups without a statement.
//!
//! Starting and ending the executor costs more than finding the row. A lookup scans the index as the executor does for
//! `select … where column = $1`. It checks the open index each time, because the index may have been rebuilt, replaced
//! or dropped. If the index does not fit, the caller runs a statement.

use super::compat;
use super::direct_access::{self, Unsupported};
pub use super::table::Found;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};

/// An equality comparison with the first column of a B-tree.
#[derive(Clone, Copy)]
pub struct Equality {
    /// The type of the column.
    pub column_type: Oid,
    /// The function of `=`.
    pub function: Oid,
    /// The collation of the column, or none.
    pub collation: Oid,
}

/// `uuid = uuid`.
pub const UUID: Equality = Equality {
    column_type: pg_sys::UUIDOID,
    function: Oid::from_u32(pg_sys::F_UUID_EQ),
    collation: Oid::INVALID,
};
/// `text = text` on a column of collation "C".
pub const KEY: Equality = Equality {
    column_type: pg_sys::TEXTOID,
    function: Oid::from_u32(pg_sys::F_TEXTEQ),
    collation: pg_sys::C_COLLATION_OID,
};

/// The index to scan.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// The primary key.
    PrimaryKey,
    /// This index, which contains every visible row with the value. A partial index does if the caller's condition
    /// implies its predicate.
    Known(Oid),
}

/// The row to find, and the snapshot to use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The only row, in the active snapshot.
    Only,
    /// The only row, in the latest snapshot, including this transaction's writes.
    Newest,
    /// The last row in index order, in the latest snapshot, including this transaction's writes.
    Last,
}

/// Finds the visible row whose first index column equals `value`, and passes it to `read`. `columns` are the columns of
/// the index. The caller must have locked the table.
pub fn find_one<R>(
    table: Oid,
    index: Index,
    columns: &[AttrNumber],
    equality: Equality,
    value: Datum,
    which: Which,
    read: impl FnOnce(&Found) -> R,
) -> Result<Option<R>, Unsupported> {
    // SAFETY: the table is locked by the caller; a dropped one yields null. The index is opened with a lock and checked to
    // be an index of this table, on these columns and of this type. Everything is closed below, or by the resource owner
    // if an error unwinds. The slot pins the row's page until it is dropped.
    unsafe {
        let table = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if table.is_null() {
            return Err(Unsupported);
        }
        let index = open_index(table, index, columns, equality);
        let result = index.map(|index| {
            let result = scan_once(table, index, equality, value, which, read);
            pg_sys::relation_close(index, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
            result
        });
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        result
    }
}

/// Looks up each value in a unique index, and passes each visible row and the position of its value to `read`, until
/// `read` returns false. The caller must have locked the table.
pub fn find_each(
    table: Oid,
    index: Index,
    columns: &[AttrNumber],
    equality: Equality,
    values: impl Iterator<Item = Datum>,
    mut read: impl FnMut(usize, &Found) -> bool,
) -> Result<(), Unsupported> {
    // SAFETY: as in `find_one`; the scan is restarted for each value.
    unsafe {
        let table = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if table.is_null() {
            return Err(Unsupported);
        }
        let index = open_index(table, index, columns, equality);
        let result = index.map(|index| {
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            let scan = compat::begin_index_scan(table, index, 1);
            for (position, value) in values.enumerate() {
                pgrx::check_for_interrupts!();
                let mut key = key(equality, value);
                pg_sys::index_rescan(scan, &mut key, 1, std::ptr::null_mut(), 0);
                if pg_sys::index_getnext_slot(scan, pg_sys::ScanDirection::ForwardScanDirection, slot) {
                    pg_sys::slot_getsomeattrs_int(slot, (*(*table).rd_att).natts);
                    if !read(position, &Found { slot }) {
                        break;
                    }
                }
            }
            pg_sys::index_endscan(scan);
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            pg_sys::relation_close(index, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        });
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        result
    }
}

/// The scan key for a value.
///
/// # Safety
/// The value has the type of the comparison.
unsafe fn key(equality: Equality, value: Datum) -> pg_sys::ScanKeyData {
    let mut key = pg_sys::ScanKeyData::default();
    // SAFETY: the caller's.
    unsafe {
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
    }
    key
}

/// Opens the index if it has the expected table, columns, type and collation.
///
/// # Safety
/// The table is open and locked.
pub(super) unsafe fn open_index(
    table: pg_sys::Relation,
    index: Index,
    columns: &[AttrNumber],
    equality: Equality,
) -> Result<pg_sys::Relation, Unsupported> {
    direct_access::require()?;
    // SAFETY: the table is open. An open relation has its row of pg_class. An open index also has its row of pg_index,
    // with as many column numbers as that states, and the types and collations of its columns.
    unsafe {
        let index = match index {
            Index::Known(index) => index,
            Index::PrimaryKey => compat::primary_key(table),
        };
        // Tuples do not contain virtual columns.
        if index == Oid::INVALID || compat::has_virtual_columns((*table).rd_att) {
            return Err(Unsupported);
        }
        let index = pg_sys::try_relation_open(index, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        if index.is_null() {
            return Err(Unsupported);
        }
        let entry = (*index).rd_index;
        let fits = !entry.is_null()
            && (*(*index).rd_rel).relam == pg_sys::BTREE_AM_OID
            && (*entry).indrelid == (*table).rd_id
            && is_usable(index)
            && (*entry).indnkeyatts as usize == columns.len()
            && (*entry).indkey.values.as_slice(columns.len()) == columns
            && *(*index).rd_opcintype == equality.column_type
            && *(*index).rd_indcollation == equality.collation;
        if fits {
            return Ok(index);
        }
        pg_sys::relation_close(index, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        Err(Unsupported)
    }
}

/// Whether the planner would use an index. An index with indcheckxmin lacks row versions that snapshots older than the
/// index can see.
///
/// # Safety
/// The relation is an open index, and the session has a snapshot.
pub(super) unsafe fn is_usable(index: pg_sys::Relation) -> bool {
    // SAFETY: an open index has its row of pg_index, including the tuple header.
    unsafe {
        let entry = (*index).rd_index;
        if !(*entry).indisvalid {
            return false;
        }
        if !(*entry).indcheckxmin {
            return true;
        }
        let header = (*(*index).rd_indextuple).t_data;
        let frozen = pg_sys::HEAP_XMIN_FROZEN as u16;
        // Frozen: visible to all snapshots.
        (*header).t_infomask & frozen == frozen
            || pg_sys::TransactionIdPrecedes((*header).t_choice.t_heap.t_xmin, pg_sys::TransactionXmin)
    }
}

/// # Safety
/// Both are open and locked, and the index is a B-tree of the table whose first column has the type of `value`.
unsafe fn scan_once<R>(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    equality: Equality,
    value: Datum,
    which: Which,
    read: impl FnOnce(&Found) -> R,
) -> Option<R> {
    // SAFETY: the caller's. Scan, slot and snapshot end below, or with the transaction if an error unwinds.
    unsafe {
        let mut key = key(equality, value);
        let direction = match which {
            Which::Only | Which::Newest => pg_sys::ScanDirection::ForwardScanDirection,
            Which::Last => pg_sys::ScanDirection::BackwardScanDirection,
        };
        if which != Which::Only {
            // Makes the writes of the running statement visible.
            pg_sys::CommandCounterIncrement();
            pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
        }
        let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
        let scan = compat::begin_index_scan(table, index, 1);
        pg_sys::index_rescan(scan, &mut key, 1, std::ptr::null_mut(), 0);
        let found = pg_sys::index_getnext_slot(scan, direction, slot);
        let result = found.then(|| {
            pg_sys::slot_getsomeattrs_int(slot, (*(*table).rd_att).natts);
            read(&Found { slot })
        });
        pg_sys::index_endscan(scan);
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        if which != Which::Only {
            pg_sys::PopActiveSnapshot();
        }
        result
    }
}
