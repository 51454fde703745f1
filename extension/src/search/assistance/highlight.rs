//! The ranges at which the terms of a query match text, by the rules of the search. Pure.

use super::folded::{Folded, separates};
use super::fragment::{Mark, merged};
use super::word::{is_of_word, trimmed};
use crate::search::text::document::MAX_STEMMED;
use crate::search::text::needle::beginning;
use crate::search::text::query::{MatchKind, Term};
use crate::search::text::word_boundary::{is_dependent, is_written_without_spaces};
use std::collections::BTreeSet;
use std::ops::Range;

/// The maximum number of matches of a term in one text.
const MAX_MATCHES: usize = 1000;
/// The number of terms with a bit of their own.
const MAX_BITS: usize = 63;

/// The terms as they match strings of one language.
#[derive(Debug, Default)]
pub struct Pattern {
    /// Strings that match anywhere.
    substrings: Vec<(String, u64)>,
    /// Strings that match the beginnings of words.
    beginnings: Vec<(String, u64)>,
    /// Stems of words, each with its terms.
    stems: Vec<(String, u64)>,
}

impl Pattern {
    /// The pattern of the terms of a query, without excluded terms. `stem` returns the stems of a string in each language of
    /// documents.
    pub fn new<'q>(
        terms: impl Iterator<Item = &'q Term>,
        stem: impl Fn(&str) -> Vec<BTreeSet<String>>,
    ) -> Pattern {
        let mut pattern = Pattern::default();
        for (number, term) in terms.filter(|term| !term.is_excluded).enumerate() {
            let bit = 1 << number.min(MAX_BITS);
            for term in std::iter::once(term.clone()).chain(term.others()) {
                pattern.add(&term, bit, &stem);
            }
        }
        pattern
    }

    fn add(&mut self, term: &Term, bit: u64, stem: impl Fn(&str) -> Vec<BTreeSet<String>>) {
        if let Some(beginning) = beginning(term) {
            self.beginnings.push((beginning.to_owned(), bit));
            return;
        }
        self.substrings.push((term.text.clone(), bit));
        if term.kind == MatchKind::Word {
            let stems = stem(&term.typed).into_iter().flatten();
            self.stems.extend(stems.map(|stem| (stem, bit)));
        }
    }

    /// Whether the pattern has no terms.
    pub fn is_empty(&self) -> bool {
        self.substrings.is_empty() && self.beginnings.is_empty()
    }

    /// The terms with one of these stems.
    pub fn terms_with(&self, stems: &BTreeSet<String>) -> u64 {
        let of_stem = |(stem, terms): &(String, u64)| if stems.contains(stem) { *terms } else { 0 };
        self.stems.iter().map(of_stem).fold(0, |all, terms| all | terms)
    }

    /// The matches of the terms in a string. `terms_of` returns the terms with the stem of a word. `pause` is called
    /// repeatedly during long input.
    pub fn marks(
        &self,
        text: &str,
        mut terms_of: impl FnMut(&str) -> u64,
        mut pause: impl FnMut(),
    ) -> Vec<Mark> {
        let folded = Folded::new(text, &mut pause);
        let mut marks = Vec::new();
        let mut found = |at: usize, length: usize, terms: u64| {
            marks.push(Mark { place: folded.original(at..at + length), terms });
        };
        for (part, terms) in &self.substrings {
            pause();
            for at in memchr::memmem::find_iter(folded.text.as_bytes(), part).take(MAX_MATCHES) {
                found(at, part.len(), *terms);
            }
        }
        for (beginning, terms) in &self.beginnings {
            pause();
            let places = memchr::memmem::find_iter(folded.text.as_bytes(), beginning);
            for at in places.filter(|at| begins_word(&folded.text, *at)).take(MAX_MATCHES) {
                found(at, beginning.len(), *terms);
            }
        }
        if !self.stems.is_empty() {
            let stemmed = &text[..text.floor_char_boundary(MAX_STEMMED)];
            mark_stems(stemmed, &mut terms_of, &mut marks);
        }
        merged(marks)
    }
}

/// Whether a word begins at an offset, by the rules of documents.
pub(super) fn begins_word(folded: &str, at: usize) -> bool {
    let Some(before) = folded[..at].chars().next_back().filter(|it| *it != ' ') else { return true };
    let first = folded[at..].chars().next().unwrap_or(' ');
    !is_dependent(first)
        && (is_written_without_spaces(first)
            || is_written_without_spaces(before)
            || !before.is_alphanumeric())
}

/// Marks the words with the stem of a term.
fn mark_stems(text: &str, terms_of: &mut dyn FnMut(&str) -> u64, marks: &mut Vec<Mark>) {
    let mut at = 0;
    for word in text.split(separates) {
        let start = at;
        at += word.len() + text[at + word.len()..].chars().next().map_or(0, char::len_utf8);
        let inner = trimmed(word);
        if inner.is_empty() || marks.len() > 2 * MAX_MATCHES {
            continue;
        }
        let terms = terms_of(&word[inner.clone()]);
        if terms == 0 {
            continue;
        }
        // Of words joined by punctuation, the words that have the stem themselves; if there are
        // none, all of them.
        let mut left = terms;
        for part in parts(&word[inner.clone()]) {
            let place = inner.start + part.start..inner.start + part.end;
            let found = if place == inner { terms } else { terms_of(&word[place.clone()]) & terms };
            if found != 0 {
                marks.push(Mark { place: start + place.start..start + place.end, terms: found });
                left &= !found;
            }
        }
        if left != 0 {
            marks.push(Mark { place: start + inner.start..start + inner.end, terms: left });
        }
    }
}

