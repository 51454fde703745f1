//! The search document of a record. Pure.
//!
//! A document is a sequence of fields, beginning with the external key:
//!
//! ```text
//! FIELD code VALUE␠first value VALUE␠second value … START␠word START␠word … STEM LEXEME STEM LEXEME STEM WHOLE mark
//! ```
//!
//! The markers are control characters, which folded text does not contain. So no match extends across values, the code of
//! an attribute finds its field, and each kind of match is one `LIKE`:
//!
//! - a substring: `%text%`;
//! - the beginning of a word: `% te%`. Values begin with a space. Words that do not follow a space (`(word`, `re-word`,
//!   any letter of a script without spaces) are repeated after [`START`];
//! - a word in any inflection: `%␝LEXEME␝%`. Lexemes are uppercase, so that a substring search does not match them;
//! - a complete name or key: see [`Whole`]. Other fields have no fingerprint.
//!
//! So one trigram index supports all of them. The alternative is lexemes in a `tsvector` with a separate index. With
//! 500,000 records of 20 words, it took 477 MB instead of 343 MB, and 1.6 times as long to write a document. Searches
//! were between half and twice as fast, depending on the word.

use super::fold::fold;
use super::word_boundary::{is_dependent, is_written_without_spaces};
use std::collections::BTreeSet;

/// Begins a field.
pub const FIELD: char = '\u{1f}';
/// Begins a value.
pub const VALUE: char = '\u{1e}';
/// Surrounds a lexeme.
pub const STEM: char = '\u{1d}';
/// Begins the repetition of a word that does not follow a space.
pub const START: char = '\u{1c}';

/// The maximum size of a field whose words are stemmed. Text after it is found only in its written
/// form.
pub const MAX_STEMMED: usize = 256 * 1024;

/// One field of a document.
pub struct Field<'a> {
    /// The id of the attribute; `None` for the external key.
    pub attribute: Option<i32>,
    /// Its values: one string, or the labels of a list.
    pub values: Vec<&'a str>,
    /// Whether it is the display attribute or the key of the record.
    pub is_title: bool,
}

/// Writes a field, unless it is empty. `stem` returns the lexemes of a string.
pub fn write_field(out: &mut String, field: &Field, stem: &mut dyn FnMut(&str) -> BTreeSet<String>) {
    let folded: Vec<String> =
        field.values.iter().map(|value| fold(value)).filter(|value| !value.is_empty()).collect();
    if folded.is_empty() {
        return;
    }
    out.push(FIELD);
    out.push_str(&code(field.attribute));
    for value in &folded {
        out.push(VALUE);
        out.push(' ');
        out.push_str(value);
    }
    for value in &folded {
        write_inner_words(out, value);
    }
    let mut lexemes = BTreeSet::new();
    let mut rest = MAX_STEMMED;
    for value in &field.values {
        let part = &value[..value.floor_char_boundary(rest)];
        lexemes.append(&mut stem(part));
        rest -= part.len();
    }
    for lexeme in &lexemes {
        out.push(STEM);
        out.push_str(&marked(lexeme));
    }
    if !lexemes.is_empty() {
        out.push(STEM);
    }
    if let ([text], true) = (folded.as_slice(), field.is_title) {
        // Stems the folded text, so that accents are ignored. Case is ignored in every language.
        let is_stemmed = field.values.iter().any(|value| value.eq_ignore_ascii_case(text));
        let lexemes = if text.len() > MAX_WHOLE || is_stemmed { lexemes } else { stem(text) };
        out.extend(mark(text, &lexemes));
    }
}

/// The id of an attribute as control characters, one for three bits. Search terms never contain any.
pub fn code(attribute: Option<i32>) -> String {
    let digits = attribute.map_or(String::new(), |number| format!("{number:o}"));
    digits.bytes().map(|digit| char::from(digit - b'0' + 1)).collect()
}

/// The prefix of a field, before its first value.
pub fn field_start(attribute: Option<i32>) -> String {
    format!("{FIELD}{}{VALUE}", code(attribute))
}

/// A lexeme in its document form.
pub fn marked(lexeme: &str) -> String {
    lexeme.to_uppercase()
}

/// Repeats the words of a value that do not follow a space.
fn write_inner_words(out: &mut String, value: &str) {
    let mut before = ' ';
    for (position, character) in value.char_indices() {
        let begins = if is_written_without_spaces(character) {
            before != ' ' && !is_dependent(character)
        } else {
            character.is_alphanumeric() && before != ' ' && !before.is_alphanumeric()
                || character.is_alphanumeric() && is_written_without_spaces(before)
        };
        if begins {
            out.push(START);
            out.push(' ');
            out.push_str(word_at(&value[position..]));
        }
        before = character;
    }
}

