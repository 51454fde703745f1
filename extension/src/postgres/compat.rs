//! What differs between the major versions of PostgreSQL that keyed is built for. No other file knows which one it is.
//!
//! Each function does the same on all of them. A difference that only a newer version has, such as generated columns that
//! are not stored, is a question here that older versions answer with no.

/// The settings that PostgreSQL knows.
mod setting;
/// Writes of single rows.
mod write;

use pgrx::pg_sys::{self, Oid, PlannerInfo, RangeTblEntry, Relation};
pub(super) use setting::{has_value, has_value_at_start};
use std::ffi::c_int;
pub(super) use write::{Entries, init_range_table, insert_index_entries, update_row};

/// A column of a description, by its position, counted from 0.
///
/// # Safety
/// The description has the column, and outlives what is lent.
pub(super) unsafe fn column<'d>(
    description: pg_sys::TupleDesc,
    position: usize,
) -> &'d pg_sys::FormData_pg_attribute {
    // SAFETY: the caller's. Since 18, the columns begin behind a short form of each.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        let columns = (*description).attrs.as_ptr();
        #[cfg(feature = "pg18")]
        let columns = (*description).compact_attrs.as_ptr().add((*description).natts as usize).cast();
        let column: *const pg_sys::FormData_pg_attribute = columns;
        &*column.add(position)
    }
}

/// Whether a table has columns that are computed from others. Since 18, not all of them are stored.
///
/// # Safety
/// The description is complete.
pub(super) unsafe fn has_generated_columns(description: pg_sys::TupleDesc) -> bool {
    // SAFETY: a description without constraints has null in their place.
    unsafe {
        let constraints = (*description).constr;
        !constraints.is_null() && ((*constraints).has_generated_stored || has_virtual(constraints))
    }
}

/// Whether a table has columns that are computed whenever they are read, so that its rows do not contain them.
///
/// # Safety
/// The description is complete.
pub(super) unsafe fn has_virtual_columns(description: pg_sys::TupleDesc) -> bool {
    // SAFETY: see above.
    unsafe { !(*description).constr.is_null() && has_virtual((*description).constr) }
}

/// # Safety
/// The constraints are those of a description.
unsafe fn has_virtual(constraints: *const pg_sys::TupleConstr) -> bool {
    #[cfg(not(feature = "pg18"))]
    let has_virtual = {
        let _ = constraints;
        false
    };
    #[cfg(feature = "pg18")]
    // SAFETY: the caller's.
    let has_virtual = unsafe { (*constraints).has_generated_virtual };
    has_virtual
}

/// The primary key of a table, unless it is checked only at the end of the transaction.
///
/// # Safety
/// The table is open.
pub(super) unsafe fn primary_key(table: Relation) -> Oid {
    // SAFETY: the caller's. Before 18, PostgreSQL leaves out deferrable ones by itself.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        let index = pg_sys::RelationGetPrimaryKeyIndex(table);
        #[cfg(feature = "pg18")]
        let index = pg_sys::RelationGetPrimaryKeyIndex(table, false);
        index
    }
}

/// The sequence behind an identity column of a table.
///
/// # Safety
/// The table is open.
pub(super) unsafe fn identity_sequence(table: Relation, column: pg_sys::AttrNumber) -> Oid {
    // SAFETY: the caller's. Before 17, the function takes the table's OID.
    unsafe {
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        let sequence = pg_sys::getIdentitySequence((*table).rd_id, column, true);
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        let sequence = pg_sys::getIdentitySequence(table, column, true);
        sequence
    }
}

/// Begins to find rows of a table by an index, with so many keys, under the active snapshot.
///
/// # Safety
/// Both are open, and the index is one of the table.
pub(super) unsafe fn begin_index_scan(
    table: Relation,
    index: Relation,
    keys: c_int,
) -> pg_sys::IndexScanDesc {
    // SAFETY: the caller's. Since 18, EXPLAIN may have the work counted, which is not asked for here.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        #[cfg(not(feature = "pg18"))]
        let scan = pg_sys::index_beginscan(table, index, snapshot, keys, 0);
        #[cfg(feature = "pg18")]
        let scan = pg_sys::index_beginscan(table, index, snapshot, std::ptr::null_mut(), keys, 0);
        scan
    }
}

/// Begins to find places of rows by an index, with so many keys, under the active snapshot.
///
/// # Safety
/// The index is open.
pub(super) unsafe fn begin_bitmap_scan(index: Relation, keys: c_int) -> pg_sys::IndexScanDesc {
    // SAFETY: see above.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        #[cfg(not(feature = "pg18"))]
        let scan = pg_sys::index_beginscan_bitmap(index, snapshot, keys);
        #[cfg(feature = "pg18")]
        let scan = pg_sys::index_beginscan_bitmap(index, snapshot, std::ptr::null_mut(), keys);
        scan
    }
}

