//! Which records match a query, best first: few enough to be ranked, or the newest of many.
//!
//! A search has three steps. The newest documents are asked how frequent each term is. If so many match that ranking
//! them all would take too long, the newest matches come first, and reading from the newest on finds a page soon.
//! Else the terms that are rare go to the trigram index, the others are checked on what it finds, and every match is
//! ranked. The planner is not asked to choose: it cannot know how frequent a part of a word is, and was seen to be
//! wrong by a factor of a thousand.

use super::names::{self, Names, Sight};
use super::needle::{Needle, field};
use super::query::{Query, Term};
use super::stem::Stemmer;
use super::table;
use crate::error::Error;
use crate::key;
use crate::postgres::datum;
use crate::postgres::guard::{as_owner, with_settings};
use crate::postgres::spi::{Access, Connection, connected};
use crate::record::read;
use crate::template::Template;
use std::collections::BTreeSet;
use std::ffi::CStr;
use uuid::Uuid;

/// Up to this many matches are ranked; of more, the newest come first.
pub const MOST_RANKED: usize = 20_000;
/// How many of the newest documents are asked first.
const SAMPLE: i64 = 1000;

/// Compiling a statement to machine code takes longer than running these.
const SETTINGS: [(&CStr, &CStr); 2] = [(c"jit", c"off"), (c"enable_seqscan", c"off")];

/// The rank of the record whose external key is the whole text of the query.
pub const RANK_KEY: i16 = 3;

/// What was found.
pub struct Found {
    /// The records.
    pub matches: Matches,
    /// The terms for which no index could narrow the search.
    pub scanned: Vec<String>,
}

/// The records that match a query, whoever may see them.
pub enum Matches {
    /// All of them, each with its rank: 3 the key is the whole text, 2 all terms are whole words of the name or the
    /// key, 1 all terms are whole words, 0 other matches. Higher ranks come first, of one rank the newest.
    Ranked(Vec<(i16, Uuid)>),
    /// More than are ranked: the newest come first.
    Newest {
        /// The condition on the record `t` and its document `d`.
        condition: String,
        /// The record that comes before all others: its key is the whole text.
        first: Option<Uuid>,
    },
}

/// A term on its way into SQL.
struct Wanted<'q> {
    term: &'q Term,
    needle: Needle,
    /// Which references match, with the column of each.
    names: Vec<(String, Names)>,
}

/// Finds the live records of a template that match a query.
pub fn find(template: &Template, query: &Query, sight: &Sight) -> Result<Found, Error> {
    let first = key::normalize(&query.text).ok().and_then(|key| read::id_by_key(template, key));
    Ok(as_owner(|| {
        with_settings(&SETTINGS, || connected(|spi| find_with(spi, template, query, sight, first)))
    }))
}

/// The condition that a record `t` with its document `d` matches: for statements that want all of them in an order of
/// their own, or a text to be read.
pub fn condition(template: &Template, query: &Query, sight: &Sight) -> String {
    let references = names::references(template, sight);
    let mut wanted = wanted_terms(template, query);
    for it in &mut wanted {
        let many = |reference: &names::Reference| Names::Many(reference.query(it.term));
        it.names = references.iter().map(|reference| (reference.slug.clone(), many(reference))).collect();
    }
    let condition = whole_condition(&wanted);
    match key::normalize(&query.text) {
        Ok(key) => format!("(t.external_key = {} or {condition})", crate::quote::literal(key)),
        Err(_) => condition,
    }
}

fn wanted_terms<'q>(template: &Template, query: &'q Query) -> Vec<Wanted<'q>> {
    let stemmer = Stemmer::new(template);
    let stems = |term: &Term| -> Vec<BTreeSet<String>> { stemmer.ways(&term.typed) };
    let wanted = |term| Wanted { term, needle: Needle::new(term, &stems(term)), names: Vec::new() };
    query.terms.iter().map(wanted).collect()
}

