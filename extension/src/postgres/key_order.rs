//! Ordered index scans without a statement, as the executor runs them for `order by id`.
//!
//! A scan can also be limited to the rows of a TID bitmap from another index, which the executor cannot do.

use super::compat;
use super::datum;
use super::direct_access::Unsupported;
use super::heap::{Heap, Row};
use super::index::{self, Index};
use super::ordered_index::IndexedValue;
use super::table::Found;
use super::table::Table;
use super::tid::TidBitmap;
use pgrx::itemptr::item_pointer_get_both;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};
use uuid::Uuid;

/// The direction of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyOrder {
    /// Smallest value first.
    Ascending,
    /// Greatest value first.
    Descending,
}

/// The index to scan.
#[derive(Clone, Copy, Debug)]
pub enum Along {
    /// The index on the id, which is the first column. The scan starts after this id.
    Ids(Option<Uuid>),
    /// The index on a column and the id. Rows with null in the column are skipped.
    Values(AttrNumber),
}

impl Heap<'_> {
    /// Reads the visible rows by descending id, starting below `before`, until `read` returns false.
    pub fn descending(
        &self,
        before: Option<Uuid>,
        mut read: impl FnMut(&Row) -> bool,
    ) -> Result<(), Unsupported> {
        self.table().in_order(Along::Ids(before), KeyOrder::Descending, 2, |found| {
            match (found.get(1), found.get(2)) {
                (Some(id), Some(value)) => read(&[id, value]),
                _ => true,
            }
        })
    }
}

/// The limits of a filtered index scan.
#[derive(Clone, Copy)]
pub struct Limit<'p> {
    /// Only rows in this bitmap are read.
    pub tids: &'p TidBitmap,
    /// The maximum cost of the scan, in index entries.
    pub entries: u64,
    /// The cost of reading a row, in index entries.
    pub entries_of_row: u64,
}

impl Table {
    /// Reads the visible rows in index order until `read` returns false. Only the first `columns` columns are available.
    pub fn in_order(
        &self,
        along: Along,
        order: KeyOrder,
        columns: i16,
        read: impl FnMut(&Found) -> bool,
    ) -> Result<(), Unsupported> {
        self.scan(along, order, columns, None, read).map(|_| ())
    }

    /// Like [`Table::in_order`], for the rows of a TID bitmap. Returns false if the scan reached the limit.
    pub fn at_tids_in_order(
        &self,
        along: Along,
        order: KeyOrder,
        columns: i16,
        limit: Limit,
        read: impl FnMut(&Found) -> bool,
    ) -> Result<bool, Unsupported> {
        self.scan(along, order, columns, Some(limit), read)
    }

    fn scan(
        &self,
        along: Along,
        order: KeyOrder,
        columns: i16,
        limit: Option<Limit>,
        mut read: impl FnMut(&Found) -> bool,
    ) -> Result<bool, Unsupported> {
        let direction = match order {
            KeyOrder::Ascending => pg_sys::ScanDirection::ForwardScanDirection,
            KeyOrder::Descending => pg_sys::ScanDirection::BackwardScanDirection,
        };
        let mut left = limit.map_or(u64::MAX, |limit| limit.entries);
        // SAFETY: the table is open. The index is opened with a lock and checked before use. Scan, slot and index are closed
        // below, or by the resource owner if an error unwinds. The slot pins the row's page until it is dropped or filled
        // again. A visible row has all columns of the table.
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
                let tid = pg_sys::index_getnext_tid(scan, direction);
                if tid.is_null() {
                    break;
                }
                pgrx::check_for_interrupts!();
                if let Some(Limit { tids, entries_of_row, .. }) = limit {
                    left -= 1;
                    let (page, offset) = item_pointer_get_both(*tid);
                    if !tids.may_contain(page, offset) {
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

/// Initializes the key that a scan starts at. Returns false if the scan needs no key.
///
/// # Safety
/// The key belongs to a scan of that index.
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
    // SAFETY: the function compares ids; a key without a comparison has no function.
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
