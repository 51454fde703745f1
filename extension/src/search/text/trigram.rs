//! The keys of the document index: trigrams and prefixes of words. Pure.
//!
//! A key is made of at most three adjacent characters only, so a document that contains a string has all keys of the
//! string. The converse does not hold, so candidates are rechecked. There is a key for
//!
//! - three letters or digits, and two with a symbol between or after them (`2-1`, `ab-`), so that a part number or an
//!   address is found by a part of it;
//! - one or two letters that begin a word: the character before them counts as a space;
//! - the end of a stem, which distinguishes a short stem from the many words that begin with it.
//!
//! Case is ignored, as it is by `ilike`. Indexes store the keys: **their contents must never change** without a
//! rebuild of these indexes. So this module defines letters and lowercase itself, without the Unicode tables of a
//! library.

use super::document::STEM;
use std::collections::TryReserveError;

/// A key of the index.
pub type Key = i32;

/// The strategy number of `ilike` in the operator class.
pub const IGNORING_CASE: u16 = 4;

/// The text before the first character is unknown.
const UNKNOWN: u32 = u32::MAX;
const SPACE: u32 = b' ' as u32;
const END: u32 = STEM as u32;

/// The number of keys from which duplicates are removed early.
const MANY: usize = 1 << 16;

/// The maximum number of keys for a pattern. A document must have all keys, so any subset is correct, and with this number
/// the remaining keys would exclude hardly any document.
const MAX_OF_PATTERN: usize = 256;

/// The keys of a string, sorted, without duplicates. `pause` is called repeatedly during long input. An error means out of
/// memory.
pub fn of_document(document: &str, mut pause: impl FnMut()) -> Result<Vec<Key>, TryReserveError> {
    let mut keys = Vec::new();
    let mut capacity = 0;
    let mut neighbours = AdjacentCharacters::default();
    for character in document.chars() {
        if keys.len() + MAX_OF_CHARACTER > capacity {
            if capacity > MANY {
                pause();
                sort(&mut keys);
            }
            let more = if capacity == 0 {
                (MAX_OF_CHARACTER * document.len()).min(MANY)
            } else {
                MANY.max(keys.len())
            };
            keys.try_reserve_exact(more + MAX_OF_CHARACTER)?;
            capacity = keys.len() + more + MAX_OF_CHARACTER;
        }
        neighbours.add(character, &mut |key| keys.push(key));
    }
    sort(&mut keys);
    Ok(keys)
}

/// The keys of every string that matches this LIKE pattern, sorted, without duplicates.
pub fn of_pattern(pattern: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut neighbours = AdjacentCharacters::default();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next().filter(|_| keys.len() < MAX_OF_PATTERN) {
        let taken = match character {
            '%' | '_' => None,
            '\\' => characters.next(),
            other => Some(other),
        };
        match taken {
            Some(taken) => neighbours.add(taken, &mut |key| keys.push(key)),
            None => neighbours = AdjacentCharacters::default(),
        }
    }
    sort(&mut keys);
    keys
}

/// Whether a string has a key at any position of a document.
pub fn has_key(text: &str) -> bool {
    let mut neighbours = AdjacentCharacters::default();
    let mut has_one = false;
    text.chars().for_each(|character| neighbours.add(character, &mut |_| has_one = true));
    has_one
}

fn sort(keys: &mut Vec<Key>) {
    keys.sort_unstable();
    keys.dedup();
}

/// The two characters before the next one.
struct AdjacentCharacters {
    first: u32,
    second: u32,
}

impl Default for AdjacentCharacters {
    fn default() -> Self {
        AdjacentCharacters { first: UNKNOWN, second: UNKNOWN }
    }
}

/// The maximum number of keys that a character adds.
const MAX_OF_CHARACTER: usize = 2;