fn find_with(
    spi: &Connection,
    template: &Template,
    query: &Query,
    sight: &Sight,
    first: Option<Uuid>,
) -> Found {
    let mut wanted = wanted_terms(template, query);
    let is_served = wanted.iter().any(|it| !it.term.is_excluded && it.needle.is_indexable());
    let scanned = if is_served { Vec::new() } else { wanted.iter().map(Wanted::shown).collect() };
    add_names(spi, &mut wanted, &names::references(template, sight));
    let sample = Sample::take(spi, template, &wanted);
    let too_many_names = wanted
        .iter()
        .any(|it| !it.term.is_excluded && it.names.iter().any(|(_, it)| matches!(it, Names::Many(_))));
    let is_rankable = sample.is_all || is_served && !sample.are_too_many && !too_many_names;
    let ranked = is_rankable.then(|| rank(spi, template, &wanted, &sample)).flatten();
    let matches = match ranked {
        Some(mut ranked) => {
            if let Some(first) = first {
                ranked.retain(|(_, id)| *id != first);
                ranked.push((RANK_KEY, first));
            }
            ranked.sort_unstable_by(|one, other| other.cmp(one));
            Matches::Ranked(ranked)
        }
        None => Matches::Newest { condition: whole_condition(&wanted), first },
    };
    Found { matches, scanned }
}

fn add_names(spi: &Connection, wanted: &mut [Wanted], references: &[names::Reference]) {
    for it in wanted {
        let mut known: Vec<(usize, Names)> = Vec::new();
        for (position, reference) in references.iter().enumerate() {
            let same = known.iter().find(|(earlier, _)| references[*earlier].has_target_of(reference));
            let names = match same {
                Some((_, names)) => names.clone(),
                None => reference.names(spi, it.term),
            };
            if !names.is_empty() {
                it.names.push((format!("t.\"{}\"", reference.slug), names.clone()));
            }
            known.push((position, names));
        }
    }
}

/// What the newest documents say.
struct Sample {
    /// Whether these are all documents there are.
    is_all: bool,
    /// Whether so many must match in all that counting them would be a waste.
    are_too_many: bool,
    /// The terms that are looked up in the index; the others are checked on what it finds.
    indexed: Vec<bool>,
}

impl Sample {
    fn take(spi: &Connection, template: &Template, wanted: &[Wanted]) -> Sample {
        let table = table::table_sql(template.id);
        let holds: Vec<String> = wanted.iter().map(|it| it.needle.checked("d.document")).collect();
        let positive: Vec<&str> = holds
            .iter()
            .zip(wanted)
            .filter(|(_, it)| !it.term.is_excluded)
            .map(|(holds, _)| holds.as_str())
            .collect();
        let all = if positive.is_empty() { "true".to_owned() } else { positive.join(" and ") };
        let counts: String = holds.iter().map(|holds| format!(", count(*) filter (where {holds})")).collect();
        let rows = spi.run_once(
            &format!(
                "select count(*), (pg_relation_size('{table}') / (avg(pg_column_size(d.document)) + 60))::bigint, \
                 count(*) filter (where {all}) {counts} \
                 from (select d.document from {table} d order by d.record_id desc limit {SAMPLE}) d"
            ),
            Access::Snapshot,
            &[],
        );
        let number = |column| rows.get(0, column).map_or(0, datum::read_i64);
        let (seen, estimated, matching) = (number(0), number(1), number(2));
        let frequency = |position: usize| number(position + 3);
        let usable =
            |position: &usize| !wanted[*position].term.is_excluded && wanted[*position].needle.is_indexable();
        let rarest = (0..wanted.len()).filter(usable).min_by_key(|position| frequency(*position));
        let indexed = (0..wanted.len())
            .map(|position| {
                usable(&position) && (frequency(position) * 20 < seen || rarest == Some(position))
            })
            .collect();
        // Twice as many as are ranked, so that the estimate decides only where it cannot be wrong.
        let are_too_many = seen > 0 && matching * estimated / seen > 2 * MOST_RANKED as i64;
        Sample { is_all: seen < SAMPLE, are_too_many, indexed }
    }
}

impl Wanted<'_> {
    fn shown(&self) -> String {
        format!("{}{}", if self.term.is_excluded { "-" } else { "" }, self.term.text)
    }

    /// The term holds, in the document or in a name.
    fn anywhere(&self) -> String {
        let mut sql = self.needle.checked("d.document");
        for (column, names) in &self.names {
            sql = format!("{sql} or {}", names.condition(column));
        }
        format!("({sql})")
    }
}

