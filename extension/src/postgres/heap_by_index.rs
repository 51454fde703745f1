//! Rows of a table that a GIN index finds, without a statement: what the executor does for a bitmap heap scan.

use super::compat;
use super::direct_access::Unfit;
use super::heap::{COLUMNS, Heap, Row};
use super::index::is_usable;
use pgrx::pg_sys::{self, Datum, Oid, Relation};
use std::ffi::CStr;

/// About how many rows a page has of which only the page is known.
const ROWS_OF_PAGE: usize = 30;

/// Texts of which a row must hold all; and lists of these, one of which is enough.
pub type Alternatives = Vec<Vec<String>>;

/// Which rows are lent where there are more than wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those of pages that are spread over the table.
    Spread,
    /// None.
    AllOrNone,
}

/// What rows are looked up by: they must have all of it.
#[derive(Default)]
pub struct Wanted {
    /// The texts.
    pub texts: Vec<Alternatives>,
    /// What else the operator class can be asked for: the number of the question, and its argument.
    pub queries: Vec<(u16, String)>,
}

impl Heap<'_> {
    /// Lends the visible rows that a GIN index of trigrams finds on the second column for all of these, among them rows
    /// that do not hold them; case is ignored. `read` tells whether to go on.
    pub fn rows_with(
        &self,
        index: Oid,
        wanted: &Wanted,
        mut read: impl FnMut(&Row) -> bool,
    ) -> Result<(), Unfit> {
        // SAFETY: as for the table; the bitmap is freed below, or with the memory of the calling function.
        unsafe {
            let bitmap = self.found_by(index, wanted)?;
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

    /// Lends up to about `max` of these rows; `which` where the index finds more. `read` tells whether to go on. Returns
    /// whether all were lent.
    pub fn some_rows_with(
        &self,
        index: Oid,
        wanted: &Wanted,
        max: usize,
        which: Which,
        mut read: impl FnMut(&Row) -> bool,
    ) -> Result<bool, Unfit> {
        // SAFETY: as above; the bitmap is complete, and read twice.
        unsafe {
            let bitmap = self.found_by(index, wanted)?;
            let mut count = 0;
            compat::each_page(bitmap, |_, offsets| {
                count += offsets.map_or(ROWS_OF_PAGE, <[_]>::len);
                true
            });
            let stretch = count.div_ceil(max).max(1);
            let (mut goes_on, mut place) = (stretch == 1 || which == Which::Spread, 0);
            compat::each_page(bitmap, |page, offsets| {
                if goes_on && place % stretch == 0 {
                    pgrx::check_for_interrupts!();
                    self.read(page, offsets, &mut |row| goes_on = goes_on && read(row));
                }
                place += 1;
                goes_on
            });
            pg_sys::tbm_free(bitmap);
            Ok(goes_on && stretch == 1)
        }
    }

    /// Where the index says that rows may hold all that is wanted.
    ///
    /// # Safety
    /// The bitmap is freed, or left to the memory of the calling function.
    unsafe fn found_by(&self, index: Oid, wanted: &Wanted) -> Result<*mut pg_sys::TIDBitmap, Unfit> {
        // SAFETY: an index that is gone yields null; what was opened is closed, also by an error that unwinds.
        unsafe {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let index = pg_sys::try_relation_open(index, lock);
            if index.is_null() {
                return Err(Unfit);
            }
            let bitmap = self.strategy(index).and_then(|strategy| bitmap(index, strategy, wanted));
            pg_sys::relation_close(index, lock);
            bitmap
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
                && (*entry).indrelid == self.oid()
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

    /// Whether the operator class of an index makes its keys by the function of this name.
    pub fn has_keys_of(&self, index: Oid, function: &CStr) -> bool {
        // SAFETY: an index that is gone yields null; one of GIN has the function. The name is a copy.
        unsafe {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let index = pg_sys::try_relation_open(index, lock);
            if index.is_null() {
                return false;
            }
            let mut has = false;
            if self.strategy(index).is_ok() {
                let number = pg_sys::GIN_EXTRACTVALUE_PROC as u16;
                let name = pg_sys::get_func_name(pg_sys::index_getprocid(index, 1, number));
                has = !name.is_null() && CStr::from_ptr(name) == function;
            }
            pg_sys::relation_close(index, lock);
            has
        }
    }
}

/// Where the index says that rows may hold all of these.
///
/// # Safety
/// The index is open, and this is the number of `ilike` in it.
unsafe fn bitmap(
    index: Relation,
    strategy: pg_sys::StrategyNumber,
    wanted: &Wanted,
) -> Result<*mut pg_sys::TIDBitmap, Unfit> {
    // SAFETY: the caller's.
    let search = |keys: &[Key]| unsafe { search(index, keys) };
    let part = |text: &String| Key {
        strategy,
        function: pg_sys::F_TEXTICLIKE,
        value: format!("%{}%", crate::value::pattern::escaped(text)),
    };
    let Wanted { texts, queries } = wanted;
    // What has no alternative is looked up at once, which reads least.
    let single = texts.iter().filter(|it| it.len() == 1).flatten().flatten().map(part);
    let others = queries.iter().map(|(strategy, value)| Key {
        strategy: *strategy,
        function: pg_sys::F_TEXTEQ,
        value: value.clone(),
    });
    let single: Vec<Key> = single.chain(others).collect();
    let mut found = if single.is_empty() { None } else { Some(search(&single)) };
    for alternatives in texts.iter().filter(|it| it.len() > 1) {
        let mut union = None;
        for texts in alternatives {
            let one = search(&texts.iter().map(part).collect::<Vec<_>>());
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

/// What an index is asked for.
pub(super) struct Key {
    pub(super) strategy: pg_sys::StrategyNumber,
    /// The function behind the operator of that number, which a bitmap scan does not call.
    pub(super) function: u32,
    pub(super) value: String,
}

/// Where the index says that rows may have all of these.
///
/// # Safety
/// The index is open, and its operator class knows the strategies.
pub(super) unsafe fn search(index: Relation, wanted: &[Key]) -> *mut pg_sys::TIDBitmap {
    // SAFETY: the keys live until the scan has ended; it ends below, or with the resource owner when an error unwinds.
    unsafe {
        let mut keys = vec![pg_sys::ScanKeyData::default(); wanted.len()];
        for (key, wanted) in keys.iter_mut().zip(wanted) {
            pg_sys::ScanKeyEntryInitialize(
                key,
                0,
                1,
                wanted.strategy,
                Oid::INVALID,
                *(*index).rd_indcollation,
                Oid::from(wanted.function),
                super::datum::text(&wanted.value).unwrap_or(Datum::null()),
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
