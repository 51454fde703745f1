//! The rows of a table, page by page, without a statement: what the executor does for a sequential scan.

use super::found::Found;
use super::heap::{COLUMNS, Heap, Row};
use super::table::Table;
use super::value_order::Bound;
use pgrx::pg_sys::{self, Datum};

impl Heap<'_> {
    /// Lends the visible rows, page by page.
    pub fn rows(&self, mut read: impl FnMut(&Row)) {
        self.table().rows(COLUMNS as i16, None, |row| {
            if let (Some(first), Some(second)) = (row.get(1), row.get(2)) {
                read(&[first, second]);
            }
            None
        });
    }
}

impl Table {
    /// Lends the visible rows, page by page. Only the first `columns` of each can be read. If `read` returns a value of the bound,
    /// rows whose values are behind it, or null, are passed by from then on.
    pub fn rows(&self, columns: i16, bound: Option<&Bound>, mut read: impl FnMut(&Found) -> Option<Datum>) {
        // SAFETY: the table is open, and one that PostgreSQL stores. Scan and slot are closed below, and by the resource owner
        // when an error unwinds. The slot holds the row's page until it is dropped or has the next row. The scan has its own
        // copy of a key, which it does not look at while it has none.
        unsafe {
            let slot = pg_sys::table_slot_create(self.relation(), std::ptr::null_mut());
            // As for a statement: pages of a large table do not displace all others from memory.
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
            // The bound becomes known on the way: until then, no row is compared with it.
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
