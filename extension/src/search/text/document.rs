//! The search document of a record: pure.
//!
//! A document is a run of fields, the external key first:
//!
//! ```text
//! FIELD code VALUE␠first value VALUE␠second value … START␠word START␠word … STEM LEXEME STEM LEXEME STEM WHOLE mark
//! ```
//!
//! The marks are control characters, which folded texts do not contain: so nothing matches across values, a field is
//! found by the number of its attribute, and each kind of match is one `LIKE`:
//!
//! - a part of a word or a phrase: `%text%`;
//! - the beginning of a word: `% te%`, for values begin with a space, and the words inside a value that do not stand
//!   behind one (`(word`, `re-word`, any letter of a script without spaces) are repeated behind [`START`];
//! - a word whatever its ending: `%␝LEXEME␝%`. Lexemes are in capitals, so that a part of one is not found as if it
//!   stood in the text;
//! - the whole of a name or a key: see [`super::whole`]. Other fields have no such mark.
//!
//! Therefore one trigram index serves all of them. The alternative, lexemes in a `tsvector` with an index of their
//! own, was measured on 500,000 records of 20 words: 477 MB against 343 MB, and 1.6 times the time for each document
//! written; searches were between half and twice as fast, depending on the word.

use super::fold::fold;
pub use super::mark::{FIELD, START, STEM, VALUE};
use super::spaceless::{is_dependent, is_written_without_spaces};
use super::whole;
use std::collections::BTreeSet;

/// The maximum size of a field whose words are stemmed; text beyond it is found only as written.
pub const MOST_STEMMED: usize = 256 * 1024;

/// One field of a document.
pub struct Field<'a> {
    /// The number of the attribute; none for the external key.
    pub attribute: Option<i32>,
    /// Its values: one text, or the labels of a list.
    pub values: Vec<&'a str>,
    /// Whether it is the name or the key of the record.
    pub is_title: bool,
}

/// Writes a field, unless there is nothing in it; `stem` gives the lexemes of a text.
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
    let mut room = MOST_STEMMED;
    for value in &field.values {
        let part = &value[..value.floor_char_boundary(room)];
        lexemes.append(&mut stem(part));
        room -= part.len();
    }
    for lexeme in &lexemes {
        out.push(STEM);
        out.push_str(&marked(lexeme));
    }
    if !lexemes.is_empty() {
        out.push(STEM);
    }
    if let ([text], true) = (folded.as_slice(), field.is_title) {
        // Of the folded text, so that accents make no difference. Case makes none in any language.
        let is_stemmed = field.values.iter().any(|value| value.eq_ignore_ascii_case(text));
        let lexemes = if text.len() > whole::LONGEST || is_stemmed { lexemes } else { stem(text) };
        out.extend(whole::mark(text, &lexemes));
    }
}

/// The number of an attribute in control characters, one for three bits: text that is searched never holds any.
pub fn code(attribute: Option<i32>) -> String {
    let digits = attribute.map_or(String::new(), |number| format!("{number:o}"));
    digits.bytes().map(|digit| char::from(digit - b'0' + 1)).collect()
}

/// What a field begins with, up to its first value.
pub fn field_start(attribute: Option<i32>) -> String {
    format!("{FIELD}{}{VALUE}", code(attribute))
}

/// A lexeme as it is written in documents.
pub fn marked(lexeme: &str) -> String {
    lexeme.to_uppercase()
}

/// Repeats the words of a value that begin behind something else than a space.
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

/// The word that a text begins with: letters and digits, or two characters of a script without spaces.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A document of one field with readable marks; a word's lexeme is the word without a final s.
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
    fn a_field_holds_values_inner_words_and_lexemes() {
        for (values, document) in [
            (&["Old Maps"] as &[&str], "<101| old maps=MAP=OLD="),
            (&["Gold card", "x"], "<101| gold card| x=CARD=GOLD=X="),
            (&["re-do (it)"], "<101| re-do (it)> do> it=(IT)=RE-DO="),
            (&["東京都 a字b"], "<101| 東京都 a字b> 京都> 都> 字b> b=A字B=東京都="),
            // Vowels and tones begin no word.
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
    fn only_the_field_of_a_name_ends_with_a_mark_of_its_whole() {
        for (values, is_title, is_marked) in [
            (&["Old  Maps"] as &[&str], true, true),
            (&["Old Maps"], false, false),
            (&["Old", "Maps"], true, false),
            (&[""], true, false),
        ] {
            let mut out = String::new();
            let field = Field { attribute: Some(65), values: values.to_vec(), is_title };
            write_field(&mut out, &field, &mut |text| text.split(' ').map(str::to_owned).collect());
            let mark = whole::mark("old maps", &BTreeSet::from(["maps".to_owned(), "old".to_owned()]));
            assert_eq!(out.ends_with(mark.as_deref().expect("a short text")), is_marked, "{values:?}");
            assert_eq!(out.contains(whole::WHOLE), is_marked, "{values:?}");
        }
    }

    #[test]
    fn a_name_that_folding_changes_in_case_alone_is_stemmed_once() {
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
    fn codes_hold_only_control_characters_and_differ() {
        let codes: BTreeSet<String> = (1..3000).map(|number| code(Some(number))).collect();
        assert_eq!(codes.len(), 2999);
        assert!(codes.iter().chain([&code(Some(i32::MAX))]).all(|code| code.chars().all(|it| it < '\t')));
        assert_eq!(code(None), "");
    }

    #[test]
    fn stemming_ends_where_its_bound_is_and_searching_does_not() {
        let long = "é ".repeat(MOST_STEMMED);
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
        assert!(longest < MOST_STEMMED && longest > MOST_STEMMED - 4);
        assert!(out.len() >= 2 * MOST_STEMMED);
    }

    proptest! {
        #[test]
        fn every_word_of_a_value_begins_behind_a_space(text in "[a-c東京 .(-]{0,20}") {
            let folded = fold(&text);
            let mut out = String::new();
            write_field(&mut out, &title(&text), &mut |_| BTreeSet::new());
            for word in folded.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty()) {
                prop_assert!(out.contains(&format!(" {}", word_at(word))), "{word:?} in {out:?}");
            }
        }

        #[test]
        fn marks_come_only_from_the_document_itself(text in any::<String>()) {
            let mut out = String::new();
            write_field(&mut out, &title(&text), &mut |_| BTreeSet::new());
            prop_assert!(out.matches(FIELD).count() <= 1 && out.matches(VALUE).count() <= 1);
        }
    }
}
