//! Reads rows of a table page by page, without a statement: for comparing hundreds of texts, where SQL would cost
//! more than the reading.
//!
//! This does what the executor does for a bitmap heap scan and for TABLESAMPLE. It checks the table and index each
//! time; if they are not as expected, the caller runs a statement.

use super::direct_access::Unfit;
use super::table::Table;
use pgrx::itemptr::item_pointer_set_all;
use pgrx::pg_sys::{self, Datum, HeapTupleData, Oid, Relation};

/// How many columns a table read this way has.
pub(super) const COLUMNS: usize = 2;

/// A row, valid while it is lent: the values of its columns, of which none is null.
pub type Row = [Datum; COLUMNS];

/// A table of two columns that are never null.
pub struct Heap<'t>(&'t Table);

impl Heap<'_> {
    /// Lends a table, locked as for a SELECT until the transaction ends.
    pub fn with<R>(table: Oid, body: impl FnOnce(&Heap) -> Result<R, Unfit>) -> Result<R, Unfit> {
        Table::with(table, |table| if table.columns() == COLUMNS { body(&Heap(table)) } else { Err(Unfit) })
    }

    /// The same as one of any columns.
    pub(super) fn table(&self) -> &Table {
        self.0
    }

    /// The open table.
    pub(super) fn relation(&self) -> Relation {
        self.0.relation()
    }

    /// Its number.
    pub fn oid(&self) -> Oid {
        self.0.oid()
    }

    /// About how many rows it has.
    pub fn about_rows(&self) -> f64 {
        /// Where nothing is known.
        const ROWS_OF_PAGE: f64 = 10.0;
        // SAFETY: an open table has a row of pg_class.
        let (rows, pages) = unsafe {
            let entry = (*self.relation()).rd_rel;
            (f64::from((*entry).reltuples), f64::from((*entry).relpages))
        };
        let density = if rows > 0.0 && pages > 0.0 { rows / pages } else { ROWS_OF_PAGE };
        f64::from(self.pages()) * density
    }

    /// How many pages it has.
    pub fn pages(&self) -> u32 {
        self.0.pages()
    }

    /// How many pages there are of values that are too long for its own.
    pub fn toast_pages(&self) -> u32 {
        // SAFETY: the table is open, which keeps the other one there; that is closed again with its lock.
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

    /// Whether all pages may be read: not in a SERIALIZABLE transaction, which must also track rows that are absent.
    pub fn may_be_read_whole(&self) -> bool {
        // SAFETY: reads a variable of the session.
        unsafe { pg_sys::XactIsoLevel != pg_sys::XACT_SERIALIZABLE as i32 }
    }

    /// Lends the visible rows of a page that there is.
    pub fn rows_of(&self, page: u32, read: &mut impl FnMut(&Row)) {
        // SAFETY: the table is open, and has no fewer pages than the caller has seen.
        unsafe { self.read(page, None, read) }
    }

    /// Lends the visible rows of a page: those that begin at these places, or all.
    ///
    /// # Safety
    /// The table is open and has the page.
    pub(super) unsafe fn read(
        &self,
        page: u32,
        offsets: Option<&[pg_sys::OffsetNumber]>,
        read: &mut impl FnMut(&Row),
    ) {
        // SAFETY: a visible row has the columns of the table, none of them null or missing.
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

/// Lends the visible rows of a page, and the page: those that begin at these places, or all.
///
/// # Safety
/// The table is open and has the page.
pub(super) unsafe fn each_row(
    table: Relation,
    page: u32,
    offsets: Option<&[pg_sys::OffsetNumber]>,
    mut read: impl FnMut(&mut HeapTupleData, pg_sys::Buffer),
) {
    // SAFETY: the page stays pinned while rows on it are lent, and locked while it is asked which of them are visible, as
    // in the executor; the resource owner gives both back when an error unwinds.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        let buffer = pg_sys::ReadBuffer(table, page);
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
        let mut rows: Vec<HeapTupleData> = Vec::new();
        let mut find = |offset| {
            let (mut place, mut row) = (pg_sys::ItemPointerData::default(), HeapTupleData::default());
            item_pointer_set_all(&mut place, page, offset);
            let all_dead = std::ptr::null_mut();
            if pg_sys::heap_hot_search_buffer(&mut place, table, buffer, snapshot, &mut row, all_dead, true) {
                rows.push(row);
            }
        };
        match offsets {
            Some(offsets) => offsets.iter().for_each(|offset| find(*offset)),
            None => (1..=pg_sys::PageGetMaxOffsetNumber(pg_sys::BufferGetPage(buffer))).for_each(find),
        }
        pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_UNLOCK as i32);
        for row in &mut rows {
            // What is read of each may be long.
            pgrx::check_for_interrupts!();
            read(row, buffer);
        }
        pg_sys::ReleaseBuffer(buffer);
    }
}

/// How many bytes a value takes where it is stored, compressed or not.
pub fn stored_size(value: Datum) -> usize {
    // SAFETY: the value is a text of a row that is lent.
    unsafe { pg_sys::toast_datum_size(value) }
}
