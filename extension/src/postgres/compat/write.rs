//! Writes of single rows, as the executor does them.

use pgrx::pg_sys::{self, EState, RangeTblEntry, Relation, ResultRelInfo};

/// Makes a table the only entry of the state's range table. An error that names a column looks there for the rights of
/// the user, which have an entry of their own since 16.
///
/// # Safety
/// The entry is one of a table; the current memory is that of the state.
pub(in crate::postgres) unsafe fn init_range_table(state: *mut EState, entry: *mut RangeTblEntry) {
    // SAFETY: the caller's; lists are allocated in the memory of the state.
    unsafe {
        let entries = pg_sys::lappend(std::ptr::null_mut(), entry.cast());
        #[cfg(feature = "pg15")]
        pg_sys::ExecInitRangeTable(state, entries);
        #[cfg(not(feature = "pg15"))]
        {
            let mut rights = std::ptr::null_mut();
            pg_sys::addRTEPermissionInfo(&mut rights, entry);
            #[cfg(not(feature = "pg18"))]
            pg_sys::ExecInitRangeTable(state, entries, rights);
            // The tables that are not pruned.
            #[cfg(feature = "pg18")]
            pg_sys::ExecInitRangeTable(state, entries, rights, pg_sys::bms_make_singleton(1));
        }
    }
}

/// Which indexes need an entry for a row that was written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::postgres) enum Entries {
    /// All: it is new.
    OfInsert,
    /// All: an update has put it elsewhere.
    OfUpdate,
    /// Those that summarize pages. There are some since 16.
    #[cfg_attr(feature = "pg15", allow(dead_code))]
    OfSummaries,
    /// None: an update has put it where the others find it.
    Nothing,
}

/// Makes the index entries of a row that was just written.
///
/// # Safety
/// The slot has the place of the row; the target's indexes are open.
pub(in crate::postgres) unsafe fn insert_index_entries(
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

/// Replaces the row at `place`, and returns which index entries the new row needs; none if another session has changed
/// the old row, which then stays.
///
/// # Safety
/// The table is open and locked for writing, the row has its columns, and the command is the present one.
pub(in crate::postgres) unsafe fn update_row(
    table: Relation,
    place: *mut pg_sys::ItemPointerData,
    row: pg_sys::HeapTuple,
    command: pg_sys::CommandId,
) -> Option<Entries> {
    let mut failure = pg_sys::TM_FailureData::default();
    let mut lock = pg_sys::LockTupleMode::LockTupleNoKeyExclusive;
    let (crosscheck, failure, lock) = (std::ptr::null_mut(), &raw mut failure, &raw mut lock);
    // SAFETY: the caller's. The row says where it is when it was written.
    unsafe {
        #[cfg(feature = "pg15")]
        let (result, entries) = {
            let result = pg_sys::heap_update(table, place, row, command, crosscheck, true, failure, lock);
            let is_found = u32::from((*(*row).t_data).t_infomask2) & pg_sys::HEAP_ONLY_TUPLE != 0;
            (result, if is_found { Entries::Nothing } else { Entries::OfUpdate })
        };
        #[cfg(not(feature = "pg15"))]
        let (result, entries) = {
            let mut needs = pg_sys::TU_UpdateIndexes::TU_None;
            let needed = &raw mut needs;
            let result =
                pg_sys::heap_update(table, place, row, command, crosscheck, true, failure, lock, needed);
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
