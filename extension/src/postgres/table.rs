//! Reads a table without a statement: an open, locked table, its sequential scan, and the rows that a scan returns.

use super::compat;
use super::datum::{self, Argument};
use super::direct_access::{self, Unsupported};
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid, Relation};

/// An open heap table that direct access supports.
pub struct Table(Relation);

impl Table {
    /// Opens a table for `body`. The lock of a SELECT is held until the transaction ends.
    pub fn with<R>(
        table: Oid,
        body: impl FnOnce(&Table) -> Result<R, Unsupported>,
    ) -> Result<R, Unsupported> {
        direct_access::require()?;
        // SAFETY: a dropped table yields null. The relation is closed below, or by the resource owner if an error unwinds.
        unsafe {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let relation = pg_sys::try_table_open(table, lock);
            if relation.is_null() {
                return Err(Unsupported);
            }
            // Only the executor checks pages for snapshots that are too old, computes virtual columns, and applies FORCE ROW
            // LEVEL SECURITY.
            let fits = (*(*relation).rd_rel).relam == pg_sys::HEAP_TABLE_AM_OID
                && !(*(*relation).rd_rel).relforcerowsecurity
                && !compat::has_virtual_columns((*relation).rd_att)
                && !compat::snapshots_can_become_too_old();
            let result = if fits { body(&Table(relation)) } else { Err(Unsupported) };
            pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
            result
        }
    }

    pub(super) fn relation(&self) -> Relation {
        self.0
    }

    /// Its OID.
    pub fn oid(&self) -> Oid {
        // SAFETY: the table is open.
        unsafe { (*self.0).rd_id }
    }

    /// The number of its columns, including dropped ones.
    pub(super) fn columns(&self) -> usize {
        // SAFETY: the table is open.
        unsafe { (*(*self.0).rd_att).natts as usize }
    }

    /// Whether a column has the database's default collation, which is deterministic: strings are equal only if their bytes
    /// are.
    pub fn has_database_collation(&self, column: AttrNumber) -> bool {
        let is_column = (1..=self.columns()).contains(&(column as usize));
        // SAFETY: the table is open and has the column.
        is_column
            && unsafe {
                compat::column((*self.relation()).rd_att, column as usize - 1).attcollation
                    == pg_sys::DEFAULT_COLLATION_OID
            }
    }

    /// The number of its pages.
    pub fn pages(&self) -> u32 {
        // SAFETY: the table is open.
        unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.relation(), pg_sys::ForkNumber::MAIN_FORKNUM) }
    }

    /// Reads the visible rows by a sequential scan. Only the first `columns` columns are available. If `read` returns a
    /// value for the bound, the scan then skips rows whose values are null or beyond that value.
    pub fn rows(&self, columns: i16, bound: Option<&Bound>, mut read: impl FnMut(&Found) -> Option<Datum>) {
        // SAFETY: the table is an open heap table. Scan and slot are closed below, or by the resource owner if an error
        // unwinds. The slot pins the row's page until it is dropped or filled again. The scan copies the key, and ignores it
        // while `rs_nkeys` is 0.
        unsafe {
            let slot = pg_sys::table_slot_create(self.relation(), std::ptr::null_mut());
            // A buffer access strategy, as in a statement: a large table does not evict all other pages.
            let flags = pg_sys::ScanOptions::SO_TYPE_SEQSCAN
                | pg_sys::ScanOptions::SO_ALLOW_STRAT
                | pg_sys::ScanOptions::SO_ALLOW_PAGEMODE;
            let mut key = bound.map(|bound| bound.key(Datum::null()));
            let keys = key.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
            let (count, none) = (i32::from(bound.is_some()), std::ptr::null_mut());
            let scan = pg_sys::heap_beginscan(
                self.relation(),
                pg_sys::GetActiveSnapshot(),
                count,
                keys,
                none,
                flags,
            );
            // The bound has no value yet.
            (*scan).rs_nkeys = 0;
            while pg_sys::heap_getnextslot(scan, pg_sys::ScanDirection::ForwardScanDirection, slot) {
                pgrx::check_for_interrupts!();
                pg_sys::slot_getsomeattrs_int(slot, i32::from(columns));
                if let (Some(value), Some(_)) = (read(&Found { slot }), bound) {
                    (*(*scan).rs_key).sk_argument = value;
                    (*scan).rs_nkeys = 1;
                }
            }
            pg_sys::heap_endscan(scan);
            pg_sys::ExecDropSingleTupleTableSlot(slot);
        }
    }
}

