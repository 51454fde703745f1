//! Collects words from the documents of records that are visible to a caller.
//!
//! A word counts only if a visible record has it. The trigram index finds the documents, which are compared in memory. If
//! there are many, only documents on a sample of pages are read.

mod documents;
mod visible;

use crate::postgres::direct_access::Unsupported;
use documents::Read;
pub use documents::{Source, Taker};
use std::collections::HashMap;
use uuid::Uuid;

/// Words with the records that have them.
#[derive(Default)]
pub struct Words {
    /// The visible records of each word.
    pub records: HashMap<String, Vec<Uuid>>,
    /// Whether all documents were read.
    pub is_whole: bool,
}

/// The words that `take` extracts from the documents that contain one of these substrings.
pub fn words(source: &Source, texts: &[String], take: &Taker) -> Words {
    let found = match source.visible {
        None => documents::by_index(source, texts, take),
        Some(scope) => visible::read(source, texts, take, scope),
    };
    let (found, is_whole) = found.unwrap_or_else(|Unsupported| documents::by_statement(source, texts, take));
    Words::of(found, is_whole)
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

    /// Adds words. Their records may overlap with those already added.
    pub fn add(&mut self, others: Words) {
        for (word, records) in others.records {
            let all = self.records.entry(word).or_default();
            all.extend(records);
            all.sort_unstable();
            all.dedup();
        }
    }

    /// The words with their records, the most frequent first.
    pub fn ranked(self) -> Vec<(String, Vec<Uuid>)> {
        let mut words: Vec<(String, Vec<Uuid>)> = self.records.into_iter().collect();
        words.iter_mut().for_each(|(_, records)| records.sort_unstable());
        words.sort_unstable_by(|(one, ones), (other, others)| {
            others.len().cmp(&ones.len()).then_with(|| one.cmp(other))
        });
        words
    }
}
