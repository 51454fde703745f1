//! A search, and where it finds nothing, the words that were meant.

use super::correction::{Correction, Corrections, MOST_WORDS, may_be_wrong};
use super::query::SearchQuery;
use super::run;
use super::text::query::TextQuery;
use super::text::vocabulary::{Source, Words};
use super::text::word;
use crate::access::{Action, Caller, visibility};
use crate::error::Error;
use crate::postgres::guard::{as_owner, without_jit};
use crate::postgres::spi::{Connection, connected};
use crate::template::{Template, catalog};
use crate::value::table_name::RECORD;
use crate::view::stored;
use std::collections::HashSet;
use std::rc::Rc;

/// What the answer of a search that found nothing begins with.
const NOTHING: &str = "{\"records\":[]";
/// So many words of a query are corrected.
const MOST_CORRECTED: usize = 8;

/// Finds records of a template.
pub fn search(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    caller.require(Action::Read, template)?;
    let query = SearchQuery::parse(body)?;
    let saved = stored::body_of(template, query.view.as_deref())?;
    let mut query = query.within(saved.as_deref())?;
    let (answer, words) = run::found(caller, template, &query)?;
    let is_wanted = query.fuzzy && answer.starts_with(NOTHING);
    let Some(words) = words.filter(|_| is_wanted) else { return Ok(answer) };
    query.corrections = corrections(caller, template, &words);
    if query.corrections.is_empty() {
        return Ok(answer);
    }
    let (near, _) = run::found(caller, template, &query)?;
    Ok(if near.starts_with(NOTHING) { answer } else { near })
}

/// The words of records that the caller sees which the words of a query may have been, each with one letter wrong.
fn corrections(caller: &Caller, template: &Template, words: &TextQuery) -> Corrections {
    let wrong: HashSet<&str> =
        words.terms.iter().filter(|term| may_be_wrong(term)).map(|term| term.text.as_str()).collect();
    let mut wrong: Vec<&str> = wrong.into_iter().collect();
    wrong.sort_unstable();
    as_owner(|| {
        without_jit(|| {
            connected(|spi| {
                let terms = wrong.into_iter().take(MOST_CORRECTED);
                terms.filter_map(|term| correction(spi, caller, template, term)).collect()
            })
        })
    })
}

fn correction(spi: &Connection, caller: &Caller, template: &Template, term: &str) -> Option<Correction> {
    let seen = visibility::rows(caller, template, RECORD);
    let own = Source { spi, template, seen: seen.as_deref(), terms: &[], names_only: false };
    let words = near(&own, term);
    let mut found: Vec<(String, usize, String)> = spelled(&own, words);
    // Names of referenced records are words of a record, too.
    let mut targets: Vec<i32> = template.attributes.iter().filter_map(|attribute| attribute.target).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets.into_iter().filter_map(catalog::by_id).filter(|target| target.has_documents) {
        let Some(seen) = visibility::condition(caller, &target, RECORD) else { continue };
        let seen = Some(seen.as_str()).filter(|seen| *seen != "true");
        let names = Source { spi, template: &target, seen, terms: &[], names_only: true };
        for (word, count, spelling) in spelled(&names, near(&names, term)) {
            match found.iter_mut().find(|(known, _, _)| *known == word) {
                Some((_, known, _)) => *known += count,
                None => found.push((word, count, spelling)),
            }
        }
    }
    // The word itself, where there is one, was meant.
    found.sort_by(|(one, ones, _), (other, others, _)| {
        (other == term).cmp(&(one == term)).then(others.cmp(ones)).then_with(|| one.cmp(other))
    });
    found.truncate(MOST_WORDS);
    let shown = found.first()?.2.clone();
    let words = found.into_iter().map(|(word, _, _)| word).collect();
    Some(Correction { term: term.to_owned(), shown, words })
}

/// The words near a term, and the term itself, with the records that hold them.
fn near(source: &Source, term: &str) -> Words {
    let take = |document: &str| {
        let mut words = Vec::new();
        word::of_letters(document, |word| {
            if word == term || word::is_near(word, term) {
                words.push(word.to_owned());
            }
        });
        words
    };
    let mut all = Words::default();
    for texts in word::looked_up(term) {
        all.add(source.words(&texts, &take));
    }
    all
}

/// The most frequent of these words, each with the number of its records and how it is written.
fn spelled(source: &Source, words: Words) -> Vec<(String, usize, String)> {
    let mut words = words.ranked();
    words.truncate(MOST_WORDS);
    let lists: Vec<_> = words.iter().map(|(word, records)| (word.as_str(), records.as_slice())).collect();
    let spellings = source.spelling(&lists);
    words
        .iter()
        .zip(spellings)
        .map(|((word, records), spelling)| (word.clone(), records.len(), spelling))
        .collect()
}