/// The word at the start of a string: letters and digits, or two characters of a script without spaces.
fn word_at(text: &str) -> &str {
    let mut characters = text.char_indices();
    let Some((_, first)) = characters.next() else { return "" };
    let end = if is_written_without_spaces(first) {
        let belongs = |it: char| it.is_alphanumeric() || is_written_without_spaces(it);
        let second = characters.next().filter(|(_, second)| belongs(*second));
        Some(second.map_or(first.len_utf8(), |(start, second)| start + second.len_utf8()))
    } else {
        characters.find(|(_, it)| !it.is_alphanumeric() || is_written_without_spaces(*it)).map(|(end, _)| end)
    };
    &text[..end.unwrap_or(text.len())]
}

// The fingerprint of a complete name or key. A frequent word may be part of many names; a user who types only this word
// expects the record whose complete name it is. So the display and key fields end with a fingerprint, which is equal for
// names with the same words. Its first character is a letter that follows no letter, so the index finds it by one key, and
// few records are read, however frequent the words are.

/// Begins a fingerprint. Folded text contains no control characters.
pub const WHOLE: char = '\u{1b}';

/// The maximum size of a name with a fingerprint, in bytes. No query is longer.
const MAX_WHOLE: usize = 1024;
/// The first of the letters that begin fingerprints: rare Han characters, by which the index divides records into this many
/// lists.
const FIRST_LETTER: u32 = 0x20000;
const LETTERS: u64 = 1 << 14;
/// The same number, as a divisor.
pub const LISTS: f64 = LETTERS as f64;
/// The number of digits after the letter, which distinguish the names in a list: control characters, for which the index has
/// no keys.
const DIGITS: u32 = 6;

/// A string that may be the complete name or key of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The text, folded.
    pub text: String,
    /// The fingerprint of a field with the same words.
    pub mark: String,
}

impl Whole {
    /// Creates it from folded text with these lexemes; `None` if the text is empty or too long.
    pub fn new(text: &str, lexemes: &BTreeSet<String>) -> Option<Whole> {
        Some(Whole { text: text.to_owned(), mark: mark(text, lexemes)? })
    }

    /// Whether the values of a field, from its first marker on, have the same words and no others.
    pub fn has_words_of(&self, values: &[u8]) -> bool {
        values.ends_with(self.mark.as_bytes())
    }

    /// Whether they are this string.
    pub fn is(&self, values: &[u8]) -> bool {
        let text = values.strip_prefix(b" ").and_then(|values| values.strip_prefix(self.text.as_bytes()));
        let is_mark = |next: &u8| [START, STEM, VALUE, WHOLE].contains(&char::from(*next));
        self.has_words_of(values) && text.and_then(<[u8]>::first).is_some_and(is_mark)
    }
}

