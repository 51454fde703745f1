//! Explains a search: its statements, their plans, and notes on missing indexes.

use super::plan::Plan;
use super::query::{Count, SearchQuery};
use super::run::Search;
use super::semantic::strategy;
use super::semantic::vector_search::VectorSearch;
use super::text::names;
use super::time_zone;
use super::words::{self, Selection};
use crate::access::visibility::{self, CallerSchema};
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::postgres::guard::{as_owner, without_jit};
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::Template;
use crate::value::table_name::{RECORD, SideTable};
use crate::vectors;
use crate::view::stored;
use std::rc::Rc;

/// In the place of a plan.
const WITHHELD: &str = "The plan is that of a caller who may read all records.\n";

/// Every statement of a search with its plan. Words are looked for; nothing else is run. A caller who sees some records
/// only gets the statements alone: plans follow from how many records there are, and which values they hold, the hidden
/// ones included.
pub fn explain(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    caller.require(Action::Read, template)?;
    let query = SearchQuery::parse(body)?;
    let saved = stored::body_of(template, query.view.as_deref())?;
    let query = query.within(saved.as_deref())?;
    let schema = CallerSchema::new(caller, Rc::clone(template));
    let plan = Plan::new(&query, &schema, &time_zone::of_search(query.time_zone.as_deref(), template)?)?;
    let is_scoped = visibility::rows(caller, template, RECORD).is_some();
    let mut out = String::new();
    let mut selection = None;
    if let Some(words) = &plan.words {
        let (selected, scanned) = words::select(caller, template, words, plan.position.as_ref())?;
        out.push_str(&describe(&selected, &scanned, is_scoped));
        selection = Some(selected);
    }
    as_owner(|| {
        without_jit(|| {
            connected(|spi| {
                if let Some(words) = plan.words.as_ref().filter(|_| !is_scoped) {
                    let seen = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
                    for reference in names::references(template, &seen) {
                        for term in words.terms.iter().filter(|term| reference.is_scanned(spi, term)) {
                            out.push_str(&format!(
                                "All records that {} can refer to are scanned for names with {}.\n",
                                reference.column(),
                                term.text
                            ));
                        }
                    }
                }
                if let Some(vector) = &query.vector {
                    vectors::table::require(template)?;
                    if is_scoped {
                        out.push_str(WITHHELD);
                    } else {
                        let wanted = VectorSearch::of(caller, template, &plan, vector, plan.limit, 0.0);
                        out.push_str(strategy::choose(spi, &wanted).describe());
                    }
                    return Ok(());
                }
                let search = Search { spi, caller, template, plan: &plan, selection };
                for (purpose, sql) in statements(&search) {
                    write_statement(spi, &purpose, &sql, is_scoped, &mut out);
                }
                Ok(())
            })
        })
    })?;
    Ok(out)
}

/// The statements of a search, each with what it is for; nothing is said of the first.
fn statements(search: &Search) -> Vec<(String, String)> {
    let plan = search.plan;
    let mut statements = Vec::new();
    // A page in the order of words is looked up by what they select.
    if search.selection.is_none() || !plan.keys.is_empty() {
        for (position, segment) in plan.order.segments(plan.position.as_ref()).iter().enumerate() {
            let purpose = if position > 0 { "When these are exhausted:" } else { "" };
            statements.push((purpose.to_owned(), search.page_sql(segment, plan.limit + 1)));
        }
    }
    if plan.count == Count::Exact {
        statements.push(("Counting all records found:".to_owned(), search.count_sql()));
    }
    for facet in &plan.facets {
        statements.push((format!("Counting the values of {}:", facet.name), search.facet_sql(facet)));
    }
    if let Some(Selection::Ranked(_)) = search.selection {
        for (_, sql) in &mut statements {
            // The ids would fill the page; a single one shows the way as well.
            *sql = sql.replace("$1", "array['00000000-0000-8000-8000-000000000000']::uuid[]");
        }
    }
    statements
}

fn write_statement(spi: &Connection, purpose: &str, sql: &str, is_scoped: bool, out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    if !purpose.is_empty() {
        out.push_str(purpose);
        out.push_str("\n\n");
    }
    out.push_str(sql);
    out.push_str("\n\n");
    if is_scoped {
        out.push_str(WITHHELD);
        return;
    }
    // PostgreSQL explains nothing through a fixed snapshot.
    let rows = spi.run_once(&format!("explain {sql}"), Snapshot::Latest, &[]);
    let lines: Vec<String> = rows.column::<String>().collect();
    for line in &lines {
        out.push_str(line);
        out.push('\n');
    }
    if let Some(table) = lines.iter().find_map(|line| line.split("Seq Scan on ").nth(1)) {
        let table = table.split(' ').next().unwrap_or_default();
        out.push_str(&format!(
            "\nEvery row of {table} is read. Unless it is small, {}\n",
            advice(purpose, table)
        ));
    }
    if lines
        .iter()
        .enumerate()
        .any(|(number, line)| line.contains("Index Scan ") && is_walk(&lines[number..]))
    {
        out.push_str(
            "\nRecords are read in the order of an index until the page is full: every one of them when few pass the \
             filter.\n",
        );
    }
}

/// Whether the index scan of the first line looks for nothing, and leaves it to a filter what is found.
fn is_walk(lines: &[String]) -> bool {
    let details = || lines[1..].iter().take_while(|line| !line.contains("->"));
    let filters = |line: &String| {
        line.trim_start().strip_prefix("Filter: ").is_some_and(|filter| filter != "(deleted_at IS NULL)")
    };
    !details().any(|line| line.contains("Index Cond:")) && details().any(filters)
}

/// What would spare the reading of a whole table.
fn advice(purpose: &str, table: &str) -> &'static str {
    if SideTable::Documents.is_named(table) {
        "search for rarer words, or sort by an attribute with indexed: true."
    } else if purpose.starts_with("Counting") {
        "filter by an attribute with indexed: true, or leave count out."
    } else {
        "set indexed: true on an attribute that the search filters or sorts by; keyed.suggest_indexes lists \
        candidates."
    }
}

/// What became of the words.
fn describe(selection: &Selection, scanned: &[String], is_scoped: bool) -> String {
    let mut out = match selection {
        Selection::Ranked(_) if is_scoped => "The records that match the words are ranked.\n".to_owned(),
        Selection::Ranked(ranked) => format!("{} records match the words; they are ranked.\n", ranked.len()),
        Selection::Newest { .. } if is_scoped => "The records that match the words are found.\n".to_owned(),
        Selection::Newest { .. } => {
            "So many records hold the words that they are not ranked: documents are read from \
            the newest on, until the page is full.\n"
                .to_owned()
        }
    };
    // Which words most documents have follows from the hidden ones too.
    if !scanned.is_empty() && !is_scoped {
        out.push_str(&format!(
            "Every document is read for {}: no index serves words without a letter or digit, exclusions alone, or \
             words that most documents have.\n",
            scanned.join(" ")
        ));
    }
    out
}
