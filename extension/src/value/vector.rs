//! Vectors of finite numbers, normalized to unit length, and changes of a record's vector. Pure.

use crate::error::{Code, Error};
use crate::json;
use serde_json::value::RawValue;
use std::rc::Rc;

/// The number of dimensions of a vector.
pub const DIMENSIONS: usize = 768;

/// A vector of length one.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Vec<f32>);

impl Vector {
    /// Parses the array of numbers at `pointer` in the request.
    pub fn parse(value: &RawValue, pointer: &str) -> Result<Vector, Error> {
        if let Some(numbers) = plain_numbers(value.get()) {
            return Vector::of(&numbers, pointer);
        }
        // One element above the limit suffices to detect that there are too many.
        let elements = json::array_at_most(value, DIMENSIONS + 1, pointer)?;
        check_length(elements.len(), pointer)?;
        let mut numbers = Vec::with_capacity(DIMENSIONS);
        for (index, element) in elements.into_iter().enumerate() {
            numbers.push(number(element.get()).ok_or_else(|| {
                Error::at(
                    Code::InvalidValue,
                    format!("{pointer}/{index}"),
                    "a vector can contain only numbers",
                )
            })?);
        }
        Vector::of(&numbers, pointer)
    }

    /// Normalizes the numbers at `pointer` to unit length.
    ///
    /// Rejects numbers and lengths outside single precision. Their distance would be NaN, which passes every threshold.
    pub fn of(numbers: &[f64], pointer: &str) -> Result<Vector, Error> {
        check_length(numbers.len(), pointer)?;
        if let Some(index) =
            numbers.iter().position(|number| number.is_nan() || number.abs() > f64::from(f32::MAX))
        {
            let message = "a vector can contain only finite single-precision numbers, at most 3.4e38";
            return Err(Error::at(Code::InvalidValue, format!("{pointer}/{index}"), message));
        }
        let squares: f64 = numbers.iter().map(|number| number * number).sum();
        if squares == 0.0 {
            return Err(Error::at(Code::InvalidValue, pointer, "a vector of zeros has no direction")
                .hint("Send the output of the model, or null for a record without a vector."));
        }
        if squares > f64::from(f32::MAX) || squares < f64::from(f32::MIN_POSITIVE) {
            let message = "the vector is too long or too short for single precision: its length must be between \
                           1.1e-19 and 1.8e19";
            return Err(Error::at(Code::InvalidValue, pointer, message)
                .hint("Divide the vector by its length first."));
        }
        let length = squares.sqrt();
        Ok(Vector(numbers.iter().map(|number| (number / length) as f32).collect()))
    }

    /// The components.
    pub fn components(&self) -> &[f32] {
        &self.0
    }
}

/// The change of a record's vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Embedding {
    /// The request does not contain it.
    #[default]
    Absent,
    /// Null, which removes the vector.
    Null,
    /// A new vector.
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

/// Parses a valid array of numbers, several times faster than a general parser. Otherwise returns `None`, and the text is
/// parsed again for the error message. The text is valid JSON, so commas separate the elements.
fn plain_numbers(text: &str) -> Option<Vec<f64>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let mut numbers = Vec::with_capacity(DIMENSIONS);
    for element in inner.split(',') {
        if numbers.len() == DIMENSIONS {
            return None;
        }
        numbers.push(number(element.trim_ascii())?);
    }
    Some(numbers)
}

