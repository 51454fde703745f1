//! Compares terms with documents in memory: the same conditions as [`super::needle`] in SQL, in a tenth of the time.

use super::document::{self, FIELD};
use super::needle::{Needle, WholeWords};
use super::word_boundary::BoundedText;
use memchr::memmem::{self, Finder};
use std::borrow::Cow;

/// Lists of texts, of which one must be held whole.
type Texts<'n> = Vec<Vec<Finder<'n>>>;

/// The terms of a query, ready to be compared.
pub struct Comparison<'n> {
    terms: Vec<Term<'n>>,
    /// What the fields of the name and of the key begin with.
    titles: Vec<Vec<u8>>,
    /// What the fields of dropped attributes begin with, which documents may still hold.
    dropped: Vec<Vec<u8>>,
}

struct Term<'n> {
    alternatives: Texts<'n>,
    whole_words: Vec<Whole<'n>>,
    is_excluded: bool,
}

/// What makes a match one of whole words: all texts, and the phrase.
struct Whole<'n> {
    texts: Vec<Finder<'n>>,
    phrase: Option<BoundedText<'n>>,
}

impl<'n> Whole<'n> {
    fn of(whole: &'n WholeWords) -> Whole<'n> {
        Whole {
            texts: whole.texts.iter().map(Finder::new).collect(),
            phrase: whole.phrase.as_deref().map(BoundedText::new),
        }
    }

    fn is_in(&self, text: &[u8]) -> bool {
        self.texts.iter().all(|it| it.find(text).is_some())
            && self.phrase.as_ref().is_none_or(|phrase| phrase.stands_in(text))
    }
}

impl Term<'_> {
    /// Whether a document satisfies the term; `is_named` says whether its record refers to a name that does.
    fn is_met(&self, document: &[u8], is_named: impl FnOnce() -> bool) -> bool {
        (holds(&self.alternatives, document) || is_named()) != self.is_excluded
    }

    /// Whether a text holds it as whole words.
    fn is_whole_in(&self, text: &[u8]) -> bool {
        self.whole_words.iter().any(|whole| whole.is_in(text))
    }
}

impl<'n> Comparison<'n> {
    /// Of a single term, anywhere in the document.
    pub fn of_needle(needle: &'n Needle) -> Comparison<'n> {
        Comparison::new(std::iter::once((needle, false)), std::iter::empty())
    }

    /// Of several terms, each with whether it is excluded; `titles` are the attributes of the name and of the key.
    pub(super) fn new(
        terms: impl Iterator<Item = (&'n Needle, bool)>,
        titles: impl Iterator<Item = Option<i32>>,
    ) -> Comparison<'n> {
        let terms = terms.map(|(needle, is_excluded)| Term {
            alternatives: finders(needle.alternatives()),
            whole_words: needle.whole_words().iter().map(Whole::of).collect(),
            is_excluded,
        });
        let titles = titles.map(|attribute| document::field_start(attribute).into_bytes());
        Comparison { terms: terms.collect(), titles: titles.collect(), dropped: Vec::new() }
    }

    /// The same, where the fields of these attributes do not count, as in [`Needle::without`].
    pub(super) fn without(self, attributes: &[i32]) -> Comparison<'n> {
        let start = |attribute: &i32| document::field_start(Some(*attribute)).into_bytes();
        Comparison { dropped: attributes.iter().map(start).collect(), ..self }
    }

    /// Whether a document satisfies each of the terms.
    pub fn each(&self, document: &[u8]) -> impl Iterator<Item = bool> {
        let document = self.valid(document);
        self.terms.iter().map(move |term| term.is_met(&document, || false))
    }

    /// What counts of a document.
    pub(super) fn valid<'d>(&self, document: &'d [u8]) -> Cow<'d, [u8]> {
        if self.dropped.iter().all(|start| memmem::find(document, start).is_none()) {
            return document.into();
        }
        let mut valid = Vec::with_capacity(document.len());
        let mut rest = document;
        while let [_, behind @ ..] = rest {
            let end = memchr::memchr(FIELD as u8, behind).map_or(rest.len(), |end| end + 1);
            let (field, others) = rest.split_at(end);
            if !self.dropped.iter().any(|start| field.starts_with(start)) {
                valid.extend_from_slice(field);
            }
            rest = others;
        }
        valid.into()
    }

    /// The rank of a record by its document, where it satisfies all terms: 2 if all are whole words of the name or the
    /// key, 1 if all are whole words, 0 otherwise. `is_named` says whether the record refers to a name that the term at
    /// this position matches; `met` counts how often each term is satisfied, unless it is empty.
    pub fn rank(&self, document: &[u8], is_named: impl Fn(usize) -> bool, met: &mut [usize]) -> Option<i16> {
        let document = &*self.valid(document);
        let mut is_found = true;
        for (position, term) in self.terms.iter().enumerate() {
            let is_met = term.is_met(document, || is_named(position));
            is_found &= is_met;
            match met.get_mut(position) {
                Some(count) => *count += usize::from(is_met),
                None if !is_met => return None,
                None => {}
            }
        }
        if !is_found {
            return None;
        }
        let are_whole_words = |text: &[u8]| {
            let mut wanted = self.terms.iter().filter(|term| !term.is_excluded);
            wanted.all(|term| term.is_whole_in(text))
        };
        // The name is taken out of the document only where it can hold the words.
        Some(match are_whole_words(document) {
            true if are_whole_words(&self.title(document)) => 2,
            true => 1,
            false => 0,
        })
    }

    /// Whether a record satisfies all terms by its document; `is_named` as for the rank.
    pub fn is_met(&self, document: &[u8], is_named: impl Fn(usize) -> bool) -> bool {
        let document = &*self.valid(document);
        let mut terms = self.terms.iter().enumerate();
        terms.all(|(position, term)| term.is_met(document, || is_named(position)))
    }

    /// The name and the key of a record, taken from its document.
    fn title(&self, document: &[u8]) -> Vec<u8> {
        let mut title = Vec::new();
        for start in &self.titles {
            if let Some(position) = memmem::find(document, start) {
                let field = &document[position + start.len()..];
                let end = memchr::memchr(FIELD as u8, field).unwrap_or(field.len());
                title.extend_from_slice(&field[..end]);
            }
        }
        title
    }
}

