//! Suggestions: completions of the last word of a typed text.

use super::budget::Budget;
use super::vocabulary::{self, Source};
use super::{spelling, synonyms, word};
use crate::access::{Action, Caller, visibility};
use crate::error::{Code, Error};
use crate::json::{self, text_at, write_string};
use crate::postgres::guard::as_owner;
use crate::postgres::spi::connected;
use crate::search::text::fold::fold;
use crate::search::text::query::{MAX_CHARACTERS, TextQuery};
use crate::search::text::terms::PreparedTerm;
use crate::search::text::{names, table};
use crate::template::Template;
use crate::value::member::{missing, unknown_member};
use crate::value::table_name::RECORD;
use serde_json::value::RawValue;
use std::rc::Rc;

/// The default and the maximum number of suggestions.
const DEFAULT_LIMIT: usize = 10;
const MAX_LIMIT: usize = 50;
/// The pointer to the typed text in a request.
const PREFIX: &str = "/prefix";

/// A typed text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Typed {
    /// Its readings. The first one with a completion is used.
    readings: Vec<Reading>,
    limit: usize,
}

/// A reading of a typed text: its last word, and the text before it.
#[derive(Debug, PartialEq, Eq)]
struct Reading {
    /// The words before the last.
    before: TextQuery,
    /// The text directly before the last word, without a space.
    attached: String,
    /// The last word, folded.
    last: String,
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
                _ => return Err(unknown_member(&name, &here).hint("Use the members prefix and limit.")),
            }
        }
        let prefix = prefix.ok_or_else(|| missing("prefix", ""))?;
        Typed::of(&prefix, limit)
    }

    fn of(prefix: &str, limit: usize) -> Result<Typed, Error> {
        if prefix.chars().nth(MAX_CHARACTERS).is_some() {
            let message = format!("a prefix has at most {MAX_CHARACTERS} characters");
            return Err(Error::at(Code::InvalidValue, PREFIX, message));
        }
        // Rejects too many terms.
        TextQuery::parse(prefix).map_err(|error| Error::at(error.code, PREFIX, error.message))?;
        let straight = TextQuery::straight(prefix);
        let end = straight.rfind(|it: char| it.is_whitespace() || it.is_control());
        let start = end.map_or(0, |end| end + straight[end..].chars().next().map_or(0, char::len_utf8));
        let (before, last) = straight.split_at(start);
        let signs = last.find(word::is_of_word).unwrap_or(last.len());
        let mut readings: Vec<Reading> = Vec::new();
        // First with the punctuation inside the word, as in erp:4711 or C++.
        for place in [signs..last.len(), word::last_of(last)] {
            let reading = Reading::of(before, &last[..place.start], &last[place])?;
            // Documents do not mark words that begin with punctuation.
            let is_new = readings.iter().all(|known| known.last != reading.last);
            if is_new && reading.last.starts_with(word::is_of_word) {
                readings.push(reading);
            }
        }
        Ok(Typed { readings, limit })
    }
}

impl Reading {
    fn of(before: &str, attached: &str, last: &str) -> Result<Reading, Error> {
        // The words of an unterminated phrase.
        let open = (before.matches('"').count() % 2 == 1).then(|| before.rfind('"')).flatten();
        let before = match open {
            Some(mark) => format!("{} {}", before[..mark].trim_end_matches('-'), &before[mark + 1..]),
            None => before.to_owned(),
        };
        let before = TextQuery::parse(&format!("{before}{}", &attached[word::trimmed(attached)]))?;
        Ok(Reading { before, attached: attached.to_owned(), last: fold(last) })
    }
}

fn limit_at(value: &RawValue, pointer: &str) -> Result<usize, Error> {
    let limit = value.get().parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
    let message = format!("limit is a whole number from 1 to {MAX_LIMIT}");
    limit.ok_or_else(|| Error::at(Code::InvalidValue, pointer, message))
}