/// A JSON number; `None` for another type.
fn number(text: &str) -> Option<f64> {
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

fn check_length(length: usize, pointer: &str) -> Result<(), Error> {
    if length == DIMENSIONS {
        return Ok(());
    }
    let found = if length > DIMENSIONS { "more".to_owned() } else { length.to_string() };
    let message = format!("a vector has {DIMENSIONS} numbers, and this one {found}");
    Err(Error::at(Code::VectorDimension, pointer, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Vector, Error> {
        let raw: &RawValue = serde_json::from_str(text).expect("JSON");
        Vector::parse(raw, "/embedding")
    }

    /// A vector of the right number of dimensions: these numbers, followed by zeros.
    fn with(first: &[&str]) -> String {
        let numbers: Vec<&str> =
            first.iter().copied().chain(std::iter::repeat("0")).take(DIMENSIONS).collect();
        format!("[{}]", numbers.join(","))
    }

    fn rejection(text: &str) -> (Code, String) {
        let error = parse(text).expect_err(text);
        (error.code, error.violations[0].pointer.clone())
    }

    #[test]
    fn vector_is_normalized() {
        let vector = parse(&with(&["3", "-4e0"])).expect("a vector");
        assert_eq!(vector.components()[..3], [0.6, -0.8, 0.0]);
        assert_eq!(vector, parse(&with(&["0.75", "-1"])).expect("a vector"));
        assert_eq!(vector, parse(&with(&["\n 6.0 ", "\t-8E+0"])).expect("a vector"));
    }

    #[test]
    fn wrong_number_of_dimensions_is_rejected() {
        let ones = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        for count in [0, 1, 767, 769, 100_000] {
            assert_eq!(rejection(&ones(count)), (Code::VectorDimension, "/embedding".to_owned()), "{count}");
        }
        assert!(parse(&ones(DIMENSIONS)).is_ok());
    }

    #[test]
    fn non_finite_number_is_rejected_with_its_pointer() {
        for text in
            ["\"1\"", "\"1,1\"", "null", "true", "[1]", "[1,2]", "{}", "1e39", "-1e39", "1e400", "\"NaN\""]
        {
            let expected = (Code::InvalidValue, "/embedding/2".to_owned());
            assert_eq!(rejection(&with(&["1", "0", text])), expected, "{text}");
        }
        for numbers in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut vector = vec![1.0; DIMENSIONS];
            vector[700] = numbers;
            let error = Vector::of(&vector, "/vector").expect_err("not finite");
            assert_eq!(error.violations[0].pointer, "/vector/700");
        }
    }

    #[test]
    fn non_array_is_rejected() {
        for text in ["\"[1,2]\"", "{}", "1", "true"] {
            assert_eq!(rejection(text), (Code::InvalidValue, "/embedding".to_owned()), "{text}");
        }
    }

    #[test]
    fn zero_vector_and_length_outside_single_precision_are_rejected() {
        for numbers in [["0", "-0.0"], ["1e38", "1e38"], ["2e19", "0"], ["1e-30", "1e-30"], ["1e-19", "0"]] {
            let expected = (Code::InvalidValue, "/embedding".to_owned());
            assert_eq!(rejection(&with(&numbers)), expected, "{numbers:?}");
        }
        for numbers in [["1e19", "1"], ["1e-18", "0"]] {
            assert!(parse(&with(&numbers)).is_ok(), "{numbers:?}");
        }
    }

    proptest! {
        #[test]
        fn accepted_vector_has_length_one(numbers in prop::collection::vec(-1e3f64..1e3, DIMENSIONS)) {
            let vector = Vector::of(&numbers, "").expect("a vector");
            let squares: f64 = vector.components().iter().map(|it| f64::from(*it) * f64::from(*it)).sum();
            prop_assert!((squares - 1.0).abs() < 1e-5);
        }

        #[test]
        fn any_other_json_is_rejected_with_its_pointer(
            json in json::arbitrary::value(),
            index in 0..DIMENSIONS,
        ) {
            let error = parse(&json).expect_err("no arbitrary value is a vector of this many numbers");
            let request = format!("{{\"embedding\":{json}}}");
            prop_assert!(json::arbitrary::points_into(&request, &error), "{:?}", error.violations);
            // An element that is not a number is reported with its pointer.
            let mut elements = vec!["1"; DIMENSIONS];
            elements[index] = &json;
            if let Err(error) = parse(&format!("[{}]", elements.join(","))) {
                let pointer = format!("/embedding/{index}");
                prop_assert!(["/embedding", pointer.as_str()].contains(&error.violations[0].pointer.as_str()));
            } else {
                prop_assert!(json.parse::<f64>().is_ok(), "{json} is not a number");
            }
        }
    }
}
