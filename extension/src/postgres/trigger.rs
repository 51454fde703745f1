//! Row triggers: the old and the new row.

use super::compat;
use super::condition::Condition;
use super::datum::{self, Argument};
use super::found;
use super::function::Call;
use crate::error::{Code, Error};
use pgrx::pg_sys::{self, Datum, Oid};

/// What happened to a row.
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
    /// What happened.
    pub event: Event,
    /// The table.
    pub table: Oid,
    /// The row before, unless it is inserted.
    pub old: Option<Row>,
    /// The row after, unless it is deleted.
    pub new: Option<Row>,
}

/// A row taken apart: one entry for each column number, dropped columns included.
pub struct Row {
    tuple: pg_sys::HeapTuple,
    description: pg_sys::TupleDesc,
    values: Vec<Datum>,
    nulls: Vec<bool>,
}

impl Firing {
    /// Reads the trigger's context; an error when the function is not called as a row trigger.
    pub fn from_call(call: &Call) -> Result<Self, Error> {
        let call = call.info();
        // SAFETY: PostgreSQL hands a valid call; called_as_trigger checks the kind of context before it is read.
        unsafe {
            if !pgrx::trigger_support::called_as_trigger(call) {
                return Err(Error::new(Code::Internal, "this function can only be called as a trigger"));
            }
            let data = (*call).context.cast::<pg_sys::TriggerData>();
            let event = (*data).tg_event;
            // A statement trigger, which users may create on their own tables, has no rows.
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

    /// The result that lets the row pass as it is.
    pub fn pass(&self) -> Datum {
        let row = self.new.as_ref().or(self.old.as_ref());
        Datum::from(row.map_or(std::ptr::null_mut(), |row| row.tuple))
    }

    /// The result that lets the new row pass with some columns replaced (number from 1, value).
    pub fn replace(&self, columns: &[(i16, Argument)]) -> Datum {
        let Some(row) = self.new.as_ref().filter(|_| !columns.is_empty()) else { return self.pass() };
        let mut numbers: Vec<i32> = columns.iter().map(|column| i32::from(column.0)).collect();
        let mut values: Vec<Datum> =
            columns.iter().map(|column| column.1.unwrap_or(Datum::from(0usize))).collect();
        let mut nulls: Vec<bool> = columns.iter().map(|column| column.1.is_none()).collect();
        // SAFETY: the three arrays have one entry for each column, and the columns exist in the description.
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

    /// Whether no later version of the new row was there when this trigger, one that runs after the row, was called.
    pub fn is_latest(&self) -> bool {
        // SAFETY: the row is one of the table, read again for the trigger.
        self.new.as_ref().is_some_and(|row| unsafe { !found::is_replaced(row.tuple) })
    }

    /// The row that a result of [`Firing::replace`] lets pass.
    pub fn row_of(&self, result: Datum) -> Row {
        // SAFETY: the result is a tuple of the firing's table, made for this firing.
        unsafe { Row::read(result.cast_mut_ptr(), (*(*self.data).tg_relation).rd_att) }
    }

    /// The name that the trigger's argument at `position` carries.
    pub fn argument(&self, position: usize) -> Option<String> {
        // SAFETY: the trigger's definition lives as long as the firing and has tgnargs arguments.
        unsafe {
            let trigger = (*self.data).tg_trigger;
            (position < (*trigger).tgnargs as usize).then(|| {
                std::ffi::CStr::from_ptr(*(*trigger).tgargs.add(position)).to_string_lossy().into_owned()
            })
        }
    }
}

impl Row {
    /// SAFETY: the tuple has the description's columns, and both outlive the firing.
    unsafe fn read(tuple: pg_sys::HeapTuple, description: pg_sys::TupleDesc) -> Row {
        // SAFETY: both vectors have room for as many columns as the description states.
        unsafe {
            let count = (*description).natts as usize;
            let mut values = vec![Datum::from(0usize); count];
            let mut nulls = vec![true; count];
            pg_sys::heap_deform_tuple(tuple, description, values.as_mut_ptr(), nulls.as_mut_ptr());
            Row { tuple, description, values, nulls }
        }
    }

    /// The value of a column by its number (from 1).
    pub fn get(&self, column: i16) -> Option<Datum> {
        let position = column as usize - 1;
        (!self.nulls[position]).then_some(self.values[position])
    }

    /// Whether a column has the same stored image in both rows.
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

    /// Whether every column that is not `excepted` has the same stored image in both rows.
    pub fn same_except(&self, other: &Row, excepted: impl Fn(i16) -> bool) -> bool {
        let passes = |column| excepted(column) || self.is_dropped(column) || self.same(other, column);
        (1..=self.values.len() as i16).all(passes)
    }

    /// Whether a condition on the rows of its table holds for it.
    pub fn meets(&self, condition: &Condition) -> bool {
        // SAFETY: the slot gets the description that the tuple was read by, and is dropped before either.
        unsafe {
            let slot = pg_sys::MakeSingleTupleTableSlot(self.description, &raw const pg_sys::TTSOpsHeapTuple);
            pg_sys::ExecStoreHeapTuple(self.tuple, slot, false);
            let holds = condition.ready().holds_for_slot(slot);
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            holds
        }
    }

    /// The row as one value of its table's row type.
    pub fn composite(&self) -> Datum {
        // SAFETY: the tuple has the description's columns; the value is a copy.
        unsafe { pg_sys::heap_copy_tuple_as_datum(self.tuple, self.description) }
    }

    fn is_dropped(&self, column: i16) -> bool {
        self.attribute(column).attisdropped
    }

    fn attribute(&self, column: i16) -> &pg_sys::FormData_pg_attribute {
        // SAFETY: values were read by this description, so it has this column.
        unsafe { compat::column(self.description, column as usize - 1) }
    }
}

/// The type of a table's rows.
pub fn row_type(table: Oid) -> Oid {
    // SAFETY: asks the catalog.
    unsafe { pg_sys::get_rel_type_id(table) }
}

/// The table that a trigger fired for, whatever kind of trigger it is.
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