/// Completes the last word of a text by words of visible records: `{suggestions, exact}`.
pub fn suggest(caller: &Caller, template: &Rc<Template>, body: &str) -> Result<String, Error> {
    caller.require(Action::Read, template)?;
    let typed = Typed::parse(body)?;
    if !template.has_documents {
        return Err(table::not_migrated(template));
    }
    let visible_rows = |target: &Template, alias: &str| visibility::condition(caller, target, alias);
    let visible = visibility::rows(caller, template, RECORD);
    Ok(as_owner(|| {
        connected(|spi| {
            let references = names::references(template, &visible_rows);
            let budget = Budget::default();
            let completed = typed.readings.iter().map(|reading| {
                let before = synonyms::expanded(template, reading.before.clone());
                let mut terms = PreparedTerm::all(template, &before);
                terms.iter_mut().for_each(|term| term.add_names(spi, &references));
                let source = Source {
                    spi,
                    template,
                    visible: visible.as_deref(),
                    terms: &terms,
                    names_only: false,
                    budget: &budget,
                };
                reading.completed(&source, typed.limit)
            });
            let mut completed = completed.skip_while(|(suggestions, _)| suggestions.is_empty());
            let (suggestions, is_whole) = completed.next().unwrap_or((Vec::new(), true));
            write(&suggestions, is_whole)
        })
    }))
}

impl Reading {
    /// The words that begin with the last word, each with the number of its records; and whether all records were counted.
    fn completed(&self, source: &Source, limit: usize) -> (Vec<(String, usize)>, bool) {
        let take = |document: &str| {
            let mut words = Vec::new();
            word::beginning_with(document, &self.last, |word| words.push(word.to_owned()));
            words
        };
        let words = vocabulary::words(source, &[format!(" {}", self.last)], &take);
        let is_whole = words.is_whole;
        let mut words = words.ranked();
        words.truncate(limit);
        let lists: Vec<_> = words.iter().map(|(word, records)| (word.as_str(), records.as_slice())).collect();
        let spelled = spelling::most_frequent(source, &lists).into_iter().zip(&words);
        let suggestion = |(text, (_, records)): (String, &(_, Vec<_>))| {
            (format!("{}{text}", self.attached), records.len())
        };
        (spelled.map(suggestion).collect(), is_whole)
    }
}

fn write(suggestions: &[(String, usize)], is_whole: bool) -> String {
    let mut out = String::from("{\"suggestions\":[");
    for (place, (text, count)) in suggestions.iter().enumerate() {
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
    fn error_names_a_prefix_that_is_too_long() {
        let error = Typed::of(&"é".repeat(MAX_CHARACTERS + 1), 1).expect_err("too long");
        assert_eq!(error.message, "a prefix has at most 255 characters");
        assert!(Typed::of(&"é".repeat(MAX_CHARACTERS), 1).is_ok());
    }

    #[test]
    fn last_word_is_completed_among_records_with_the_other_words() {
        for (prefix, expected) in [
            ("ma", &[("", "", "ma")] as &[(&str, &str, &str)]),
            ("Old MÄ", &[("Old", "", "ma")]),
            ("old -red ma", &[("old -red", "", "ma")]),
            ("\"old maps\" ro", &[("\"old maps\"", "", "ro")]),
            ("\"old ma", &[("old", "", "ma")]),
            ("“old ma", &[("old", "", "ma")]),
            ("-\"old ma", &[("old", "", "ma")]),
            ("red -ma", &[("red", "-", "ma")]),
            ("red “ma", &[("red", "\"", "ma")]),
            ("red (ma", &[("red", "(", "ma")]),
            ("red/ma", &[("", "", "red/ma"), ("red", "red/", "ma")]),
            ("x (red,ma", &[("x", "(", "red,ma"), ("x red", "(red,", "ma")]),
            ("old maps,", &[("old", "", "maps,"), ("old", "", "maps")]),
            ("c+", &[("", "", "c+"), ("", "", "c")]),
            ("well-kn", &[("", "", "well-kn")]),
            ("old ", &[]),
            ("- (", &[]),
            ("", &[]),
        ] {
            let typed = Typed::of(prefix, 1).expect(prefix);
            let shown: Vec<_> = typed
                .readings
                .iter()
                .map(|it| (it.before.terms.clone(), it.attached.as_str(), it.last.as_str()))
                .collect();
            let terms = |before| TextQuery::parse(before).expect("words").terms;
            let expected: Vec<_> =
                expected.iter().map(|(before, attached, last)| (terms(before), *attached, *last)).collect();
            assert_eq!(shown, expected, "{prefix}");
        }
    }
}
