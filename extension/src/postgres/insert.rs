//! One row into a table of ours, without a statement: as a subscriber of logical replication applies it.
//!
//! Every constraint, index and trigger of the table has its say; only parsing, planning and the executor's own
//! preparation are spared, which for one narrow row cost more than the rest.

use super::datum::Argument;
use pgrx::pg_sys::{self, Datum, Oid};

/// Takes the lock of an INSERT.
pub fn lock_table(table: Oid) {
    // SAFETY: the lock is released at the end of the transaction; a table that is gone can be locked as well.
    unsafe { pg_sys::LockRelationOid(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE) };
}

/// Inserts one row, given in the order of the columns of a table that is locked, and makes it visible to what follows. Nothing is checked about
/// rights: the caller has done that.
pub fn insert_row(table: Oid, values: &[Argument]) {
    // SAFETY: the caller locked the table, which is kept open until the row is in; the slot has as many
    // columns as the table, which is asserted; the executor's state holds everything and is freed as a whole, or with
    // the transaction when an error unwinds.
    unsafe {
        let table = pg_sys::table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        assert_eq!((*(*table).rd_att).natts as usize, values.len(), "as many values as columns");
        let state = pg_sys::CreateExecutorState();
        let context = pg_sys::MemoryContextSwitchTo((*state).es_query_cxt);
        (*state).es_output_cid = pg_sys::GetCurrentCommandId(true);
        let target = pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast::<pg_sys::ResultRelInfo>();
        (*target).type_ = pg_sys::NodeTag::T_ResultRelInfo;
        pg_sys::InitResultRelInfo(target, table, 1, std::ptr::null_mut(), 0);
        pg_sys::AfterTriggerBeginQuery();
        pg_sys::ExecOpenIndices(target, false);
        let slot =
            pg_sys::ExecInitExtraTupleSlot(state, (*table).rd_att, std::ptr::addr_of!(pg_sys::TTSOpsVirtual));
        for (position, value) in values.iter().enumerate() {
            *(*slot).tts_values.add(position) = value.unwrap_or(Datum::from(0usize));
            *(*slot).tts_isnull.add(position) = value.is_none();
        }
        pg_sys::ExecStoreVirtualTuple(slot);
        pg_sys::ExecSimpleRelationInsert(target, state, slot);
        pg_sys::ExecCloseIndices(target);
        pg_sys::AfterTriggerEndQuery(state);
        pg_sys::ExecResetTupleTable((*state).es_tupleTable, false);
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::FreeExecutorState(state);
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        pg_sys::CommandCounterIncrement();
    }
}
