//! A vector of finite numbers, normalised to unit length. Pure.

use crate::error::{Code, Error};
use crate::json;
use serde_json::value::RawValue;

/// How many numbers a vector has.
pub const DIMENSIONS: usize = 768;

/// A direction: its numbers squared add up to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(Vec<f32>);

impl Vector {
    /// Parses the array of numbers at `pointer` in the request.
    pub fn parse(value: &RawValue, pointer: &str) -> Result<Vector, Error> {
        if let Some(numbers) = plain_numbers(value.get()) {
            return Vector::of(&numbers, pointer);
        }
        // One more than allowed is enough to know that there are too many.
        let elements = json::array_at_most(value, DIMENSIONS + 1, pointer)?;
        check_length(elements.len(), pointer)?;
        let mut numbers = Vec::with_capacity(DIMENSIONS);
        for (index, element) in elements.into_iter().enumerate() {
            numbers.push(number(element.get()).ok_or_else(|| {
                Error::at(Code::InvalidValue, format!("{pointer}/{index}"), "a vector has numbers only")
            })?);
        }
        Vector::of(&numbers, pointer)
    }

    /// Takes the numbers at `pointer` and normalises them to unit length.
    ///
    /// What single precision cannot hold is refused, its length included: PostgreSQL would find a distance of NaN, which
    /// passes every threshold.
    pub fn of(numbers: &[f64], pointer: &str) -> Result<Vector, Error> {
        check_length(numbers.len(), pointer)?;
        if let Some(index) =
            numbers.iter().position(|number| number.is_nan() || number.abs() > f64::from(f32::MAX))
        {
            let message = "a vector has finite numbers of single precision, at most 3.4e38";
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

    /// Its numbers.
    pub fn components(&self) -> &[f32] {
        &self.0
    }
}

/// The numbers of a valid array, several times as fast as a general parser; `None` otherwise, in which case it is
/// parsed again for the error. The text is valid JSON, so elements are separated by commas.
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

/// A JSON number; `None` for a value of another kind.
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

    /// A vector of the right length: these numbers, and zeros behind them.
    fn with(first: &[&str]) -> String {
        let numbers: Vec<&str> =
            first.iter().copied().chain(std::iter::repeat("0")).take(DIMENSIONS).collect();
        format!("[{}]", numbers.join(","))
    }

    fn refusal(text: &str) -> (Code, String) {
        let error = parse(text).expect_err(text);
        (error.code, error.faults[0].pointer.clone())
    }

    #[test]
    fn a_vector_is_brought_to_length_one() {
        let vector = parse(&with(&["3", "-4e0"])).expect("a vector");
        assert_eq!(vector.components()[..3], [0.6, -0.8, 0.0]);
        assert_eq!(vector, parse(&with(&["0.75", "-1"])).expect("a vector"));
        assert_eq!(vector, parse(&with(&["\n 6.0 ", "\t-8E+0"])).expect("a vector"));
    }

    #[test]
    fn another_number_of_numbers_is_refused() {
        let ones = |count: usize| format!("[{}]", vec!["1"; count].join(","));
        for count in [0, 1, 767, 769, 100_000] {
            assert_eq!(refusal(&ones(count)), (Code::VectorDimension, "/embedding".to_owned()), "{count}");
        }
        assert!(parse(&ones(DIMENSIONS)).is_ok());
    }

    #[test]
    fn a_non_finite_number_is_refused_with_its_pointer() {
        for text in
            ["\"1\"", "\"1,1\"", "null", "true", "[1]", "[1,2]", "{}", "1e39", "-1e39", "1e400", "\"NaN\""]
        {
            let expected = (Code::InvalidValue, "/embedding/2".to_owned());
            assert_eq!(refusal(&with(&["1", "0", text])), expected, "{text}");
        }
        for numbers in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut vector = vec![1.0; DIMENSIONS];
            vector[700] = numbers;
            let error = Vector::of(&vector, "/vector").expect_err("not finite");
            assert_eq!(error.faults[0].pointer, "/vector/700");
        }
    }

    #[test]
    fn a_non_array_is_refused() {
        for text in ["\"[1,2]\"", "{}", "1", "true"] {
            assert_eq!(refusal(text), (Code::InvalidValue, "/embedding".to_owned()), "{text}");
        }
    }

    #[test]
    fn a_vector_without_direction_or_of_a_length_that_single_precision_cannot_hold_is_refused() {
        for numbers in [["0", "-0.0"], ["1e38", "1e38"], ["2e19", "0"], ["1e-30", "1e-30"], ["1e-19", "0"]] {
            let expected = (Code::InvalidValue, "/embedding".to_owned());
            assert_eq!(refusal(&with(&numbers)), expected, "{numbers:?}");
        }
        for numbers in [["1e19", "1"], ["1e-18", "0"]] {
            assert!(parse(&with(&numbers)).is_ok(), "{numbers:?}");
        }
    }

    proptest! {
        #[test]
        fn every_accepted_vector_has_length_one(numbers in prop::collection::vec(-1e3f64..1e3, DIMENSIONS)) {
            let vector = Vector::of(&numbers, "").expect("a vector");
            let squares: f64 = vector.components().iter().map(|it| f64::from(*it) * f64::from(*it)).sum();
            prop_assert!((squares - 1.0).abs() < 1e-5);
        }

        #[test]
        fn whatever_json_is_sent_in_its_place_is_refused_with_its_place(
            json in json::arbitrary::value(),
            index in 0..DIMENSIONS,
        ) {
            let error = parse(&json).expect_err("no arbitrary value is a vector of this many numbers");
            let request = format!("{{\"embedding\":{json}}}");
            prop_assert!(json::arbitrary::points_into(&request, &error), "{:?}", error.faults);
            // An element that is not a number is reported with its position.
            let mut elements = vec!["1"; DIMENSIONS];
            elements[index] = &json;
            if let Err(error) = parse(&format!("[{}]", elements.join(","))) {
                let place = format!("/embedding/{index}");
                prop_assert!(["/embedding", place.as_str()].contains(&error.faults[0].pointer.as_str()));
            } else {
                prop_assert!(json.parse::<f64>().is_ok(), "{json} is no number");
            }
        }
    }
}