impl AdjacentCharacters {
    /// Passes the keys that the next character adds to `take`.
    fn add(&mut self, character: char, take: &mut impl FnMut(Key)) {
        let (first, second, third) = (self.first, self.second, lowercase(u32::from(character)));
        if is_letter(third) {
            if is_letter(second) {
                if first != UNKNOWN {
                    take(key(or_space(first), second, third));
                }
            } else if second != UNKNOWN {
                take(key(SPACE, SPACE, third));
                if is_sign(second) && is_letter(first) {
                    take(key(first, second, third));
                }
            }
        } else if third == END && is_letter(second) && first != UNKNOWN {
            take(key(or_space(first), second, SPACE));
        } else if is_sign(third) && is_letter(second) && is_letter(first) {
            take(key(first, second, third));
        }
        (self.first, self.second) = (second, third);
    }
}

/// Whether a character counts as a letter or digit: every non-ASCII character that is not a symbol
/// does.
fn is_letter(character: u32) -> bool {
    match u8::try_from(character) {
        Ok(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric(),
        _ => !is_sign(character) && character != UNKNOWN,
    }
}

/// Whether a character is a symbol: neither a letter nor a separator (space, document marker). Symbols of ASCII
/// and Latin-1, punctuation of common scripts, arrows, mathematical symbols and pictographs.
fn is_sign(character: u32) -> bool {
    match character {
        0..0x80 => u8::try_from(character).is_ok_and(|byte| byte.is_ascii_punctuation()),
        0x80..=0xbf | 0xd7 | 0xf7 => true,
        // Greek, Armenian, Hebrew, Arabic, Indic, Thai.
        0x37e | 0x387 | 0x55a..=0x55f | 0x589..=0x58a | 0x58d..=0x58f => true,
        0x5be | 0x5c0 | 0x5c3 | 0x5c6 | 0x5f3..=0x5f4 => true,
        0x606..=0x60f | 0x61b..=0x61f | 0x66a..=0x66d | 0x6d4 => true,
        0x964..=0x965 | 0x970 | 0xe3f | 0xe4f | 0xe5a..=0xe5b => true,
        // General punctuation, currencies, arrows, mathematics, boxes, dingbats.
        0x2000..=0x206f | 0x20a0..=0x20cf | 0x2190..=0x2bff | 0x2e00..=0x2e7f => true,
        // East Asian punctuation.
        0x3001..=0x3004 | 0x3008..=0x3020 | 0x3030 | 0x303d..=0x303f | 0x30fb => true,
        // Pictographs.
        0x1f000..=0x1faff => true,
        _ => false,
    }
}

fn or_space(character: u32) -> u32 {
    if is_letter(character) { character } else { SPACE }
}

/// The lowercase of a letter of ASCII, Latin-1, Greek or Cyrillic; other characters unchanged. Stems are
/// uppercase in documents; in lowercase they share the keys of their words.
pub(super) fn lowercase(character: u32) -> u32 {
    match character {
        0x41..=0x5a | 0xc0..=0xd6 | 0xd8..=0xde | 0x391..=0x3a1 | 0x3a3..=0x3a9 | 0x410..=0x42f => {
            character + 0x20
        }
        0x400..=0x40f => character + 0x50,
        _ => character,
    }
}

/// Three characters as one number: ASCII characters unchanged, others hashed, with the sign bit set. A hash collision
/// only means that a document without a match is read.
fn key(first: u32, second: u32, third: u32) -> Key {
    if (first | second | third) < 0x80 {
        return (first << 14 | second << 7 | third) as Key;
    }
    let packed = u64::from(first) << 42 | u64::from(second) << 21 | u64::from(third);
    // 2⁶⁴ divided by the golden ratio: the upper bits of the product depend on all lower ones (Knuth, TAOCP 3, §6.4).
    (packed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as Key | Key::MIN
}

#[cfg(test)]
mod tests {
    use super::super::document::{Field, write_field};
    use super::super::fold::fold;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Keys of ASCII as they can be read.
    fn shown(keys: &[Key]) -> Vec<String> {
        let letter = |key: Key, shift: u32| char::from((key >> shift & 0x7f) as u8);
        keys.iter().map(|key| [14, 7, 0].map(|shift| letter(*key, shift)).iter().collect()).collect()
    }

    fn of_document(text: &str) -> Vec<Key> {
        super::of_document(text, || {}).expect("there is memory for a few keys")
    }

    #[test]
    fn keys_are_three_neighbors_and_beginnings_of_words() {
        for (text, expected) in [
            (" map", &["  m", " ma", "map"] as &[&str]),
            (" f2-15", &["  1", "  f", " 15", " f2", "2-1", "f2-"]),
            ("\u{1d}MAP\u{1d}", &["  m", " ma", "ap ", "map"]),
            ("\u{1d}X\u{1d}", &["  x", " x "]),
            (" a b", &["  a", "  b"]),
            ("map", &["map"]),
            ("ap", &[]),
            ("ab--c", &["  c", "ab-"]),
            ("", &[]),
        ] {
            assert_eq!(shown(&of_document(text)), expected, "{text:?}");
        }
    }

    #[test]
    fn pattern_has_the_keys_of_its_literal_parts() {
        for (pattern, expected) in [
            ("%map%", &["map"] as &[&str]),
            ("%ma_p%s", &[]),
            ("% ma%xyz", &["  m", " ma", "xyz"]),
            (r"%1\%2%", &["  2", "1%2"]),
            (r"%a\\bc%", &["  b", " bc", r"a\b"]),
            ("%\u{1d}MAP\u{1d}%", &["  m", " ma", "ap ", "map"]),
            (r"\", &[]),
            ("%", &[]),
        ] {
            assert_eq!(shown(&of_pattern(pattern)), expected, "{pattern:?}");
        }
        let long = "abc-de-gh".repeat(100_000);
        assert!((1..=MAX_OF_PATTERN + MAX_OF_CHARACTER).contains(&of_pattern(&long).len()));
        assert!(has_key("map") && has_key(" m") && has_key("2-1") && !has_key("ma") && !has_key("-"));
    }

    #[test]
    fn keys_never_change() {
        assert_eq!(of_document(" map 2-1"), [528_433, 528_434, 528_493, 538_337, 825_009, 1_798_384]);
        assert_eq!(
            of_document("ÜBER Ж€5"),
            [-1_328_472_441, -1_234_415_981, -362_380_465, 528_437, 1_618_674]
        );
    }

    #[test]
    fn long_text_has_the_keys_of_a_short_one() {
        let text = " one two three 4-5 ünî";
        assert_eq!(of_document(&text.repeat(20_000)), of_document(&text.repeat(2)));
    }

    proptest! {
        #[test]
        fn document_with_a_text_has_its_keys(text in "[a-cA-C1-3ÄäßΣσЖж東京 .%_\\\\\u{1d}-]{0,40}", from in 0usize..40, length in 0usize..12) {
            let part: String = text.chars().skip(from).take(length).collect();
            let pattern = format!("%{}%", crate::value::pattern::escaped(&part));
            let all: BTreeSet<Key> = of_document(&text).into_iter().collect();
            for key in of_pattern(&pattern) {
                prop_assert!(all.contains(&key), "{part:?} of {text:?}");
            }
            prop_assert_eq!(has_key(&part), !of_pattern(&pattern).is_empty());
        }

        #[test]
        fn case_of_ascii_is_ignored(text in "[a-c1 .\u{1d}-]{0,20}") {
            prop_assert_eq!(of_document(&text), of_document(&text.to_ascii_uppercase()));
        }

        #[test]
        fn every_word_is_found_by_its_beginning(text in "[a-c東京 .(-]{1,20}") {
            let mut document = String::new();
            write_field(&mut document, &Field { attribute: None, values: vec![&text], is_title: true }, &mut |_| BTreeSet::new());
            let all: BTreeSet<Key> = of_document(&document).into_iter().collect();
            for word in fold(&text).split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty()) {
                let beginning: String = word.chars().take(2).collect();
                let keys = of_pattern(&format!("% {beginning}%"));
                prop_assert!(!keys.is_empty() && keys.iter().all(|key| all.contains(key)), "{beginning:?} of {text:?}");
            }
        }
    }
}