fn finders(texts: &[Vec<String>]) -> Texts<'_> {
    texts.iter().map(|texts| texts.iter().map(Finder::new).collect()).collect()
}

fn holds(texts: &Texts, document: &[u8]) -> bool {
    texts.iter().any(|texts| texts.iter().all(|text| text.find(document).is_some()))
}

#[cfg(test)]
mod tests {
    use super::super::document::{Field, write_field};
    use super::super::fold::fold;
    use super::super::query::TextQuery;
    use super::*;
    use std::collections::BTreeSet;

    /// The stem of a word is the word without a final s.
    fn stems(text: &str) -> BTreeSet<String> {
        fold(text).split(' ').map(|word| word.trim_end_matches('s').to_owned()).collect()
    }

    /// The rank of a record with this key, name and notes.
    fn rank(query: &str, texts: [&str; 3]) -> Option<i16> {
        rank_without(query, texts, &[])
    }

    /// The same, where these attributes are dropped: 1 is the name, 8 are the notes.
    fn rank_without(query: &str, [key, name, notes]: [&str; 3], dropped: &[i32]) -> Option<i16> {
        let mut document = String::new();
        for (attribute, value) in [(None, key), (Some(1), name), (Some(8), notes)] {
            let field = Field { attribute, values: vec![value] };
            write_field(&mut document, &field, &mut |text| stems(text));
        }
        let query = TextQuery::parse(query).expect("a query");
        let needles: Vec<(Needle, bool)> =
            query.terms.iter().map(|it| (Needle::new(it, &[stems(&it.typed)]), it.is_excluded)).collect();
        let terms = needles.iter().map(|(needle, is_excluded)| (needle, *is_excluded));
        let comparison = Comparison::new(terms, [Some(1), None].into_iter()).without(dropped);
        comparison.rank(document.as_bytes(), |_| false, &mut [])
    }

    #[test]
    fn a_match_is_ranked_by_where_its_words_are() {
        let record = ["K-1", "Old maps", "of towns and roads"];
        for (query, expected) in [
            ("map", Some(2)),
            ("maps old", Some(2)),
            ("old k-1", Some(2)),
            ("old town", Some(1)),
            ("road", Some(1)),
            ("oad", Some(0)),
            ("old oad", Some(0)),
            ("\"old maps\"", Some(2)),
            ("\"old map\"", Some(0)),
            ("\"ld maps\"", Some(0)),
            ("\"towns and\"", Some(1)),
            ("\"towns an\"", Some(0)),
            ("\"maps old\"", None),
            ("old new", None),
            ("old -new", Some(2)),
            ("old -roads", None),
            ("-new", Some(2)),
            ("of", Some(1)),
            ("ap", None),
            ("OLD MAPS", Some(2)),
        ] {
            assert_eq!(rank(query, record), expected, "{query}");
        }
    }

    #[test]
    fn a_capital_stem_is_no_part_of_a_text() {
        assert_eq!(rank("road", ["", "", "roadways"]), Some(0));
        assert_eq!(rank("ROAD", ["", "", "r o a d"]), None);
        assert_eq!(rank("buss", ["", "bus", ""]), Some(2));
    }

    #[test]
    fn the_field_of_an_attribute_is_not_that_of_another_with_a_longer_number() {
        // The number 8 is written 10 in the digits of documents, and 1 begins it.
        assert_eq!(rank("town", ["", "", "town"]), Some(1));
    }

    #[test]
    fn the_field_of_a_dropped_attribute_does_not_count() {
        let record = ["K-1", "Old maps", "of towns"];
        for (query, dropped, expected) in [
            ("town", &[8][..], None),
            ("owns", &[8], None),
            ("old -town", &[8], Some(2)),
            ("old k-1", &[8], Some(2)),
            ("town", &[1], Some(1)),
            ("map", &[1], None),
            ("k-1", &[1, 8], Some(2)),
            ("town -map", &[1], Some(1)),
            ("map", &[9], Some(2)),
        ] {
            assert_eq!(rank_without(query, record, dropped), expected, "{query} without {dropped:?}");
        }
    }
}