/// The fingerprint of folded text with these lexemes. It is computed from the lexemes, so it ignores inflection and word
/// order. Without lexemes, it is computed from the text.
pub fn mark(text: &str, lexemes: &BTreeSet<String>) -> Option<String> {
    if text.is_empty() || text.len() > MAX_WHOLE {
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

/// A hash that must never change, because documents contain it: FNV-1a, with the upper bits mixed into the lower
/// ones.
fn hash(text: &str) -> u64 {
    let add = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325, add);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::super::trigram;
    use super::*;
    use proptest::prelude::*;

    /// A document of one field with readable markers. The lexeme of a word is the word without a
    /// final s.
    fn shown(values: &[&str]) -> String {
        let mut out = String::new();
        let field = Field { attribute: Some(65), values: values.to_vec(), is_title: false };
        write_field(&mut out, &field, &mut |text| {
            fold(text).split(' ').map(|word| word.trim_end_matches('s').to_owned()).collect()
        });
        let marks = [(FIELD, "<"), (VALUE, "|"), (STEM, "="), (START, ">"), ('\u{2}', "1"), ('\u{1}', "0")];
        marks.into_iter().fold(out, |text, (mark, sign)| text.replace(mark, sign))
    }

    #[test]
    fn field_has_values_inner_words_and_lexemes() {
        for (values, document) in [
            (&["Old Maps"] as &[&str], "<101| old maps=MAP=OLD="),
            (&["Gold card", "x"], "<101| gold card| x=CARD=GOLD=X="),
            (&["re-do (it)"], "<101| re-do (it)> do> it=(IT)=RE-DO="),
            (&["東京都 a字b"], "<101| 東京都 a字b> 京都> 都> 字b> b=A字B=東京都="),
            // Vowel and tone signs do not begin words.
            (&["ขายยา"], "<101| ขายยา> ยย> ยา=ขายยา="),
            (&[], ""),
            (&["", " \u{1f} "], ""),
        ] {
            assert_eq!(shown(values), document);
        }
    }

    fn title(text: &str) -> Field<'_> {
        Field { attribute: None, values: vec![text], is_title: true }
    }

    #[test]
    fn only_the_display_field_has_a_fingerprint() {
        for (values, is_title, is_marked) in [
            (&["Old  Maps"] as &[&str], true, true),
            (&["Old Maps"], false, false),
            (&["Old", "Maps"], true, false),
            (&[""], true, false),
        ] {
            let mut out = String::new();
            let field = Field { attribute: Some(65), values: values.to_vec(), is_title };
            write_field(&mut out, &field, &mut |text| text.split(' ').map(str::to_owned).collect());
            let mark = mark("old maps", &BTreeSet::from(["maps".to_owned(), "old".to_owned()]));
            assert_eq!(out.ends_with(mark.as_deref().expect("a short text")), is_marked, "{values:?}");
            assert_eq!(out.contains(WHOLE), is_marked, "{values:?}");
        }
    }

    #[test]
    fn name_that_differs_only_in_case_is_stemmed_once() {
        for (value, times) in [("Old Maps", 1), ("old maps", 1), ("Old  Maps", 2), ("Alte Möbel", 2)] {
            let mut stemmed = 0;
            write_field(&mut String::new(), &title(value), &mut |_| {
                stemmed += 1;
                BTreeSet::new()
            });
            assert_eq!(stemmed, times, "{value}");
        }
    }

    #[test]
    fn codes_are_distinct_control_characters() {
        let codes: BTreeSet<String> = (1..3000).map(|number| code(Some(number))).collect();
        assert_eq!(codes.len(), 2999);
        assert!(codes.iter().chain([&code(Some(i32::MAX))]).all(|code| code.chars().all(|it| it < '\t')));
        assert_eq!(code(None), "");
    }

    #[test]
    fn text_after_the_stemming_limit_is_still_searched() {
        let long = "é ".repeat(MAX_STEMMED);
        let mut longest = 0;
        let mut out = String::new();
        write_field(
            &mut out,
            &Field { attribute: None, values: vec!["x", &long], is_title: true },
            &mut |text| {
                longest = longest.max(text.len());
                BTreeSet::new()
            },
        );
        assert!(longest < MAX_STEMMED && longest > MAX_STEMMED - 4);
        assert!(out.len() >= 2 * MAX_STEMMED);
    }

    proptest! {
        #[test]
        fn every_word_of_a_value_follows_a_space(text in "[a-c東京 .(-]{0,20}") {
            let folded = fold(&text);
            let mut out = String::new();
            write_field(&mut out, &title(&text), &mut |_| BTreeSet::new());
            for word in folded.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty()) {
                prop_assert!(out.contains(&format!(" {}", word_at(word))), "{word:?} in {out:?}");
            }
        }

        #[test]
        fn markers_come_only_from_the_document_itself(text in any::<String>()) {
            let mut out = String::new();
            write_field(&mut out, &title(&text), &mut |_| BTreeSet::new());
            prop_assert!(out.matches(FIELD).count() <= 1 && out.matches(VALUE).count() <= 1);
        }
    }

    fn lexemes(text: &str) -> BTreeSet<String> {
        text.split(' ').map(|word| word.trim_end_matches('s').to_owned()).collect()
    }

    fn mark_of(text: &str) -> String {
        mark(text, &lexemes(text)).expect("a short text")
    }

    #[test]
    fn name_fingerprint_ignores_word_order_and_inflection() {
        assert_eq!(mark_of("steel bolts"), mark_of("bolt steel"));
        assert_ne!(mark_of("steel bolts"), mark_of("steel"));
        assert_ne!(mark("the", &BTreeSet::new()), mark("of", &BTreeSet::new()));
        assert_eq!(
            (mark("", &BTreeSet::new()), mark(&"x".repeat(MAX_WHOLE + 1), &BTreeSet::new())),
            (None, None)
        );
    }

    #[test]
    fn fingerprints_never_change() {
        assert_eq!(mark_of("bolts"), "\u{1b}\u{21a17}\u{6}\u{1}\u{5}\u{2}\u{7}\u{8}");
    }

    #[test]
    fn index_has_one_key_for_a_fingerprint() {
        for text in ["bolts", "old maps", "é"] {
            let mark = mark_of(text);
            let end = format!("x{STEM}{mark}{FIELD}");
            let keys = trigram::of_document(&end, || {}).expect("memory");
            assert_eq!(keys.len(), 1, "{text}");
            assert_eq!(trigram::of_pattern(&format!("%{mark}%")), keys, "{text}");
        }
    }

    #[test]
    fn complete_name_differs_from_others_with_the_same_words() {
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
