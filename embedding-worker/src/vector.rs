//! Vectors: validates the output of a provider.

use std::fmt::Write as _;

use crate::settings::DIMENSION;

/// A vector of [`DIMENSION`] numbers with length 1. Searches compare only directions, and the length of other vectors
/// could overflow or underflow in PostgreSQL.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Vec<f32>);

/// Why numbers are not a valid vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VectorError {
    /// All vectors of the model have this length: the model or its setting is wrong.
    Length(usize),
    /// The model has failed for this text.
    Numbers(&'static str),
}

impl Vector {
    /// Validates numbers parsed from JSON and normalizes them to length 1. Some servers write null for NaN.
    pub fn check(numbers: &[Option<f64>]) -> Result<Vector, VectorError> {
        if numbers.len() != DIMENSION {
            return Err(VectorError::Length(numbers.len()));
        }
        let mut finite = Vec::with_capacity(DIMENSION);
        for number in numbers {
            match number {
                Some(number) if number.is_finite() => finite.push(*number),
                _ => return Err(VectorError::Numbers("the model returned a number that is not finite")),
            }
        }
        if finite.iter().all(|number| *number == 0.0) {
            return Err(VectorError::Numbers("the model returned a vector of zeros"));
        }
        let square: f64 = finite.iter().map(|number| number * number).sum();
        if !square.is_normal() {
            return Err(VectorError::Numbers(
                "the model returned a vector too long or too short to normalize",
            ));
        }
        let length = square.sqrt();
        Ok(Vector(finite.into_iter().map(|number| (number / length) as f32).collect()))
    }

    /// Normalizes numbers to length 1. They must be finite and not all zero.
    pub(crate) fn of_unit_length(mut numbers: Vec<f32>) -> Vector {
        let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
        for number in &mut numbers {
            *number /= length;
        }
        Vector(numbers)
    }

    /// Any valid vector, for a search that is only validated.
    pub fn any() -> Vector {
        Vector::of_unit_length(vec![1.0; DIMENSION])
    }

    /// The numbers for a `real[]` argument, which is exact and does not require the OID of pgvector's type.
    pub fn numbers(&self) -> &[f32] {
        &self.0
    }

    /// A JSON array, with the digits needed to reproduce each number.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(DIMENSION * 12);
        for (position, number) in self.0.iter().enumerate() {
            out.push(if position == 0 { '[' } else { ',' });
            let _ = write!(out, "{number}");
        }
        out.push(']');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(first: Option<f64>) -> Vec<Option<f64>> {
        let mut numbers = vec![Some(0.0); DIMENSION];
        numbers[0] = first;
        numbers
    }

    #[test]
    fn vector_has_768_finite_numbers_not_all_zero() {
        assert!(Vector::check(&numbers(Some(0.5))).is_ok());
        assert_eq!(Vector::check(&[Some(1.0); 767]), Err(VectorError::Length(767)));
        assert_eq!(Vector::check(&[]), Err(VectorError::Length(0)));
        for first in [None, Some(f64::NAN), Some(f64::INFINITY), Some(1e300), Some(0.0), Some(1e-300)] {
            assert!(matches!(Vector::check(&numbers(first)), Err(VectorError::Numbers(_))), "{first:?}");
        }
    }

    #[test]
    fn vector_is_normalized() {
        for first in [1e-100, 1e-25, 0.5, 2.0, 1e25, 1e100] {
            let vector = Vector::check(&numbers(Some(first))).expect("a vector");
            assert_eq!(vector.numbers()[..2], [1.0, 0.0], "{first}");
        }
        let mut pair = numbers(Some(3e30));
        pair[1] = Some(-4e30);
        assert_eq!(Vector::check(&pair).expect("a vector").numbers()[..2], [0.6, -0.8]);
    }

    #[test]
    fn number_round_trips_through_json() {
        let mut expected = numbers(Some(0.1));
        expected[1] = Some(-1.5e-30);
        expected[2] = Some(3.0);
        let vector = Vector::check(&expected).expect("a vector");
        let read: Vec<f32> = serde_json::from_str(&vector.to_json()).expect("JSON");
        assert_eq!(read, vector.numbers());
    }
}
