//! Explains a search: its statements, their plans, and notes on missing indexes.

use super::assistance::correction::correctable;
use super::facet::counts::Counter;
use super::facet::values;
use super::page::ranked::{self, Filtered, counted, first_size};
use super::page::search::Search;
use super::page::statement::Explained;
use super::page::{find, selection};
use super::query::body::Count;
use super::query::plan::Plan;
use super::query::request;
use super::semantic::strategy::{self, VectorSearch};
use super::text::find::Matches;
use super::text::first::{First, Lookup};
use super::text::names;
use super::text::query::TextQuery;
use crate::access::Caller;
use crate::access::visibility;
use crate::error::Error;
use crate::postgres::guard::as_owner;
use crate::postgres::planning::in_shape;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::Template;
use crate::value::table_name::{RECORD, SideTable};
use crate::vectors;
use std::rc::Rc;

/// A placeholder for an omitted plan.
const WITHHELD: &str = "The plan is not shown, because it depends on hidden records.\n";

/// Every statement of a search with its plan. Only two kinds of lookups run: matches of terms, and records of the page if
/// the access path depends on them. A caller with a scope gets the statements without plans, because a plan depends on the
/// number and the values of all records, including hidden ones.
pub fn explain(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    request::read(caller, template, body, |query| {
        let plan = request::plan(caller, template, &query)?;
        let is_scoped = visibility::rows(caller, template, RECORD).is_some();
        let mut out = plan.terms.as_ref().map(describe_alternatives).unwrap_or_default();
        let (mut selection, mut first) = (None, None);
        if let Some(selected) = selection::select(caller, template, &plan)? {
            if plan.keys.is_empty() {
                // The number of matches and the frequency of terms depend on hidden records too.
                if is_scoped {
                    out.push_str("The records that match the terms are ranked.\n");
                } else {
                    let position = plan.position.as_ref();
                    let after = position.and_then(|position| Some((position.rank? as i16, position.uuid)));
                    let found = selected.matches.first(after, first_size(&plan));
                    out.push_str(&describe_matches(&found, &selected.matches, &plan));
                    first = Some(found);
                }
            }
            selection = Some(selected);
        }
        as_owner(|| {
            connected(|spi| {
                if let Some(terms) = plan.terms.as_ref().filter(|_| !is_scoped) {
                    let seen = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
                    for reference in names::references(template, &seen) {
                        for term in terms.terms.iter().filter(|term| reference.is_scanned(spi, term)) {
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
                        let requested = VectorSearch::of(caller, template, &plan, vector, plan.limit, 0.0);
                        out.push_str(strategy::choose(spi, &requested).describe());
                    }
                    return Ok(());
                }
                let search =
                    Search { spi, caller, template, plan: &plan, selection, is_only_shown: is_scoped };
                // The choice of a pass depends on hidden records, so it is not disclosed to a caller with a scope.
                let may_be_counted = !is_scoped && may_be_counted_in_one_pass(&search);
                let pass = may_be_counted.then(|| Counter::new(&search).fields_counted()).flatten();
                let page = statements_of_page(&search, is_scoped, first);
                for explained in page.statements.iter().chain(&statements_of_all(&search, pass.as_deref())) {
                    write_statement(spi, explained, is_scoped, &mut out);
                }
                if plan.count == Count::Exact && has_only_terms(&search) && pass.is_none() {
                    out.push_str(
                        "\nCounting all records found: their documents are compared, without a statement.\n",
                    );
                }
                if let Some(pass) = &pass {
                    write_pass(&search, pass, &mut out);
                }
                if query.fuzzy {
                    out.push_str(describe_typo_tolerance(&plan, page.found));
                }
                Ok(())
            })
        })?;
        Ok(out)
    })
}

/// Whether values are counted, or records are selected by more than full-text terms.
fn may_be_counted_in_one_pass(search: &Search) -> bool {
    let plan = search.plan;
    !plan.facets.is_empty() || plan.count == Count::Exact && !has_only_terms(search)
}

/// Whether only full-text terms determine the records.
fn has_only_terms(search: &Search) -> bool {
    search.selection.is_some() && search.plan.has_terms_only
}

/// The statements that find the records of the page, each with its purpose; the first needs none. `first` are the first
/// matches of the terms.
fn statements_of_page(search: &Search, is_scoped: bool, first: Option<First>) -> Filtered {
    let plan = search.plan;
    let mut statements = Vec::new();
    if let Some(selection) = search.selection.as_ref().filter(|_| plan.keys.is_empty()) {
        // A page in rank order looks matches up.
        let are_all_on_it = plan.filter.is_always_true();
        return match first {
            _ if plan.filter.is_never_true() => Filtered { statements, found: Some(0) },
            Some(first) if are_all_on_it => Filtered { statements, found: Some(first.matches.len()) },
            Some(first) => ranked::explained(search.spi, search.template, plan, &selection.matches, first),
            None if are_all_on_it => Filtered { statements, found: None },
            None => Filtered { statements: ranked::possible(search.template, plan), found: None },
        };
    }
    let segments = plan.order.segments(plan.position.as_ref());
    for place in 0..segments.len() {
        let (mut explained, is_of_all) = match is_scoped {
            true => (find::possible(search, &segments[place], plan.limit + 1), false),
            false => find::explained(search, &segments[place..], plan.limit + 1),
        };
        if let Some(first) = explained.first_mut().filter(|_| place > 0) {
            first.purpose = format!("When these are exhausted:{}", first.purpose);
        }
        statements.extend(explained);
        if is_of_all {
            break;
        }
    }
    Filtered { statements, found: None }
}

/// The statements over all records found. `pass` contains the facets that one pass over the table counts, together with the
/// total.
fn statements_of_all(search: &Search, pass: Option<&[bool]>) -> Vec<Explained> {
    let plan = search.plan;
    let mut statements = Vec::new();
    let mut of_all = |purpose, statement, member| {
        statements.push(Explained { purpose, statement, shape: None, member: Some(member) });
    };
    if plan.count == Count::Exact && !has_only_terms(search) && pass.is_none() {
        of_all("Counting all records found:".to_owned(), search.count_statement(), "count");
    }
    for (position, facet) in plan.facets.iter().enumerate() {
        if !pass.is_some_and(|counted| counted[position]) {
            of_all(
                format!("Counting the values of {}:", facet.name),
                values::statement(search, facet),
                "facets",
            );
        }
    }
    statements
}

/// What a pass over the table counts.
fn write_pass(search: &Search, counted: &[bool], out: &mut String) {
    let plan = search.plan;
    let facets = plan.facets.iter().zip(counted).filter(|(_, is_counted)| **is_counted);
    let facets: Vec<&str> = facets.map(|(facet, _)| facet.name.as_str()).collect();
    let (mut what, mut members) = (Vec::new(), Vec::new());
    if plan.count == Count::Exact {
        what.push("all records found".to_owned());
        // Without facets, a search by terms only is counted by comparing documents.
        if !has_only_terms(search) || facets.is_empty() {
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

fn write_statement(spi: &Connection, explained: &Explained, is_scoped: bool, out: &mut String) {
    let Explained { purpose, statement, shape, member } = explained;
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
    // The plan is not available under a fixed snapshot.
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
        .any(|(number, line)| line.contains("Index Scan ") && is_ordered_scan(&lines[number..]))
    {
        out.push_str(
            "\nRecords are read in the order of an index until the page is full. If few pass the filter, all records are read.\n",
        );
    }
}

/// Whether the index scan of the first line has no index condition but a filter.
fn is_ordered_scan(lines: &[String]) -> bool {
    let details = || lines[1..].iter().take_while(|line| !line.contains("->"));
    let filters = |line: &String| {
        line.trim_start().strip_prefix("Filter: ").is_some_and(|filter| filter != "(deleted_at IS NULL)")
    };
    !details().any(|line| line.contains("Index Cond:")) && details().any(filters)
}

/// The remedy for a statement that reads a whole table, which runs for this member.
fn advice(member: Option<&str>, table: &str) -> String {
    match (SideTable::Documents.is_named(table), member) {
        (true, Some(member)) => format!("search for rarer terms, or omit {member}."),
        (true, None) => "search for rarer terms, or sort by an attribute with indexed: true.".to_owned(),
        (false, Some(member)) => {
            format!("filter by an attribute with indexed: true, or omit {member}.")
        }
        (false, None) => "set indexed: true on an attribute that the search filters or sorts by; \
                          keyed.suggest_indexes lists candidates."
            .to_owned(),
    }
}

/// A line of a plan without the ids of matches, which would fill the page.
fn without_ids(line: String) -> String {
    let end = "}'::uuid[]";
    match (line.find("'{"), line.rfind(end)) {
        (Some(start), Some(last)) if start < last => {
            format!("{}$1{}", &line[..start], &line[last + end.len()..])
        }
        _ => line,
    }
}

/// How the first matches of the terms were found.
fn describe_matches(first: &First, matches: &Matches, plan: &Plan) -> String {
    let count = first.matches.len();
    let after = if plan.position.is_some() { "After the cursor, " } else { "" };
    let least = if first.are_all { "" } else { "at least " };
    let verb = if count == 1 { "matches" } else { "match" };
    let before = if plan.filter.is_always_true() { "" } else { " (before filters)" };
    let best = if first.are_all { "" } else { "; the best come first" };
    let found = format!("{after}{least}{} {verb} the terms{before}{best}.\n", counted(count, "record"));
    let mut out = found[..1].to_uppercase() + &found[1..];
    let work = &first.work;
    if work.read > 0 {
        let read = match (work.is_over, work.read) {
            (true, 1) => "The only document is".to_owned(),
            (false, 1) => "1 document is".to_owned(),
            (true, count) => format!("All {count} documents are"),
            (false, count) => format!("{count} documents are"),
        };
        out.push_str(&format!("{read} read, newest first.\n"));
    }
    for (lookup, found) in &work.looked_up {
        out.push_str(&describe_lookup(*lookup, *found));
        out.push('\n');
    }
    let scanned = matches.scanned();
    if !scanned.is_empty() {
        let which = if first.are_all { "Every document is" } else { "Documents are" };
        out.push_str(&format!(
            "{which} read for {}: no index serves terms without a letter or digit, or only exclusions.\n",
            scanned.join(" ")
        ));
    }
    out
}

/// The alternatives of terms: synonyms, and the corrections of a cursor.
fn describe_alternatives(terms: &TextQuery) -> String {
    let mut out = String::new();
    for term in terms.terms.iter().filter(|term| !term.alternatives.is_empty()) {
        let all = std::iter::once(term.clone()).chain(term.others());
        let all: Vec<String> = all.map(|it| it.shown().trim_start_matches('-').to_owned()).collect();
        let which = if term.is_excluded { "are left out" } else { "are looked for" };
        out.push_str(&format!("Records with {} {which}.\n", all.join(" or ")));
    }
    out
}

/// A look-up with its number of results.
fn describe_lookup(lookup: Lookup, found: usize) -> String {
    let documents = counted(found, "document");
    match lookup {
        Lookup::Whole => format!("The index finds {documents} whose name or key may be the search."),
        Lookup::Names => format!("The index finds {documents} with the terms as whole words of name or key."),
        Lookup::WholeWords => format!("The index finds {documents} with the terms as whole words."),
        Lookup::All => format!("The index finds {documents} with the terms."),
        Lookup::Statement => {
            format!(
                "A statement finds {}, including matches by names of referenced records.",
                counted(found, "record")
            )
        }
    }
}

/// Whether typo tolerance follows a search that found this many records; `found` is `None` if that is not known.
fn describe_typo_tolerance(plan: &Plan, found: Option<usize>) -> &'static str {
    let has_correctable =
        plan.terms.iter().flat_map(|terms| &terms.terms).any(|term| correctable(term).is_some());
    match found {
        _ if !has_correctable || plan.position.is_some() => "",
        Some(0) => {
            "\nNothing matches: with fuzzy, terms with one typo are searched next; this is not shown.\n"
        }
        Some(_) => "",
        None => "\nIf nothing matches, terms with one typo are searched next (fuzzy); this is not shown.\n",
    }
}
