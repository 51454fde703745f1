//! Differences between the supported major versions of PostgreSQL. No other file depends on the version.
//!
//! Each function has the same effect on all versions. For a feature of newer versions, such as virtual generated columns,
//! a function returns whether it is in use; on older versions it returns false.

use pgrx::pg_sys::{self, EState, GucSource, Oid, PlannerInfo, RangeTblEntry, Relation, ResultRelInfo};
use std::ffi::{CStr, c_int};

/// A column of a tuple descriptor, by its position, counted from 0.
///
/// # Safety
/// The descriptor has the column, and outlives the result.
pub(super) unsafe fn column<'d>(
    description: pg_sys::TupleDesc,
    position: usize,
) -> &'d pg_sys::FormData_pg_attribute {
    // SAFETY: the caller's. Since 18, the columns follow an array of compact attributes.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        let columns = (*description).attrs.as_ptr();
        #[cfg(feature = "pg18")]
        let columns = (*description).compact_attrs.as_ptr().add((*description).natts as usize).cast();
        let column: *const pg_sys::FormData_pg_attribute = columns;
        &*column.add(position)
    }
}

/// Whether a table has generated columns, stored or (since 18) virtual.
///
/// # Safety
/// The description is complete.
pub(super) unsafe fn has_generated_columns(description: pg_sys::TupleDesc) -> bool {
    // SAFETY: a descriptor without constraints has a null pointer for them.
    unsafe {
        let constraints = (*description).constr;
        !constraints.is_null() && ((*constraints).has_generated_stored || has_virtual(constraints))
    }
}

/// Whether a table has virtual generated columns, which its tuples do not contain.
///
/// # Safety
/// The description is complete.
pub(super) unsafe fn has_virtual_columns(description: pg_sys::TupleDesc) -> bool {
    // SAFETY: see above.
    unsafe { !(*description).constr.is_null() && has_virtual((*description).constr) }
}

/// # Safety
/// The constraints belong to a descriptor.
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

/// The primary key index of a table, unless the constraint is deferrable.
///
/// # Safety
/// The table is open.
pub(super) unsafe fn primary_key(table: Relation) -> Oid {
    // SAFETY: the caller's. Before 18, PostgreSQL always excludes deferrable constraints.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        let index = pg_sys::RelationGetPrimaryKeyIndex(table);
        #[cfg(feature = "pg18")]
        let index = pg_sys::RelationGetPrimaryKeyIndex(table, false);
        index
    }
}

/// The sequence of an identity column.
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

/// Begins an index scan of a table under the active snapshot, with this number of keys.
///
/// # Safety
/// Both are open, and the index belongs to the table.
pub(super) unsafe fn begin_index_scan(
    table: Relation,
    index: Relation,
    keys: c_int,
) -> pg_sys::IndexScanDesc {
    // SAFETY: the caller's. The argument that 18 adds is instrumentation for EXPLAIN.
    unsafe {
        let snapshot = pg_sys::GetActiveSnapshot();
        #[cfg(not(feature = "pg18"))]
        let scan = pg_sys::index_beginscan(table, index, snapshot, keys, 0);
        #[cfg(feature = "pg18")]
        let scan = pg_sys::index_beginscan(table, index, snapshot, std::ptr::null_mut(), keys, 0);
        scan
    }
}

/// Begins a bitmap index scan under the active snapshot, with this number of keys.
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

/// An empty TID bitmap, limited to `work_mem`.
pub(super) fn new_bitmap() -> *mut pg_sys::TIDBitmap {
    // SAFETY: reads a session variable, and allocates.
    unsafe {
        let bytes = (pg_sys::work_mem as usize) << 10;
        // Before 18, the size is a signed number.
        pg_sys::tbm_create(bytes as _, std::ptr::null_mut())
    }
}

