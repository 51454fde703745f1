//! Inserts rows into keyed's own tables without a statement, as logical replication and COPY do.
//!
//! This avoids parsing, planning and executor start, which cost more than the insert of one narrow row. Several rows share
//! one WAL record for each page. A table may have additional indexes. If a user has added triggers, foreign keys, checks,
//! rules, row-level security or columns, a statement inserts the rows.

use super::compat;
use super::datum::{self, Argument};
use super::direct_access::{self, Unsupported};
use super::memory::Current;
use super::parameter::ToSql;
use pgrx::pg_sys::{self, AttrNumber, Datum, Oid};

/// A row to insert: a tuple with a value for each column of the table.
pub trait ToRow {
    /// The types of the columns.
    const TYPES: &'static [Oid];

    /// Passes each value to `put`, with the position of its column, counted from 0.
    fn each(&self, put: impl FnMut(usize, Argument));
}

macro_rules! to_row {
    ($($name:ident $position:tt),*) => {
        impl<$($name: ToSql),*> ToRow for ($($name,)*) {
            const TYPES: &'static [Oid] = &[$($name::TYPE),*];

            fn each(&self, mut put: impl FnMut(usize, Argument)) {
                $(put($position, self.$position.to_datum());)*
            }
        }
    };
}

to_row!(A 0, B 1);
to_row!(A 0, B 1, C 2, D 3, E 4);
to_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
to_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);

/// The number of rows that are inserted together.
const CHUNK: usize = 500;

/// Inserts rows and makes them visible to later commands. A row has a value for each column, in column order. The caller
/// must have locked the table and checked privileges. The iterator is read only if the table is fit, in a memory context
/// that lasts for one chunk.
pub fn insert_rows<R: ToRow>(table: Oid, rows: impl ExactSizeIterator<Item = R>) -> Result<(), Unsupported> {
    insert_rows_without(table, None, rows)
}

/// The same. `index` is not opened: its condition is known to exclude each row, and to plan and evaluate the condition costs
/// more than an index entry.
pub fn insert_rows_without<R: ToRow>(
    table: Oid,
    index: Option<Oid>,
    mut rows: impl ExactSizeIterator<Item = R>,
) -> Result<(), Unsupported> {
    direct_access::require()?;
    // SAFETY: the table is locked by the caller; a dropped one yields null. It is open until the rows are inserted. A slot
    // has the columns of the table, whose types `is_plain` has checked. The state has the range table that an error message
    // about a column needs. It is freed as a whole, or with the transaction if an error unwinds.
    unsafe {
        let table = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if table.is_null() {
            return Err(Unsupported);
        }
        if !is_plain(table, R::TYPES) {
            pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
            return Err(Unsupported);
        }
        let state = pg_sys::CreateExecutorState();
        let of_state = Current::switch_to((*state).es_query_cxt);
        let target = prepare(table, state, index);
        let size = rows.len().min(CHUNK);
        let mut slots: Vec<*mut pg_sys::TupleTableSlot> =
            (0..size).map(|_| virtual_slot(state, (*table).rd_att)).collect();
        let scratch = (*pg_sys::MakePerTupleExprContext(state)).ecxt_per_tuple_memory;
        let of_rows = Current::switch_to(scratch);
        loop {
            pgrx::check_for_interrupts!();
            let mut count = 0;
            for (slot, row) in slots.iter().zip(rows.by_ref().take(size)) {
                fill(*slot, &row);
                count += 1;
            }
            match count {
                0 => break,
                1 => pg_sys::ExecSimpleRelationInsert(target, state, slots[0]),
                _ => insert_chunk(table, target, state, &mut slots[..count]),
            }
            pg_sys::MemoryContextReset(scratch);
        }
        drop(of_rows);
        pg_sys::ExecCloseIndices(target);
        pg_sys::ExecResetTupleTable((*state).es_tupleTable, false);
        drop(of_state);
        pg_sys::FreeExecutorState(state);
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        pg_sys::CommandCounterIncrement();
    }
    Ok(())
}

