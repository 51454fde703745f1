//! Parses JSON to a format. Unknown and contradictory members are rejected.

use super::Format;
use super::number::NumberFormat;
use super::pattern::{Pattern, TOKENS};
use crate::error::{Code, Error};
use crate::json;
use serde_json::value::RawValue;

/// The members of a format.
pub const MEMBERS: [&str; 10] = [
    "decimal",
    "thousands",
    "trailing_minus",
    "date",
    "datetime",
    "time_zone",
    "null",
    "true",
    "false",
    "list",
];

/// The maximum number of strings of a member, and the maximum size of each.
const MAX_TEXTS: usize = 100;
const MAX_TEXT_BYTES: usize = 100;

impl Format {
    /// Parses the object at `pointer`. The caller must check that the time zone exists.
    pub fn parse(value: &RawValue, pointer: &str) -> Result<Format, Error> {
        let members = json::object_at(value, pointer)?.0;
        let unknown: Vec<Error> = members
            .iter()
            .filter(|(name, _)| !MEMBERS.contains(&name.as_ref()))
            .map(|(name, _)| {
                let here = format!("{pointer}/{}", json::pointer_step(name));
                let message = format!("{name:?} is not a member of a format");
                Error::at(Code::UnknownField, here, message)
            })
            .collect();
        if let Some(error) = joined(unknown) {
            return Err(error.hint(format!("Use the members {}.", MEMBERS.join(", "))));
        }
        let mut format = Format::default();
        let mut number = NumberFormat::default();
        let mut errors = Vec::new();
        for (name, value) in members {
            if json::is_null(value) {
                continue;
            }
            let here = format!("{pointer}/{name}");
            let done = match name.as_ref() {
                "decimal" | "thousands" | "trailing_minus" => {
                    format.number = Some(number);
                    number_member(&mut number, &name, value, &here)
                }
                "date" => pattern(value, &here, false).map(|pattern| format.date = Some(pattern)),
                "datetime" => pattern(value, &here, true).map(|pattern| format.datetime = Some(pattern)),
                "time_zone" => {
                    json::text_at(value, &here).map(|zone| format.time_zone = Some(zone.into_owned()))
                }
                "null" => texts(value, &here).and_then(|texts| {
                    format.null = Some(texts);
                    check_null(&format, &here)
                }),
                "true" => words(value, &here).map(|words| format.yes = Some(words)),
                "false" => words(value, &here).map(|words| format.no = Some(words)),
                _ => separator(value, &here).map(|separator| format.list = Some(separator)),
            };
            errors.extend(done.err());
        }
        format.number = format.number.map(|_| number);
        if errors.is_empty() {
            errors.extend(contradictions(&format, pointer));
        }
        Error::join(errors).map_or(Ok(format), Err)
    }
}

/// Joins errors and their messages.
fn joined(errors: Vec<Error>) -> Option<Error> {
    let messages: Vec<String> = errors.iter().map(|error| error.message.clone()).collect();
    Error::join(errors).map(|error| Error { message: messages.join("; "), ..error })
}

fn number_member(number: &mut NumberFormat, name: &str, value: &RawValue, here: &str) -> Result<(), Error> {
    match name {
        "decimal" => {
            let refuse = || invalid(here, "must be one character, such as , or .");
            let decimal = one_character(value, here)?.ok_or_else(refuse)?;
            number.decimal = Some(decimal).filter(|it| NumberFormat::is_mark(*it)).ok_or_else(refuse)?;
        }
        "thousands" => {
            let refuse = || invalid(here, "must be one character, such as . or ' or a space");
            let thousands = one_character(value, here)?.ok_or_else(refuse)?;
            let thousands = Some(thousands).filter(|it| NumberFormat::is_mark(*it)).ok_or_else(refuse)?;
            number.thousands = Some(thousands);
        }
        _ => number.trailing_minus = json::boolean_at(value, here)?,
    }
    Ok(())
}

fn invalid(pointer: &str, message: &str) -> Error {
    Error::at(Code::InvalidValue, pointer, message)
}

fn one_character(value: &RawValue, here: &str) -> Result<Option<char>, Error> {
    let text = json::text_at(value, here)?;
    let mut characters = text.chars();
    Ok(characters.next().filter(|_| characters.next().is_none()))
}

fn pattern(value: &RawValue, here: &str, has_time: bool) -> Result<Pattern, Error> {
    let text = json::text_at(value, here)?;
    if text.len() > MAX_TEXT_BYTES {
        return Err(invalid(here, "is longer than a pattern may be"));
    }
    let example = if has_time { "DD.MM.YYYY HH:mm" } else { "DD.MM.YYYY" };
    Pattern::parse(&text, has_time).map_err(|message| {
        Error::at(Code::InvalidValue, here, message)
            .hint(format!("A pattern such as {example} consists of {TOKENS}, and punctuation."))
    })
}

