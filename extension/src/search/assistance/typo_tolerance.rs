//! A search, and where it finds nothing, the words that were meant.

use super::budget::Budget;
use super::correction::{Correction, Corrections, MOST_WORDS, may_be_wrong};
use super::vocabulary::{Source, Words};
use super::word;
use crate::access::visibility::{self, CallerSchema};
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Connection, connected};
use crate::search::page::ranked;
use crate::search::query::body::SearchQuery;
use crate::search::query::plan::Plan;
use crate::search::run;
use crate::search::text::find::Matches;
use crate::search::text::query::TextQuery;
use crate::template::{Template, catalog};
use crate::value::table_name::RECORD;
use crate::view::stored;
use std::collections::BTreeSet;
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
    let Some(wrong) = wrong(caller, template, &words)? else { return Ok(answer) };
    // A word that is found by itself is likely to be right, so it is corrected only if the others are not enough.
    let others = words_of(&words).difference(&wrong).cloned().collect();
    let budget = Budget::default();
    let needed = wrong.len();
    for more in [wrong, others] {
        if more.is_empty() {
            continue;
        }
        query.corrections.extend(corrections(caller, template, more, &budget));
        if query.corrections.is_empty() || query.corrections.len() < needed {
            return Ok(answer);
        }
        let (near, _) = run::found(caller, template, &query)?;
        if !near.starts_with(NOTHING) {
            return Ok(near);
        }
    }
    Ok(answer)
}

/// The words of a query that may be wrong.
fn words_of(words: &TextQuery) -> BTreeSet<String> {
    words.terms.iter().filter_map(may_be_wrong).take(MOST_CORRECTED).collect()
}

/// Those of the words that no record has which the caller sees; none if no such record can have all terms, however words are
/// corrected. Records out of sight must not decide: what is corrected would tell of their words.
fn wrong(
    caller: &Caller,
    template: &Rc<Template>,
    words: &TextQuery,
) -> Result<Option<BTreeSet<String>>, Error> {
    let all = words_of(words);
    if words.terms.iter().filter(|term| !term.is_excluded).count() < 2 {
        return Ok(Some(all));
    }
    let in_sight = Plan::of_all(&CallerSchema::new(caller, Rc::clone(template)))?;
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    let mut wrong = BTreeSet::new();
    for term in words.terms.iter().filter(|term| !term.is_excluded) {
        // Without a text, which could be a key.
        let alone = TextQuery { text: String::new(), terms: vec![term.clone()] };
        let matches = Matches::of(template, &alone, &visible_rows);
        let found = as_owner(|| connected(|spi| ranked::first_ids(spi, template, &in_sight, &matches, 1)));
        if found.is_empty() {
            let Some(word) = may_be_wrong(term).filter(|word| all.contains(word)) else { return Ok(None) };
            wrong.insert(word);
        }
    }
    Ok(Some(wrong))
}

/// The words of records that the caller sees which these words may have been, each with one letter wrong.
fn corrections(
    caller: &Caller,
    template: &Template,
    words: BTreeSet<String>,
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
    let seen = visibility::rows(caller, template, RECORD);
    let own = Source { spi, template, seen: seen.as_deref(), terms: &[], names_only: false, budget };
    let words = near(&own, term);
    let mut found: Vec<(String, usize, String)> = spelled(&own, words);
    // Names of referenced records are words of a record, too.
    let mut targets: Vec<i32> = template.attributes.iter().filter_map(|attribute| attribute.target).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets.into_iter().filter_map(catalog::by_id).filter(|target| target.has_documents) {
        let Some(seen) = visibility::condition(caller, &target, RECORD) else { continue };
        let seen = Some(seen.as_str()).filter(|seen| *seen != "true");
        let names = Source { spi, template: &target, seen, terms: &[], names_only: true, budget };
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
            if (word == term || word::is_near(word, term)) && !words.iter().any(|known| known == word) {
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
