//! A page in the order of words: the matches are looked up in their order, until enough pass the condition of the search.

use super::bound_statement::{Statement, Told};
use super::writer::PageWriter;
use crate::postgres::parameter::{Parameter, array, params};
use crate::postgres::relation;
use crate::postgres::spi::{Connection, Snapshot};
use crate::record::read;
use crate::record::shape::{Projection, STANDARD_COLUMNS};
use crate::record::statement::columns;
use crate::search::explain_words::counted;
use crate::search::query::cursor;
use crate::search::query::plan::Plan;
use crate::search::text::find::Matches;
use crate::search::text::first::First;
use crate::search::text::reader::Match;
use crate::template::Template;
use crate::value::table_name::RECORD;
use uuid::Uuid;

/// So many records that pass the filters are few: all their documents are compared.
const FEW: usize = 5000;
/// Where less than this share of the matches passes, few records may pass at all.
const SPARSE: usize = 8;
/// How many times as many matches, at least, follow those of which too few have passed.
const GROWTH: usize = 8;
/// So many records are read one after the other in the time in which a match is looked up, or a document is compared.
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

/// How many matches are looked up first. One more than fit shows whether there is another page, and filters may let few
/// pass.
pub fn first_size(plan: &Plan) -> usize {
    if plan.has_words_only { plan.limit + 1 } else { 2 * (plan.limit + 1) }
}

/// Whether so few of the last matches have passed that all records that pass are looked for. Where no index finds these, all
/// records are read: not before the next matches would take as long, for which as many documents are read again for each.
fn is_sparse(template: &Template, plan: &Plan, passed: usize, first: &First, next: usize) -> bool {
    let matches = first.matches.len();
    let cost_of_match = (1.0 + first.work.documents() as f64 / matches.max(1) as f64) * COST_OF_MATCH;
    let is_long = || next as f64 * cost_of_match > relation::estimated_rows(template.table);
    passed * SPARSE < matches && (plan.is_served() || is_long())
}

/// How many matches follow those of which so many have passed: as many as fill the page if they pass as often.
fn next_size(plan: &Plan, size: usize, passed: usize) -> usize {
    let enough = (plan.limit + 1) * size / passed.max(1);
    enough.clamp(size * GROWTH, size * GROWTH * GROWTH)
}

