//! Prepares the terms of a query for SQL.

use super::comparison::Comparison;
use super::names::{Names, Reference, Referring};
use super::needle::Needle;
use super::query::{Term, TextQuery};
use super::stem::Stemmer;
use crate::postgres::spi::Connection;
use crate::template::Template;

/// A term, prepared for the documents of a template.
pub struct PreparedTerm<'q> {
    /// The term of the query.
    pub term: &'q Term,
    /// The strings that documents must contain.
    pub needle: Needle,
    /// The references to records whose display terms match.
    pub names: Vec<Referring>,
}

impl<'q> PreparedTerm<'q> {
    /// The terms of a query, without display terms of other records.
    pub fn all(template: &Template, query: &'q TextQuery) -> Vec<PreparedTerm<'q>> {
        let stemmer = Stemmer::new(template);
        let requested = |term: &'q Term| {
            let needle = stemmer.needle(term).without(&template.former_attributes);
            PreparedTerm { term, needle, names: Vec::new() }
        };
        query.terms.iter().map(requested).collect()
    }

    /// Looks display terms up, once for each target, regardless of the number of its references.
    pub fn add_names(&mut self, spi: &Connection, references: &[Reference]) {
        let mut known: Vec<(&Reference, Names)> = Vec::new();
        for reference in references {
            let earlier = known.iter().find(|(earlier, _)| earlier.has_target_of(reference));
            let names = match earlier {
                Some((_, names)) => names.clone(),
                None => reference.names(spi, self.term),
            };
            if !names.is_empty() {
                self.names.push(reference.to(names.clone()));
            }
            known.push((reference, names));
        }
    }

    /// Whether the index of documents can find the matches.
    pub fn is_indexable(&self) -> bool {
        !self.term.is_excluded && self.needle.is_indexable()
    }

    /// The condition that the record `t` with the document `d` has the term, in a form that no index can
    /// use.
    pub fn condition(&self) -> String {
        let mut sql = self.needle.checked("d.document");
        for referring in &self.names {
            sql = format!("{sql} or {}", referring.condition());
        }
        format!("{}({sql})", if self.term.is_excluded { "not " } else { "" })
    }
}

/// The condition that a record has all terms.
pub fn condition(requested: &[PreparedTerm]) -> String {
    all(requested.iter().map(PreparedTerm::condition))
}

/// Conditions joined by `and`.
pub fn all(conditions: impl Iterator<Item = String>) -> String {
    let joined = conditions.collect::<Vec<_>>().join(" and ");
    if joined.is_empty() { "true".to_owned() } else { joined }
}

/// The comparison of the terms with documents in memory.
pub fn comparison<'n>(template: &Template, requested: &'n [PreparedTerm]) -> Comparison<'n> {
    let display = template.name_attribute().map(Some);
    let terms = requested.iter().map(|it| (&it.needle, it.term.is_excluded));
    Comparison::new(terms, display.into_iter().chain([None])).without(&template.former_attributes)
}