/// Passes the pages of a bitmap to `read` in order, until it returns false. Each page comes with the offsets of its rows,
/// or with `None` if the page is lossy.
///
/// # Safety
/// The bitmap is complete and is not changed afterwards.
pub(super) unsafe fn each_page(
    bitmap: *mut pg_sys::TIDBitmap,
    mut read: impl FnMut(u32, Option<&[pg_sys::OffsetNumber]>) -> bool,
) {
    // SAFETY: the iterator ends before the bitmap. Before 18, the iterator owns the array of offsets. Since 18, it fills an
    // array of the caller, which has space for all offsets of a page.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        {
            let iterator = pg_sys::tbm_begin_iterate(bitmap);
            loop {
                let part = pg_sys::tbm_iterate(iterator);
                if part.is_null() {
                    break;
                }
                let offsets =
                    usize::try_from((*part).ntuples).ok().map(|count| (*part).offsets.as_slice(count));
                if !read((*part).blockno, offsets) {
                    break;
                }
            }
            pg_sys::tbm_end_iterate(iterator);
        }
        #[cfg(feature = "pg18")]
        {
            // The minimum size of a tuple with its header and line pointer.
            const MIN_BYTES: usize = 28;
            let mut offsets: [pg_sys::OffsetNumber; pg_sys::BLCKSZ as usize / MIN_BYTES] =
                [0; pg_sys::BLCKSZ as usize / MIN_BYTES];
            let iterator = pg_sys::tbm_begin_private_iterate(bitmap);
            let mut part: pg_sys::TBMIterateResult = std::mem::zeroed();
            while pg_sys::tbm_private_iterate(iterator, &mut part) {
                let page_offsets = if part.lossy {
                    None
                } else {
                    let max = offsets.len() as u32;
                    let count = pg_sys::tbm_extract_page_tuple(&mut part, offsets.as_mut_ptr(), max);
                    Some(&offsets[..count as usize])
                };
                if !read(part.blockno, page_offsets) {
                    break;
                }
            }
            pg_sys::tbm_end_private_iterate(iterator);
        }
    }
}

/// Whether a snapshot can become too old (`old_snapshot_threshold`, removed in 17), which requires a check of each page.
pub(super) fn snapshots_can_become_too_old() -> bool {
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    // SAFETY: reads a server variable.
    let is_enabled = unsafe { pg_sys::old_snapshot_threshold >= 0 };
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    let is_enabled = false;
    is_enabled
}

/// Whether a statement reads a table with the privileges of the current user, not with those of a view's owner.
///
/// # Safety
/// The entry is a table of the statement that is being planned.
pub(super) unsafe fn is_read_by_user(root: *mut PlannerInfo, table: *mut RangeTblEntry) -> bool {
    // SAFETY: the caller's. Since 16, permissions are in a separate list. An entry without them is covered by another entry.
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
            let permissions = pg_sys::getRTEPermissionInfo((*(*root).parse).rteperminfos, table);
            (true, (*permissions).checkAsUser)
        };
        is_known && user == Oid::INVALID
    }
}

/// Whether a role owns a table, directly or through membership.
pub(super) fn is_owner(role: Oid, table: Oid) -> bool {
    // SAFETY: reads the catalog.
    unsafe {
        #[cfg(feature = "pg15")]
        let is_owner = pg_sys::pg_class_ownercheck(table, role);
        #[cfg(not(feature = "pg15"))]
        let is_owner = pg_sys::object_ownercheck(pg_sys::RelationRelationId, table, role);
        is_owner
    }
}

/// Installs a signal handler. The function has a different name since 18.
///
/// # Safety
/// The handler is async-signal-safe.
pub(super) unsafe fn on_signal(signal: c_int, handler: unsafe extern "C-unwind" fn(c_int)) {
    // SAFETY: the caller's.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        pg_sys::pqsignal(signal, Some(handler));
        #[cfg(feature = "pg18")]
        pg_sys::pqsignal_be(signal, Some(handler));
    }
}

/// Makes a table the only entry of the executor state's range table. An error that names a column reads the user's
/// privileges from it. Since 16, they are in a separate list.
///
/// # Safety
/// The entry is a table; the current memory context is that of the state.
pub(super) unsafe fn init_range_table(state: *mut EState, entry: *mut RangeTblEntry) {
    // SAFETY: the caller's; lists are allocated in the state's memory context.
    unsafe {
        let entries = pg_sys::lappend(std::ptr::null_mut(), entry.cast());
        #[cfg(feature = "pg15")]
        pg_sys::ExecInitRangeTable(state, entries);
        #[cfg(not(feature = "pg15"))]
        {
            let mut permissions = std::ptr::null_mut();
            pg_sys::addRTEPermissionInfo(&mut permissions, entry);
            #[cfg(not(feature = "pg18"))]
            pg_sys::ExecInitRangeTable(state, entries, permissions);
            // The relations that are not pruned.
            #[cfg(feature = "pg18")]
            pg_sys::ExecInitRangeTable(state, entries, permissions, pg_sys::bms_make_singleton(1));
        }
    }
}

/// The indexes that need an entry for a written row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// All, after an insert.
    OfInsert,
    /// All, after an update that is not heap-only.
    OfUpdate,
    /// The summarizing indexes (BRIN), since 16.
    #[cfg_attr(feature = "pg15", allow(dead_code))]
    OfSummaries,
    /// None, after a heap-only update.
    Nothing,
}

