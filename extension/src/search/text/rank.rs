//! Finds and ranks matches by a statement: if very many display terms of referenced records match, or if rows may not be read
//! without one.
//!
//! The rarest indexable term selects candidates. A record matches it by its document, which the
//! trigram index finds, or by a reference to a matching name, which the indexes of references find. Candidates are
//! checked for all other terms.

use super::document::Whole;
use super::document::{START, STEM, VALUE};
use super::names::{self, Names};
use super::needle::{Needle, field, literal};
use super::reader::Match;
use super::sample::Sample;
use super::terms::{self, PreparedTerm};
use crate::postgres::guard::with_settings;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::Template;
use crate::value::pattern::escaped;
use crate::value::table_name::SideTable;
use std::ffi::CStr;
use uuid::Uuid;

/// A term with an index is looked up in it, regardless of the planner's estimate.
const BY_INDEX: (&CStr, &CStr) = (c"enable_seqscan", c"off");

/// The terms of a search.
pub struct SearchTerms<'s> {
    /// The terms.
    pub requested: &'s [PreparedTerm<'s>],
    /// The names and keys that rank first.
    pub complete_names: &'s [Whole],
    /// The frequencies of the terms.
    pub sample: &'s Sample,
}

/// The term that selects candidates; `None` if no term can use an index, or all such terms are in most documents:
/// then reading all documents in order is faster.
pub fn leader(requested: &[PreparedTerm], sample: &Sample) -> Option<usize> {
    let is_collected =
        |term: &PreparedTerm| term.names.iter().all(|referring| matches!(referring.names, Names::Few(_)));
    let indexable = (0..requested.len()).filter(|position| {
        requested[*position].is_indexable()
            && is_collected(&requested[*position])
            && !sample.is_everywhere(*position)
    });
    indexable.min_by_key(|position| (sample.frequency(*position), requested[*position].names.len()))
}

/// The matches after a position in their order, up to a limit.
pub fn by_statement(
    spi: &Connection,
    template: &Template,
    sought: &SearchTerms,
    after: Option<Match>,
    limit: Option<usize>,
) -> Vec<Match> {
    let &SearchTerms { requested, complete_names, sample } = sought;
    let leader = leader(requested, sample);
    let hits = hits(template, requested, sample, leader);
    let needles: Vec<&Needle> =
        requested.iter().filter(|it| !it.term.is_excluded).map(|it| &it.needle).collect();
    // The name is extracted from the document only if it can contain the words.
    let whole_words = |text: &str| terms::all(needles.iter().map(|needle| needle.whole_word(text)));
    let behind = after.map(|(rank, id)| format!(" where (r.rank, r.record_id) < ({rank}, '{id}')"));
    let limit = limit.map(|limit| format!(" limit {limit}"));
    let sql = format!(
        "select r.record_id, r.rank from ( \
           select h.record_id, case when h.title is null then 0 when {} then h.whole else 1 end as rank \
           from (select h.record_id, case when {} then {} end as title, {} as whole from ({hits}) h offset 0) h \
           offset 0) r{} \
         order by r.rank desc, r.record_id desc{}",
        whole_words("h.title"),
        whole_words("h.document"),
        title_fields(template).join(" || "),
        rank_of_title(template, complete_names),
        behind.unwrap_or_default(),
        limit.unwrap_or_default(),
    );
    let settings: &[(&CStr, &CStr)] = if leader.is_some() { &[BY_INDEX] } else { &[] };
    with_settings(settings, || {
        let rows = spi.run_once(&sql, Snapshot::Active, &[]);
        let found = |row| {
            let rank = rows.get::<Option<i32>>(row, 1).unwrap_or_default() as i16;
            Some((rank, rows.get::<Option<Uuid>>(row, 0)?))
        };
        (0..rows.len()).filter_map(found).collect()
    })
}

/// The documents of the records that match.
fn hits(template: &Template, requested: &[PreparedTerm], sample: &Sample, leader: Option<usize>) -> String {
    let (records, documents) = (template.table_sql(), SideTable::Documents.sql(template.id));
    let others = || requested.iter().enumerate().filter(|(position, _)| Some(*position) != leader);
    let needs_record = others().any(|(_, it)| !it.names.is_empty());
    let join = if needs_record { format!(" join {records} t on t.id = d.record_id") } else { String::new() };
    let led = leader.map(|leader| requested[leader].needle.indexed("d.document"));
    let also = others().map(|(position, it)| {
        // A second index look-up pays off if the term can only be in the document.
        let is_looked_up =
            leader.is_some() && it.is_indexable() && it.names.is_empty() && sample.is_rare(position);
        if is_looked_up || leader.is_none() && it.names.is_empty() && !it.term.is_excluded {
            it.needle.indexed("d.document")
        } else {
            it.condition()
        }
    });
    let mut hits = format!(
        "(select d.record_id, d.document from {documents} d{join} where {})",
        terms::all(led.into_iter().chain(also))
    );
    let Some(leader) = leader.map(|leader| &requested[leader]) else { return hits };
    let referring: Vec<String> = leader
        .names
        .iter()
        .filter_map(|referring| match &referring.names {
            Names::Few(ids) => Some(format!("{} = any ({})", referring.column, names::id_array(ids))),
            Names::Many(_) => None,
        })
        .collect();
    if !referring.is_empty() {
        hits = format!(
            "{hits} union all (select d.record_id, d.document from {records} t \
             join {documents} d on d.record_id = t.id where ({}) and not {} and {})",
            referring.join(" or "),
            leader.needle.checked("d.document"),
            terms::all(others().map(|(_, it)| it.condition()))
        );
    }
    hits
}

/// The name and the key of a record, from its document.
fn title_fields(template: &Template) -> Vec<String> {
    let titles = template.name_attribute().map(Some).into_iter().chain([None]);
    titles.map(|attribute| field("h.document", attribute)).collect()
}

/// The rank of a record whose name or key has all terms as whole words.
fn rank_of_title(template: &Template, complete_names: &[Whole]) -> String {
    let fields = title_fields(template);
    let each = |condition: &dyn Fn(&Whole, &str) -> String| {
        let all = complete_names.iter().flat_map(|whole| {
            fields.iter().map(move |field| {
                // The field is extracted from the document only if it can end with the fingerprint.
                let mark = like("h.document", &format!("%{}%", escaped(&whole.mark)));
                format!("case when {mark} then {} else false end", condition(whole, field))
            })
        });
        let any = all.collect::<Vec<_>>().join(" or ");
        if any.is_empty() { "false".to_owned() } else { any }
    };
    let is_whole = |whole: &Whole, field: &str| {
        let (text, mark) = (escaped(&whole.text), escaped(&whole.mark));
        let ends = [STEM, START, VALUE].map(|end| like(field, &format!(" {text}{end}%{mark}")));
        format!("({} or {})", ends.join(" or "), like(field, &format!(" {text}{mark}")))
    };
    let has_words = |whole: &Whole, field: &str| like(field, &format!("%{}", escaped(&whole.mark)));
    format!("case when {} then 4 when {} then 3 else 2 end", each(&is_whole), each(&has_words))
}

fn like(text: &str, pattern: &str) -> String {
    format!("{text} like {}", literal(pattern))
}
