//! Explains a search: its statements, their plans, and notes on missing indexes.

use super::explain_words;
use super::run::Search;
use super::semantic::strategy;
use super::semantic::vector_search::VectorSearch;
use super::text::first::First;
use super::text::names;
use crate::access::visibility::{self, CallerSchema};
use crate::access::{Action, Caller};
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::planning::in_shape;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::search::page::bound_statement::Told;
use crate::search::page::ranked::{Filtered, first_size, possible_statements, statements_run};
use crate::search::page::selection;
use crate::search::query::body::{Count, SearchQuery};
use crate::search::query::plan::Plan;
use crate::search::query::time_zone;
use crate::template::Template;
use crate::value::table_name::{RECORD, SideTable};
use crate::vectors;
use crate::view::stored;
use std::rc::Rc;

/// In the place of a plan.
const WITHHELD: &str = "The plan is not shown, because it depends on hidden records.\n";

/// Every statement of a search with its plan. Words are looked for, and so are the records of the page, as far as the way to
/// them depends on what they hold; nothing else is run. A caller who sees some records
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
    let mut out = plan.words.as_ref().map(explain_words::describe_others).unwrap_or_default();
    let (mut selection, mut first) = (None, None);
    if let Some(selected) = selection::select(caller, template, &plan)? {
        if plan.keys.is_empty() {
            // How many match, and which words most documents have, follows from the hidden ones too.
            if is_scoped {
                out.push_str("The records that match the terms are ranked.\n");
            } else {
                let position = plan.position.as_ref();
                let after = position.and_then(|position| Some((position.rank? as i16, position.uuid)));
                let found = selected.matches.first(after, first_size(&plan));
                out.push_str(&explain_words::describe(&found, &selected.matches, &plan));
                first = Some(found);
            }
        }
        selection = Some(selected);
    }
    as_owner(|| {
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
            let search = Search { spi, caller, template, plan: &plan, selection, is_only_shown: is_scoped };
            // The choice of a pass depends on hidden records: a caller with a scope is not told.
            let pass = search.selection.as_ref().filter(|_| !is_scoped);
            let pass =
                pass.filter(|_| may_be_counted_in_one_pass(&search)).and_then(|it| it.fields_counted(spi));
            let page = statements_of_page(&search, is_scoped, first);
            for told in page.statements.iter().chain(&statements_of_all(&search, pass.as_deref())) {
                write_statement(spi, told, is_scoped, &mut out);
            }
            if plan.count == Count::Exact && are_words_alone(&search) && pass.is_none() {
                out.push_str(
                    "\nCounting all records found: their documents are compared, without a statement.\n",
                );
            }
            if let Some(pass) = &pass {
                write_pass(&search, pass, &mut out);
            }
            if query.fuzzy {
                out.push_str(explain_words::describe_fuzzy(&plan, page.found));
            }
            Ok(())
        })
    })?;
    Ok(out)
}

/// Whether values are counted, or records by more than their words.
fn may_be_counted_in_one_pass(search: &Search) -> bool {
    let plan = search.plan;
    !plan.facets.is_empty() || plan.count == Count::Exact && !are_words_alone(search)
}

/// Whether words alone decide on the records.
fn are_words_alone(search: &Search) -> bool {
    search.selection.is_some() && search.plan.has_words_only
}

/// The statements that find the records of the page, each with what it is for; nothing is said of the first. `first` are
/// the first matches of the words.
fn statements_of_page(search: &Search, is_scoped: bool, first: Option<First>) -> Filtered {
    let plan = search.plan;
    let mut statements = Vec::new();
    if let Some(selection) = search.selection.as_ref().filter(|_| plan.keys.is_empty()) {
        // A page in the order of words is looked up by what they select.
        let are_all_on_it = plan.filter.is_always_true();
        return match first {
            _ if plan.filter.is_never_true() => Filtered { statements, found: Some(0) },
            Some(first) if are_all_on_it => Filtered { statements, found: Some(first.matches.len()) },
            Some(first) => statements_run(search.spi, search.template, plan, &selection.matches, first),
            None if are_all_on_it => Filtered { statements, found: None },
            None => Filtered { statements: possible_statements(search.template, plan), found: None },
        };
    }
    let segments = plan.order.segments(plan.position.as_ref());
    for place in 0..segments.len() {
        let (mut told, is_of_all) = match is_scoped {
            true => (search.possible_statements(&segments[place], plan.limit + 1), false),
            false => search.statements_run(&segments[place..], plan.limit + 1),
        };
        if let Some(first) = told.first_mut().filter(|_| place > 0) {
            first.purpose = format!("When these are exhausted:{}", first.purpose);
        }
        statements.extend(told);
        if is_of_all {
            break;
        }
    }
    Filtered { statements, found: None }
}

