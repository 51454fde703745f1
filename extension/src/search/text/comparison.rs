//! Compares terms with documents in memory: the same conditions as those of [`super::needle`] in SQL, in a tenth of
//! the time.

use super::document::Whole;
use super::document::{self, FIELD};
use super::needle::{Needle, WholeWords};
use super::word_boundary::BoundedText;
use memchr::memmem::{self, Finder};
use std::borrow::Cow;

/// Lists of strings. A document must contain all strings of one list.
type Texts<'n> = Vec<Vec<Finder<'n>>>;

/// The terms of a query, ready to be compared.
pub struct Comparison<'n> {
    terms: Vec<Term<'n>>,
    /// The prefixes of the display and key fields.
    titles: Vec<Vec<u8>>,
    /// The prefixes of the fields of dropped attributes, which documents may still contain.
    dropped: Vec<Vec<u8>>,
    /// The complete names that rank first.
    complete_names: Vec<CompleteName<'n>>,
}

struct CompleteName<'n> {
    whole: &'n Whole,
    mark: Finder<'n>,
}

struct Term<'n> {
    alternatives: Texts<'n>,
    whole_words: Vec<Words<'n>>,
    is_excluded: bool,
}

/// A match of whole words: all strings, and the phrase.
struct Words<'n> {
    texts: Vec<Finder<'n>>,
    phrase: Option<BoundedText<'n>>,
}

impl<'n> Words<'n> {
    fn of(whole: &'n WholeWords) -> Words<'n> {
        Words {
            texts: whole.texts.iter().map(Finder::new).collect(),
            phrase: whole.phrase.as_deref().map(BoundedText::new),
        }
    }

    fn is_in(&self, text: &[u8]) -> bool {
        self.texts.iter().all(|it| it.find(text).is_some())
            && self.phrase.as_ref().is_none_or(|phrase| phrase.is_in(text))
    }
}

impl Term<'_> {
    /// Whether a document has the term. `is_named` returns whether its record references a record whose display
    /// term has it.
    fn is_met(&self, document: &[u8], is_named: impl FnOnce() -> bool) -> bool {
        (holds(&self.alternatives, document) || is_named()) != self.is_excluded
    }

    /// Whether a string contains it as whole words.
    fn is_whole_in(&self, text: &[u8]) -> bool {
        self.whole_words.iter().any(|whole| whole.is_in(text))
    }
}

impl<'n> Comparison<'n> {
    /// A comparison with a single term, anywhere in the document.
    pub fn of_needle(needle: &'n Needle) -> Comparison<'n> {
        Comparison::new(std::iter::once((needle, false)), std::iter::empty())
    }

    /// A comparison with several terms, each with whether it is excluded. `titles` are the display and key attributes.
    pub fn new(
        terms: impl Iterator<Item = (&'n Needle, bool)>,
        titles: impl Iterator<Item = Option<i32>>,
    ) -> Comparison<'n> {
        let terms = terms.map(|(needle, is_excluded)| Term {
            alternatives: finders(needle.alternatives()),
            whole_words: needle.whole_words().iter().map(Words::of).collect(),
            is_excluded,
        });
        let titles = titles.map(|attribute| document::field_start(attribute).into_bytes());
        Comparison {
            terms: terms.collect(),
            titles: titles.collect(),
            dropped: Vec::new(),
            complete_names: Vec::new(),
        }
    }

    /// The same without the fields of these attributes, as [`Needle::without`].
    pub fn without(self, attributes: &[i32]) -> Comparison<'n> {
        let start = |attribute: &i32| document::field_start(Some(*attribute)).into_bytes();
        Comparison { dropped: attributes.iter().map(start).collect(), ..self }
    }

    /// The same, with complete names that rank first.
    pub(super) fn before_others(self, complete_names: &'n [Whole]) -> Self {
        let sought = |whole: &'n Whole| CompleteName { whole, mark: Finder::new(&whole.mark) };
        Comparison { complete_names: complete_names.iter().map(sought).collect(), ..self }
    }

    /// Whether a document has each of the terms.
    pub fn each(&self, document: &[u8]) -> impl Iterator<Item = bool> {
        let document = self.valid(document);
        self.terms.iter().map(move |term| term.is_met(&document, || false))
    }

    /// The fields of a document that count.
    pub fn valid<'d>(&self, document: &'d [u8]) -> Cow<'d, [u8]> {
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

    /// The rank of a record by its document, if it has all terms: 4 if the name or the key is the query, 3 if either has its
    /// words and no others, 2 if all terms are whole words of the name or the key, 1 if all are whole words, 0 otherwise.
    /// `is_named` returns whether the record references a record whose display term has the term at this position.
    /// `match_counts` counts the documents with each term, unless it is empty.
    pub fn rank(
        &self,
        document: &[u8],
        is_named: impl Fn(usize) -> bool,
        match_counts: &mut [usize],
    ) -> Option<i16> {
        let document = &*self.valid(document);
        let mut is_found = true;
        for (position, term) in self.terms.iter().enumerate() {
            let is_met = term.is_met(document, || is_named(position));
            is_found &= is_met;
            match match_counts.get_mut(position) {
                Some(count) => *count += usize::from(is_met),
                None if !is_met => return None,
                None => {}
            }
        }
        if !is_found {
            return None;
        }
        let are_whole_words = |text: &[u8]| {
            let mut requested = self.terms.iter().filter(|term| !term.is_excluded);
            requested.all(|term| term.is_whole_in(text))
        };
        // The name is extracted from the document only if it can contain the words.
        Some(match are_whole_words(document) {
            true if are_whole_words(&self.title(document)) => self.rank_of_title(document),
            true => 1,
            false => 0,
        })
    }

    /// Whether a record has all terms, according to its document; `is_named` as for the rank.
    pub fn is_met(&self, document: &[u8], is_named: impl Fn(usize) -> bool) -> bool {
        let document = &*self.valid(document);
        let mut terms = self.terms.iter().enumerate();
        terms.all(|(position, term)| term.is_met(document, || is_named(position)))
    }

    /// The rank of a record whose name or key has all terms as whole words.
    fn rank_of_title(&self, document: &[u8]) -> i16 {
        let sought =
            || self.complete_names.iter().filter(|it| it.mark.find(document).is_some()).map(|it| it.whole);
        let is_any = |is_called: fn(&Whole, &[u8]) -> bool| {
            sought().any(|whole| self.title_fields(document).any(|field| is_called(whole, field)))
        };
        match () {
            () if is_any(Whole::is) => 4,
            () if is_any(Whole::has_words_of) => 3,
            () => 2,
        }
    }

    /// The display and key fields in a document, from their values on.
    fn title_fields<'d>(&'d self, document: &'d [u8]) -> impl Iterator<Item = &'d [u8]> {
        self.titles.iter().filter_map(|start| {
            let field = &document[memmem::find(document, start)? + start.len()..];
            let end = memchr::memchr(FIELD as u8, field).unwrap_or(field.len());
            Some(&field[..end])
        })
    }

    /// The name and the key of a record, from its document.
    fn title(&self, document: &[u8]) -> Vec<u8> {
        self.title_fields(document).flatten().copied().collect()
    }
}

fn finders(texts: &[Vec<String>]) -> Texts<'_> {
    texts.iter().map(|texts| texts.iter().map(Finder::new).collect()).collect()
}

fn holds(texts: &Texts, document: &[u8]) -> bool {
    texts.iter().any(|texts| texts.iter().all(|text| text.find(document).is_some()))
}

#[cfg(test)]
mod tests;