/// The executor's result relation for a table, with its indexes open, except the one that no row needs.
///
/// # Safety
/// The table is open and locked; the current memory context is that of the state.
pub(super) unsafe fn prepare(
    table: pg_sys::Relation,
    state: *mut pg_sys::EState,
    except: Option<Oid>,
) -> *mut pg_sys::ResultRelInfo {
    // SAFETY: both nodes are zeroed allocations of the size of their type, in the state's memory context.
    unsafe {
        let entry = pg_sys::palloc0(size_of::<pg_sys::RangeTblEntry>()).cast::<pg_sys::RangeTblEntry>();
        (*entry).type_ = pg_sys::NodeTag::T_RangeTblEntry;
        (*entry).rtekind = pg_sys::RTEKind::RTE_RELATION;
        (*entry).relid = (*table).rd_id;
        (*entry).relkind = (*(*table).rd_rel).relkind;
        (*entry).rellockmode = pg_sys::RowExclusiveLock as i32;
        compat::init_range_table(state, entry);
        (*state).es_output_cid = pg_sys::GetCurrentCommandId(true);
        let target = pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast::<pg_sys::ResultRelInfo>();
        (*target).type_ = pg_sys::NodeTag::T_ResultRelInfo;
        pg_sys::InitResultRelInfo(target, table, 1, std::ptr::null_mut(), 0);
        match except {
            Some(except) => open_indexes(target, table, except),
            None => pg_sys::ExecOpenIndices(target, false),
        }
        target
    }
}

/// Opens the indexes of a table except one, as `ExecOpenIndices` opens all.
///
/// # Safety
/// The table is open and locked; the current memory context is that of the executor state of `target`.
unsafe fn open_indexes(target: *mut pg_sys::ResultRelInfo, table: pg_sys::Relation, except: Oid) {
    // SAFETY: the list is a copy of that in the relation. Both arrays have an element for each of its indexes, and are
    // read up to the number that is set. `ExecCloseIndices` closes the indexes.
    unsafe {
        let list = pg_sys::RelationGetIndexList(table);
        let count = if list.is_null() { 0 } else { (*list).length as usize };
        let relations =
            pg_sys::palloc0(count.max(1) * size_of::<pg_sys::Relation>()).cast::<pg_sys::Relation>();
        let definitions = pg_sys::palloc0(count.max(1) * size_of::<*mut pg_sys::IndexInfo>())
            .cast::<*mut pg_sys::IndexInfo>();
        let mut opened = 0;
        for position in 0..count {
            let index = (*(*list).elements.add(position)).oid_value;
            if index != except {
                let relation = pg_sys::index_open(index, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE);
                *relations.add(opened) = relation;
                *definitions.add(opened) = pg_sys::BuildIndexInfo(relation);
                opened += 1;
            }
        }
        pg_sys::list_free(list);
        (*target).ri_IndexRelationDescs = relations;
        (*target).ri_IndexRelationInfo = definitions;
        (*target).ri_NumIndices = opened as i32;
    }
}

/// # Safety
/// The current memory context is that of the state.
pub(super) unsafe fn virtual_slot(
    state: *mut pg_sys::EState,
    description: pg_sys::TupleDesc,
) -> *mut pg_sys::TupleTableSlot {
    // SAFETY: the descriptor belongs to an open table.
    unsafe { pg_sys::ExecInitExtraTupleSlot(state, description, std::ptr::addr_of!(pg_sys::TTSOpsVirtual)) }
}

/// Replaces the row in a slot.
///
/// # Safety
/// The slot is a virtual one with as many columns.
pub(super) unsafe fn fill(slot: *mut pg_sys::TupleTableSlot, row: &impl ToRow) {
    // SAFETY: a slot has space for the columns of its descriptor. A virtual slot does not own its values.
    unsafe {
        let clear = (*(*slot).tts_ops).clear;
        if let Some(clear) = clear {
            clear(slot);
        }
        row.each(|position, value| {
            *(*slot).tts_values.add(position) = value.unwrap_or(Datum::from(0usize));
            *(*slot).tts_isnull.add(position) = value.is_none();
        });
        pg_sys::ExecStoreVirtualTuple(slot);
    }
}