/// Whether a transaction that is not known to have aborted has updated or deleted a row version.
///
/// # Safety
/// The tuple belongs to a table.
pub(super) unsafe fn is_replaced(tuple: pg_sys::HeapTuple) -> bool {
    // SAFETY: the caller's.
    let bits = u32::from(unsafe { (*(*tuple).t_data).t_infomask });
    // HEAP_XMAX_IS_LOCKED_ONLY.
    let is_lock = bits & pg_sys::HEAP_XMAX_LOCK_ONLY != 0
        || bits & (pg_sys::HEAP_XMAX_IS_MULTI | pg_sys::HEAP_LOCK_MASK) == pg_sys::HEAP_XMAX_EXCL_LOCK;
    bits & pg_sys::HEAP_XMAX_INVALID == 0 && !is_lock
}

/// A row that a scan found. It is valid until the callback returns.
pub struct Found {
    pub(super) slot: *mut pg_sys::TupleTableSlot,
}

impl Found {
    pub(super) fn slot(&self) -> *mut pg_sys::TupleTableSlot {
        self.slot
    }

    /// Deforms the columns up to this one.
    pub fn read_up_to(&self, column: AttrNumber) {
        // SAFETY: the slot holds a row of its table, and the table has the column.
        unsafe {
            if (*self.slot).tts_nvalid < column {
                pg_sys::slot_getsomeattrs_int(self.slot, i32::from(column));
            }
        }
    }

    /// The value of a column, by its number in the table, counted from 1.
    pub fn get(&self, column: AttrNumber) -> Option<Datum> {
        let position = column as usize - 1;
        // SAFETY: the assertion checks that the column was deformed.
        unsafe {
            assert!(position < (*self.slot).tts_nvalid as usize, "the column exists");
            (!*(*self.slot).tts_isnull.add(position)).then(|| *(*self.slot).tts_values.add(position))
        }
    }

    /// Whether a transaction that is not known to have aborted has updated or deleted the row.
    pub fn is_being_changed(&self) -> bool {
        // SAFETY: the slot holds a row of a table, and owns the tuple.
        unsafe {
            let mut is_copy = false;
            is_replaced(pg_sys::ExecFetchSlotHeapTuple(self.slot, false, &mut is_copy))
        }
    }

    /// Whether a column has a value with the same binary image.
    pub fn holds(&self, column: AttrNumber, value: Argument) -> bool {
        match (self.get(column), value) {
            (None, None) => true,
            (Some(stored), Some(value)) => {
                // SAFETY: the descriptor of the slot has the column, as `get` has checked.
                let (by_value, length) = unsafe {
                    let column = compat::column((*self.slot).tts_tupleDescriptor, column as usize - 1);
                    (column.attbyval, column.attlen)
                };
                datum::same_image(stored, value, by_value, length)
            }
            _ => false,
        }
    }
}

/// A comparison of a column with a value, evaluated during a scan.
pub struct Bound {
    pub(super) column: AttrNumber,
    pub(super) collation: Oid,
    /// The function of `<=` or `>=`.
    pub(super) function: Oid,
}

impl Bound {
    /// The scan key for a value.
    fn key(&self, value: Datum) -> pg_sys::ScanKeyData {
        let mut key = pg_sys::ScanKeyData::default();
        // SAFETY: the function compares two values of the column. A heap scan ignores the strategy number, which is 0.
        unsafe {
            pg_sys::ScanKeyEntryInitialize(
                &mut key,
                0,
                self.column,
                0,
                Oid::INVALID,
                self.collation,
                self.function,
                value,
            );
        }
        key
    }
}
