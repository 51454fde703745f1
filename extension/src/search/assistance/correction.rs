//! Words that replace those of a query of which no record was found: pure.
//!
//! Later pages of such a search need the same words, so the cursor carries them.

use super::word::{is_fit, is_near, trimmed};
use crate::error::Error;
use crate::json_write::write_string;
use crate::search::query::cursor;
use crate::search::text::fold::fold;
use crate::search::text::query::{Alternative, MOST_TERMS, MatchKind, Term, TextQuery, next_term};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The most words that a term is replaced by.
pub const MOST_WORDS: usize = 10;
/// What stands in a cursor before the words that it carries.
const CARRIES: char = '.';

/// The words that are looked for in place of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// The word of the term, folded, without the signs around it.
    pub term: String,
    /// How the first of the words is written.
    pub shown: String,
    /// The words, folded, the most frequent first; the term itself before all where it is one of them.
    pub words: Vec<String>,
}

/// The corrections of a query.
pub type Corrections = Vec<Correction>;

/// The word of a term that may have a wrong letter, folded, without the signs around it.
pub fn may_be_wrong(term: &Term) -> Option<String> {
    let is_wanted = term.kind == MatchKind::Word && !term.is_excluded;
    let word = is_wanted.then(|| fold(&term.typed[trimmed(&term.typed)]))?;
    has_letters(&word).then_some(word)
}

fn has_letters(text: &str) -> bool {
    is_fit(text) && text.chars().count() >= super::word::FEWEST_LETTERS
}

/// The query, where each corrected term may be one of the words.
pub fn corrected(mut query: TextQuery, corrections: &[Correction]) -> TextQuery {
    for term in &mut query.terms {
        let Some(word) = may_be_wrong(term) else { continue };
        if let Some(correction) = corrections.iter().find(|it| it.term == word) {
            let others = correction.words.iter().filter(|word| **word != term.text);
            let others = others.map(|word| Alternative { typed: word.clone(), kind: MatchKind::Word });
            term.alternatives.extend(others);
        }
    }
    query
}

/// The words that terms are replaced by.
pub fn words(corrections: &[Correction]) -> impl Iterator<Item = &str> {
    corrections.iter().flat_map(|it| &it.words).map(String::as_str)
}

/// A text with the words that were meant; none where it has them already.
pub fn meant(text: &str, corrections: &[Correction]) -> Option<String> {
    let text = TextQuery::straight(text);
    let mut meant = String::with_capacity(text.len());
    let (mut rest, mut is_other) = (text.as_str(), false);
    while let Some((term, after)) = next_term(rest) {
        let read = &rest[..rest.len() - after.len()];
        rest = after;
        let word = may_be_wrong(&term);
        let correction =
            word.and_then(|word| corrections.iter().find(|it| it.term == word && it.words[0] != word));
        match correction {
            Some(correction) => {
                let place = trimmed(read);
                meant.push_str(&read[..place.start]);
                meant.push_str(&correction.shown);
                meant.push_str(&read[place.end..]);
                is_other = true;
            }
            None => meant.push_str(read),
        }
    }
    meant.push_str(rest);
    is_other.then_some(meant)
}

/// Adds to an answer that it is of these, and what was meant.
pub fn write_meant(answer: &mut String, text: Option<&str>, corrections: &[Correction]) {
    if corrections.is_empty() {
        return;
    }
    answer.pop();
    answer.push_str(",\"fuzzy\":true,\"did_you_mean\":");
    match text.and_then(|text| meant(text, corrections)) {
        Some(meant) => write_string(answer, &meant),
        None => answer.push_str("null"),
    }
    answer.push('}');
}

/// What follows a cursor that carries these.
pub fn carried(corrections: &[Correction]) -> String {
    if corrections.is_empty() {
        return String::new();
    }
    let lists: Vec<Vec<&str>> = corrections
        .iter()
        .map(|it| [&it.term, &it.shown].into_iter().chain(&it.words).map(String::as_str).collect())
        .collect();
    format!("{CARRIES}{}", URL_SAFE_NO_PAD.encode(serde_json::Value::from(lists).to_string()))
}

/// A cursor without what it carries, and that.
pub fn split(cursor: &str) -> Result<(&str, Corrections), Error> {
    let Some((cursor, carried)) = cursor.split_once(CARRIES) else { return Ok((cursor, Vec::new())) };
    let json = URL_SAFE_NO_PAD.decode(carried).ok();
    let lists = json.and_then(|json| serde_json::from_slice::<Vec<Vec<String>>>(&json).ok());
    let corrections = lists.filter(|lists| lists.len() <= 2 * MOST_TERMS).and_then(|lists| {
        let corrections = lists.into_iter().map(|list| {
            let mut list = list.into_iter();
            let (term, shown) = (list.next()?, list.next()?);
            let correction = Correction { term, shown, words: list.collect() };
            is_sound(&correction).then_some(correction)
        });
        corrections.collect::<Option<Corrections>>()
    });
    corrections.map(|corrections| (cursor, corrections)).ok_or_else(cursor::refusal)
}

/// Whether a search could have made it.
fn is_sound(correction: &Correction) -> bool {
    let Correction { term, shown, words } = correction;
    let is_word = |word: &String| word == term || is_fit(word) && fold(word) == *word && is_near(word, term);
    has_letters(term)
        && (1..=MOST_WORDS + 1).contains(&words.len())
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
    fn what_was_meant_is_told_as_it_is_written() {
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
            assert_eq!(meant(text, &corrections).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_corrected_term_may_be_each_of_the_words() {
        let query = TextQuery::parse("vermer \"vermer\" -vermer old (vermer,").expect("a query");
        let query = corrected(query, &[correction("vermer", "Vermeer", &["vermeer", "vermer"])]);
        let alternatives: Vec<usize> = query.terms.iter().map(|term| term.alternatives.len()).collect();
        assert_eq!(alternatives, [1, 0, 0, 0, 2], "the word itself, too, without its signs");
    }

    #[test]
    fn a_cursor_carries_the_words_to_the_next_page() {
        let corrections = vec![correction("zurihc", "Zürich", &["zurich"])];
        let cursor = format!("abc{}", carried(&corrections));
        assert_eq!(split(&cursor).expect("a cursor"), ("abc", corrections));
        assert_eq!(split("abc").expect("a cursor"), ("abc", Vec::new()));
        for (term, shown, words) in [
            ("zurihc", "Zürich", &["zurich", "anything"] as &[&str]),
            ("zurihc", "other", &["zurich"]),
            ("zurihc", "Zürich", &[]),
            ("abc", "abd", &["abd"]),
            ("zurihc", "ZURICH", &["ZURICH"]),
        ] {
            let forged = format!("abc{}", carried(&[correction(term, shown, words)]));
            assert!(split(&forged).is_err(), "{term} {words:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_cursor_or_refused(text in any::<String>(), carried in "[-_A-Za-z0-9]{0,40}") {
            let _ = split(&text);
            let _ = split(&format!("abc.{carried}"));
        }
    }
}
