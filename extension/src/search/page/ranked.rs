//! A page in rank order: matches are looked up, best first, until enough of them pass the condition of the search.

use super::records::Page;
use super::statement::{Explained, Statement};
use crate::postgres::parameter::{Parameter, array, params};
use crate::postgres::relation;
use crate::postgres::spi::{Connection, Snapshot};
use crate::record::read;
use crate::record::shape::{Projection, STANDARD_COLUMNS};
use crate::record::statement::columns;
use crate::search::query::cursor;
use crate::search::query::plan::Plan;
use crate::search::text::find::Matches;
use crate::search::text::first::First;
use crate::search::text::reader::Match;
use crate::template::Template;
use crate::value::table_name::RECORD;
use uuid::Uuid;

/// Up to this number of records that pass the filters, all their documents are compared.
const FEW: usize = 5000;
/// If less than one in this many matches passes, few records may pass at all.
const SPARSE: usize = 8;
/// The minimum growth of the next chunk of matches if too few have passed.
const GROWTH: usize = 8;
/// The number of records that a scan reads in the time of one look-up of a match, or one comparison of a document.
const COST_OF_MATCH: f64 = 10.0;

/// The records that pass the plan's condition, if they are few.
pub fn few(spi: &Connection, template: &Template, plan: &Plan) -> Option<Vec<Uuid>> {
    let rows = spi.run_once(&few_sql(template, plan), Snapshot::Active, &[]);
    (rows.len() <= FEW).then(|| rows.column::<Uuid>().collect())
}

fn few_sql(template: &Template, plan: &Plan) -> String {
    let (table, condition) = (template.table_sql(), &plan.condition);
    format!("select {RECORD}.id from {table} {RECORD} where {condition} limit {}", FEW + 1)
}

/// The number of matches that are looked up first: one more than the page size, to detect another page, and more if there
/// are filters.
pub fn first_size(plan: &Plan) -> usize {
    if plan.has_terms_only { plan.limit + 1 } else { 2 * (plan.limit + 1) }
}

/// Whether so few of the previous matches passed that all records that pass are selected instead. Without an index for the
/// filters, this reads all records, so it is chosen only when the next matches would take as long.
fn is_sparse(template: &Template, plan: &Plan, passed: usize, first: &First, next: usize) -> bool {
    let matches = first.matches.len();
    let cost_of_match = (1.0 + first.work.documents() as f64 / matches.max(1) as f64) * COST_OF_MATCH;
    let is_long = || next as f64 * cost_of_match > relation::estimated_rows(template.table);
    passed * SPARSE < matches && (plan.is_indexable() || is_long())
}

/// The size of the next chunk: as many matches as fill the page if the same share of them passes.
fn next_size(plan: &Plan, size: usize, passed: usize) -> usize {
    let enough = (plan.limit + 1) * size / passed.max(1);
    enough.clamp(size * GROWTH, size * GROWTH * GROWTH)
}

/// Passes matches to `take` in their order, in chunks, until it returns none. Otherwise returns the number of matches that
/// passed the condition.
fn each_chunk(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    matches: &Matches,
    mut size: usize,
    mut take: impl FnMut(&[Match]) -> Option<usize>,
) {
    let position = plan.position.as_ref();
    let mut after = position.and_then(|position| Some((position.rank? as i16, position.uuid)));
    let mut is_narrowed = plan.has_terms_only;
    loop {
        let first = matches.first(after, size);
        let Some(passed) = take(&first.matches).filter(|_| !first.are_all) else { return };
        after = first.matches.last().copied().or(after);
        let next = next_size(plan, size, passed);
        if !is_narrowed && is_sparse(template, plan, passed, &first, next) {
            is_narrowed = true;
            if let Some(records) = few(spi, template, plan) {
                let mut rest = matches.among(&records);
                rest.retain(|found| after.is_none_or(|after| *found < after));
                take(&rest);
                return;
            }
        }
        size = next;
    }
}

/// The first records in the order of ranks that pass the plan's condition.
pub fn first_ids(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    matches: &Matches,
    limit: usize,
) -> Vec<Uuid> {
    let sql = ranked_sql("t.id", template, plan);
    let mut found: Vec<Uuid> = Vec::new();
    each_chunk(spi, template, plan, matches, 2 * limit, |chunk| {
        let (before, rest) = (found.len(), (limit - found.len()) as i64);
        let ids = array(chunk.iter().map(|(_, id)| *id));
        let rows = spi.run_once(&sql, Snapshot::Active, &params![ids, rest]);
        found.extend(rows.column::<Uuid>());
        (found.len() < limit).then(|| found.len() - before)
    });
    found
}

/// The statement that reads these columns of matches, in their order: `$1` are their ids, `$2` is the limit.
fn ranked_sql(columns: &str, template: &Template, plan: &Plan) -> String {
    format!(
        "select {columns}, m.n from unnest($1) with ordinality m (id, n) join {} {RECORD} on {RECORD}.id = m.id \
         where {} order by m.n limit $2",
        template.table_sql(),
        plan.condition
    )
}