/// Every term holds, the excluded ones do not.
fn whole_condition(wanted: &[Wanted]) -> String {
    let each =
        wanted.iter().map(|it| format!("{}{}", if it.term.is_excluded { "not " } else { "" }, it.anywhere()));
    let condition = each.collect::<Vec<_>>().join(" and ");
    if condition.is_empty() { "true".to_owned() } else { condition }
}

/// All matches with their ranks, in no order; none when there are more than are ranked.
///
/// A record matches because its document holds every term, which the index finds; or because a name that it refers to
/// holds one, which the indexes of references find, and the rest holds somehow.
fn rank(
    spi: &Connection,
    template: &Template,
    wanted: &[Wanted],
    sample: &Sample,
) -> Option<Vec<(i16, Uuid)>> {
    let (records, documents) = (template.table_sql(), table::table_sql(template.id));
    let (excluded, positive): (Vec<_>, Vec<_>) =
        wanted.iter().zip(&sample.indexed).partition(|(it, _)| it.term.is_excluded);
    let without: String = excluded.iter().map(|(it, _)| format!(" and not {}", it.anywhere())).collect();
    let needs_record = excluded.iter().any(|(it, _)| !it.names.is_empty());
    let join = if needs_record { format!(" join {records} t on t.id = d.record_id") } else { String::new() };
    let by_document: Vec<String> = positive
        .iter()
        .map(
            |(it, indexed)| {
                if **indexed { it.needle.indexed("d.document") } else { it.needle.checked("d.document") }
            },
        )
        .collect();
    let by_document = if by_document.is_empty() { "true".to_owned() } else { by_document.join(" and ") };
    let most = MOST_RANKED + 1;
    let mut hits = format!(
        "(select d.record_id, d.document from {documents} d{join} where {by_document}{without} limit {most})"
    );
    let referring: Vec<String> = positive
        .iter()
        .flat_map(|(it, _)| &it.names)
        .filter_map(|(column, names)| match names {
            Names::Few(ids) => Some(format!("{column} = any ({})", names::id_array(ids))),
            Names::Many(_) => None,
        })
        .collect();
    if !referring.is_empty() {
        let anywhere: Vec<String> = positive.iter().map(|(it, _)| it.anywhere()).collect();
        let found: Vec<String> = positive.iter().map(|(it, _)| it.needle.checked("d.document")).collect();
        hits = format!(
            "{hits} union all (select d.record_id, d.document from {records} t \
             join {documents} d on d.record_id = t.id where ({}) and {} and not ({}){without} limit {most})",
            referring.join(" or "),
            anywhere.join(" and "),
            found.join(" and ")
        );
    }
    let rows = spi.run_once(
        &format!(
            "select h.record_id, {} from (select h.record_id, h.document, {} as title from ({hits}) h offset 0) h",
            rank_sql(&positive.iter().map(|(it, _)| &it.needle).collect::<Vec<_>>()),
            title(template)
        ),
        Access::Snapshot,
        &[],
    );
    if rows.len() > MOST_RANKED {
        return None;
    }
    let hit =
        |row| Some((rows.get(row, 1).map_or(0, datum::read_i32) as i16, datum::read_uuid(rows.get(row, 0)?)));
    Some((0..rows.len()).filter_map(hit).collect())
}

/// The name and the key of a record, taken from its document.
fn title(template: &Template) -> String {
    let display = template.display_slug().and_then(|slug| template.position(slug));
    let key = field("h.document", None);
    match display {
        Some(position) => {
            format!("{} || {key}", field("h.document", Some(template.attributes[position].id)))
        }
        None => key,
    }
}

fn rank_sql(needles: &[&Needle]) -> String {
    let all = |text: &str| {
        let each: Vec<String> = needles.iter().map(|needle| needle.whole_word(text)).collect();
        if each.is_empty() { "true".to_owned() } else { each.join(" and ") }
    };
    format!("case when {} then 2 when {} then 1 else 0 end", all("h.title"), all("h.document"))
}
