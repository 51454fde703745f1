//! A provider that needs no model: a bag of words, hashed into a vector.
//!
//! For demos and tests: texts are similar only if they share words. The same text always has the same vector.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::settings::DIMENSION;
use crate::vector::Vector;

/// The model name of this provider.
pub(crate) const MODEL: &str = "hash";

/// The vector of a text. The hash of a word determines a dimension and a sign; its weight is the logarithm of its frequency.
pub(crate) fn embed(text: &str) -> Vector {
    let mut counts: HashMap<String, u32> = HashMap::new();
    let lower = text.to_lowercase();
    for word in lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        *counts.entry(word.to_owned()).or_default() += 1;
    }
    if counts.is_empty() {
        // A text without words is embedded as a whole.
        counts.insert(lower, 1);
    }
    let mut numbers = vec![0.0_f64; DIMENSION];
    let mut words: Vec<(&String, &u32)> = counts.iter().collect();
    // The sum of floats depends on their order.
    words.sort_unstable();
    for (word, count) in words {
        let digest = Sha256::digest(word.as_bytes());
        let dimension = usize::from(u16::from_be_bytes([digest[0], digest[1]])) % DIMENSION;
        let sign = if digest[2] & 1 == 0 { 1.0 } else { -1.0 };
        numbers[dimension] += sign * (1.0 + f64::from(*count).ln());
    }
    // Two words in one dimension with opposite signs can cancel each other out.
    if numbers.iter().all(|number| *number == 0.0) {
        numbers[0] = 1.0;
    }
    Vector::of_unit_length(numbers.into_iter().map(|number| number as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(one: &str, other: &str) -> f32 {
        let (one, other) = (embed(one), embed(other));
        one.numbers().iter().zip(other.numbers()).map(|(one, other)| one * other).sum()
    }

    #[test]
    fn shared_words_reduce_the_distance() {
        let text = "Girl with a Pearl Earring";
        assert!((similarity(text, "girl, with a PEARL earring!") - 1.0).abs() < 1e-5);
        assert!(similarity(text, "pearl earring") > similarity(text, "pearl necklace"));
        assert!(similarity(text, "the milkmaid").abs() < 0.3);
    }

    #[test]
    fn every_text_has_a_vector_of_length_one() {
        for text in ["", "—", "a", "Ähre", &"word ".repeat(10_000)] {
            let length: f32 = embed(text).numbers().iter().map(|number| number * number).sum();
            assert!((length - 1.0).abs() < 1e-5, "{text:.20}");
        }
    }

    #[test]
    fn vector_of_a_word_never_changes() {
        let vector = embed("pearl");
        // The first two bytes of the word's SHA-256 modulo 768, and an even third byte.
        assert_eq!(vector.numbers().iter().position(|number| *number != 0.0), Some(739));
        assert_eq!(vector.numbers()[739], 1.0);
    }
}
