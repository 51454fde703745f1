//! Finds the records that match a query: all of them ranked, or the newest of many.
//!
//! A search has three steps. It looks up the names of referenced records. It samples documents to estimate the
//! frequency of each term. If too many records match to be ranked, the newest come first, and a scan from the newest
//! finds a page soon; otherwise all matches are found by the rarest term and ranked.

use super::names::{self, Names, VisibleRows};
use super::query::TextQuery;
use super::rank;
use super::sample::Sample;
use super::terms::{self, PreparedTerm};
use crate::postgres::guard::{as_owner, with_settings};
use crate::postgres::spi::{Connection, connected};
use crate::record::read;
use crate::template::Template;
use crate::value::key;
use crate::value::quote::literal;
use std::ffi::CStr;
use uuid::Uuid;

/// Up to this many matches are ranked; of more, the newest come first.
pub const MOST_RANKED: usize = 20_000;
/// The rank of the record whose external key is the whole text of the query.
pub const RANK_KEY: i16 = 3;

/// Compiling a statement to machine code takes longer than running these.
const WITHOUT_JIT: (&CStr, &CStr) = (c"jit", c"off");
/// A term that the index serves is looked up there, whatever the planner thinks of its frequency.
const BY_INDEX: (&CStr, &CStr) = (c"enable_seqscan", c"off");

/// In which order matches come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The best first, of one rank the newest.
    Ranked,
    /// The newest first.
    Newest,
}

/// What was found.
pub struct Found {
    /// The records.
    pub matches: Matches,
    /// The terms, when no index could serve any of them: then all documents were read.
    pub scanned: Vec<String>,
}

/// The live records that match a query, regardless of the caller.
pub enum Matches {
    /// All of them in their order, each with its rank: 3 the key is the whole text, 2 all terms are whole words of the
    /// name or the key, 1 all terms are whole words, 0 other matches.
    Ranked(Vec<(i16, Uuid)>),
    /// More than are ranked: the newest come first.
    Newest {
        /// The condition on the record `t` and its document `d`.
        condition: String,
        /// The record that comes before all others, whether or not the condition holds: its key is the whole text.
        first: Option<Uuid>,
        /// Whether the condition looks at the record at all, and not at its document alone.
        needs_record: bool,
    },
}

/// Finds the live records of a template that match a query. A page that follows another keeps its order.
pub fn find(
    template: &Template,
    query: &TextQuery,
    visible_rows: &VisibleRows,
    order: Option<Order>,
) -> Found {
    let first = key::normalize(&query.text).ok().and_then(|key| read::id_by_key(template, key));
    as_owner(|| {
        with_settings(&[WITHOUT_JIT], || {
            connected(|spi| find_with(spi, template, query, visible_rows, order, first))
        })
    })
}

fn find_with(
    spi: &Connection,
    template: &Template,
    query: &TextQuery,
    visible_rows: &VisibleRows,
    order: Option<Order>,
    first: Option<Uuid>,
) -> Found {
    let mut wanted = PreparedTerm::all(template, query);
    let references = names::references(template, visible_rows);
    for it in &mut wanted {
        it.add_names(spi, &references);
    }
    let mut scanned = Vec::new();
    let ranked = if wanted.is_empty() || order == Some(Order::Newest) {
        None
    } else {
        ranked(spi, template, &wanted, order, &mut scanned)
    };
    let matches = match ranked {
        Some(mut ranked) => {
            if let Some(first) = first {
                ranked.retain(|(_, id)| *id != first);
                ranked.push((RANK_KEY, first));
            }
            ranked.sort_unstable_by(|one, other| other.cmp(one));
            Matches::Ranked(ranked)
        }
        None => Matches::Newest {
            condition: terms::condition(&wanted),
            first,
            needs_record: wanted.iter().any(|it| !it.names.is_empty()),
        },
    };
    Found { matches, scanned }
}

/// All matches with their ranks, unless there are too many.
fn ranked(
    spi: &Connection,
    template: &Template,
    wanted: &[PreparedTerm],
    order: Option<Order>,
    scanned: &mut Vec<String>,
) -> Option<Vec<(i16, Uuid)>> {
    let sample = Sample::take(spi, template, wanted, MOST_RANKED);
    // A next page in ranked order must not fail because of matches that were added since.
    let most = if order.is_some() { 2 * MOST_RANKED } else { MOST_RANKED };
    // Half as many again, so that the sample decides only where it can hardly be wrong.
    if sample.found() * 2 > 3 * most as i64 {
        return None;
    }
    let leader = rank::leader(wanted, &sample);
    let leads_to_too_many = |(_, names): &(String, Names)| matches!(names, Names::Many(_));
    if leader.is_some_and(|leader| wanted[leader].names.iter().any(leads_to_too_many)) {
        return None;
    }
    let settings: &[(&CStr, &CStr)] = if leader.is_some() { &[BY_INDEX] } else { &[] };
    let ranked = with_settings(settings, || rank::rank(spi, template, wanted, &sample, leader, most))?;
    if leader.is_none() {
        scanned.extend(wanted.iter().map(PreparedTerm::shown));
    }
    Some(ranked)
}

/// The condition that a record `t` with its document `d` matches: for statements with their own order, and for
/// explanations.
pub fn condition(template: &Template, query: &TextQuery, visible_rows: &VisibleRows) -> String {
    let references = names::references(template, visible_rows);
    let mut wanted = PreparedTerm::all(template, query);
    for it in &mut wanted {
        let names =
            references.iter().map(|reference| (reference.column(), Names::Many(reference.query(it.term))));
        it.names = names.collect();
    }
    let condition = terms::condition(&wanted);
    match key::normalize(&query.text) {
        Ok(key) if !query.is_empty() => format!("(t.external_key = {} or {condition})", literal(key)),
        _ => condition,
    }
}
