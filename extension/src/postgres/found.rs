//! A row that a scan has found.

use super::compat;
use super::datum::{self, Argument};
use pgrx::pg_sys::{self, AttrNumber, Datum};

/// Whether a transaction has changed or removed a row, and is not known to have failed to.
///
/// # Safety
/// The tuple is one of a table.
pub(super) unsafe fn is_replaced(tuple: pg_sys::HeapTuple) -> bool {
    // SAFETY: the caller's.
    let bits = u32::from(unsafe { (*(*tuple).t_data).t_infomask });
    // HEAP_XMAX_IS_LOCKED_ONLY of PostgreSQL.
    let is_lock = bits & pg_sys::HEAP_XMAX_LOCK_ONLY != 0
        || bits & (pg_sys::HEAP_XMAX_IS_MULTI | pg_sys::HEAP_LOCK_MASK) == pg_sys::HEAP_XMAX_EXCL_LOCK;
    bits & pg_sys::HEAP_XMAX_INVALID == 0 && !is_lock
}

/// A row that was found, valid while it is lent.
pub struct Found {
    pub(super) slot: *mut pg_sys::TupleTableSlot,
}

impl Found {
    /// Where the row is.
    pub(super) fn slot(&self) -> *mut pg_sys::TupleTableSlot {
        self.slot
    }

    /// Makes columns up to this one readable.
    pub fn read_up_to(&self, column: AttrNumber) {
        // SAFETY: the slot holds a row of its table, which has the column.
        unsafe {
            if (*self.slot).tts_nvalid < column {
                pg_sys::slot_getsomeattrs_int(self.slot, i32::from(column));
            }
        }
    }

    /// The value of a column, by its number in the table, counted from 1.
    pub fn get(&self, column: AttrNumber) -> Option<Datum> {
        let position = column as usize - 1;
        // SAFETY: every attribute of the slot was deformed; columns of the table are counted from 1.
        unsafe {
            assert!(position < (*self.slot).tts_nvalid as usize, "the column exists");
            (!*(*self.slot).tts_isnull.add(position)).then(|| *(*self.slot).tts_values.add(position))
        }
    }

    /// Whether another transaction has changed or removed the row and not ended yet, or none is known to have failed to.
    pub fn is_being_changed(&self) -> bool {
        // SAFETY: the slot of a table holds a row of it, which belongs to the slot.
        unsafe {
            let mut is_copy = false;
            is_replaced(pg_sys::ExecFetchSlotHeapTuple(self.slot, false, &mut is_copy))
        }
    }

    /// Whether a column has this value, byte for byte.
    pub fn holds(&self, column: AttrNumber, value: Argument) -> bool {
        match (self.get(column), value) {
            (None, None) => true,
            (Some(stored), Some(value)) => {
                // SAFETY: a slot describes its columns, and `get` has made sure that there is this one.
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
