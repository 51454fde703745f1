//! Trigger functions: the event, the old and the new row, and other triggers of a table.

use super::compat;
use super::condition::Condition;
use super::datum::{self, Argument};
use super::function::Call;
use super::table;
use crate::error::{Code, Error};
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CStr;

/// The event of a row trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

/// One firing of a row trigger.
pub struct Firing {
    data: *mut pg_sys::TriggerData,
    /// The event.
    pub event: Event,
    /// The table.
    pub table: Oid,
    /// The old row; `None` for an INSERT.
    pub old: Option<Row>,
    /// The new row; `None` for a DELETE.
    pub new: Option<Row>,
}

/// A deformed row, with an entry for each column number, including dropped columns.
pub struct Row {
    tuple: pg_sys::HeapTuple,
    description: pg_sys::TupleDesc,
    values: Vec<Datum>,
    nulls: Vec<bool>,
}

impl Firing {
    /// Reads the trigger's context. Returns an error if the function is not called as a row trigger.
    pub fn from_call(call: &Call) -> Result<Self, Error> {
        let call = call.info();
        // SAFETY: the call is PostgreSQL's own. called_as_trigger checks the type of the context.
        unsafe {
            if !pgrx::trigger_support::called_as_trigger(call) {
                return Err(Error::new(Code::Internal, "this function can only be called as a trigger"));
            }
            let data = (*call).context.cast::<pg_sys::TriggerData>();
            let event = (*data).tg_event;
            // Users can create statement triggers on their own tables. These have no rows.
            if !pgrx::trigger_support::trigger_fired_for_row(event) {
                return Err(Error::new(
                    Code::Internal,
                    "this function can only be called by a trigger for each row",
                ));
            }
            let (event, old, new) = if pgrx::trigger_support::trigger_fired_by_insert(event) {
                (Event::Insert, None, Some((*data).tg_trigtuple))
            } else if pgrx::trigger_support::trigger_fired_by_update(event) {
                (Event::Update, Some((*data).tg_trigtuple), Some((*data).tg_newtuple))
            } else {
                (Event::Delete, Some((*data).tg_trigtuple), None)
            };
            let relation = (*data).tg_relation;
            let description = (*relation).rd_att;
            let read = |tuple| Row::read(tuple, description);
            Ok(Firing { data, event, table: (*relation).rd_id, old: old.map(read), new: new.map(read) })
        }
    }

    /// The result that leaves the row unchanged.
    pub fn pass(&self) -> Datum {
        let row = self.new.as_ref().or(self.old.as_ref());
        Datum::from(row.map_or(std::ptr::null_mut(), |row| row.tuple))
    }

    /// The result that replaces columns of the new row, given as number (from 1) and value.
    pub fn replace(&self, columns: &[(i16, Argument)]) -> Datum {
        let Some(row) = self.new.as_ref().filter(|_| !columns.is_empty()) else { return self.pass() };
        let mut numbers: Vec<i32> = columns.iter().map(|column| i32::from(column.0)).collect();
        let mut values: Vec<Datum> =
            columns.iter().map(|column| column.1.unwrap_or(Datum::from(0usize))).collect();
        let mut nulls: Vec<bool> = columns.iter().map(|column| column.1.is_none()).collect();
        // SAFETY: the three arrays have one entry for each column, and the descriptor has the columns.
        let tuple = unsafe {
            pg_sys::heap_modify_tuple_by_cols(
                row.tuple,
                row.description,
                columns.len() as i32,
                numbers.as_mut_ptr(),
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            )
        };
        Datum::from(tuple)
    }

    /// Whether the new row had no later version when this AFTER trigger was called.
    pub fn is_latest(&self) -> bool {
        // SAFETY: the row belongs to the table, and was fetched for the trigger.
        self.new.as_ref().is_some_and(|row| unsafe { !table::is_replaced(row.tuple) })
    }

    /// The row of a result of [`Firing::replace`].
    pub fn row_of(&self, result: Datum) -> Row {
        // SAFETY: the result is a tuple of the trigger's table.
        unsafe { Row::read(result.cast_mut_ptr(), (*(*self.data).tg_relation).rd_att) }
    }

    /// The trigger's argument at `position`.
    pub fn argument(&self, position: usize) -> Option<String> {
        // SAFETY: the trigger's definition lives as long as the firing, and has tgnargs arguments.
        unsafe {
            let trigger = (*self.data).tg_trigger;
            (position < (*trigger).tgnargs as usize)
                .then(|| CStr::from_ptr(*(*trigger).tgargs.add(position)).to_string_lossy().into_owned())
        }
    }
}

