//! How words are searched, for a person to read.

use super::text::find::Matches;
use super::text::first::First;
use super::text::lookup::Lookup;
use super::text::query::TextQuery;
use crate::search::assistance::correction::may_be_wrong;
use crate::search::query::plan::Plan;

/// How the first matches of the words were found.
pub fn describe(first: &First, matches: &Matches, plan: &Plan) -> String {
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
            "{which} read for {}: no index serves terms without a letter or digit, or exclusions alone.\n",
            scanned.join(" ")
        ));
    }
    out
}

/// What else does for a word: its synonyms, and words near it that a cursor carries.
pub fn describe_others(words: &TextQuery) -> String {
    let mut out = String::new();
    for term in words.terms.iter().filter(|term| !term.alternatives.is_empty()) {
        let all = std::iter::once(term.clone()).chain(term.others());
        let all: Vec<String> = all.map(|it| it.shown().trim_start_matches('-').to_owned()).collect();
        let which = if term.is_excluded { "are left out" } else { "are looked for" };
        out.push_str(&format!("Records with {} {which}.\n", all.join(" or ")));
    }
    out
}

/// What a look-up with so many results has done.
fn describe_lookup(lookup: Lookup, found: usize) -> String {
    let documents = counted(found, "document");
    match lookup {
        Lookup::Whole => format!("The index finds {documents} whose name or key may be the search."),
        Lookup::Names => format!("The index finds {documents} with the terms as whole words of name or key."),
        Lookup::WholeWords => format!("The index finds {documents} with the terms as whole words."),
        Lookup::All => format!("The index finds {documents} with the terms."),
        Lookup::Statement => {
            format!("A statement finds {}, by names of other records too.", counted(found, "record"))
        }
    }
}

/// What `fuzzy` does after a search that found so many records; `found` is none where that is not known.
pub fn describe_fuzzy(plan: &Plan, found: Option<usize>) -> &'static str {
    let may_be_wrong =
        plan.words.iter().flat_map(|words| &words.terms).any(|term| may_be_wrong(term).is_some());
    match found {
        _ if !may_be_wrong || plan.position.is_some() => "",
        Some(0) => {
            "\nNothing matches: with fuzzy, terms with one typo are searched next; this is not shown.\n"
        }
        Some(_) => "",
        None => "\nIf nothing matches, terms with one typo are searched next (fuzzy); this is not shown.\n",
    }
}

/// A number of things.
pub fn counted(count: usize, thing: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{ending}")
}
