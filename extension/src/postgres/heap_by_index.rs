//! Bitmap heap scans over a GIN index without a statement, as the executor runs them.

use super::compat;
use super::direct_access::Unsupported;
use super::heap::{COLUMNS, Heap, Row};
use super::index::is_usable;
use pgrx::pg_sys::{self, Datum, Oid, Relation};
use std::ffi::CStr;

/// The assumed number of rows of a lossy page.
const ROWS_OF_PAGE: usize = 30;

/// Alternatives, of which a row must match one. An alternative is a list of substrings that a row must all contain.
pub type Alternatives = Vec<Vec<String>>;

/// The rows to return if there are more than requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Rows of pages that are spread over the table.
    Spread,
    /// None.
    AllOrNone,
}

/// The conditions of a scan. A row must meet all of them.
#[derive(Default)]
pub struct Requested {
    /// The substrings.
    pub texts: Vec<Alternatives>,
    /// Other queries that the operator class supports, by strategy number and argument.
    pub queries: Vec<(u16, String)>,
}

impl Heap<'_> {
    /// Reads the visible rows that a trigram GIN index on the second column returns for these conditions, ignoring case,
    /// until `read` returns false. The result can contain false positives.
    pub fn rows_with(
        &self,
        index: Oid,
        requested: &Requested,
        mut read: impl FnMut(&Row) -> bool,
    ) -> Result<(), Unsupported> {
        // SAFETY: the table is open. The bitmap is freed below, or with the memory context of the calling function.
        unsafe {
            let bitmap = self.bitmap(index, requested)?;
            let mut continues = true;
            compat::each_page(bitmap, |page, offsets| {
                pgrx::check_for_interrupts!();
                self.read(page, offsets, &mut |row| continues = continues && read(row));
                continues
            });
            pg_sys::tbm_free(bitmap);
            Ok(())
        }
    }

    /// Reads about `max` of these rows at most, until `read` returns false. `which` selects the rows if there are more.
    /// Returns whether all rows were read.
    pub fn some_rows_with(
        &self,
        index: Oid,
        requested: &Requested,
        max: usize,
        which: Which,
        mut read: impl FnMut(&Row) -> bool,
    ) -> Result<bool, Unsupported> {
        // SAFETY: as above; the bitmap is complete, and read twice.
        unsafe {
            let bitmap = self.bitmap(index, requested)?;
            let mut count = 0;
            compat::each_page(bitmap, |_, offsets| {
                count += offsets.map_or(ROWS_OF_PAGE, <[_]>::len);
                true
            });
            let step = count.div_ceil(max).max(1);
            let (mut continues, mut position) = (step == 1 || which == Which::Spread, 0);
            compat::each_page(bitmap, |page, offsets| {
                if continues && position % step == 0 {
                    pgrx::check_for_interrupts!();
                    self.read(page, offsets, &mut |row| continues = continues && read(row));
                }
                position += 1;
                continues
            });
            pg_sys::tbm_free(bitmap);
            Ok(continues && step == 1)
        }
    }

    /// The TIDs that an index returns for these conditions.
    ///
    /// # Safety
    /// The caller frees the bitmap, or leaves it to the memory context of the calling function.
    unsafe fn bitmap(
        &self,
        index: Oid,
        requested: &Requested,
    ) -> Result<*mut pg_sys::TIDBitmap, Unsupported> {
        // SAFETY: a dropped index yields null. The index is closed below, or by the resource owner if an error unwinds.
        unsafe {
            let lock = pg_sys::AccessShareLock as pg_sys::LOCKMODE;
            let index = pg_sys::try_relation_open(index, lock);
            if index.is_null() {
                return Err(Unsupported);
            }
            let bitmap = self.strategy(index).and_then(|strategy| bitmap(index, strategy, requested));
            pg_sys::relation_close(index, lock);
            bitmap
        }
    }

    /// The strategy number of `ilike` in a full (not partial) index on the second column.
    ///
    /// # Safety
    /// The index is open.
    unsafe fn strategy(&self, index: Relation) -> Result<pg_sys::StrategyNumber, Unsupported> {
        // SAFETY: an open relation has its row of pg_class. An open index also has its row of pg_index, with as many column
        // numbers as that states, and the operator families of its columns.
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
                return Err(Unsupported);
            }
            let operator = Oid::from(pg_sys::OID_TEXT_ICLIKE_OP);
            let strategy = pg_sys::get_op_opfamily_strategy(operator, *(*index).rd_opfamily);
            if strategy > 0 { Ok(strategy as pg_sys::StrategyNumber) } else { Err(Unsupported) }
        }
    }

    /// Whether the operator class of an index uses the `extractValue` function of this name.
    pub fn has_keys_of(&self, index: Oid, function: &CStr) -> bool {
        // SAFETY: a dropped index yields null. A GIN index has the function. The name is a copy.
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

/// The TIDs that an index returns for these conditions.
///
/// # Safety
/// The index is open, and this is its strategy number of `ilike`.
unsafe fn bitmap(
    index: Relation,
    strategy: pg_sys::StrategyNumber,
    requested: &Requested,
) -> Result<*mut pg_sys::TIDBitmap, Unsupported> {
    // SAFETY: the caller's.
    let search = |keys: &[Key]| unsafe { search(index, keys) };
    let substring = |text: &String| Key {
        strategy,
        function: pg_sys::F_TEXTICLIKE,
        value: format!("%{}%", crate::value::pattern::escaped(text)),
    };
    let Requested { texts, queries } = requested;
    // One scan for all conditions without alternatives reads the fewest entries.
    let single = texts.iter().filter(|it| it.len() == 1).flatten().flatten().map(substring);
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
            let one = search(&texts.iter().map(substring).collect::<Vec<_>>());
            match union {
                None => union = Some(one),
                // SAFETY: both bitmaps were created above, and no iterator uses them.
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
    found.ok_or(Unsupported)
}

/// A key of an index scan.
pub(super) struct Key {
    pub(super) strategy: pg_sys::StrategyNumber,
    /// The function of the operator, which a bitmap scan does not call.
    pub(super) function: u32,
    pub(super) value: String,
}

/// The TIDs that an index returns for all of these keys.
///
/// # Safety
/// The index is open, and its operator class has the strategies.
pub(super) unsafe fn search(index: Relation, requested: &[Key]) -> *mut pg_sys::TIDBitmap {
    // SAFETY: the keys outlive the scan, which ends below, or with the resource owner if an error unwinds.
    unsafe {
        let mut keys = vec![pg_sys::ScanKeyData::default(); requested.len()];
        for (key, requested) in keys.iter_mut().zip(requested) {
            pg_sys::ScanKeyEntryInitialize(
                key,
                0,
                1,
                requested.strategy,
                Oid::INVALID,
                *(*index).rd_indcollation,
                Oid::from(requested.function),
                super::datum::text(&requested.value).unwrap_or(Datum::null()),
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
