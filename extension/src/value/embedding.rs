//! The change of a record's vector.

use super::vector::Vector;
use crate::error::Error;
use crate::json;
use serde_json::value::RawValue;
use std::rc::Rc;

/// The change of a record's vector.
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
    /// Parses the value at `pointer`: an array of numbers, or null.
    pub fn parse(value: &RawValue, pointer: &str) -> Result<Embedding, Error> {
        if json::is_null(value) {
            return Ok(Embedding::Null);
        }
        Vector::parse(value, pointer).map(|vector| Embedding::Value(Rc::new(vector)))
    }
}
