//! Places of rows in their table, what `ctid` is in SQL: one, and those that an index has found.

use super::datum;
use super::found::Found;
use super::heap::each_row;
use super::parameter::Parameter;
use super::table::Table;
use pgrx::pg_sys::{self, Datum, ItemPointerData, OffsetNumber};

/// About how many rows a page has of which only the page is known.
const ROWS_OF_PAGE: usize = 30;

/// The place of a version of a row. While a snapshot sees that version, no other can be there.
#[derive(Clone, Copy, Debug)]
pub struct Place(ItemPointerData);

impl Place {
    /// An array of places, for `ctid = any (…)`.
    pub fn array(places: &[Place]) -> Parameter {
        // Each is copied into the array.
        let datums = places.iter().map(|place| Some(Datum::from(std::ptr::from_ref(&place.0))));
        Parameter::of_type(pg_sys::TIDARRAYOID, datum::array_from(datums, pg_sys::TIDOID))
    }
}

impl Found {
    /// Where the row is.
    pub fn place(&self) -> Place {
        // SAFETY: the slot of a table holds a row of it.
        Place(unsafe { (*self.slot()).tts_tid })
    }
}

/// Where an index says that rows are: on each page the beginnings of their chains of versions, as every index of the table has
/// them; or only the page.
#[derive(Default)]
pub struct Places {
    pages: Vec<Page>,
    offsets: Vec<OffsetNumber>,
    /// For each page of the table the number of its entry in `pages`, from 1 on.
    entries: Vec<u32>,
    count: usize,
}

struct Page {
    number: u32,
    /// Its part of `offsets`; none where only the page is known.
    offsets: Option<(usize, usize)>,
}

impl Places {
    /// All rows of these pages, which come in ascending order.
    pub fn of_pages(pages: impl Iterator<Item = u32>) -> Places {
        let mut places = Places::default();
        pages.for_each(|page| places.add(page, None));
        places
    }

    /// Adds a page behind the others.
    pub(super) fn add(&mut self, number: u32, offsets: Option<&[OffsetNumber]>) {
        let start = self.offsets.len();
        self.offsets.extend(offsets.unwrap_or_default());
        self.count += offsets.map_or(ROWS_OF_PAGE, <[_]>::len);
        self.pages.push(Page { number, offsets: offsets.map(|_| (start, self.offsets.len())) });
        self.entries.resize(number as usize + 1, 0);
        self.entries[number as usize] = self.pages.len() as u32;
    }

    /// How many there are, about where only pages are known.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether a row that an index finds there may be among them.
    pub(super) fn may_have(&self, page: u32, offset: OffsetNumber) -> bool {
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
    /// Lends the visible rows at these places, until `read` says that it has enough. Only the first `columns` of each can be
    /// read.
    pub fn rows_at(&self, places: &Places, columns: i16, mut read: impl FnMut(&Found) -> bool) {
        // SAFETY: the table is open, and has the pages that an index of it names. The slot holds one row after the other,
        // whose page is pinned, and is empty before the memory of the last one is freed.
        unsafe {
            let slot = pg_sys::table_slot_create(self.relation(), std::ptr::null_mut());
            let mut goes_on = true;
            for page in &places.pages {
                pgrx::check_for_interrupts!();
                let offsets = page.offsets.map(|(start, end)| &places.offsets[start..end]);
                each_row(self.relation(), page.number, offsets, |row, buffer| {
                    if goes_on {
                        pg_sys::ExecStoreBufferHeapTuple(row, slot, buffer);
                        pg_sys::slot_getsomeattrs_int(slot, i32::from(columns));
                        goes_on = read(&Found { slot });
                        // The row is lent by its page.
                        if let Some(clear) = (*(*slot).tts_ops).clear {
                            clear(slot);
                        }
                    }
                });
                if !goes_on {
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
    fn places_are_known_by_page_and_offset_or_by_page_alone() {
        let mut places = Places::default();
        places.add(2, Some(&[1, 7]));
        places.add(5, None);
        places.add(9, Some(&[3]));
        assert_eq!(places.count(), 3 + ROWS_OF_PAGE);
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
            assert_eq!(places.may_have(page, offset), expected, "{page}, {offset}");
        }
    }
}
