//! Reads rows of a table page by page, without a statement: for comparing hundreds of texts, where SQL would cost
//! more than the reading.
//!
//! This does what the executor does for a bitmap heap scan and for TABLESAMPLE. It checks the table and index each
//! time; if they are not as expected, the caller runs a statement.

use super::compat;
use super::direct_access::{self, Unfit};
use super::index::is_usable;
use pgrx::itemptr::item_pointer_set_all;
use pgrx::pg_sys::{self, Datum, HeapTupleData, Oid, Relation};

/// How many columns a table read this way has.
const COLUMNS: usize = 2;

/// A row, valid while it is lent: the values of its columns, of which none is null.
pub type Row = [Datum; COLUMNS];

/// Texts of which a row must hold all; and lists of these, one of which is enough.
pub type Alternatives = Vec<Vec<String>>;

/// A table of two columns that are never null.
pub struct Heap(Relation);

impl Heap {
    /// Lends a table, locked as for a SELECT until the transaction ends.
    pub fn with<R>(table: Oid, body: impl FnOnce(&Heap) -> Result<R, Unfit>) -> Result<R, Unfit> {
        direct_access::require()?;
        // SAFETY: a table that is gone yields null; what is opened is closed below, and by the resource owner when an
        // error unwinds.
        unsafe {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let relation = pg_sys::try_table_open(table, lock);
            if relation.is_null() {
                return Err(Unfit);
            }
            // Where snapshots become too old, the executor looks at each page for that.
            let fits = (*(*relation).rd_rel).relam == pg_sys::HEAP_TABLE_AM_OID
                && (*(*relation).rd_att).natts as usize == COLUMNS
                && !compat::snapshots_age();
            let result = if fits { body(&Heap(relation)) } else { Err(Unfit) };
            pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
            result
        }
    }

