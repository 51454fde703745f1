//! Tuple identifiers (`ctid` in SQL), and bitmaps of them from index scans.

use super::datum;
use super::heap::each_row;
use super::parameter::Parameter;
use super::table::Found;
use super::table::Table;
use pgrx::pg_sys::{self, Datum, ItemPointerData, OffsetNumber};

/// The assumed number of rows of a lossy page.
const ROWS_OF_PAGE: usize = 30;

/// The TID of a row version. It is not reused while a snapshot sees that version.
#[derive(Clone, Copy, Debug)]
pub struct Tid(ItemPointerData);

impl Tid {
    /// An array of TIDs, for `ctid = any (…)`.
    pub fn array(tids: &[Tid]) -> Parameter {
        // The array contains copies.
        let datums = tids.iter().map(|tid| Some(Datum::from(std::ptr::from_ref(&tid.0))));
        Parameter::of_type(pg_sys::TIDARRAYOID, datum::array_from(datums, pg_sys::TIDOID))
    }
}

impl Found {
    /// The TID of the row.
    pub fn tid(&self) -> Tid {
        // SAFETY: the slot holds a row of a table.
        Tid(unsafe { (*self.slot()).tts_tid })
    }
}

/// The TIDs that an index scan found. For each page, it has the offsets of the HOT chain roots, as indexes store them, or
/// only the page number (lossy).
#[derive(Default)]
pub struct TidBitmap {
    pages: Vec<Page>,
    offsets: Vec<OffsetNumber>,
    /// For each page of the table, its position in `pages` plus 1, or 0.
    entries: Vec<u32>,
    count: usize,
}

struct Page {
    number: u32,
    /// Its range in `offsets`; `None` if the page is lossy.
    offsets: Option<(usize, usize)>,
}

impl TidBitmap {
    /// All rows of these pages, which are in ascending order.
    pub fn of_pages(pages: impl Iterator<Item = u32>) -> TidBitmap {
        let mut tids = TidBitmap::default();
        pages.for_each(|page| tids.add(page, None));
        tids
    }

    /// Appends a page.
    pub(super) fn add(&mut self, number: u32, offsets: Option<&[OffsetNumber]>) {
        let start = self.offsets.len();
        self.offsets.extend(offsets.unwrap_or_default());
        self.count += offsets.map_or(ROWS_OF_PAGE, <[_]>::len);
        self.pages.push(Page { number, offsets: offsets.map(|_| (start, self.offsets.len())) });
        self.entries.resize(number as usize + 1, 0);
        self.entries[number as usize] = self.pages.len() as u32;
    }

    /// The number of TIDs, estimated for lossy pages.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether the bitmap may contain this TID.
    pub(super) fn may_contain(&self, page: u32, offset: OffsetNumber) -> bool {
        match self.entries.get(page as usize).copied() {
            None | Some(0) => false,
            Some(entry) => {
                let offsets = self.pages[entry as usize - 1].offsets;
                offsets.is_none_or(|(start, end)| self.offsets[start..end].contains(&offset))
            }
        }
    }
}

impl Table {
    /// Reads the visible rows of a bitmap until `read` returns false. Only the first `columns` columns are available.
    pub fn rows_at(&self, tids: &TidBitmap, columns: i16, mut read: impl FnMut(&Found) -> bool) {
        // SAFETY: the table is open and has the pages that its index refers to. The page of the row in the slot is pinned.
        // The slot is cleared before the memory of the last row is freed.
        unsafe {
            let slot = pg_sys::table_slot_create(self.relation(), std::ptr::null_mut());
            let mut continues = true;
            for page in &tids.pages {
                pgrx::check_for_interrupts!();
                let offsets = page.offsets.map(|(start, end)| &tids.offsets[start..end]);
                each_row(self.relation(), page.number, offsets, |row, buffer| {
                    if continues {
                        pg_sys::ExecStoreBufferHeapTuple(row, slot, buffer);
                        pg_sys::slot_getsomeattrs_int(slot, i32::from(columns));
                        continues = read(&Found { slot });
                        // The slot refers to the row on its page.
                        if let Some(clear) = (*(*slot).tts_ops).clear {
                            clear(slot);
                        }
                    }
                });
                if !continues {
                    break;
                }
            }
            pg_sys::ExecDropSingleTupleTableSlot(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmap_contains_exact_and_lossy_pages() {
        let mut tids = TidBitmap::default();
        tids.add(2, Some(&[1, 7]));
        tids.add(5, None);
        tids.add(9, Some(&[3]));
        assert_eq!(tids.count(), 3 + ROWS_OF_PAGE);
        for (page, offset, expected) in [
            (2, 1, true),
            (2, 7, true),
            (2, 2, false),
            (5, 99, true),
            (9, 3, true),
            (9, 1, false),
            (3, 1, false),
            (0, 1, false),
            (10, 3, false),
        ] {
            assert_eq!(tids.may_contain(page, offset), expected, "{page}, {offset}");
        }
    }
}
