//! A search for words: its matches, and their order.

use super::cursor::{self, Position};
use super::page_writer::PageWriter;
use super::plan::Plan;
use super::ranked::{ranked_page, ranked_sql};
use super::text::find::{self, Matches, Order};
use super::text::query::TextQuery;
use super::text::table;
use crate::access::{Caller, visibility};
use crate::error::{Code, Error};
use crate::postgres::guard::with_settings;
use crate::postgres::parameter::{Parameter, array, params};
use crate::postgres::spi::{Connection, Rows, Snapshot};
use crate::record::read;
use crate::record::shape::Projection;
use crate::record::statement::columns;
use crate::template::Template;
use crate::value::table_name::{RECORD, SideTable};
use uuid::Uuid;

/// The rank in a cursor of a search that found too much to be ranked.
const NEWEST: i32 = -1;

/// The records that a search for words selects, before its filters.
pub enum Selection {
    /// All of them with their ranks, the best first.
    Ranked(Vec<(i16, Uuid)>),
    /// So many that the newest come first: a condition on `t` and its document `d`, and the record whose key is the
    /// whole text.
    Newest {
        /// The condition.
        condition: String,
        /// The record that comes before all others.
        first: Option<Uuid>,
        /// Whether the condition looks at the record at all.
        needs_record: bool,
    },
}

/// Finds the matches of the words of a plan, and which words no index served. Later pages use the strategy of the
/// first.
pub fn select(
    caller: &Caller,
    template: &Template,
    words: &TextQuery,
    position: Option<&Position>,
) -> Result<(Selection, Vec<String>), Error> {
    if !template.has_documents {
        return Err(table::not_migrated(template));
    }
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    let order = position.and_then(|position| position.rank).map(|rank| match rank {
        NEWEST => Order::Newest,
        _ => Order::Ranked,
    });
    let found = find::find(template, words, &visible_rows, order);
    match found.matches {
        Matches::Ranked(ranked) => Ok((Selection::Ranked(ranked), found.scanned)),
        Matches::Newest { .. } if order == Some(Order::Ranked) => {
            Err(Error::at(Code::InvalidValue, "/cursor", "too many records match now to be ranked")
                .hint("start again with the first page"))
        }
        Matches::Newest { condition, first, needs_record } => {
            Ok((Selection::Newest { condition, first, needs_record }, found.scanned))
        }
    }
}

/// The condition that a record has the words, for a person to read.
pub fn condition(caller: &Caller, template: &Template, words: &TextQuery) -> Result<String, Error> {
    if !template.has_documents {
        return Err(table::not_migrated(template));
    }
    let condition =
        find::condition(template, words, &|target, alias| visibility::condition(caller, target, alias));
    let documents = SideTable::Documents.sql(template.id);
    Ok(format!("exists (select from {documents} d where d.record_id = {RECORD}.id and {condition})"))
}

impl Selection {
    /// A further condition on the records of a statement whose order is not ours. It takes `$1` where there is one.
    /// `reads_all` says whether the statement needs all records found, and not just the first of them.
    pub fn condition(&self, template: &Template, reads_all: bool) -> String {
        match self {
            Selection::Ranked(_) => format!(" and {RECORD}.id = any ($1)"),
            Selection::Newest { condition, first, .. } => {
                let documents = SideTable::Documents.sql(template.id);
                // Where an index gives the order, a page is found soon, document by document; else all are read.
                let each = if reads_all { "" } else { " offset 0" };
                let first = first.map(|id| format!("{RECORD}.id = '{id}' or ")).unwrap_or_default();
                format!(
                    " and ({first}exists (select from {documents} d where d.record_id = {RECORD}.id \
                     and ({condition}){each}))"
                )
            }
        }
    }

    /// The statement that counts the records where nothing but words decides on them: of each live record there is one
    /// document. None where that does not do.
    pub fn count_sql(&self, template: &Template) -> Option<String> {
        match self {
            Selection::Newest { condition, first, needs_record: false } => {
                let documents = SideTable::Documents.sql(template.id);
                let first = first.map(|id| format!(" or d.record_id = '{id}'")).unwrap_or_default();
                Some(format!("select count(*) from {documents} d where {condition}{first}"))
            }
            _ => None,
        }
    }

    /// The arguments of such a statement.
    pub fn arguments(&self) -> Vec<Parameter> {
        match self {
            Selection::Ranked(ranked) => vec![array(ranked.iter().map(|(_, id)| *id))],
            Selection::Newest { .. } => Vec::new(),
        }
    }

