//! The rows that a statement returned, read by their types.
//!
//! `rows.first::<(i32, Option<String>)>()` reads a row into a tuple, `rows.get::<i64>(row, column)` one value. The Rust
//! type is held against the type of the column, and a null is only read as an `Option`: a statement and the code that
//! reads it cannot disagree without a clear error. (pgrx's `FromDatum` trusts its caller with the type.)

use super::compat;
use super::datum::{self, Argument};
use super::raise::Raise;
use crate::error::{Code, Error};
use pgrx::pg_sys::{self, Datum, Oid};
use std::any::type_name;
use std::ffi::CStr;
use std::marker::PhantomData;
use uuid::Uuid;

/// The rows that a statement returned, valid until its connection ends.
pub struct Rows<'c> {
    table: *mut pg_sys::SPITupleTable,
    processed: usize,
    connection: PhantomData<&'c ()>,
}

impl Rows<'_> {
    /// # Safety
    /// The table is what SPI set after a statement of a connection that lives as long as this, which returned or wrote so many rows.
    pub(super) unsafe fn new(table: *mut pg_sys::SPITupleTable, processed: usize) -> Self {
        Rows { table, processed, connection: PhantomData }
    }

    /// How many rows were returned, or written by a statement that returns none.
    pub fn len(&self) -> usize {
        self.processed
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.processed == 0
    }

    /// The value in a row and a column, both counted from 0, whatever its type is: for columns of records, whose types
    /// the definition of the template tells.
    pub fn datum(&self, row: usize, column: usize) -> Argument {
        assert!(!self.table.is_null() && row < self.processed, "the row exists");
        let mut is_null = false;
        // SAFETY: the row exists; a column that does not exist yields null.
        let datum = unsafe {
            pg_sys::SPI_getbinval(
                *(*self.table).vals.add(row),
                (*self.table).tupdesc,
                column as i32 + 1,
                &mut is_null,
            )
        };
        (!is_null).then_some(datum)
    }

    /// The value in a row and a column, both counted from 0.
    pub fn get<T: FromColumn>(&self, row: usize, column: usize) -> T {
        T::from_column(self, row, column)
    }

    /// The first row, if there is one.
    pub fn first<T: FromRow>(&self) -> Option<T> {
        (!self.is_empty()).then(|| T::from_row(self, 0))
    }

    /// All rows.
    pub fn iter<T: FromRow>(&self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator {
        (0..self.len()).map(|row| T::from_row(self, row))
    }

    /// The first value of the first row, if there is one.
    pub fn value<T: FromColumn>(&self) -> Option<T> {
        (!self.is_empty()).then(|| self.get(0, 0))
    }

    /// The first value of each row.
    pub fn column<T: FromColumn>(&self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator {
        (0..self.len()).map(|row| self.get(row, 0))
    }

    /// The type of a column; none where there is no such column.
    fn type_of(&self, column: usize) -> Oid {
        if self.table.is_null() {
            return Oid::INVALID;
        }
        // SAFETY: the table has a description of as many columns as that says.
        unsafe {
            let description = (*self.table).tupdesc;
            if column >= (*description).natts as usize {
                return Oid::INVALID;
            }
            compat::column(description, column).atttypid
        }
    }

    fn read<T: FromSql>(&self, row: usize, column: usize) -> Option<T> {
        let type_oid = self.type_of(column);
        if !T::TYPES.contains(&type_oid) {
            refuse::<T>(column, &type_name_of(type_oid));
        }
        self.datum(row, column).and_then(|datum| T::from_datum(datum, type_oid))
    }
}

/// The error of a statement and code that do not fit each other.
#[cold]
fn refuse<T>(column: usize, found: &str) -> ! {
    let (number, wanted) = (column + 1, type_name::<T>());
    Error::new(Code::Internal, format!("column {number} of a statement is {found}, and is read as {wanted}"))
        .raise()
}

fn type_name_of(type_oid: Oid) -> String {
    if type_oid == Oid::INVALID {
        return "missing".to_owned();
    }
    // SAFETY: the name is a NUL-terminated string in the current memory context.
    unsafe { CStr::from_ptr(pg_sys::format_type_be(type_oid)) }.to_string_lossy().into_owned()
}

/// A Rust type that is read from a row.
pub trait FromRow {
    /// The row of this number, which exists.
    fn from_row(rows: &Rows, row: usize) -> Self;
}

macro_rules! from_row {
    ($($name:ident $position:tt),*) => {
        impl<$($name: FromColumn),*> FromRow for ($($name,)*) {
            fn from_row(rows: &Rows, row: usize) -> Self {
                ($(rows.get::<$name>(row, $position),)*)
            }
        }
    };
}

from_row!(A 0, B 1);
from_row!(A 0, B 1, C 2);
from_row!(A 0, B 1, C 2, D 3);
from_row!(A 0, B 1, C 2, D 3, E 4);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
from_row!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// A Rust type that is read from a column: one without null, or an `Option` of it.
pub trait FromColumn: Sized {
    /// The value in this row and column, both counted from 0.
    fn from_column(rows: &Rows, row: usize, column: usize) -> Self;
}

impl<T: FromSql> FromColumn for T {
    fn from_column(rows: &Rows, row: usize, column: usize) -> T {
        rows.read(row, column).unwrap_or_else(|| refuse::<T>(column, "null"))
    }
}

impl<T: FromSql> FromColumn for Option<T> {
    fn from_column(rows: &Rows, row: usize, column: usize) -> Option<T> {
        rows.read(row, column)
    }
}

/// A Rust type that some types of SQL are read as.
pub trait FromSql: Sized {
    /// These types.
    const TYPES: &'static [Oid];

    /// A value of one of them; none for an array with nulls or several dimensions.
    fn from_datum(datum: Datum, type_oid: Oid) -> Option<Self>;
}

/// The number of a page, as a `tid` has it.
pub struct Page(pub u32);

macro_rules! from_sql {
    ($($type:ty: [$($oid:ident),*], ($datum:ident, $type_oid:ident) => $value:expr;)*) => { $(
        impl FromSql for $type {
            const TYPES: &'static [Oid] = &[$(pg_sys::$oid),*];

            fn from_datum($datum: Datum, $type_oid: Oid) -> Option<Self> {
                $value
            }
        }
    )* };
}

from_sql! {
    bool: [BOOLOID], (datum, _type) => Some(datum::read_bool(datum));
    i16: [INT2OID], (datum, _type) => Some(datum.value() as i16);
    i32: [INT4OID, DATEOID, INT2OID], (datum, type_oid) => Some(match type_oid {
        pg_sys::INT2OID => i32::from(datum.value() as i16),
        _ => datum::read_i32(datum),
    });
    i64: [INT8OID, TIMESTAMPTZOID, INT4OID], (datum, type_oid) => Some(match type_oid {
        pg_sys::INT4OID => i64::from(datum::read_i32(datum)),
        _ => datum::read_i64(datum),
    });
    f64: [FLOAT8OID], (datum, _type) => Some(datum::read_f64(datum));
    Uuid: [UUIDOID], (datum, _type) => Some(datum::read_uuid(datum));
    Oid: [OIDOID, REGCLASSOID, REGROLEOID, REGNAMESPACEOID, REGPROCEDUREOID], (datum, _type) => Some(Oid::from(datum.value() as u32));
    Page: [TIDOID], (datum, _type) => Some(Page(datum::read_page(datum)));
    String: [TEXTOID, NAMEOID, VARCHAROID, JSONBOID, JSONOID], (datum, type_oid) => Some(match type_oid {
        pg_sys::NAMEOID => datum::read_name(datum),
        pg_sys::JSONBOID => datum::read_jsonb(datum),
        _ => datum::read_text(datum),
    });
    Vec<u8>: [BYTEAOID], (datum, _type) => Some(datum::read_bytes(datum));
    Vec<String>: [TEXTARRAYOID], (datum, _type) => datum::read_text_array(datum);
    Vec<i32>: [INT4ARRAYOID], (datum, _type) => datum::read_i32_array(datum);
    Vec<Uuid>: [UUIDARRAYOID], (datum, _type) => datum::read_uuid_array(datum);
    Vec<f32>: [FLOAT4ARRAYOID], (datum, _type) => datum::read_real_array(datum);
}