/// Inserts the index entries of a row that was just written.
///
/// # Safety
/// The slot has the TID of the row; the target's indexes are open.
pub(super) unsafe fn insert_index_entries(
    target: *mut ResultRelInfo,
    slot: *mut pg_sys::TupleTableSlot,
    state: *mut EState,
    entries: Entries,
) {
    let is_update = entries != Entries::OfInsert;
    // SAFETY: the caller's.
    unsafe {
        if entries == Entries::Nothing || (*target).ri_NumIndices == 0 {
            return;
        }
        let (conflict, arbiters) = (std::ptr::null_mut(), std::ptr::null_mut());
        #[cfg(feature = "pg15")]
        pg_sys::ExecInsertIndexTuples(target, slot, state, is_update, false, conflict, arbiters);
        #[cfg(not(feature = "pg15"))]
        {
            let summaries = entries == Entries::OfSummaries;
            pg_sys::ExecInsertIndexTuples(
                target, slot, state, is_update, false, conflict, arbiters, summaries,
            );
        }
    }
}

/// Replaces the row at `tid`. Returns the index entries that the new row needs, or `None` if another session has changed
/// the old row, which then stays.
///
/// # Safety
/// The table is open and locked for writing, the row has its columns, and the command is the current one.
pub(super) unsafe fn update_row(
    table: Relation,
    tid: *mut pg_sys::ItemPointerData,
    row: pg_sys::HeapTuple,
    command: pg_sys::CommandId,
) -> Option<Entries> {
    let mut failure = pg_sys::TM_FailureData::default();
    let mut lock = pg_sys::LockTupleMode::LockTupleNoKeyExclusive;
    let (crosscheck, failure, lock) = (std::ptr::null_mut(), &raw mut failure, &raw mut lock);
    // SAFETY: the caller's. heap_update sets the TID of the new row.
    unsafe {
        #[cfg(feature = "pg15")]
        let (result, entries) = {
            let result = pg_sys::heap_update(table, tid, row, command, crosscheck, true, failure, lock);
            let is_heap_only = u32::from((*(*row).t_data).t_infomask2) & pg_sys::HEAP_ONLY_TUPLE != 0;
            (result, if is_heap_only { Entries::Nothing } else { Entries::OfUpdate })
        };
        #[cfg(not(feature = "pg15"))]
        let (result, entries) = {
            let mut needs = pg_sys::TU_UpdateIndexes::TU_None;
            let needed = &raw mut needs;
            let result =
                pg_sys::heap_update(table, tid, row, command, crosscheck, true, failure, lock, needed);
            let entries = match needs {
                pg_sys::TU_UpdateIndexes::TU_None => Entries::Nothing,
                pg_sys::TU_UpdateIndexes::TU_Summarizing => Entries::OfSummaries,
                _ => Entries::OfUpdate,
            };
            (result, entries)
        };
        (result == pg_sys::TM_Result::TM_Ok).then_some(entries)
    }
}

/// Whether the server, the database, the role or the connection gave this setting a value at session start.
pub(super) fn has_value_at_start(name: &CStr) -> bool {
    any_setting(name, |setting| setting.reset_source > GucSource::PGC_S_DEFAULT)
}

/// Whether this setting now has a value other than its default.
pub(super) fn has_value(name: &CStr) -> bool {
    any_setting(name, |setting| setting.source > GucSource::PGC_S_DEFAULT)
}

/// Whether a setting with this name exists and meets a condition.
fn any_setting(name: &CStr, meets: impl Fn(&pg_sys::config_generic) -> bool) -> bool {
    // SAFETY: the array has as many settings as PostgreSQL states. Their names are NUL-terminated.
    unsafe {
        #[cfg(feature = "pg15")]
        let (settings, count) = (pg_sys::get_guc_variables(), pg_sys::GetNumConfigOptions());
        #[cfg(not(feature = "pg15"))]
        let (settings, count) = {
            let mut count = 0;
            (pg_sys::get_guc_variables(&raw mut count), count)
        };
        let settings = std::slice::from_raw_parts(settings, usize::try_from(count).unwrap_or(0));
        settings.iter().any(|setting| {
            let known = CStr::from_ptr((**setting).name);
            known.to_bytes().eq_ignore_ascii_case(name.to_bytes()) && meets(&**setting)
        })
    }
}

/// Passes the arguments of `ExecutorRun_hook` to a macro, under these names. 18 removes `execute_once`.
macro_rules! executor_run {
    ($define:ident, $query:ident, $direction:ident, $count:ident, $is_run_once:ident) => {
        #[cfg(not(feature = "pg18"))]
        $define!($query: *mut QueryDesc, $direction: pg_sys::ScanDirection::Type, $count: u64, $is_run_once: bool);
        #[cfg(feature = "pg18")]
        $define!($query: *mut QueryDesc, $direction: pg_sys::ScanDirection::Type, $count: u64);
    };
}
pub(super) use executor_run;
