//! Typed access to the rows that a statement returned.
//!
//! `rows.first::<(i32, Option<String>)>()` reads a row into a tuple, `rows.get::<i64>(row, column)` one value. A read checks
//! the Rust type against the column type, and reads a null only into an `Option`. A mismatch raises a clear error. (pgrx's
//! `FromDatum` does not check the type.)

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
    /// SPI set both after a statement. The connection outlives the result.
    pub(super) unsafe fn new(table: *mut pg_sys::SPITupleTable, processed: usize) -> Self {
        Rows { table, processed, connection: PhantomData }
    }

    /// The number of rows that were returned, or written by a statement without RETURNING.
    pub fn len(&self) -> usize {
        self.processed
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.processed == 0
    }

    /// The value in a row and a column, both counted from 0, without a type check. For columns of records, whose types depend
    /// on the template.
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

    /// The type of a column; `InvalidOid` if the column does not exist.
    fn type_of(&self, column: usize) -> Oid {
        if self.table.is_null() {
            return Oid::INVALID;
        }
        // SAFETY: the descriptor has as many columns as it states.
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
            mismatch::<T>(column, &type_name_of(type_oid));
        }
        self.datum(row, column).and_then(|datum| T::from_datum(datum, type_oid))
    }
}

/// Raises the error for a column whose type differs from the Rust type.
#[cold]
fn mismatch<T>(column: usize, found: &str) -> ! {
    let (number, expected) = (column + 1, type_name::<T>());
    Error::new(
        Code::Internal,
        format!("column {number} of a statement is {found}, but is read as {expected}"),
    )
    .raise()
}

fn type_name_of(type_oid: Oid) -> String {
    if type_oid == Oid::INVALID {
        return "missing".to_owned();
    }
    // SAFETY: the name is a NUL-terminated string in the current memory context.
    unsafe { CStr::from_ptr(pg_sys::format_type_be(type_oid)) }.to_string_lossy().into_owned()
}

/// A Rust type that can be read from a row.
pub trait FromRow {
    /// Reads an existing row.
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

/// A Rust type that can be read from a column. An `Option` allows null.
pub trait FromColumn: Sized {
    /// Reads the value in this row and column, both counted from 0.
    fn from_column(rows: &Rows, row: usize, column: usize) -> Self;
}

impl<T: FromSql> FromColumn for T {
    fn from_column(rows: &Rows, row: usize, column: usize) -> T {
        rows.read(row, column).unwrap_or_else(|| mismatch::<T>(column, "null"))
    }
}

impl<T: FromSql> FromColumn for Option<T> {
    fn from_column(rows: &Rows, row: usize, column: usize) -> Option<T> {
        rows.read(row, column)
    }
}

/// A Rust type that can hold values of some SQL types.
pub trait FromSql: Sized {
    /// The SQL types.
    const TYPES: &'static [Oid];

    /// Converts a value; `None` for an array with nulls or several dimensions.
    fn from_datum(datum: Datum, type_oid: Oid) -> Option<Self>;
}

/// The block number of a `tid`.
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
