//! The stems of words in the language of a template.

use super::document::Whole;
use super::fold::fold;
use super::needle::Needle;
use super::query::{self, Term, TextQuery};
use crate::postgres::text_search;
use crate::template::Template;
use pgrx::pg_sys::Oid;
use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;

/// The maximum length of a word. PostgreSQL emits a notice for each longer one.
const MAX_WORD: usize = 1000;

/// The stemmer of a template's language.
pub struct Stemmer {
    language: Oid,
    /// The former languages, whose stems documents may still contain after a change of the language.
    former: Vec<Oid>,
}

impl Stemmer {
    /// The stemmer of this template.
    pub fn new(template: &Template) -> Stemmer {
        let former = template.former_languages.iter().filter(|language| **language != template.language);
        Stemmer {
            language: text_search::configuration(&template.language),
            former: former.map(|language| text_search::configuration(language)).collect(),
        }
    }

    /// The needle of a term and its alternatives.
    pub fn needle(&self, term: &Term) -> Needle {
        let needle = |term: &Term| Needle::new(term, &self.variants(&term.typed));
        term.others().fold(needle(term), |all, other| all.or(needle(&other)))
    }

    /// All stems of a string in the language of the template, as in its document.
    pub fn stems(&self, text: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        variants_in(self.language, text).iter_mut().for_each(|way| all.append(way));
        all
    }

    /// The names and keys that a query may refer to, with the fingerprints in each language of
    /// documents.
    pub fn complete_names(&self, query: &TextQuery) -> Vec<Whole> {
        let mut complete_names = Vec::new();
        for name in query::titles(query) {
            for stems in self.variants(&name) {
                complete_names
                    .extend(Whole::new(&name, &stems).filter(|whole| !complete_names.contains(whole)));
            }
        }
        complete_names
    }

    /// The stems of a string in the language of the template: of the written form, and of the form without
    /// accents if its stems differ.
    pub fn own_variants(&self, text: &str) -> Vec<BTreeSet<String>> {
        variants_in(self.language, text)
    }

    /// The stems of a string in its written form, and without accents if these differ, for each language of
    /// documents. Inflection can depend on accents; the variant without accents matches queries that were typed
    /// without them. A search tries all variants.
    pub fn variants(&self, text: &str) -> Vec<BTreeSet<String>> {
        let languages = std::iter::once(&self.language).chain(&self.former);
        languages.flat_map(|language| variants_in(*language, text)).collect()
    }
}

fn variants_in(language: Oid, text: &str) -> Vec<BTreeSet<String>> {
    let text = without_long_words(text);
    let stem = |text: &str| -> BTreeSet<String> {
        let mut stems = BTreeSet::new();
        text_search::lexemes(language, text, |lexeme| {
            stems.insert(fold(lexeme));
        });
        stems.remove("");
        stems
    };
    if text.is_ascii() {
        return vec![stem(&text)];
    }
    let composed: String = text.nfc().collect();
    vec![stem(&composed), stem(&fold(&text))]
}

fn without_long_words(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= MAX_WORD || text.split_whitespace().all(|word| word.len() <= MAX_WORD) {
        return text.into();
    }
    let words: Vec<&str> = text.split_whitespace().filter(|word| word.len() <= MAX_WORD).collect();
    words.join(" ").into()
}
