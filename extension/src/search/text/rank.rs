//! Ranks all matches of a query: by an index scan and the documents that it finds, or by a statement if names of
//! referenced records match too or no index serves.
//!
//! The rarest term that the index can serve selects candidates. A record matches it by its document, which the
//! trigram index finds, or by a reference to a matching name, which the indexes of references find. Candidates are
//! checked for all other terms.

use super::names::{self, Names};
use super::needle::{Needle, field};
use super::sample::Sample;
use super::table;
use super::terms::{self, PreparedTerm};
use crate::postgres::datum;
use crate::postgres::heap::Heap;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::{Template, catalog};
use crate::value::table_name::{STATE, SideTable};
use uuid::Uuid;

/// Records with their ranks.
type Ranked = Vec<(i16, Uuid)>;

/// The term that selects candidates; none if no index serves any term, or all served terms are in most documents:
/// then reading all documents in order is faster.
pub fn leader(wanted: &[PreparedTerm], sample: &Sample) -> Option<usize> {
    let served = (0..wanted.len())
        .filter(|position| wanted[*position].is_served() && !sample.is_everywhere(*position));
    served.min_by_key(|position| (sample.frequency(*position), wanted[*position].names.len()))
}

/// The matches with their ranks, in no order; none when there are more than `most`.
pub fn rank(
    spi: &Connection,
    template: &Template,
    wanted: &[PreparedTerm],
    sample: &Sample,
    leader: Option<usize>,
    most: usize,
) -> Option<Ranked> {
    if let Some(ranked) = leader.and_then(|leader| compared(template, wanted, sample, leader, most)) {
        return (ranked.len() <= most).then_some(ranked);
    }
    let hits = hits(template, wanted, sample, leader, most);
    let needles: Vec<&Needle> =
        wanted.iter().filter(|it| !it.term.is_excluded).map(|it| &it.needle).collect();
    // The name is taken out of the document only where it can hold the words.
    let whole_words = |text: &str| terms::all(needles.iter().map(|needle| needle.whole_word(text)));
    let sql = format!(
        "select h.record_id, case when h.title is null then 0 when {} then 2 else 1 end \
         from (select h.record_id, case when {} then {} end as title from ({hits}) h offset 0) h",
        whole_words("h.title"),
        whole_words("h.document"),
        title(template)
    );
    let rows = spi.run_once(&sql, Snapshot::Active, &[]);
    if rows.len() > most {
        return None;
    }
    let hit = |row| {
        let rank = rows.get::<Option<i32>>(row, 1).unwrap_or_default() as i16;
        Some((rank, rows.get::<Option<Uuid>>(row, 0)?))
    };
    Some((0..rows.len()).filter_map(hit).collect())
}

/// The matches with their ranks, or one more than wanted, by comparing in memory; none where a statement has to.
fn compared(
    template: &Template,
    wanted: &[PreparedTerm],
    sample: &Sample,
    leader: usize,
    most: usize,
) -> Option<Ranked> {
    let comparison = terms::comparison(template, wanted)?;
    let table = catalog::table_oid(STATE, &SideTable::Documents.name(template.id))?;
    let index = catalog::table_oid(STATE, &table::index_name(template.id))?;
    let is_looked_up =
        |position: usize| position == leader || wanted[position].is_served() && sample.is_rare(position);
    let looked_up = (0..wanted.len()).filter(|position| is_looked_up(*position));
    let texts: Vec<_> = looked_up.map(|position| wanted[position].needle.looked_up()).collect();
    let mut ranked = Vec::new();
    let outcome = Heap::with(table, |heap| {
        heap.rows_with(index, &texts, |[record, document]| {
            if let Some(rank) = datum::with_bytes(*document, |document| comparison.rank(document)) {
                ranked.push((rank, datum::read_uuid(*record)));
            }
            ranked.len() <= most
        })
    });
    outcome.ok().map(|()| ranked)
}

/// The documents of the records that match: at most one more than wanted from each way of finding them.
fn hits(
    template: &Template,
    wanted: &[PreparedTerm],
    sample: &Sample,
    leader: Option<usize>,
    most: usize,
) -> String {
    let (records, documents) = (template.table_sql(), SideTable::Documents.sql(template.id));
    let limit = most + 1;
    let others = || wanted.iter().enumerate().filter(|(position, _)| Some(*position) != leader);
    let needs_record = others().any(|(_, it)| !it.names.is_empty());
    let join = if needs_record { format!(" join {records} t on t.id = d.record_id") } else { String::new() };
    let led = leader.map(|leader| wanted[leader].needle.indexed("d.document"));
    let also = others().map(|(position, it)| {
        // A second index look-up pays off where the term can only be in the document.
        let is_looked_up =
            leader.is_some() && it.is_served() && it.names.is_empty() && sample.is_rare(position);
        if is_looked_up || leader.is_none() && it.names.is_empty() && !it.term.is_excluded {
            it.needle.indexed("d.document")
        } else {
            it.condition()
        }
    });
    let mut hits = format!(
        "(select d.record_id, d.document from {documents} d{join} where {} limit {limit})",
        terms::all(led.into_iter().chain(also))
    );
    let Some(leader) = leader.map(|leader| &wanted[leader]) else { return hits };
    let referring: Vec<String> = leader
        .names
        .iter()
        .filter_map(|(column, names)| match names {
            Names::Few(ids) => Some(format!("{column} = any ({})", names::id_array(ids))),
            Names::Many(_) => None,
        })
        .collect();
    if !referring.is_empty() {
        hits = format!(
            "{hits} union all (select d.record_id, d.document from {records} t \
             join {documents} d on d.record_id = t.id where ({}) and not {} and {} limit {limit})",
            referring.join(" or "),
            leader.needle.checked("d.document"),
            terms::all(others().map(|(_, it)| it.condition()))
        );
    }
    hits
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