    /// The first records in the order of the words that pass the plan's condition.
    pub fn first_ids(&self, spi: &Connection, template: &Template, plan: &Plan, most: usize) -> Vec<Uuid> {
        let read = |rows: &Rows| rows.column::<Uuid>().collect();
        match self {
            Selection::Ranked(ranked) => {
                let (sql, mut rest) = (ranked_sql("t.id", template, plan), ranked.as_slice());
                let (mut found, mut portion): (Vec<Uuid>, usize) = (Vec::new(), 2 * most);
                while !rest.is_empty() && found.len() < most {
                    let (now, later) = rest.split_at(portion.min(rest.len()));
                    let limit = (most - found.len()) as i64;
                    let rows = spi.run_once(
                        &sql,
                        Snapshot::Active,
                        &params![array(now.iter().map(|(_, id)| *id)), limit],
                    );
                    found.extend::<Vec<Uuid>>(read(&rows));
                    (rest, portion) = (later, portion * 8);
                }
                found
            }
            Selection::Newest { condition, first, .. } => {
                let mut found: Vec<Uuid> = Vec::new();
                if let Some(first) = first {
                    found.extend::<Vec<Uuid>>(read(&first_row(spi, "t.id", template, plan, *first)));
                }
                let rows = newest(spi, "t.id", template, plan, condition, "", most - found.len());
                found.extend::<Vec<Uuid>>(read(&rows));
                found
            }
        }
    }

    /// Writes a page in the order of the words.
    pub fn page(
        &self,
        spi: &Connection,
        template: &Template,
        plan: &Plan,
        projection: &Projection,
        out: &mut String,
    ) -> PageWriter {
        match self {
            Selection::Ranked(ranked) => ranked_page(spi, template, plan, ranked, projection, out),
            Selection::Newest { condition, first, .. } => {
                newest_page(spi, template, plan, condition, *first, projection, out)
            }
        }
    }
}

/// The record whose key is the whole text, if it passes the plan's condition.
fn first_row<'c>(
    spi: &'c Connection,
    columns: &str,
    template: &Template,
    plan: &Plan,
    first: Uuid,
) -> Rows<'c> {
    let table = template.table_sql();
    let sql = format!("select {columns} from {table} {RECORD} where {RECORD}.id = $1 and {}", plan.condition);
    spi.run_once(&sql, Snapshot::Active, &params![first])
}

/// The newest first, each document checked on the way: matches are frequent, so a page is found soon. The planner, who
/// cannot know that, is kept from reading everything.
fn newest<'c>(
    spi: &'c Connection,
    columns: &str,
    template: &Template,
    plan: &Plan,
    condition: &str,
    after: &str,
    most: usize,
) -> Rows<'c> {
    let (table, documents) = (template.table_sql(), SideTable::Documents.sql(template.id));
    // The record whose key is the whole text comes first.
    let words = plan.words.as_ref().map(|words| words.text.as_str()).unwrap_or_default();
    let not_first =
        format!(" and {RECORD}.external_key is distinct from {}", crate::value::quote::literal(words));
    let sql = format!(
        "select {columns} from {table} {RECORD} join {documents} d on d.record_id = {RECORD}.id \
         where {} and ({condition}){not_first}{after} order by {RECORD}.id desc limit {most}",
        plan.condition,
    );
    let settings = [
        (c"enable_hashjoin", c"off"),
        (c"enable_sort", c"off"),
        (c"enable_seqscan", c"off"),
        (c"enable_bitmapscan", c"off"),
    ];
    with_settings(&settings, || spi.run_once(&sql, Snapshot::Active, &[]))
}

/// A page of the newest.
fn newest_page(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    condition: &str,
    first: Option<Uuid>,
    projection: &Projection,
    out: &mut String,
) -> PageWriter {
    let mut page = PageWriter::default();
    let columns = columns(template);
    let cursor = |id: &str| cursor::encode(&plan.fingerprint, &[NEWEST.to_string()], id);
    if let (Some(first), None) = (first, &plan.position) {
        let rows = first_row(spi, &columns, template, plan, first);
        if !rows.is_empty() {
            page.write_record(&read::to_json(template, &rows, 0, projection), out);
            page.last = Some(cursor(&Uuid::max().to_string()));
        }
    }
    let after = plan.position.as_ref().map(|it| format!(" and {RECORD}.id < {}", it.id)).unwrap_or_default();
    let room = plan.limit - page.shown;
    let rows = newest(spi, &columns, template, plan, condition, &after, room + 1);
    let shown = page.write_records(template, &rows, rows.len().min(room), projection, out);
    if shown > 0 {
        let id = rows.get::<Option<Uuid>>(shown - 1, 0).unwrap_or_default();
        page.last = Some(cursor(&id.to_string()));
    }
    page.has_more = rows.len() > shown;
    page
}
