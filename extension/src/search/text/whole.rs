//! The whole of a name or a key: pure.
//!
//! Many names may have a frequent word; a user who types only this word looks for the record whose whole name it is.
//! The field of the name and that of the key therefore end with a mark, which is the same for texts of the same words.
//! The index finds it by one key, for it is a letter that stands behind no other: so few records are read, however
//! frequent the words are.

use super::mark::{START, STEM, VALUE};
use std::collections::BTreeSet;

/// Begins the mark of a whole text. Folded texts hold no control characters.
pub const WHOLE: char = '\u{1b}';

/// The longest text that has a mark, in bytes: a search is not longer.
pub(super) const LONGEST: usize = 1024;
/// The first of the letters by which the index finds marks: rare signs of Han, in this many lists of records.
const FIRST_LETTER: u32 = 0x20000;
const LETTERS: u64 = 1 << 14;
/// The same number.
pub const LISTS: f64 = LETTERS as f64;
/// The digits behind it tell what these lists share, in control characters, of which the index has no keys.
const DIGITS: u32 = 6;

/// A text that may be the whole name of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The text, folded.
    pub text: String,
    /// What a field of the same words ends with.
    pub mark: String,
}

impl Whole {
    /// Of a folded text with these lexemes; none where it is empty or too long.
    pub fn new(text: &str, lexemes: &BTreeSet<String>) -> Option<Whole> {
        Some(Whole { text: text.to_owned(), mark: mark(text, lexemes)? })
    }

    /// Whether the values of a field, from its first mark on, are of the same words and no others.
    pub fn has_words_of(&self, values: &[u8]) -> bool {
        values.ends_with(self.mark.as_bytes())
    }

    /// Whether they are this text.
    pub fn is(&self, values: &[u8]) -> bool {
        let text = values.strip_prefix(b" ").and_then(|values| values.strip_prefix(self.text.as_bytes()));
        let is_mark = |next: &u8| [START, STEM, VALUE, WHOLE].contains(&char::from(*next));
        self.has_words_of(values) && text.and_then(<[u8]>::first).is_some_and(is_mark)
    }
}

/// The mark of a folded text with these lexemes: of the lexemes, so that endings do not count, nor does the order; for lack of
/// any, of the text.
pub fn mark(text: &str, lexemes: &BTreeSet<String>) -> Option<String> {
    if text.is_empty() || text.len() > LONGEST {
        return None;
    }
    let mut hashed = String::with_capacity(text.len() + 16);
    for lexeme in lexemes {
        hashed.push(STEM);
        hashed.push_str(lexeme);
    }
    if lexemes.is_empty() {
        hashed.push_str(text);
    }
    let hash = hash(&hashed);
    let mut mark = String::from(WHOLE);
    mark.extend(char::from_u32(FIRST_LETTER + (hash % LETTERS) as u32));
    let rest = hash / LETTERS;
    mark.extend((0..DIGITS).map(|digit| char::from((rest >> (3 * digit)) as u8 % 8 + 1)));
    Some(mark)
}

/// A hash that never changes, for it stands in documents: FNV-1a, where the lower bits depend on the upper ones, too.
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, add);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::super::mark::FIELD;
    use super::super::trigram;
    use super::*;

    fn lexemes(text: &str) -> BTreeSet<String> {
        text.split(' ').map(|word| word.trim_end_matches('s').to_owned()).collect()
    }

    fn mark_of(text: &str) -> String {
        mark(text, &lexemes(text)).expect("a short text")
    }

    #[test]
    fn mark_is_of_the_words_without_their_order_and_endings() {
        assert_eq!(mark_of("steel bolts"), mark_of("bolt steel"));
        assert_ne!(mark_of("steel bolts"), mark_of("steel"));
        assert_ne!(mark("the", &BTreeSet::new()), mark("of", &BTreeSet::new()));
        assert_eq!(
            (mark("", &BTreeSet::new()), mark(&"x".repeat(LONGEST + 1), &BTreeSet::new())),
            (None, None)
        );
    }

    #[test]
    fn marks_stay_what_they_are_in_documents_that_exist() {
        assert_eq!(mark_of("bolts"), "\u{1b}\u{21a17}\u{6}\u{1}\u{5}\u{2}\u{7}\u{8}");
    }

    #[test]
    fn index_has_one_key_for_a_mark() {
        for text in ["bolts", "old maps", "é"] {
            let mark = mark_of(text);
            let end = format!("x{STEM}{mark}{FIELD}");
            let keys = trigram::of_document(&end, || {}).expect("memory");
            assert_eq!(keys.len(), 1, "{text}");
            assert_eq!(trigram::of_pattern(&format!("%{mark}%")), keys, "{text}");
        }
    }

    #[test]
    fn text_is_told_from_others_of_its_words() {
        let whole = Whole::new("bolts", &lexemes("bolts")).expect("a short text");
        let mark = &whole.mark;
        for (values, has_words, is) in [
            (format!(" bolts{STEM}BOLT{STEM}{mark}"), true, true),
            (format!(" bolts{mark}"), true, true),
            (format!(" bolts{START} x{mark}"), true, true),
            (format!(" bolt{STEM}BOLT{STEM}{mark}"), true, false),
            (format!(" bolts bolt{STEM}BOLT{STEM}{mark}"), true, false),
            (format!(" bolts{STEM}BOLT{STEM}"), false, false),
            (format!(" bolts{STEM}BOLT{STEM}{}", mark_of("nut")), false, false),
        ] {
            let values = values.as_bytes();
            assert_eq!((whole.has_words_of(values), whole.is(values)), (has_words, is), "{values:?}");
        }
    }
}
