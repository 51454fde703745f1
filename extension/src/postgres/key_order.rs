//! Rows of a table in the order of an index, without a statement: what the executor does for `order by id`; and, which it cannot,
//! of these only the rows that another index has found.

use super::compat;
use super::datum;
use super::direct_access::Unfit;
use super::found::Found;
use super::heap::{Heap, Row};
use super::index::{self, Index};
use super::ordered_index::IndexedValue;
use super::places::Places;
use super::table::Table;
use pgrx::itemptr::item_pointer_get_both;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};
use uuid::Uuid;

/// Which values come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// The least.
    Ascending,
    /// The greatest.
    Descending,
}

/// The index that rows are read along.
#[derive(Clone, Copy, Debug)]
pub enum Along {
    /// That of the ids, the first column; from the one behind this on.
    Ids(Option<Uuid>),
    /// That of a column, and of the ids where values are alike. Rows without a value are left out.
    Values(AttrNumber),
}

impl Heap<'_> {
    /// Lends the visible rows from the greatest id down, or from the one below `before`, until `read` says that it has
    /// enough.
    pub fn descending(&self, before: Option<Uuid>, mut read: impl FnMut(&Row) -> bool) -> Result<(), Unfit> {
        self.table().in_order(Along::Ids(before), KeyOrder::Descending, 2, |found| {
            match (found.get(1), found.get(2)) {
                (Some(id), Some(value)) => read(&[id, value]),
                _ => true,
            }
        })
    }
}

/// How far to go along an index.
#[derive(Clone, Copy)]
pub struct Limit<'p> {
    /// Only rows at these places are read.
    pub places: &'p Places,
    /// So many entries of the index are read, where a row counts for some of them.
    pub entries: u64,
    /// For how many entries a row counts.
    pub entries_of_row: u64,
}

impl Table {
    /// Lends the visible rows in the order of an index, until `read` says that it has enough. Only the first `columns` of each
    /// can be read.
    pub fn in_order(
        &self,
        along: Along,
        order: KeyOrder,
        columns: i16,
        read: impl FnMut(&Found) -> bool,
    ) -> Result<(), Unfit> {
        self.walk(along, order, columns, None, read).map(|_| ())
    }

    /// The same with those that the limit allows. Whether it was not reached.
    pub fn at_places_in_order(
        &self,
        along: Along,
        order: KeyOrder,
        columns: i16,
        limit: Limit,
        read: impl FnMut(&Found) -> bool,
    ) -> Result<bool, Unfit> {
        self.walk(along, order, columns, Some(limit), read)
    }

    fn walk(
        &self,
        along: Along,
        order: KeyOrder,
        columns: i16,
        limit: Option<Limit>,
        mut read: impl FnMut(&Found) -> bool,
    ) -> Result<bool, Unfit> {
        let direction = match order {
            KeyOrder::Ascending => pg_sys::ScanDirection::ForwardScanDirection,
            KeyOrder::Descending => pg_sys::ScanDirection::BackwardScanDirection,
        };
        let mut left = limit.map_or(u64::MAX, |limit| limit.entries);
        // SAFETY: the table is open. The index is opened with a lock and used only when it is one of the order; scan, slot and
        // index are closed below, and by the resource owner when an error unwinds. The slot holds the row's page until it is
        // dropped or has the next row. A visible row has the columns of the table.
        unsafe {
            let table = self.relation();
            let index = match along {
                Along::Ids(_) => index::open_index(table, Index::PrimaryKey, &[1], index::UUID)?,
                Along::Values(column) => self.open_index_of(IndexedValue::Whole(column))?,
            };
            let mut key = pg_sys::ScanKeyData::default();
            let keys = i32::from(begin(&mut key, along, order));
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            let scan = compat::begin_index_scan(table, index, keys);
            pg_sys::index_rescan(scan, &mut key, keys, std::ptr::null_mut(), 0);
            while left > 0 {
                let place = pg_sys::index_getnext_tid(scan, direction);
                if place.is_null() {
                    break;
                }
                pgrx::check_for_interrupts!();
                if let Some(Limit { places, entries_of_row, .. }) = limit {
                    left -= 1;
                    let (page, offset) = item_pointer_get_both(*place);
                    if !places.may_have(page, offset) {
                        continue;
                    }
                    left = left.saturating_sub(entries_of_row);
                }
                if pg_sys::index_fetch_heap(scan, slot) {
                    pg_sys::slot_getsomeattrs_int(slot, i32::from(columns));
                    if !read(&Found { slot }) {
                        break;
                    }
                }
            }
            pg_sys::index_endscan(scan);
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            pg_sys::relation_close(index, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
            Ok(left > 0)
        }
    }
}

/// Writes where a walk begins; whether that is not the end of the index.
///
/// # Safety
/// The key is one of a scan of that index.
unsafe fn begin(key: &mut pg_sys::ScanKeyData, along: Along, order: KeyOrder) -> bool {
    let (strategy, function) = match order {
        KeyOrder::Ascending => (pg_sys::BTGreaterStrategyNumber, pg_sys::F_UUID_GT),
        KeyOrder::Descending => (pg_sys::BTLessStrategyNumber, pg_sys::F_UUID_LT),
    };
    let (flags, strategy, function, value) = match along {
        Along::Ids(after) => match after.and_then(datum::uuid) {
            Some(after) => (0, strategy, function, after),
            None => return false,
        },
        Along::Values(_) => (pg_sys::SK_ISNULL | pg_sys::SK_SEARCHNOTNULL, 0, 0, Datum::null()),
    };
    // SAFETY: the function compares ids; there is none where any value will do.
    unsafe {
        pg_sys::ScanKeyEntryInitialize(
            key,
            flags as i32,
            1,
            strategy as pg_sys::StrategyNumber,
            Oid::INVALID,
            Oid::INVALID,
            Oid::from(function),
            value,
        );
    }
    true
}