/// A page in the order of ranks.
pub fn page(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    matches: &Matches,
    projection: &Projection,
) -> Page {
    let mut writer = Writer { spi, template, plan, projection, page: Page::default() };
    each_chunk(spi, template, plan, matches, first_size(plan), |chunk| {
        let before = writer.page.count;
        if writer.write_by_index(chunk).is_none() {
            writer.write_by_statement(chunk);
        }
        (!writer.page.has_more).then(|| writer.page.count - before)
    });
    writer.page
}

/// The statements of a page in rank order with filters. `first` are the first matches. Each statement depends on the number
/// of records that the previous ones found, so these are run.
pub fn explained(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    matches: &Matches,
    mut first: First,
) -> Filtered {
    let mut filtered = Filtered { statements: Vec::new(), found: Some(0) };
    let (mut size, mut requested) = (first_size(plan), plan.limit + 1);
    while let Some(last) = first.matches.last().copied() {
        let count = first.matches.len();
        let arguments = || params![array(first.matches.iter().map(|(_, id)| *id)), requested as i64].to_vec();
        let which = if filtered.statements.is_empty() { "first" } else { "next" };
        let purpose =
            format!("The filters are applied to the {which} {}, best first:", counted(count, "record"));
        filtered.statements.push(on_matches(purpose, template, plan, arguments()));
        let ids = spi.run_once(&ranked_sql("t.id", template, plan), Snapshot::Active, &arguments());
        let passed = ids.len();
        requested -= passed;
        filtered.found = filtered.found.map(|found| found + passed);
        if requested == 0 || first.are_all {
            break;
        }
        let next = next_size(plan, size, passed);
        if is_sparse(template, plan, passed, &first, next) {
            filtered.statements.push(on_all(template, plan));
            filtered.found = filtered.found.filter(|found| *found > 0);
            break;
        }
        size = next;
        first = matches.first(Some(last), size);
    }
    filtered
}

/// The statements that such a page may need. The choice depends on the records, including hidden ones.
pub fn possible(template: &Template, plan: &Plan) -> Vec<Explained> {
    let purpose = "The filters are applied to the records, best first:".to_owned();
    vec![on_matches(purpose, template, plan, Vec::new()), on_all(template, plan)]
}

/// How the filters of a full-text search are applied.
pub struct Filtered {
    /// The statements.
    pub statements: Vec<Explained>,
    /// The number of records found; `None` if only the last statement would return it.
    pub found: Option<usize>,
}

fn on_matches(purpose: String, template: &Template, plan: &Plan, arguments: Vec<Parameter>) -> Explained {
    let sql = ranked_sql(&columns(template), template, plan);
    let statement = Statement { sql, arguments, are_many: false };
    Explained { purpose, statement, shape: None, member: None }
}

fn on_all(template: &Template, plan: &Plan) -> Explained {
    let purpose = format!(
        "Where fewer than one in {SPARSE} pass, the records that pass the filters are read. If they are at most {FEW}, \
         their documents are compared, else the next records follow:"
    );
    let statement = Statement::plain(few_sql(template, plan));
    Explained { purpose, statement, shape: None, member: None }
}

/// Writes a page.
struct Writer<'a> {
    spi: &'a Connection,
    template: &'a Template,
    plan: &'a Plan,
    projection: &'a Projection,
    page: Page,
}

impl Writer<'_> {
    /// Looks matches up one by one, if there are only terms and the caller's scope: then the condition of each lookup is the
    /// same.
    fn write_by_index(&mut self, chunk: &[Match]) -> Option<()> {
        let Writer { template, plan, projection, page, .. } = self;
        if !plan.filter.is_always_true() {
            return None;
        }
        let mut last = None;
        let ids = chunk.iter().map(|(_, id)| *id);
        let outcome = read::each_by_id(template, ids, &plan.condition, projection, |place, record| {
            page.has_more = page.count == plan.limit || page.is_full();
            if !page.has_more {
                page.push(&record);
                last = Some(chunk[place]);
            }
            !page.has_more
        });
        outcome.ok()?;
        if let Some(last) = last {
            self.note_last(last);
        }
        Some(())
    }

    /// Looks matches up by a statement, in chunks that grow.
    fn write_by_statement(&mut self, chunk: &[Match]) {
        let sql = ranked_sql(&columns(self.template), self.template, self.plan);
        let number = STANDARD_COLUMNS + self.template.attributes.len();
        let (mut rest, mut size) = (chunk, 2 * (self.plan.limit + 1));
        while !rest.is_empty() && !self.page.has_more {
            let (now, later) = rest.split_at(size.min(rest.len()));
            let limit = self.plan.limit - self.page.count;
            let ids = array(now.iter().map(|(_, id)| *id));
            let rows = self.spi.run_once(&sql, Snapshot::Active, &params![ids, limit as i64 + 1]);
            let limit = rows.len().min(limit);
            let written = self.page.push_rows(self.template, &rows, limit, self.projection);
            if written > 0 {
                let at = rows.get::<Option<i64>>(written - 1, number).unwrap_or(1) as usize - 1;
                self.note_last(now[at]);
            }
            self.page.has_more = rows.len() > written;
            (rest, size) = (later, size * GROWTH);
        }
    }

    fn note_last(&mut self, (rank, id): Match) {
        self.page.last = Some(cursor::encode(&self.plan.fingerprint, &[rank.to_string()], &id.to_string()));
    }
}

/// A number of things.
pub fn counted(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{ending}")
}