/// The runs of letters and digits.
fn parts(word: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + word[at..].find(is_of_word)?;
        at = word[start..].find(|it| !is_of_word(it)).map_or(word.len(), |length| start + length);
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::super::fragment::{best, fragments};
    use super::*;
    use crate::search::text::comparison::Comparison;
    use crate::search::text::document::{Field, write_field};
    use crate::search::text::fold::fold;
    use crate::search::text::needle::Needle;
    use crate::search::text::query::TextQuery;
    use proptest::prelude::*;

    /// The stem of a word is the word without a final s.
    fn stems(text: &str) -> BTreeSet<String> {
        let words = fold(text);
        let words = words.split(|it: char| !it.is_alphanumeric());
        words.map(|word| word.trim_end_matches('s').to_owned()).filter(|word| !word.is_empty()).collect()
    }

    fn marks(query: &str, text: &str) -> Vec<Mark> {
        let query = TextQuery::parse(query).expect("a query");
        let pattern = Pattern::new(query.terms.iter(), |typed| vec![stems(typed)]);
        pattern.marks(text, |word| pattern.terms_with(&stems(word)), || {})
    }

    /// The text with brackets around the highlighted ranges.
    fn shown(query: &str, text: &str) -> String {
        let mut shown = text.to_owned();
        for mark in marks(query, text).iter().rev() {
            shown.insert(mark.place.end, ']');
            shown.insert(mark.place.start, '[');
        }
        shown
    }

    #[test]
    fn matches_of_a_search_are_marked() {
        for (query, text, expected) in [
            ("map", "Old Maps of roads", "Old [Maps] of roads"),
            ("oad", "Old maps of roads", "Old maps of r[oad]s"),
            ("\"old maps\"", "The OLD  Maps", "The [OLD  Maps]"),
            ("te", "Tea or latte, (test) re-test", "[Te]a or latte, ([te]st) re-[te]st"),
            ("zurich", "in Zürich", "in [Zürich]"),
            ("strasse -old", "Old Straße", "Old [Straße]"),
            ("mails", "an e-mail", "an e-[mail]"),
            ("e-mails", "an e-mail", "an [e]-[mail]"),
            ("京", "東京都", "東[京]都"),
            ("old maps", "old old", "[old] [old]"),
            ("", "old", "old"),
            ("-old", "old", "old"),
        ] {
            assert_eq!(shown(query, text), expected, "{query} in {text}");
        }
    }

    proptest! {
        #[test]
        fn text_that_matches_has_a_mark_for_each_term(
            query in "[a-cäÄs\" -]{1,8}",
            text in "[a-cA-CäÄs京 .(<&-]{0,40}",
        ) {
            let query = TextQuery::parse(&query).expect("a query");
            let requested: Vec<&Term> = query.terms.iter().filter(|term| !term.is_excluded).collect();
            let mut document = String::new();
            write_field(&mut document, &Field { attribute: None, values: vec![&text], is_title: true }, &mut |it| stems(it));
            let pattern = Pattern::new(query.terms.iter(), |typed| vec![stems(typed)]);
            let marks = pattern.marks(&text, |word| pattern.terms_with(&stems(word)), || {});
            let marked = marks.iter().fold(0, |all, mark| all | mark.terms);
            for (number, term) in requested.into_iter().enumerate() {
                let needle = Needle::new(term, &[stems(&term.typed)]);
                let is_found = Comparison::of_needle(&needle).each(document.as_bytes()).all(|it| it);
                let is_marked = marked & 1 << number != 0;
                // A word of several parts matches if all parts do, and is marked if one does.
                prop_assert!(is_marked || !is_found, "{:?} in {text:?}", term.text);
                if stems(&term.typed).len() < 2 && term.text.chars().all(char::is_alphanumeric) {
                    prop_assert_eq!(is_marked, is_found, "{:?} in {:?}", &term.text, &text);
                }
            }
        }

        #[test]
        fn marks_are_ranges_of_the_text(query in any::<String>(), text in any::<String>()) {
            let Ok(query) = TextQuery::parse(&query) else { return Ok(()) };
            let pattern = Pattern::new(query.terms.iter(), |typed| vec![stems(typed)]);
            let marks = pattern.marks(&text, |word| pattern.terms_with(&stems(word)), || {});
            for mark in &marks {
                prop_assert!(!mark.place.is_empty() && text.get(mark.place.clone()).is_some());
            }
            prop_assert!(marks.windows(2).all(|two| two[0].place.end < two[1].place.start));
            prop_assert!(best(fragments(0, &text, &marks)).is_empty() == marks.is_empty());
        }
    }
}
