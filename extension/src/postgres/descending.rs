//! Rows of a table in the order of its primary key, the greatest first, without a statement: what the executor does for
//! `order by id desc`.

use super::compat;
use super::datum;
use super::direct_access::Unfit;
use super::heap::{Heap, Row};
use super::index::{self, Index};
use pgrx::pg_sys::{self, Oid};
use uuid::Uuid;

impl Heap {
    /// Lends the visible rows from the greatest id down, or from the one below `before`, until `read` says that it has
    /// enough.
    pub fn descending(&self, before: Option<Uuid>, mut read: impl FnMut(&Row) -> bool) -> Result<(), Unfit> {
        // SAFETY: the table is open. The index is opened with a lock and used only when it is the primary key on the first
        // column; scan, slot and index are closed below, and by the resource owner when an error unwinds. The slot holds
        // the row's page until it is dropped or has the next row. A visible row has the columns of the table.
        unsafe {
            let table = self.relation();
            let index = index::open_index(table, Index::PrimaryKey, &[1], index::UUID)?;
            let bound = before.and_then(datum::uuid);
            let mut key = pg_sys::ScanKeyData::default();
            if let Some(bound) = bound {
                pg_sys::ScanKeyEntryInitialize(
                    &mut key,
                    0,
                    1,
                    pg_sys::BTLessStrategyNumber as pg_sys::StrategyNumber,
                    Oid::INVALID,
                    Oid::INVALID,
                    Oid::from(pg_sys::F_UUID_LT),
                    bound,
                );
            }
            let keys = i32::from(bound.is_some());
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            let scan = compat::begin_index_scan(table, index, keys);
            pg_sys::index_rescan(scan, &mut key, keys, std::ptr::null_mut(), 0);
            while pg_sys::index_getnext_slot(scan, pg_sys::ScanDirection::BackwardScanDirection, slot) {
                pgrx::check_for_interrupts!();
                pg_sys::slot_getsomeattrs_int(slot, 2);
                let values = (*slot).tts_values;
                if !read(&[*values, *values.add(1)]) {
                    break;
                }
            }
            pg_sys::index_endscan(scan);
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            pg_sys::relation_close(index, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
            Ok(())
        }
    }
}
