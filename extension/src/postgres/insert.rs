//! One row into a table of ours, without a statement: as a subscriber of logical replication applies it.
//!
//! Only for a table that is as we made it, apart from further indexes: parsing, planning and the executor's own
//! preparation are spared, which for one narrow row cost more than the rest. A table that somebody gave triggers,
//! foreign keys, checks, rules, row-level security or another shape gets its row by a statement, which heeds them all.

use super::datum::Argument;
use pgrx::pg_sys::{self, Datum, Oid};

/// The table is not as it was made.
#[derive(Debug)]
pub struct Unfit;

/// Inserts one row, given as type and value of every column in their order, and makes it visible to what follows. The
/// table must be locked by the caller, who has also seen to rights.
pub fn insert_row(table: Oid, values: &[(Oid, Argument)]) -> Result<(), Unfit> {
    // SAFETY: the table is locked by the caller, or is gone and yields null; it is kept open until the row is in. The
    // slot has as many columns as the table, each of the type of its value, which `is_plain` has seen. The state has
    // the range table that an error needs to name a column; it is freed as a whole, or with the transaction when an
    // error unwinds.
    unsafe {
        let table = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if table.is_null() {
            return Err(Unfit);
        }
        if !is_plain(table, values) {
            pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
            return Err(Unfit);
        }
        let state = pg_sys::CreateExecutorState();
        let context = pg_sys::MemoryContextSwitchTo((*state).es_query_cxt);
        let entry = pg_sys::palloc0(size_of::<pg_sys::RangeTblEntry>()).cast::<pg_sys::RangeTblEntry>();
        (*entry).type_ = pg_sys::NodeTag::T_RangeTblEntry;
        (*entry).rtekind = pg_sys::RTEKind::RTE_RELATION;
        (*entry).relid = (*table).rd_id;
        (*entry).relkind = (*(*table).rd_rel).relkind;
        (*entry).rellockmode = pg_sys::RowExclusiveLock as i32;
        pg_sys::ExecInitRangeTable(state, pg_sys::lappend(std::ptr::null_mut(), entry.cast()));
        (*state).es_output_cid = pg_sys::GetCurrentCommandId(true);
        let target = pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast::<pg_sys::ResultRelInfo>();
        (*target).type_ = pg_sys::NodeTag::T_ResultRelInfo;
        pg_sys::InitResultRelInfo(target, table, 1, std::ptr::null_mut(), 0);
        pg_sys::ExecOpenIndices(target, false);
        let slot =
            pg_sys::ExecInitExtraTupleSlot(state, (*table).rd_att, std::ptr::addr_of!(pg_sys::TTSOpsVirtual));
        for (position, (_, value)) in values.iter().enumerate() {
            *(*slot).tts_values.add(position) = value.unwrap_or(Datum::from(0usize));
            *(*slot).tts_isnull.add(position) = value.is_none();
        }
        pg_sys::ExecStoreVirtualTuple(slot);
        pg_sys::ExecSimpleRelationInsert(target, state, slot);
        pg_sys::ExecCloseIndices(target);
        pg_sys::ExecResetTupleTable((*state).es_tupleTable, false);
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::FreeExecutorState(state);
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        pg_sys::CommandCounterIncrement();
    }
    Ok(())
}

/// Whether a table has exactly these columns and nothing that has a say when a row comes in, but indexes.
///
/// # Safety
/// The table is open and locked.
unsafe fn is_plain(table: pg_sys::Relation, values: &[(Oid, Argument)]) -> bool {
    // SAFETY: an open relation has its row of pg_class and a description of as many columns as that says.
    unsafe {
        let (entry, description) = ((*table).rd_rel, (*table).rd_att);
        let constraints = (*description).constr;
        let columns = (*description).attrs.as_slice((*description).natts as usize);
        (*entry).relkind == pg_sys::RELKIND_RELATION as i8
            // The owner of a table is above its policies, unless they are forced.
            && !((*entry).relrowsecurity && (*entry).relforcerowsecurity)
            && !(*entry).relispartition
            && (*table).trigdesc.is_null()
            && (*table).rd_rules.is_null()
            && (constraints.is_null() || (*constraints).num_check == 0 && !(*constraints).has_generated_stored)
            && columns.len() == values.len()
            && columns.iter().zip(values).all(|(column, (value_type, _))| {
                column.atttypid == *value_type && column.atttypmod == -1 && !column.attisdropped
            })
    }
}

/// Takes the lock of an INSERT.
pub fn lock_table(table: Oid) {
    // SAFETY: the lock is released at the end of the transaction; a table that is gone can be locked as well.
    unsafe { pg_sys::LockRelationOid(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE) };
}