/// Stores values with their null flags in an empty slot.
///
/// # Safety
/// The slot is a virtual one with as many columns.
pub(super) unsafe fn store(slot: *mut pg_sys::TupleTableSlot, values: impl Iterator<Item = (Datum, bool)>) {
    // SAFETY: the caller's.
    unsafe {
        for (position, (value, is_null)) in values.enumerate() {
            *(*slot).tts_values.add(position) = value;
            *(*slot).tts_isnull.add(position) = is_null;
        }
        pg_sys::ExecStoreVirtualTuple(slot);
    }
}

/// Inserts several rows as COPY does: first into the table, then into its indexes.
///
/// # Safety
/// The slots are filled, and `target` belongs to the table.
unsafe fn insert_chunk(
    table: pg_sys::Relation,
    target: *mut pg_sys::ResultRelInfo,
    state: *mut pg_sys::EState,
    slots: &mut [*mut pg_sys::TupleTableSlot],
) {
    // SAFETY: the table is an ordinary heap table, as `is_plain` has checked. Each slot gets the TID of its row, which the
    // index entries refer to.
    unsafe {
        if !(*(*table).rd_att).constr.is_null() {
            for slot in slots.iter() {
                pg_sys::ExecConstraints(target, *slot, state);
            }
        }
        let (count, command) = (slots.len() as i32, (*state).es_output_cid);
        pg_sys::heap_multi_insert(table, slots.as_mut_ptr(), count, command, 0, std::ptr::null_mut());
        if (*target).ri_NumIndices > 0 {
            for slot in slots.iter() {
                compat::insert_index_entries(target, *slot, state, compat::Entries::OfInsert);
            }
        }
    }
}

/// Whether a table has exactly these columns, and nothing but indexes that an insert would have to process.
///
/// # Safety
/// The table is open and locked.
pub(super) unsafe fn is_plain(table: pg_sys::Relation, types: &[Oid]) -> bool {
    // SAFETY: an open relation has its row of pg_class, and a descriptor with as many columns as that states.
    unsafe {
        let (entry, description) = ((*table).rd_rel, (*table).rd_att);
        let constraints = (*description).constr;
        (*entry).relkind == pg_sys::RELKIND_RELATION as i8
            && (*entry).relam == pg_sys::HEAP_TABLE_AM_OID
            // Policies apply to the table owner only if they are forced.
            && !((*entry).relrowsecurity && (*entry).relforcerowsecurity)
            && !(*entry).relispartition
            && (*table).trigdesc.is_null()
            && (*table).rd_rules.is_null()
            && (constraints.is_null() || (*constraints).num_check == 0)
            && !compat::has_generated_columns(description)
            && (*description).natts as usize == types.len()
            && types.iter().enumerate().all(|(position, value_type)| {
                let column = compat::column(description, position);
                column.atttypid == *value_type && column.atttypmod == -1 && !column.attisdropped
            })
    }
}

/// Takes the lock of an INSERT.
pub fn lock_table(table: Oid) {
    // SAFETY: the lock is released at the end of the transaction. A dropped table can be locked too.
    unsafe { pg_sys::LockRelationOid(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE) };
}

/// The sequence of an identity column. Cache it: PostgreSQL searches pg_depend for it, which takes longer than an insert.
pub fn identity_sequence(table: Oid, column: AttrNumber) -> Option<Oid> {
    // SAFETY: a dropped table yields null. The lock is that of a SELECT, and is held until the transaction ends.
    let sequence = unsafe {
        let table = pg_sys::try_table_open(table, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        if table.is_null() {
            return None;
        }
        let sequence = compat::identity_sequence(table, column);
        pg_sys::table_close(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        sequence
    };
    (sequence != Oid::INVALID).then_some(sequence)
}

/// The next value of a sequence, on which the current role must have privileges. Returns [`Unsupported`] if the sequence was
/// dropped, because the column may have another one.
pub fn next_value(sequence: Oid) -> Result<i64, Unsupported> {
    // SAFETY: reads the catalog, then calls `nextval` as a statement does.
    unsafe {
        if pg_sys::get_rel_relkind(sequence) as u8 != pg_sys::RELKIND_SEQUENCE {
            return Err(Unsupported);
        }
        let next = pgrx::direct_function_call_as_datum(pg_sys::nextval_oid, &[Some(Datum::from(sequence))]);
        next.map(datum::read_i64).ok_or(Unsupported)
    }
}
