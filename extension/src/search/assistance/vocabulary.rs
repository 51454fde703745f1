//! Reads words out of documents, of which a caller sees the records.
//!
//! A word is shown only if a record that the caller sees holds it. Documents are found by the trigram index and read in
//! memory; of many, some of pages that are spread over the table.

mod documents;
mod visible;

use super::budget::Budget;
use crate::postgres::direct_access::Unfit;
use crate::postgres::spi::Connection;
use crate::search::text::terms::PreparedTerm;
use crate::template::Template;
use std::collections::HashMap;
use uuid::Uuid;

/// The documents that words are read from.
pub struct Source<'a> {
    /// The connection of the statements.
    pub spi: &'a Connection,
    /// Whose documents.
    pub template: &'a Template,
    /// The records `t` that the caller sees; none for all.
    pub seen: Option<&'a str>,
    /// The terms that a document must satisfy beside.
    pub terms: &'a [PreparedTerm<'a>],
    /// Whether the names of records count alone.
    pub names_only: bool,
    /// What the request may still read.
    pub budget: &'a Budget,
}

/// Words with the records that hold them.
#[derive(Default)]
pub struct Words {
    /// The records of each word that the caller sees.
    pub records: HashMap<String, Vec<Uuid>>,
    /// Whether all documents were read.
    pub is_whole: bool,
}

/// What is read of one document.
struct Read {
    record: Uuid,
    words: Vec<String>,
    bytes: usize,
}

/// Takes the words that are wanted out of a document.
type Taker<'t> = dyn Fn(&str) -> Vec<String> + 't;

impl Source<'_> {
    /// The words that `take` takes out of the documents that hold one of these texts.
    pub fn words(&self, texts: &[String], take: &Taker) -> Words {
        let found = match self.seen {
            None => self.found_by_index(texts, take),
            Some(seen) => self.found_in_sight(texts, take, seen),
        };
        let (found, is_whole) = found.unwrap_or_else(|Unfit| self.found_by_statement(texts, take));
        Words::of(found, is_whole)
    }
}

impl Words {
    fn of(found: Vec<Read>, is_whole: bool) -> Words {
        let mut records: HashMap<String, Vec<Uuid>> = HashMap::new();
        for read in found {
            for word in read.words {
                records.entry(word).or_default().push(read.record);
            }
        }
        Words { records, is_whole }
    }

    /// Adds others, whose records may be the same.
    pub fn add(&mut self, others: Words) {
        for (word, records) in others.records {
            let all = self.records.entry(word).or_default();
            all.extend(records);
            all.sort_unstable();
            all.dedup();
        }
    }

    /// The words with their records, those of most records first.
    pub fn ranked(self) -> Vec<(String, Vec<Uuid>)> {
        let mut words: Vec<(String, Vec<Uuid>)> = self.records.into_iter().collect();
        words.iter_mut().for_each(|(_, records)| records.sort_unstable());
        words.sort_unstable_by(|(one, ones), (other, others)| {
            others.len().cmp(&ones.len()).then_with(|| one.cmp(other))
        });
        words
    }
}
