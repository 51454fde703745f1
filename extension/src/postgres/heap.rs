//! Reads tables of two columns page by page without a statement. For hundreds of strings, SQL would cost more than reading
//! them.
//!
//! It reads pages as the executor does for a bitmap heap scan and for TABLESAMPLE. It checks table and index each time. If
//! they do not fit, the caller runs a statement.

use super::direct_access::Unsupported;
use super::table::Table;
use pgrx::itemptr::item_pointer_set_all;
use pgrx::pg_sys::{self, Datum, HeapTupleData, Oid, Relation};

/// The number of columns of such a table.
pub(super) const COLUMNS: usize = 2;

/// The values of a row, which are not null. It is valid until the callback returns.
pub type Row = [Datum; COLUMNS];

/// An open table of two columns that are not null.
pub struct Heap<'t>(&'t Table);

impl Heap<'_> {
    /// Opens a table for `body`. The lock of a SELECT is held until the transaction ends.
    pub fn with<R>(table: Oid, body: impl FnOnce(&Heap) -> Result<R, Unsupported>) -> Result<R, Unsupported> {
        Table::with(
            table,
            |table| if table.columns() == COLUMNS { body(&Heap(table)) } else { Err(Unsupported) },
        )
    }

    pub(super) fn table(&self) -> &Table {
        self.0
    }

    pub(super) fn relation(&self) -> Relation {
        self.0.relation()
    }

    /// Its OID.
    pub fn oid(&self) -> Oid {
        self.0.oid()
    }

    /// The estimated number of its rows.
    pub fn about_rows(&self) -> f64 {
        /// The density of a table that was never analyzed.
        const ROWS_OF_PAGE: f64 = 10.0;
        // SAFETY: an open table has its row of pg_class.
        let (rows, pages) = unsafe {
            let entry = (*self.relation()).rd_rel;
            (f64::from((*entry).reltuples), f64::from((*entry).relpages))
        };
        let density = if rows > 0.0 && pages > 0.0 { rows / pages } else { ROWS_OF_PAGE };
        f64::from(self.pages()) * density
    }

    /// The number of its pages.
    pub fn pages(&self) -> u32 {
        self.0.pages()
    }

    /// The number of pages of its TOAST table.
    pub fn toast_pages(&self) -> u32 {
        // SAFETY: the table is open, so its TOAST table exists. It is closed below, and its lock released.
        unsafe {
            let toast = (*(*self.relation()).rd_rel).reltoastrelid;
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let relation = if toast == Oid::INVALID {
                std::ptr::null_mut()
            } else {
                pg_sys::try_relation_open(toast, lock)
            };
            if relation.is_null() {
                return 0;
            }
            let pages = pg_sys::RelationGetNumberOfBlocksInFork(relation, pg_sys::ForkNumber::MAIN_FORKNUM);
            pg_sys::relation_close(relation, lock);
            pages
        }
    }

    /// Reads the visible rows by a sequential scan.
    pub fn rows(&self, mut read: impl FnMut(&Row)) {
        self.table().rows(COLUMNS as i16, None, |row| {
            if let (Some(first), Some(second)) = (row.get(1), row.get(2)) {
                read(&[first, second]);
            }
            None
        });
    }

    /// Whether single pages may be read. A SERIALIZABLE transaction also needs predicate locks for absent rows.
    pub fn allows_page_reads(&self) -> bool {
        // SAFETY: reads a variable of the session.
        unsafe { pg_sys::XactIsoLevel != pg_sys::XACT_SERIALIZABLE as i32 }
    }

    /// Reads the visible rows of an existing page.
    pub fn rows_of(&self, page: u32, read: &mut impl FnMut(&Row)) {
        // SAFETY: the table is open, and has at least as many pages as the caller has seen.
        unsafe { self.read(page, None, read) }
    }

    /// Reads the visible rows of a page: those at these offsets, or all.
    ///
    /// # Safety
    /// The table is open and has the page.
    pub(super) unsafe fn read(
        &self,
        page: u32,
        offsets: Option<&[pg_sys::OffsetNumber]>,
        read: &mut impl FnMut(&Row),
    ) {
        // SAFETY: a visible row has all columns of the table.
        unsafe {
            let description = (*self.relation()).rd_att;
            each_row(self.relation(), page, offsets, |row, _| {
                let (mut values, mut nulls) = ([Datum::null(); COLUMNS], [false; COLUMNS]);
                pg_sys::heap_deform_tuple(row, description, values.as_mut_ptr(), nulls.as_mut_ptr());
                if nulls == [false; COLUMNS] {
                    read(&values);
                }
            });
        }
    }
}

/// Passes the visible rows of a page, and its buffer, to `read`: those at these offsets, or all.
///
/// # Safety
/// The table is open and has the page.
pub(super) unsafe fn each_row(
    table: Relation,
    page: u32,
    offsets: Option<&[pg_sys::OffsetNumber]>,
    mut read: impl FnMut(&mut HeapTupleData, pg_sys::Buffer),
) {
    // SAFETY: the buffer is pinned while its rows are in use, and locked during the visibility checks, as in the executor.
    // The resource owner releases both if an error unwinds.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        let buffer = pg_sys::ReadBuffer(table, page);
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
        let mut rows: Vec<HeapTupleData> = Vec::new();
        let mut find = |offset| {
            let (mut tid, mut row) = (pg_sys::ItemPointerData::default(), HeapTupleData::default());
            item_pointer_set_all(&mut tid, page, offset);
            let all_dead = std::ptr::null_mut();
            if pg_sys::heap_hot_search_buffer(&mut tid, table, buffer, snapshot, &mut row, all_dead, true) {
                rows.push(row);
            }
        };
        match offsets {
            Some(offsets) => offsets.iter().for_each(|offset| find(*offset)),
            None => (1..=pg_sys::PageGetMaxOffsetNumber(pg_sys::BufferGetPage(buffer))).for_each(find),
        }
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_UNLOCK as i32);
        for row in &mut rows {
            // A row can have long values.
            pgrx::check_for_interrupts!();
            read(row, buffer);
        }
        pg_sys::ReleaseBuffer(buffer);
    }
}

/// The stored size of a value in bytes, after compression.
pub fn stored_size(value: Datum) -> usize {
    // SAFETY: the value is a string of a valid row.
    unsafe { pg_sys::toast_datum_size(value) }
}