/// The statements that look at all records found; `pass` are the facets that one pass over the table counts, and the total with
/// them.
fn statements_of_all(search: &Search, pass: Option<&[bool]>) -> Vec<Told> {
    let plan = search.plan;
    let mut statements = Vec::new();
    let mut of_all = |purpose, statement, member| {
        statements.push(Told { purpose, statement, shape: None, member: Some(member) });
    };
    if plan.count == Count::Exact && !are_words_alone(search) && pass.is_none() {
        of_all("Counting all records found:".to_owned(), search.count_sql(), "count");
    }
    for (position, facet) in plan.facets.iter().enumerate() {
        if !pass.is_some_and(|counted| counted[position]) {
            of_all(format!("Counting the values of {}:", facet.name), search.facet_sql(facet), "facets");
        }
    }
    statements
}

/// Tells what a pass over the table counts.
fn write_pass(search: &Search, counted: &[bool], out: &mut String) {
    let plan = search.plan;
    let facets = plan.facets.iter().zip(counted).filter(|(_, is_counted)| **is_counted);
    let facets: Vec<&str> = facets.map(|(facet, _)| facet.name.as_str()).collect();
    let (mut what, mut members) = (Vec::new(), Vec::new());
    if plan.count == Count::Exact {
        what.push("all records found".to_owned());
        // Without the facets, words alone are counted by their documents.
        if !are_words_alone(search) || facets.is_empty() {
            members.push("count");
        }
    }
    if !facets.is_empty() {
        what.push(format!("the values of {}", facets.join(", ")));
        members.push("facets");
    }
    if !what.is_empty() {
        let table = search.template.full_name();
        out.push_str(&format!(
            "\nCounting {}: in one pass over the table, without a statement.\n\n\
             Every row of {table} is read. Unless it is small, {}\n",
            what.join(" and "),
            advice(Some(&members.join(" and ")), &table)
        ));
    }
}

fn write_statement(spi: &Connection, told: &Told, is_scoped: bool, out: &mut String) {
    let Told { purpose, statement, shape, member } = told;
    if !out.is_empty() {
        out.push('\n');
    }
    if !purpose.is_empty() {
        out.push_str(purpose);
        out.push_str("\n\n");
    }
    out.push_str(&statement.sql);
    out.push_str("\n\n");
    if is_scoped {
        out.push_str(WITHHELD);
        return;
    }
    // PostgreSQL explains nothing through a fixed snapshot.
    let explain = || statement.run(spi, "explain ", Snapshot::Latest);
    let rows = match shape {
        Some(shape) => in_shape(*shape, explain),
        None => explain(),
    };
    let lines: Vec<String> = rows.column::<String>().map(without_ids).collect();
    for line in &lines {
        out.push_str(line);
        out.push('\n');
    }
    if let Some(table) = lines.iter().find_map(|line| line.split("Seq Scan on ").nth(1)) {
        let table = table.split(' ').next().unwrap_or_default();
        out.push_str(&format!(
            "\nEvery row of {table} is read. Unless it is small, {}\n",
            advice(*member, table)
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

/// What would spare the reading of a whole table by a statement that runs for the sake of this member.
fn advice(member: Option<&str>, table: &str) -> String {
    match (SideTable::Documents.is_named(table), member) {
        (true, Some(member)) => format!("search for rarer terms, or leave {member} out."),
        (true, None) => "search for rarer terms, or sort by an attribute with indexed: true.".to_owned(),
        (false, Some(member)) => {
            format!("filter by an attribute with indexed: true, or leave {member} out.")
        }
        (false, None) => "set indexed: true on an attribute that the search filters or sorts by; \
                          keyed.suggest_indexes lists candidates."
            .to_owned(),
    }
}

/// A line of a plan without the ids that words have found, which would fill the page.
fn without_ids(line: String) -> String {
    let end = "}'::uuid[]";
    match (line.find("'{"), line.rfind(end)) {
        (Some(start), Some(last)) if start < last => {
            format!("{}$1{}", &line[..start], &line[last + end.len()..])
        }
        _ => line,
    }
}
