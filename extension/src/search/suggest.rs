//! Completions of the last word that was typed.

use super::text::fold::fold;
use super::text::query::TextQuery;
use super::text::terms::PreparedTerm;
use super::text::vocabulary::Source;
use super::text::{names, table, word};
use crate::access::{Action, Caller, visibility};
use crate::error::{Code, Error};
use crate::json::{self, text_at, write_string};
use crate::postgres::guard::{as_owner, without_jit};
use crate::postgres::spi::connected;
use crate::template::Template;
use crate::value::member::{missing, unknown_member};
use crate::value::table_name::RECORD;
use serde_json::value::RawValue;
use std::rc::Rc;

/// How many suggestions there are when the request does not say, and at most.
const DEFAULT_LIMIT: usize = 10;
const MOST_LIMIT: usize = 50;
/// The place of the typed text in a request.
const PREFIX: &str = "/prefix";

/// What was typed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Typed {
    /// The words before the last.
    before: TextQuery,
    /// The beginning of the last, folded; empty where nothing was begun.
    last: String,
    limit: usize,
}

impl Typed {
    fn parse(body: &str) -> Result<Typed, Error> {
        let (mut prefix, mut limit) = (None, DEFAULT_LIMIT);
        for (name, value) in json::object(body)?.0 {
            let here = format!("/{}", json::pointer_step(&name));
            match name.as_ref() {
                "prefix" => prefix = Some(text_at(value, &here)?),
                "limit" if json::is_null(value) => {}
                "limit" => limit = limit_at(value, &here)?,
                _ => return Err(unknown_member(&name, &here).hint("suggest takes prefix and limit")),
            }
        }
        let prefix = prefix.ok_or_else(|| missing("prefix", ""))?;
        Typed::of(&prefix, limit)
    }

    fn of(prefix: &str, limit: usize) -> Result<Typed, Error> {
        // Refuses what is too long as a whole, and has straight quotation marks.
        TextQuery::parse(prefix).map_err(|error| Error::at(error.code, PREFIX, error.message))?;
        let straight = TextQuery::straight(prefix);
        let end = straight.rfind(|it: char| it.is_whitespace() || it.is_control());
        let start = end.map_or(0, |end| end + straight[end..].chars().next().map_or(0, char::len_utf8));
        let (before, last) = straight.split_at(start);
        let last = fold(last.trim_start_matches(['-', '"']));
        // The words of a phrase that is not finished.
        let open = (before.matches('"').count() % 2 == 1).then(|| before.rfind('"')).flatten();
        let before = match open {
            Some(mark) => format!("{} {}", before[..mark].trim_end_matches('-'), &before[mark + 1..]),
            None => before.to_owned(),
        };
        Ok(Typed { before: TextQuery::parse(&before)?, last, limit })
    }
}

fn limit_at(value: &RawValue, pointer: &str) -> Result<usize, Error> {
    let limit = value.get().parse().ok().filter(|limit| (1..=MOST_LIMIT).contains(limit));
    let message = format!("limit is a whole number from 1 to {MOST_LIMIT}");
    limit.ok_or_else(|| Error::at(Code::InvalidValue, pointer, message))
}

/// Completes the last word of a text by words of the records that the caller sees: `{suggestions, exact}`.
pub fn suggest(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    caller.require(Action::Read, template)?;
    let typed = Typed::parse(body)?;
    if !template.has_documents {
        return Err(table::not_migrated(template));
    }
    // What begins with a sign has no place of its own in documents.
    if !typed.last.starts_with(word::is_of_word) {
        return Ok("{\"suggestions\":[],\"exact\":true}".to_owned());
    }
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    let seen = visibility::rows(caller, template, RECORD);
    Ok(as_owner(|| {
        without_jit(|| {
            connected(|spi| {
                let mut terms = PreparedTerm::all(template, &typed.before);
                let references = names::references(template, &visible_rows);
                terms.iter_mut().for_each(|term| term.add_names(spi, &references));
                let source =
                    Source { spi, template, seen: seen.as_deref(), terms: &terms, names_only: false };
                let take = |document: &str| {
                    let mut words = Vec::new();
                    word::beginning_with(document, &typed.last, |word| words.push(word.to_owned()));
                    words
                };
                let words = source.words(&[format!(" {}", typed.last)], &take);
                let is_whole = words.is_whole;
                let mut words = words.ranked();
                words.truncate(typed.limit);
                let spelled: Vec<_> =
                    words.iter().map(|(word, records)| (word.as_str(), records.as_slice())).collect();
                let spelled = source.spelling(&spelled);
                write(
                    words.iter().zip(&spelled).map(|((_, records), text)| (text.as_str(), records.len())),
                    is_whole,
                )
            })
        })
    }))
}

fn write<'t>(suggestions: impl Iterator<Item = (&'t str, usize)>, is_whole: bool) -> String {
    let mut out = String::from("{\"suggestions\":[");
    for (place, (text, count)) in suggestions.enumerate() {
        out.push_str(if place > 0 { ",{\"text\":" } else { "{\"text\":" });
        write_string(&mut out, text);
        out.push_str(&format!(",\"count\":{count}}}"));
    }
    out.push_str(&format!("],\"exact\":{is_whole}}}"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_completed_and_the_others_restrict() {
        for (prefix, before, last) in [
            ("ma", "", "ma"),
            ("Old MÄ", "Old", "ma"),
            ("old -red ma", "old -red", "ma"),
            ("\"old maps\" ro", "\"old maps\"", "ro"),
            ("\"old ma", "old", "ma"),
            ("“old ma", "old", "ma"),
            ("-\"old ma", "old", "ma"),
            ("red -ma", "red", "ma"),
            ("old ", "old", ""),
            ("", "", ""),
        ] {
            let typed = Typed::of(prefix, 1).expect(prefix);
            let before = TextQuery::parse(before).expect("words");
            assert_eq!((typed.before.terms, typed.last.as_str()), (before.terms, last), "{prefix}");
        }
    }
}