    /// How many pages it has.
    pub fn pages(&self) -> u32 {
        // SAFETY: the table is open.
        unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.0, pg_sys::ForkNumber::MAIN_FORKNUM) }
    }

    /// How many pages there are of values that are too long for its own.
    pub fn toast_pages(&self) -> u32 {
        // SAFETY: the table is open, which keeps the other one there; that is closed again with its lock.
        unsafe {
            let toast = (*(*self.0).rd_rel).reltoastrelid;
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

    /// Lends the visible rows that a GIN index of trigrams finds on the second column for all of these, among them rows
    /// that do not hold the texts; case is ignored. `read` tells whether to go on.
    pub fn rows_with(
        &self,
        index: Oid,
        texts: &[Alternatives],
        mut read: impl FnMut(&Row) -> bool,
    ) -> Result<(), Unfit> {
        // SAFETY: as for the table; the bitmap is freed below, or with the memory of the calling function.
        unsafe {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let index = pg_sys::try_relation_open(index, lock);
            if index.is_null() {
                return Err(Unfit);
            }
            let bitmap = self.strategy(index).and_then(|strategy| bitmap(index, strategy, texts));
            pg_sys::relation_close(index, lock);
            let bitmap = bitmap?;
            let mut goes_on = true;
            compat::each_page(bitmap, |page, offsets| {
                pgrx::check_for_interrupts!();
                // Of many rows only the pages are known.
                self.read(page, offsets, &mut |row| goes_on = goes_on && read(row));
                goes_on
            });
            pg_sys::tbm_free(bitmap);
            Ok(())
        }
    }

    /// The number of `ilike` among what the index can be searched with, if it is a whole one of the second column.
    ///
    /// # Safety
    /// The index is open.
    unsafe fn strategy(&self, index: Relation) -> Result<pg_sys::StrategyNumber, Unfit> {
        // SAFETY: an open relation has a row of pg_class, an index also one of pg_index, whose column numbers are as many
        // as it says, and operator families of its columns.
        unsafe {
            let entry = (*index).rd_index;
            let fits = !entry.is_null()
                && (*(*index).rd_rel).relam == pg_sys::GIN_AM_OID
                && (*entry).indrelid == (*self.0).rd_id
                && is_usable(index)
                && (*entry).indnatts == 1
                && (*entry).indkey.values.as_slice(1) == [COLUMNS as i16]
                && pg_sys::RelationGetIndexPredicate(index).is_null();
            if !fits {
                return Err(Unfit);
            }
            let operator = Oid::from(pg_sys::OID_TEXT_ICLIKE_OP);
            let strategy = pg_sys::get_op_opfamily_strategy(operator, *(*index).rd_opfamily);
            if strategy > 0 { Ok(strategy as pg_sys::StrategyNumber) } else { Err(Unfit) }
        }
    }

    /// Lends the visible rows of a page: those that begin at these places, or all.
    ///
    /// # Safety
    /// The table is open and has the page.
    unsafe fn read(&self, page: u32, offsets: Option<&[pg_sys::OffsetNumber]>, read: &mut impl FnMut(&Row)) {
        // SAFETY: the page stays pinned while rows on it are lent, and locked while it is asked which of them are
        // visible, as in the executor; the resource owner gives both back when an error unwinds. A visible row has
        // the columns of the table, none of them null or missing.
        unsafe {
            let (relation, snapshot) = (self.0, pg_sys::GetActiveSnapshot());
            let buffer = pg_sys::ReadBuffer(relation, page);
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
            let mut rows: Vec<HeapTupleData> = Vec::new();
            let mut find = |offset| {
                let (mut place, mut row) = (pg_sys::ItemPointerData::default(), HeapTupleData::default());
                item_pointer_set_all(&mut place, page, offset);
                let all_dead = std::ptr::null_mut();
                if pg_sys::heap_hot_search_buffer(
                    &mut place, relation, buffer, snapshot, &mut row, all_dead, true,
                ) {
                    rows.push(row);
                }
            };
            match offsets {
                Some(offsets) => offsets.iter().for_each(|offset| find(*offset)),
                None => (1..=pg_sys::PageGetMaxOffsetNumber(pg_sys::BufferGetPage(buffer))).for_each(find),
            }
            pg_sys::LockBuffer(buffer, pg_sys::BUFFER_LOCK_UNLOCK as i32);
            for row in &mut rows {
                let (mut values, mut nulls) = ([Datum::null(); COLUMNS], [false; COLUMNS]);
                pg_sys::heap_deform_tuple(row, (*relation).rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
                if nulls == [false; COLUMNS] {
                    read(&values);
                }
            }
            pg_sys::ReleaseBuffer(buffer);
        }
    }
}

/// How many bytes a value takes where it is stored, compressed or not.
pub fn stored_size(value: Datum) -> usize {
    // SAFETY: the value is a text of a row that is lent.
    unsafe { pg_sys::toast_datum_size(value) }
}

/// Where the index says that rows may hold all of these.
///
/// # Safety
/// The index is open, and this is the number of `ilike` in it.
unsafe fn bitmap(
    index: Relation,
    strategy: pg_sys::StrategyNumber,
    texts: &[Alternatives],
) -> Result<*mut pg_sys::TIDBitmap, Unfit> {
    // SAFETY: the caller's.
    let search = |texts: &[&String]| unsafe { search(index, strategy, texts) };
    // What has no alternative is looked up at once, which reads least.
    let single: Vec<&String> = texts.iter().filter(|it| it.len() == 1).flatten().flatten().collect();
    let mut found = if single.is_empty() { None } else { Some(search(&single)) };
    for alternatives in texts.iter().filter(|it| it.len() > 1) {
        let mut union = None;
        for texts in alternatives {
            let one = search(&texts.iter().collect::<Vec<_>>());
            match union {
                None => union = Some(one),
                // SAFETY: both bitmaps were made above, and neither is iterated over.
                Some(union) => unsafe { pg_sys::tbm_union(union, one) },
            }
        }
        match (found, union) {
            // SAFETY: see above.
            (Some(found), Some(union)) => unsafe { pg_sys::tbm_intersect(found, union) },
            (None, union) => found = union,
            _ => {}
        }
    }
    found.ok_or(Unfit)
}

/// Where the index says that rows may hold all of these texts.
///
/// # Safety
/// The index is open, and this is the number of `ilike` in it.
unsafe fn search(
    index: Relation,
    strategy: pg_sys::StrategyNumber,
    texts: &[&String],
) -> *mut pg_sys::TIDBitmap {
    // SAFETY: the keys live until the scan has ended; it ends below, or with the resource owner when an error unwinds.
    unsafe {
        let mut keys = vec![pg_sys::ScanKeyData::default(); texts.len()];
        for (key, text) in keys.iter_mut().zip(texts) {
            let pattern = super::datum::text(&format!("%{}%", crate::value::pattern::escaped(text)));
            pg_sys::ScanKeyEntryInitialize(
                key,
                0,
                1,
                strategy,
                Oid::INVALID,
                *(*index).rd_indcollation,
                Oid::from(pg_sys::F_TEXTICLIKE),
                pattern.unwrap_or(Datum::null()),
            );
        }
        let count = keys.len() as i32;
        let scan = compat::begin_bitmap_scan(index, count);
        pg_sys::index_rescan(scan, keys.as_mut_ptr(), count, std::ptr::null_mut(), 0);
        let bitmap = compat::new_bitmap();
        pg_sys::index_getbitmap(scan, bitmap);
        pg_sys::index_endscan(scan);
        bitmap
    }
}
