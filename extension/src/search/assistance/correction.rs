//! The corrections of a query that found no record. Pure.
//!
//! Later pages of such a search need the same corrections, so the cursor contains them.

use super::word::{is_fit, is_near, trimmed};
use crate::search::text::fold::fold;
use crate::search::text::query::{Alternative, MAX_TERMS, MatchKind, Term, TextQuery, next_term};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The maximum number of words that replace a term.
pub const MAX_WORDS: usize = 10;
/// Separates a cursor from the corrections.
const SEPARATOR: char = '.';

/// The replacements of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The word of the term, folded, without surrounding punctuation.
    pub term: String,
    /// The spelling of the first replacement.
    pub shown: String,
    /// The replacements, folded, the most frequent first. If the term itself is one of them, it comes
    /// first.
    pub words: Vec<String>,
}

/// The corrections of a query.
pub type Corrections = Vec<Correction>;

/// The word of a term that may have a typo, folded, without surrounding punctuation.
pub fn correctable(term: &Term) -> Option<String> {
    let is_requested = term.kind == MatchKind::Word && !term.is_excluded;
    let word = is_requested.then(|| fold(&term.typed[trimmed(&term.typed)]))?;
    has_letters(&word).then_some(word)
}

fn has_letters(text: &str) -> bool {
    is_fit(text) && text.chars().count() >= super::word::MIN_LETTERS
}

/// The query, with the words of its corrections as alternatives.
pub fn corrected(mut query: TextQuery, corrections: &[Correction]) -> TextQuery {
    for term in &mut query.terms {
        let Some(word) = correctable(term) else { continue };
        if let Some(correction) = corrections.iter().find(|it| it.term == word) {
            let others = correction.words.iter().filter(|word| **word != term.text);
            let others = others.map(|word| Alternative { typed: word.clone(), kind: MatchKind::Word });
            term.alternatives.extend(others);
        }
    }
    query
}

/// The words that replace terms.
pub fn words(corrections: &[Correction]) -> impl Iterator<Item = &str> {
    corrections.iter().flat_map(|it| &it.words).map(String::as_str)
}

/// The text with its terms corrected; `None` if it already has the corrected terms.
pub fn corrected_text(text: &str, corrections: &[Correction]) -> Option<String> {
    let text = TextQuery::straight(text);
    let mut corrected_text = String::with_capacity(text.len());
    let (mut rest, mut is_other) = (text.as_str(), false);
    while let Some((term, after)) = next_term(rest) {
        let read = &rest[..rest.len() - after.len()];
        rest = after;
        let word = correctable(&term);
        let correction =
            word.and_then(|word| corrections.iter().find(|it| it.term == word && it.words[0] != word));
        match correction {
            Some(correction) => {
                let place = trimmed(read);
                corrected_text.push_str(&read[..place.start]);
                corrected_text.push_str(&correction.shown);
                corrected_text.push_str(&read[place.end..]);
                is_other = true;
            }
            None => corrected_text.push_str(read),
        }
    }
    corrected_text.push_str(rest);
    is_other.then_some(corrected_text)
}

/// The suffix of a cursor with these corrections.
pub fn cursor_suffix(corrections: &[Correction]) -> String {
    if corrections.is_empty() {
        return String::new();
    }
    let lists: Vec<Vec<&str>> = corrections
        .iter()
        .map(|it| [&it.term, &it.shown].into_iter().chain(&it.words).map(String::as_str).collect())
        .collect();
    format!("{SEPARATOR}{}", URL_SAFE_NO_PAD.encode(serde_json::Value::from(lists).to_string()))
}

/// Splits a cursor into the cursor without corrections, and the corrections; `None` if no search
/// could have created it.
pub fn split(cursor: &str) -> Option<(&str, Corrections)> {
    let Some((cursor, cursor_suffix)) = cursor.split_once(SEPARATOR) else {
        return Some((cursor, Vec::new()));
    };
    let json = URL_SAFE_NO_PAD.decode(cursor_suffix).ok();
    let lists = json.and_then(|json| serde_json::from_slice::<Vec<Vec<String>>>(&json).ok());
    let corrections = lists.filter(|lists| lists.len() <= 2 * MAX_TERMS).and_then(|lists| {
        let corrections = lists.into_iter().map(|list| {
            let mut list = list.into_iter();
            let (term, shown) = (list.next()?, list.next()?);
            let correction = Correction { term, shown, words: list.collect() };
            is_sound(&correction).then_some(correction)
        });
        corrections.collect::<Option<Corrections>>()
    });
    corrections.map(|corrections| (cursor, corrections))
}

/// Whether a search could have created the correction.
fn is_sound(correction: &Correction) -> bool {
    let Correction { term, shown, words } = correction;
    let is_word = |word: &String| word == term || is_fit(word) && fold(word) == *word && is_near(word, term);
    has_letters(term)
        && (1..=MAX_WORDS + 1).contains(&words.len())
        && words.iter().all(is_word)
        && fold(shown) == words[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn correction(term: &str, shown: &str, words: &[&str]) -> Correction {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Correction { term: term.to_owned(), shown: shown.to_owned(), words }
    }

    #[test]
    fn corrected_text_has_the_spelling_of_records() {
        let corrections = [
            correction("vermer", "Vermeer", &["vermeer"]),
            correction("pearl", "pearl", &["pearl", "pearls"]),
        ];
        for (text, expected) in [
            ("girl VERMER pearl", Some("girl Vermeer pearl")),
            (" vermer\tvermer ", Some(" Vermeer\tVermeer ")),
            ("pearl", None),
            ("\"vermer\" -vermer", None),
            ("(vermer), -vermer “vermer”", Some("(Vermeer), -vermer \"vermer\"")),
            ("pearl. 'vermer'!", Some("pearl. 'Vermeer'!")),
            ("vermer's", None),
        ] {
            assert_eq!(corrected_text(text, &corrections).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn corrected_term_has_the_words_as_alternatives() {
        let query = TextQuery::parse("vermer \"vermer\" -vermer old (vermer,").expect("a query");
        let query = corrected(query, &[correction("vermer", "Vermeer", &["vermeer", "vermer"])]);
        let alternatives: Vec<usize> = query.terms.iter().map(|term| term.alternatives.len()).collect();
        assert_eq!(alternatives, [1, 0, 0, 0, 2], "also the word itself, without punctuation");
    }

    #[test]
    fn cursor_carries_the_corrections_to_the_next_page() {
        let corrections = vec![correction("zurihc", "Zürich", &["zurich"])];
        let cursor = format!("abc{}", cursor_suffix(&corrections));
        assert_eq!(split(&cursor).expect("a cursor"), ("abc", corrections));
        assert_eq!(split("abc").expect("a cursor"), ("abc", Vec::new()));
        for (term, shown, words) in [
            ("zurihc", "Zürich", &["zurich", "anything"] as &[&str]),
            ("zurihc", "other", &["zurich"]),
            ("zurihc", "Zürich", &[]),
            ("abc", "abd", &["abd"]),
            ("zurihc", "ZURICH", &["ZURICH"]),
        ] {
            let forged = format!("abc{}", cursor_suffix(&[correction(term, shown, words)]));
            assert!(split(&forged).is_none(), "{term} {words:?}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_a_cursor_or_rejected(text in any::<String>(), cursor_suffix in "[-_A-Za-z0-9]{0,40}") {
            let _ = split(&text);
            let _ = split(&format!("abc.{cursor_suffix}"));
        }
    }
}