/// An empty bitmap of places of rows, which takes about as much memory as an operation may.
pub(super) fn new_bitmap() -> *mut pg_sys::TIDBitmap {
    // SAFETY: reads a setting of the session, and allocates.
    unsafe {
        let bytes = (pg_sys::work_mem as usize) << 10;
        // Before 18, the size is a signed number.
        pg_sys::tbm_create(bytes as _, std::ptr::null_mut())
    }
}

/// Hands over the pages of a bitmap in their order, each with the places of its rows, or with none where the bitmap had no
/// room for them; until `read` says that it has enough.
///
/// # Safety
/// The bitmap is complete: it may not be changed any more.
pub(super) unsafe fn each_page(
    bitmap: *mut pg_sys::TIDBitmap,
    mut read: impl FnMut(u32, Option<&[pg_sys::OffsetNumber]>) -> bool,
) {
    // SAFETY: the iterator ends before the bitmap. Before 18, the iterator lends its own list of places; since then, it
    // fills in one that has room for those of a page.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        {
            let iterator = pg_sys::tbm_begin_iterate(bitmap);
            loop {
                let part = pg_sys::tbm_iterate(iterator);
                if part.is_null() {
                    break;
                }
                let places =
                    usize::try_from((*part).ntuples).ok().map(|count| (*part).offsets.as_slice(count));
                if !read((*part).blockno, places) {
                    break;
                }
            }
            pg_sys::tbm_end_iterate(iterator);
        }
        #[cfg(feature = "pg18")]
        {
            // A row takes no less with its header and its pointer.
            const MIN_BYTES: usize = 28;
            let mut places: [pg_sys::OffsetNumber; pg_sys::BLCKSZ as usize / MIN_BYTES] =
                [0; pg_sys::BLCKSZ as usize / MIN_BYTES];
            let iterator = pg_sys::tbm_begin_private_iterate(bitmap);
            let mut part: pg_sys::TBMIterateResult = std::mem::zeroed();
            while pg_sys::tbm_private_iterate(iterator, &mut part) {
                let places = if part.lossy {
                    None
                } else {
                    let max = places.len() as u32;
                    let count = pg_sys::tbm_extract_page_tuple(&mut part, places.as_mut_ptr(), max);
                    Some(&places[..count as usize])
                };
                if !read(part.blockno, places) {
                    break;
                }
            }
            pg_sys::tbm_end_private_iterate(iterator);
        }
    }
}

/// Whether a snapshot may become too old, so that each page must be asked for it. 17 has abolished that.
pub(super) fn snapshots_age() -> bool {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: reads a setting of the server.
    let they_do = unsafe { pg_sys::old_snapshot_threshold >= 0 };
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    let they_do = false;
    they_do
}

/// Whether a statement reads a table with the rights of the user who runs it, not with those of a view's owner.
///
/// # Safety
/// The entry is one of a table in the statement that is planned.
pub(super) unsafe fn is_read_by_user(root: *mut PlannerInfo, table: *mut RangeTblEntry) -> bool {
    // SAFETY: the caller's. Since 16, rights have a list of their own, and an entry that has none is part of another.
    unsafe {
        #[cfg(feature = "pg15")]
        let (is_known, user) = {
            let _ = root;
            (true, (*table).checkAsUser)
        };
        #[cfg(not(feature = "pg15"))]
        let (is_known, user) = if (*table).perminfoindex == 0 {
            (false, Oid::INVALID)
        } else {
            let rights = pg_sys::getRTEPermissionInfo((*(*root).parse).rteperminfos, table);
            (true, (*rights).checkAsUser)
        };
        is_known && user == Oid::INVALID
    }
}

/// Whether a table belongs to a role, or to one that this role is a member of.
pub(super) fn is_owner(role: Oid, table: Oid) -> bool {
    // SAFETY: asks the catalog.
    unsafe {
        #[cfg(feature = "pg15")]
        let is_owner = pg_sys::pg_class_ownercheck(table, role);
        #[cfg(not(feature = "pg15"))]
        let is_owner = pg_sys::object_ownercheck(pg_sys::RelationRelationId, table, role);
        is_owner
    }
}

/// Has a signal call a handler. PostgreSQL's function for that has another name since 18.
///
/// # Safety
/// The handler does what a signal handler may.
pub(super) unsafe fn on_signal(signal: c_int, handler: unsafe extern "C-unwind" fn(c_int)) {
    // SAFETY: the caller's.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        pg_sys::pqsignal(signal, Some(handler));
        #[cfg(feature = "pg18")]
        pg_sys::pqsignal_be(signal, Some(handler));
    }
}

/// Gives a macro the arguments of a hook that runs a statement, under these names. Since 18, PostgreSQL does not say whether
/// it is run once.
macro_rules! executor_run {
    ($define:ident, $query:ident, $direction:ident, $count:ident, $is_run_once:ident) => {
        #[cfg(not(feature = "pg18"))]
        $define!($query: *mut QueryDesc, $direction: pg_sys::ScanDirection::Type, $count: u64, $is_run_once: bool);
        #[cfg(feature = "pg18")]
        $define!($query: *mut QueryDesc, $direction: pg_sys::ScanDirection::Type, $count: u64);
    };
}
pub(super) use executor_run;
