//! Vectors for tests, small in what they say and as long as they must be.

use serde_json::{Value, json};

/// How many numbers a vector has.
const DIMENSIONS: usize = 768;

/// A vector with these numbers in these places, and zeros elsewhere.
pub fn vector(parts: &[(usize, f64)]) -> Value {
    let mut numbers = vec![0.0; DIMENSIONS];
    for (place, number) in parts {
        numbers[*place] = *number;
    }
    json!(numbers)
}

/// A vector whose similarity to `vector(&[(0, 1.0)])` is this.
pub fn similar(similarity: f64) -> Value {
    vector(&[(0, similarity), (1, (1.0 - similarity * similarity).sqrt())])
}

/// A vector as PostgreSQL writes an array.
pub fn array(vector: &Value) -> String {
    vector.to_string().replace('[', "{").replace(']', "}")
}
