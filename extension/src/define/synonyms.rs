//! The synonyms of a template for full-text search: the member `synonyms` of its definition.

use super::rows::is_migrated;
use crate::error::{Code, Error};
use crate::json;
use crate::postgres::guard;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::search::assistance::synonyms::words;
use crate::search::text::fold::fold;
use crate::template::Template;
use crate::value::member::{missing, text_at, unknown_member};
use crate::value::synonym_set::{SynonymSet, to_json};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The maximum number of sets in a template.
const MAX_SETS: usize = 500;
/// The maximum number of synonyms in a set, without the root.
const MAX_MEMBERS: usize = 20;
/// The maximum number of words in a synonym.
const MAX_WORDS: usize = 5;
/// The maximum number of characters in a synonym.
const MAX_CHARACTERS: usize = 100;
/// The maximum size of all sets as JSON, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The hint on the form of a set.
const MEMBERS: &str =
    "Write a set as {\"synonyms\": [term, …]}, or with a root as {\"root\": term, \"synonyms\": [term, …]}.";

/// The pointers of the folded terms so far: of those in sets without a root, and of roots.
#[derive(Default)]
struct Pointers {
    members: HashMap<String, String>,
    roots: HashMap<String, String>,
}

/// Parses the member: an array of `{root?, synonyms}`, or null for none. All errors are reported together.
pub fn parse(value: &RawValue, pointer: &str) -> Result<Vec<SynonymSet>, Error> {
    if json::is_null(value) {
        return Ok(Vec::new());
    }
    let entries = json::array_at_most(value, MAX_SETS + 1, pointer)?;
    if entries.len() > MAX_SETS {
        let message = format!("a template may have at most {MAX_SETS} sets of synonyms");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    let (mut sets, mut pointers, mut errors) = (Vec::new(), Pointers::default(), Vec::new());
    for (position, entry) in entries.into_iter().enumerate() {
        match parse_set(entry, &format!("{pointer}/{position}"), &mut pointers) {
            Ok(set) => sets.push(set),
            Err(error) => errors.push(error),
        }
    }
    if let Some(error) = Error::join(errors) {
        return Err(error);
    }
    if to_json(&sets).len() > MAX_BYTES {
        let message = format!("the synonyms of a template may have at most {MAX_BYTES} bytes as JSON");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(sets)
}

fn parse_set(entry: &RawValue, pointer: &str, pointers: &mut Pointers) -> Result<SynonymSet, Error> {
    let (mut root, mut synonyms) = (None, None);
    for (name, value) in &json::object_at(entry, pointer).map_err(|error| error.hint(MEMBERS))?.0 {
        let here = format!("{pointer}/{}", json::pointer_step(name));
        match name.as_ref() {
            "root" if json::is_null(value) => {}
            "root" => root = Some(text_at(value, &here)?),
            "synonyms" => synonyms = Some(json::array_at_most(value, MAX_MEMBERS + 1, &here)?),
            _ => return Err(unknown_member(name, &here).hint(MEMBERS)),
        }
    }
    let synonyms = synonyms.ok_or_else(|| missing("synonyms", pointer).hint(MEMBERS))?;
    let here = format!("{pointer}/synonyms");
    let min = if root.is_some() { 1 } else { 2 };
    if synonyms.len() < min || synonyms.len() > MAX_MEMBERS {
        let count = synonyms.len();
        let count = if count > MAX_MEMBERS { "more".to_owned() } else { count.to_string() };
        let message = format!(
            "a set must have 2 to {MAX_MEMBERS} synonyms, or 1 to {MAX_MEMBERS} and a root; this one has {count}"
        );
        return Err(Error::at(Code::InvalidValue, here, message));
    }
    let mut errors = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    let root = root.map(|root| checked(&root, &format!("{pointer}/root")));
    let root = match root.transpose() {
        Err(error) => {
            errors.push(error);
            None
        }
        Ok(root) => root.map(|(root, folded)| {
            let here = format!("{pointer}/root");
            errors.extend(pointers.add_root(&folded, &here));
            seen.push(folded);
            root
        }),
    };
    let has_root = min == 1;
    let mut members = Vec::with_capacity(synonyms.len());
    for (position, member) in synonyms.into_iter().enumerate() {
        let here = format!("{here}/{position}");
        match text_at(member, &here).and_then(|text| checked(&text, &here)) {
            Err(error) => errors.push(error),
            Ok((text, folded)) => {
                if seen.contains(&folded) {
                    errors.push(Error::at(Code::InvalidValue, here, format!("{text:?} is listed twice")));
                } else if !has_root {
                    errors.extend(pointers.add_member(&folded, &here));
                }
                seen.push(folded);
                members.push(text);
            }
        }
    }
    Error::join(errors).map_or(Ok(SynonymSet { root, synonyms: members }), Err)
}

impl Pointers {
    fn add_root(&mut self, folded: &str, pointer: &str) -> Option<Error> {
        let earlier = self.roots.insert(folded.to_owned(), pointer.to_owned())?;
        let message = format!("{folded:?} is already the root in {earlier}");
        Some(Error::at(Code::InvalidValue, pointer, message).hint("Merge the two sets. A root has one set."))
    }

    fn add_member(&mut self, folded: &str, pointer: &str) -> Option<Error> {
        let earlier = self.members.insert(folded.to_owned(), pointer.to_owned())?;
        let message = format!("{folded:?} is already in {earlier}");
        Some(
            Error::at(Code::InvalidValue, pointer, message).hint(
                "Merge the two sets, or give one of them a root. A term may be in one set without a root.",
            ),
        )
    }
}

/// Trims and checks a term. Returns it with its folded form, which is compared.
fn checked(text: &str, pointer: &str) -> Result<(String, String), Error> {
    let text = text.trim();
    let folded = fold(text);
    let violation = if text.chars().nth(MAX_CHARACTERS).is_some() {
        format!("a synonym may have at most {MAX_CHARACTERS} characters")
    } else if text.contains(char::is_control) {
        "a synonym must not contain control characters".to_owned()
    } else if folded.contains('"') {
        "a synonym must not contain quotation marks".to_owned()
    } else if words(&folded).any(|word| word.starts_with('-')) {
        "a word of a synonym must not begin with a hyphen".to_owned()
    } else if folded.contains("=>") {
        "a synonym must not contain =>; use a root for one-way synonyms".to_owned()
    } else {
        match words(text).count() {
            0 => "a synonym must contain a letter, a digit or a symbol".to_owned(),
            1..=MAX_WORDS => return Ok((text.to_owned(), folded)),
            _ => format!("a synonym may have at most {MAX_WORDS} words"),
        }
    };
    Err(Error::at(Code::InvalidValue, pointer, violation))
}

/// Changes the synonyms of a template.
pub fn set(spi: &Connection, template: &Template, sets: &[SynonymSet]) -> Result<(), Error> {
    if template.synonyms.sets() == sets { Ok(()) } else { store(spi, template.id, sets) }
}

/// The migration that adds the column for synonyms.
const MIGRATION: i32 = 30;

/// Stores the synonyms of a template.
pub fn store(spi: &Connection, template: i32, sets: &[SynonymSet]) -> Result<(), Error> {
    if !is_migrated(spi, MIGRATION) {
        return Err(guard::not_migrated());
    }
    let json = (!sets.is_empty()).then(|| to_json(sets));
    spi.run_once(
        "update keyed_state.template set synonyms = $2::jsonb where id = $1",
        Snapshot::Latest,
        &params![template, json.as_deref()],
    );
    Ok(())
}

#[cfg(test)]
mod tests;
