//! Embeddings: a vector for each record that says what the record means, in a table beside the template's.
//!
//! A vector is written in the transaction of its record and under the same rights. It is derived from what the record
//! says, so it changes neither `updated_at` nor the history.

/// The SQL functions and the HTTP door.
pub mod functions;
/// Which records need another vector.
pub mod queue;
/// The table of vectors.
pub mod table;
/// Vectors, written.
pub mod write;

use crate::error::Error;
use crate::json;
use crate::value::vector::Vector;
use serde_json::value::RawValue;
use std::rc::Rc;

/// What a request says about a record's vector: three cases that must not be confused.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Embedding {
    /// It was not mentioned.
    #[default]
    Absent,
    /// It was null.
    Null,
    /// It was this, already checked and of length one.
    Value(Rc<Vector>),
}

impl Embedding {
    /// Reads what stands at `pointer`: an array of numbers, or null.
    pub fn parse(value: &RawValue, pointer: &str) -> Result<Embedding, Error> {
        if json::is_null(value) {
            return Ok(Embedding::Null);
        }
        Vector::parse(value, pointer).map(|vector| Embedding::Value(Rc::new(vector)))
    }
}
