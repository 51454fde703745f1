//! Typed access to the arguments of a call.
//!
//! The size of an argument is checked before it is detoasted or copied, so that a large argument cannot exhaust memory or
//! delay a timeout.

use super::datum::{self, Argument};
use super::function::{Call, must_not_be_null};
use super::raise::Raise;
use crate::error::{Code, Error};
use pgrx::pg_sys::{self, Datum, Oid};
use uuid::Uuid;

/// The maximum detoasted size of an argument: four times the default limit of a request body.
const MAX_BYTES: usize = 64 << 20;

/// The size above which reading an argument takes noticeable time.
const LONG: usize = 1 << 20;

/// The maximum number of elements of an array argument.
const MAX_ELEMENTS: usize = 100_000;

/// Rejects an argument that is too large. Checks for interrupts before a large one is read.
fn require_size(bytes: usize) {
    if bytes > MAX_BYTES {
        let message = format!("an argument has more than {} MiB", MAX_BYTES >> 20);
        Error::new(Code::PayloadTooLarge, message).hint("Split the content across several calls.").raise();
    }
    if bytes > LONG {
        pgrx::check_for_interrupts!();
    }
}

impl Call {
    /// An argument of a type without a fixed length.
    fn of_any_length(&self, position: usize) -> Argument {
        let argument = self.datum(position)?;
        // SAFETY: the argument is a non-null varlena.
        let size = unsafe { pg_sys::toast_raw_datum_size(argument) };
        require_size(size);
        Some(argument)
    }

    /// A `bytea` argument.
    pub fn bytes(&self, position: usize) -> Option<Vec<u8>> {
        self.of_any_length(position).map(datum::read_bytes)
    }

    /// A `text` argument.
    pub fn text(&self, position: usize) -> Option<String> {
        self.of_any_length(position).map(datum::read_text)
    }

    /// A `text` argument that must not be null.
    pub fn required_text(&self, position: usize, name: &str) -> Result<String, Error> {
        self.text(position).ok_or_else(|| must_not_be_null(name))
    }

    /// The text of a `jsonb` argument.
    pub fn json(&self, position: usize) -> Option<String> {
        let text = self.of_any_length(position).map(datum::read_jsonb)?;
        // Numbers such as 1e100000, and control characters, are larger as text.
        require_size(text.len());
        Some(text)
    }

    /// The text of a `jsonb` argument that must not be null.
    pub fn required_json(&self, position: usize, name: &str) -> Result<String, Error> {
        self.json(position).ok_or_else(|| must_not_be_null(name))
    }

    /// A `text[]` argument.
    pub fn texts(&self, position: usize, name: &str) -> Result<Option<Vec<String>>, Error> {
        self.array(position, name, datum::read_text_array)
    }

    /// A `real[]` argument.
    pub fn reals(&self, position: usize, name: &str) -> Result<Option<Vec<f32>>, Error> {
        self.array(position, name, datum::read_real_array)
    }

    fn array<T>(
        &self,
        position: usize,
        name: &str,
        read: fn(Datum) -> Option<Vec<T>>,
    ) -> Result<Option<Vec<T>>, Error> {
        let Some(array) = self.of_any_length(position) else { return Ok(None) };
        let violation = |code, message: &str| Error::at(code, format!("/{name}"), message);
        if datum::array_length(array) > MAX_ELEMENTS {
            let message = format!("must have at most {MAX_ELEMENTS} elements");
            return Err(violation(Code::PayloadTooLarge, &message));
        }
        let rejection = || violation(Code::InvalidValue, "must be a one-dimensional array without nulls");
        read(array).map(Some).ok_or_else(rejection)
    }

    /// An `oid` argument, or one of an alias type such as `regclass`.
    pub fn oid(&self, position: usize) -> Option<Oid> {
        self.datum(position).map(|datum| Oid::from(datum.value() as u32))
    }

    /// An `integer` argument.
    pub fn integer(&self, position: usize) -> Option<i32> {
        self.datum(position).map(datum::read_i32)
    }

    /// A `uuid` argument.
    pub fn uuid(&self, position: usize) -> Option<Uuid> {
        self.datum(position).map(datum::read_uuid)
    }

    /// A `boolean` argument; null counts as false.
    pub fn flag(&self, position: usize) -> bool {
        self.boolean(position).unwrap_or_default()
    }

    /// A `boolean` argument that may be null.
    pub fn boolean(&self, position: usize) -> Option<bool> {
        self.datum(position).map(datum::read_bool)
    }
}