impl Row {
    /// # Safety
    /// The tuple has the columns of the descriptor, and both outlive the firing.
    unsafe fn read(tuple: pg_sys::HeapTuple, description: pg_sys::TupleDesc) -> Row {
        // SAFETY: both vectors have one entry for each column of the descriptor.
        unsafe {
            let count = (*description).natts as usize;
            let mut values = vec![Datum::from(0usize); count];
            let mut nulls = vec![true; count];
            pg_sys::heap_deform_tuple(tuple, description, values.as_mut_ptr(), nulls.as_mut_ptr());
            Row { tuple, description, values, nulls }
        }
    }

    /// The value of a column, by its number (from 1).
    pub fn get(&self, column: i16) -> Option<Datum> {
        let position = column as usize - 1;
        (!self.nulls[position]).then_some(self.values[position])
    }

    /// Whether a column has the same binary image in both rows.
    pub fn same(&self, other: &Row, column: i16) -> bool {
        match (self.get(column), other.get(column)) {
            (None, None) => true,
            (Some(left), Some(right)) => {
                let attribute = self.attribute(column);
                datum::same_image(left, right, attribute.attbyval, attribute.attlen)
            }
            _ => false,
        }
    }

    /// Whether all columns except `excepted` have the same binary image in both rows.
    pub fn same_except(&self, other: &Row, excepted: impl Fn(i16) -> bool) -> bool {
        let passes = |column| excepted(column) || self.is_dropped(column) || self.same(other, column);
        (1..=self.values.len() as i16).all(passes)
    }

    /// Whether a condition on the table is true for the row.
    pub fn meets(&self, condition: &Condition) -> bool {
        // SAFETY: the slot has the descriptor of the tuple, and is dropped before both.
        unsafe {
            let slot = pg_sys::MakeSingleTupleTableSlot(self.description, &raw const pg_sys::TTSOpsHeapTuple);
            pg_sys::ExecStoreHeapTuple(self.tuple, slot, false);
            let holds = condition.ready().holds_for_slot(slot);
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            holds
        }
    }

    /// The row as a value of the table's row type.
    pub fn composite(&self) -> Datum {
        // SAFETY: the tuple has the columns of the descriptor. The value is a copy.
        unsafe { pg_sys::heap_copy_tuple_as_datum(self.tuple, self.description) }
    }

    fn is_dropped(&self, column: i16) -> bool {
        self.attribute(column).attisdropped
    }

    fn attribute(&self, column: i16) -> &pg_sys::FormData_pg_attribute {
        // SAFETY: the values were read with this descriptor, so it has the column.
        unsafe { compat::column(self.description, column as usize - 1) }
    }
}

/// The type of a table's rows.
pub fn row_type(table: Oid) -> Oid {
    // SAFETY: reads the catalog.
    unsafe { pg_sys::get_rel_type_id(table) }
}

/// The table of a row or statement trigger.
pub fn table_of(call: &Call) -> Result<Oid, Error> {
    let call = call.info();
    // SAFETY: as in Firing::from_call; only the relation is read.
    unsafe {
        if !pgrx::trigger_support::called_as_trigger(call) {
            return Err(Error::new(Code::Internal, "this function can only be called as a trigger"));
        }
        Ok((*(*(*call).context.cast::<pg_sys::TriggerData>()).tg_relation).rd_id)
    }
}

/// Whether a table has an enabled BEFORE ROW trigger for this event, other than the one with this name. Such a trigger can
/// return NULL, which skips the write without an error. The caller must have locked the table.
pub fn has_before_row_trigger(table: Oid, event: Event, except: &CStr) -> bool {
    let of_event = match event {
        Event::Insert => pg_sys::TRIGGER_TYPE_INSERT,
        Event::Update => pg_sys::TRIGGER_TYPE_UPDATE,
        Event::Delete => pg_sys::TRIGGER_TYPE_DELETE,
    };
    let requested = (pg_sys::TRIGGER_TYPE_ROW | pg_sys::TRIGGER_TYPE_BEFORE | of_event) as i16;
    // SAFETY: a dropped table yields null. A trigger descriptor has as many triggers as it states, with NUL-terminated names,
    // and lives while the table is open.
    unsafe {
        let relation = pg_sys::try_table_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        if relation.is_null() {
            return false;
        }
        let description = (*relation).trigdesc;
        let exist = !description.is_null()
            && std::slice::from_raw_parts((*description).triggers, (*description).numtriggers as usize)
                .iter()
                .any(|trigger| {
                    trigger.tgtype & requested == requested
                        && trigger.tgenabled as u8 != pg_sys::TRIGGER_DISABLED
                        && CStr::from_ptr(trigger.tgname) != except
                });
        pg_sys::table_close(relation, pg_sys::NoLock as pg_sys::LOCKMODE);
        exist
    }
}