/// Hands over matches in their order, portion by portion, until `take` has enough: else it says how many have passed the
/// condition.
fn each_portion(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    matches: &Matches,
    mut size: usize,
    mut take: impl FnMut(&[Match]) -> Option<usize>,
) {
    let position = plan.position.as_ref();
    let mut after = position.and_then(|position| Some((position.rank? as i16, position.uuid)));
    let mut is_narrowed = plan.has_words_only;
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

/// The first records in the order of the words that pass the plan's condition.
pub fn first_ids(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    matches: &Matches,
    most: usize,
) -> Vec<Uuid> {
    let sql = ranked_sql("t.id", template, plan);
    let mut found: Vec<Uuid> = Vec::new();
    each_portion(spi, template, plan, matches, 2 * most, |portion| {
        let (before, limit) = (found.len(), (most - found.len()) as i64);
        let ids = array(portion.iter().map(|(_, id)| *id));
        let rows = spi.run_once(&sql, Snapshot::Active, &params![ids, limit]);
        found.extend(rows.column::<Uuid>());
        (found.len() < most).then(|| found.len() - before)
    });
    found
}

/// The statement that reads these columns of matches, in their order: `$1` are their ids, `$2` how many are wanted.
fn ranked_sql(columns: &str, template: &Template, plan: &Plan) -> String {
    format!(
        "select {columns}, m.n from unnest($1) with ordinality m (id, n) join {} {RECORD} on {RECORD}.id = m.id \
         where {} order by m.n limit $2",
        template.table_sql(),
        plan.condition
    )
}

/// Writes a page in the order of words.
pub fn ranked_page(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    matches: &Matches,
    projection: &Projection,
    out: &mut String,
) -> PageWriter {
    let mut page = Page { spi, template, plan, projection, writer: PageWriter::default() };
    each_portion(spi, template, plan, matches, first_size(plan), |portion| {
        let before = page.writer.shown;
        if page.write_by_index(portion, out).is_none() {
            page.write_by_statement(portion, out);
        }
        (!page.writer.has_more).then(|| page.writer.shown - before)
    });
    page.writer
}

/// The statements that a page in the order of words needs where filters decide, too. `first` are the first matches. Each of
/// them is chosen by how many records those before it find, so these are looked for.
pub fn statements_run(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    matches: &Matches,
    mut first: First,
) -> Filtered {
    let mut filtered = Filtered { statements: Vec::new(), found: Some(0) };
    let (mut size, mut room) = (first_size(plan), plan.limit + 1);
    while let Some(last) = first.matches.last().copied() {
        let count = first.matches.len();
        let portion = || params![array(first.matches.iter().map(|(_, id)| *id)), room as i64].to_vec();
        let which = if filtered.statements.is_empty() { "first" } else { "next" };
        let purpose =
            format!("The filters are applied to the {which} {}, best first:", counted(count, "record"));
        filtered.statements.push(on_matches(purpose, template, plan, portion()));
        let ids = spi.run_once(&ranked_sql("t.id", template, plan), Snapshot::Active, &portion());
        let passed = ids.len();
        room -= passed;
        filtered.found = filtered.found.map(|found| found + passed);
        if room == 0 || first.are_all {
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

/// The statements that such a page may need. Which of them it does follows from the records, hidden ones among them.
pub fn possible_statements(template: &Template, plan: &Plan) -> Vec<Told> {
    let purpose = "The filters are applied to the records, best first:".to_owned();
    vec![on_matches(purpose, template, plan, Vec::new()), on_all(template, plan)]
}

/// How the filters of a search for words are applied.
pub struct Filtered {
    /// The statements.
    pub statements: Vec<Told>,
    /// How many records were found; none where only the last statement would tell.
    pub found: Option<usize>,
}

fn on_matches(purpose: String, template: &Template, plan: &Plan, arguments: Vec<Parameter>) -> Told {
    let sql = ranked_sql(&columns(template), template, plan);
    let statement = Statement { sql, arguments, are_many: false };
    Told { purpose, statement, shape: None, member: None }
}

fn on_all(template: &Template, plan: &Plan) -> Told {
    let purpose = format!(
        "Where fewer than one in {SPARSE} pass, the records that pass the filters are read. If they are at most {FEW}, \
         their documents are compared, else the next records follow:"
    );
    let statement = Statement { sql: few_sql(template, plan), arguments: Vec::new(), are_many: false };
    Told { purpose, statement, shape: None, member: None }
}

/// A page that is written.
struct Page<'a> {
    spi: &'a Connection,
    template: &'a Template,
    plan: &'a Plan,
    projection: &'a Projection,
    writer: PageWriter,
}

impl Page<'_> {
    /// The matches are looked up one by one, where nothing but words and the caller's sight decides on them: then what is
    /// asked of each is always the same.
    fn write_by_index(&mut self, portion: &[Match], out: &mut String) -> Option<()> {
        let Page { template, plan, projection, writer, .. } = self;
        if !plan.filter.is_always_true() {
            return None;
        }
        let mut last = None;
        let ids = portion.iter().map(|(_, id)| *id);
        let outcome = read::each_by_id(template, ids, &plan.condition, projection, |place, record| {
            writer.has_more = writer.shown == plan.limit || writer.is_full(out);
            if !writer.has_more {
                writer.write_record(&record, out);
                last = Some(portion[place]);
            }
            !writer.has_more
        });
        outcome.ok()?;
        if let Some(last) = last {
            self.note_last(last);
        }
        Some(())
    }

    /// They are looked up in parts that grow.
    fn write_by_statement(&mut self, portion: &[Match], out: &mut String) {
        let sql = ranked_sql(&columns(self.template), self.template, self.plan);
        let number = STANDARD_COLUMNS + self.template.attributes.len();
        let (mut rest, mut size) = (portion, 2 * (self.plan.limit + 1));
        while !rest.is_empty() && !self.writer.has_more {
            let (now, later) = rest.split_at(size.min(rest.len()));
            let room = self.plan.limit - self.writer.shown;
            let ids = array(now.iter().map(|(_, id)| *id));
            let rows = self.spi.run_once(&sql, Snapshot::Active, &params![ids, room as i64 + 1]);
            let most = rows.len().min(room);
            let shown = self.writer.write_records(self.template, &rows, most, self.projection, out);
            if shown > 0 {
                let at = rows.get::<Option<i64>>(shown - 1, number).unwrap_or(1) as usize - 1;
                self.note_last(now[at]);
            }
            self.writer.has_more = rows.len() > shown;
            (rest, size) = (later, size * GROWTH);
        }
    }

    fn note_last(&mut self, (rank, id): Match) {
        self.writer.last = Some(cursor::encode(&self.plan.fingerprint, &[rank.to_string()], &id.to_string()));
    }
}
