//! Typo tolerance: corrects terms of a search that found nothing.

use super::budget::Budget;
use super::correction::{Correction, Corrections, MAX_WORDS, correctable};
use super::vocabulary::{self, Source, Words};
use super::{spelling, word};
use crate::access::{Caller, visibility};
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Connection, connected};
use crate::search::text::query::{Term, TextQuery};
use crate::template::{Template, catalog};
use crate::value::table_name::RECORD;
use std::collections::BTreeSet;

/// The maximum number of terms of a query that are corrected.
const MAX_CORRECTED: usize = 8;

/// Corrects the terms of a search that found nothing, until `search` finds a record with the corrections. `has_match`
/// returns whether a visible record contains a term.
pub fn correct<R>(
    caller: &Caller,
    template: &Template,
    terms: &TextQuery,
    has_match: impl Fn(&Term) -> Result<bool, Error>,
    mut search: impl FnMut(Corrections) -> Result<Option<R>, Error>,
) -> Result<Option<R>, Error> {
    let Some(misspelled) = misspelled(terms, has_match)? else { return Ok(None) };
    // A term that a record contains is probably correct, so it is corrected only if the other corrections find
    // nothing.
    let others = correctable_words(terms).difference(&misspelled).cloned().collect();
    let budget = Budget::default();
    let needed = misspelled.len();
    let mut all = Corrections::new();
    for words in [misspelled, others] {
        if words.is_empty() {
            continue;
        }
        all.extend(corrections(caller, template, &words, &budget));
        if all.is_empty() || all.len() < needed {
            return Ok(None);
        }
        if let Some(result) = search(all.clone())? {
            return Ok(Some(result));
        }
    }
    Ok(None)
}

/// The words of a query that may have a typo.
fn correctable_words(terms: &TextQuery) -> BTreeSet<String> {
    terms.terms.iter().filter_map(correctable).take(MAX_CORRECTED).collect()
}

/// The words that no visible record contains; none if no visible record can contain all terms, whatever the corrections.
/// Hidden records must not affect the choice, because a correction would disclose their words.
fn misspelled(
    terms: &TextQuery,
    has_match: impl Fn(&Term) -> Result<bool, Error>,
) -> Result<Option<BTreeSet<String>>, Error> {
    let all = correctable_words(terms);
    let requested = || terms.terms.iter().filter(|term| !term.is_excluded);
    if requested().count() < 2 {
        return Ok(Some(all));
    }
    let mut misspelled = BTreeSet::new();
    for term in requested() {
        if !has_match(term)? {
            let Some(word) = correctable(term).filter(|word| all.contains(word)) else { return Ok(None) };
            misspelled.insert(word);
        }
    }
    Ok(Some(misspelled))
}

/// The corrections of these words: words of visible records that differ in one letter.
fn corrections(
    caller: &Caller,
    template: &Template,
    words: &BTreeSet<String>,
    budget: &Budget,
) -> Corrections {
    as_owner(|| {
        connected(|spi| {
            words.iter().filter_map(|word| correction(spi, caller, template, word, budget)).collect()
        })
    })
}

fn correction(
    spi: &Connection,
    caller: &Caller,
    template: &Template,
    term: &str,
    budget: &Budget,
) -> Option<Correction> {
    let visible = visibility::rows(caller, template, RECORD);
    let own = Source { spi, template, visible: visible.as_deref(), terms: &[], names_only: false, budget };
    let words = near(&own, term);
    let mut found: Vec<(String, usize, String)> = spelled(&own, words);
    // A record is also found by the display terms of the records that it refers to.
    let mut targets: Vec<i32> = template.attributes.iter().filter_map(|attribute| attribute.target).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets.into_iter().filter_map(catalog::by_id).filter(|target| target.has_documents) {
        let Some(visible) = visibility::condition(caller, &target, RECORD) else { continue };
        let visible = Some(visible.as_str()).filter(|visible| *visible != "true");
        let names = Source { spi, template: &target, visible, terms: &[], names_only: true, budget };
        for (word, count, spelling) in spelled(&names, near(&names, term)) {
            match found.iter_mut().find(|(known, _, _)| *known == word) {
                Some((_, known, _)) => *known += count,
                None => found.push((word, count, spelling)),
            }
        }
    }
    // If a record contains the word as typed, it comes first.
    found.sort_by(|(one, ones, _), (other, others, _)| {
        (other == term).cmp(&(one == term)).then(others.cmp(ones)).then_with(|| one.cmp(other))
    });
    found.truncate(MAX_WORDS);
    let shown = found.first()?.2.clone();
    let words = found.into_iter().map(|(word, _, _)| word).collect();
    Some(Correction { term: term.to_owned(), shown, words })
}

/// The term and the words that differ from it in one letter, with the records that have them.
fn near(source: &Source, term: &str) -> Words {
    let take = |document: &str| {
        let mut words = Vec::new();
        word::of_letters(document, |word| {
            if (word == term || word::is_near(word, term)) && !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        });
        words
    };
    let mut all = Words::default();
    for texts in word::looked_up(term) {
        all.add(vocabulary::words(source, &texts, &take));
    }
    all
}

/// The most frequent of these words, each with the number of its records and its spelling.
fn spelled(source: &Source, words: Words) -> Vec<(String, usize, String)> {
    let mut words = words.ranked();
    words.truncate(MAX_WORDS);
    let lists: Vec<_> = words.iter().map(|(word, records)| (word.as_str(), records.as_slice())).collect();
    let spellings = spelling::most_frequent(source, &lists);
    words
        .iter()
        .zip(spellings)
        .map(|((word, records), spelling)| (word.clone(), records.len(), spelling))
        .collect()
}