/// Parses the separator of lists: one character.
fn separator(value: &RawValue, here: &str) -> Result<char, Error> {
    let requested = |it: &char| !it.is_alphanumeric() && !"\"'[] \0\r".contains(*it);
    let refuse = || invalid(here, "must be one character, such as | or ; or ,");
    one_character(value, here)?.filter(requested).ok_or_else(refuse)
}

/// Parses a string, or an array of strings.
fn texts(value: &RawValue, here: &str) -> Result<Vec<String>, Error> {
    if let Some(single) = json::string_at(value, here)? {
        return check_text(single.into_owned(), here).map(|text| vec![text]);
    }
    let entries = json::array_at_most(value, MAX_TEXTS + 1, here)
        .map_err(|_| invalid(here, "must be an array of strings, or one string"))?;
    if entries.len() > MAX_TEXTS {
        return Err(invalid(here, &format!("has more than {MAX_TEXTS} strings")));
    }
    let read = |(position, entry): (usize, &RawValue)| {
        let there = format!("{here}/{position}");
        check_text(json::text_at(entry, &there)?.into_owned(), &there)
    };
    entries.into_iter().enumerate().map(read).collect()
}

fn check_text(text: String, here: &str) -> Result<String, Error> {
    if text.len() <= MAX_TEXT_BYTES {
        return Ok(text);
    }
    Err(invalid(here, &format!("has more than {MAX_TEXT_BYTES} bytes")))
}

/// Parses the cells for true or for false. At least one is required.
fn words(value: &RawValue, here: &str) -> Result<Vec<String>, Error> {
    let words = texts(value, here)?;
    if words.is_empty() { Err(invalid(here, "needs at least one string")) } else { Ok(words) }
}

/// Rejects a null text with a leading `'`, which marks a cell as a string.
fn check_null(format: &Format, here: &str) -> Result<(), Error> {
    let quoted = format.null.iter().flatten().position(|text| text.starts_with('\''));
    match quoted {
        Some(position) => {
            let there = format!("{here}/{position}");
            Err(invalid(&there, "must not begin with ', which marks a text"))
        }
        None => Ok(()),
    }
}

/// Checks for members that contradict each other.
fn contradictions(format: &Format, pointer: &str) -> Option<Error> {
    let number = format.number.unwrap_or_default();
    if number.is_separator(number.decimal) {
        let message = format!("{:?} is also the decimal separator", number.decimal);
        let error = invalid(&format!("{pointer}/thousands"), &message);
        return Some(
            error.hint("Set both separators, for example \"decimal\": \",\", \"thousands\": \".\"."),
        );
    }
    if format.datetime.is_some() && format.time_zone.is_none() {
        let error = invalid(&format!("{pointer}/time_zone"), "is missing: this pattern has no offset");
        return Some(
            error.hint("Add the time zone of the file, for example \"time_zone\": \"Europe/Zurich\"."),
        );
    }
    let shared = format
        .words(true)
        .into_iter()
        .find(|word| format.words(false).iter().any(|other| is_same(other, word)));
    if let Some(word) = shared {
        let name = if format.yes.is_some() { "true" } else { "false" };
        return Some(invalid(&format!("{pointer}/{name}"), &format!("{word:?} means both true and false")));
    }
    for (name, words) in [("true", format.words(true)), ("false", format.words(false))] {
        let is_null = |word: &&String| {
            format.is_null(word) || format.null.iter().flatten().any(|null| is_same(null, word))
        };
        if let Some(word) = words.iter().find(is_null) {
            let member = if format.null.is_some() { "null" } else { name };
            let error =
                invalid(&format!("{pointer}/{member}"), &format!("{word:?} means both {name} and no value"));
            return Some(
                error.hint(
                    "List the strings that mean no value in \"null\", for example \"null\": [\"n/a\"].",
                ),
            );
        }
    }
    None
}

/// Whether a cell equals a word, ignoring case.
pub(super) fn is_same(cell: &str, word: &str) -> bool {
    if cell.is_ascii() && word.is_ascii() {
        return cell.eq_ignore_ascii_case(word);
    }
    // Case folding enlarges a letter at most threefold.
    let (short, long) = (cell.len().min(word.len()), cell.len().max(word.len()));
    long <= 3 * short && cell.to_lowercase() == word.to_lowercase()
}

impl Format {
    /// The cells for true or for false.
    pub fn words(&self, value: bool) -> Vec<String> {
        let given = if value { &self.yes } else { &self.no };
        given.clone().unwrap_or_else(|| vec![value.to_string()])
    }

    /// Whether a cell means true, or false.
    pub(super) fn means(&self, value: bool, cell: &str) -> bool {
        match if value { &self.yes } else { &self.no } {
            Some(words) => words.iter().any(|word| is_same(cell, word)),
            None => is_same(cell, if value { "true" } else { "false" }),
        }
    }
}
