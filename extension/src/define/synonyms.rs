//! Which words stand for others in searches of a template: the member `synonyms` of its definition.

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

/// The most sets of a template.
const MOST_SETS: usize = 500;
/// The most words of a set, its root aside.
const MOST_MEMBERS: usize = 20;
/// The most words in a row that stand for another.
const MOST_WORDS: usize = 5;
/// The most characters of one.
const MOST_CHARACTERS: usize = 100;
/// The most bytes of all sets as JSON.
const MOST_BYTES: usize = 64 * 1024;

/// What a set looks like.
const MEMBERS: &str =
    "Write a set as {\"synonyms\": [term, …]}, or with a root as {\"root\": term, \"synonyms\": [term, …]}.";

/// Where a word stands already, folded: in a set without a root, or as the root of one.
#[derive(Default)]
struct Known {
    members: HashMap<String, String>,
    roots: HashMap<String, String>,
}

/// Reads the member: an array of `{root?, synonyms}`, or null for none. All faults are reported together.
pub fn parse(value: &RawValue, pointer: &str) -> Result<Vec<SynonymSet>, Error> {
    if json::is_null(value) {
        return Ok(Vec::new());
    }
    let entries = json::array_at_most(value, MOST_SETS + 1, pointer)?;
    if entries.len() > MOST_SETS {
        let message = format!("a template has at most {MOST_SETS} sets of synonyms");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    let (mut sets, mut known, mut errors) = (Vec::new(), Known::default(), Vec::new());
    for (position, entry) in entries.into_iter().enumerate() {
        match parse_set(entry, &format!("{pointer}/{position}"), &mut known) {
            Ok(set) => sets.push(set),
            Err(error) => errors.push(error),
        }
    }
    if let Some(error) = Error::join(errors) {
        return Err(error);
    }
    if to_json(&sets).len() > MOST_BYTES {
        let message = format!("the synonyms of a template have at most {MOST_BYTES} bytes as JSON");
        return Err(Error::at(Code::InvalidValue, pointer, message));
    }
    Ok(sets)
}

fn parse_set(entry: &RawValue, pointer: &str, known: &mut Known) -> Result<SynonymSet, Error> {
    let (mut root, mut synonyms) = (None, None);
    for (name, value) in &json::object_at(entry, pointer).map_err(|error| error.hint(MEMBERS))?.0 {
        let here = format!("{pointer}/{}", json::pointer_step(name));
        match name.as_ref() {
            "root" if json::is_null(value) => {}
            "root" => root = Some(text_at(value, &here)?),
            "synonyms" => synonyms = Some(json::array_at_most(value, MOST_MEMBERS + 1, &here)?),
            _ => return Err(unknown_member(name, &here).hint(MEMBERS)),
        }
    }
    let synonyms = synonyms.ok_or_else(|| missing("synonyms", pointer).hint(MEMBERS))?;
    let here = format!("{pointer}/synonyms");
    let least = if root.is_some() { 1 } else { 2 };
    if synonyms.len() < least || synonyms.len() > MOST_MEMBERS {
        let count = synonyms.len();
        let count = if count > MOST_MEMBERS { "more".to_owned() } else { count.to_string() };
        let message = format!(
            "a set has 2 to {MOST_MEMBERS} synonyms, or 1 to {MOST_MEMBERS} and a root; this one has {count}"
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
            errors.extend(known.add_root(&folded, &here));
            seen.push(folded);
            root
        }),
    };
    let has_root = least == 1;
    let mut members = Vec::with_capacity(synonyms.len());
    for (position, member) in synonyms.into_iter().enumerate() {
        let here = format!("{here}/{position}");
        match text_at(member, &here).and_then(|text| checked(&text, &here)) {
            Err(error) => errors.push(error),
            Ok((text, folded)) => {
                if seen.contains(&folded) {
                    errors.push(Error::at(Code::InvalidValue, here, format!("{text:?} is listed twice")));
                } else if !has_root {
                    errors.extend(known.add_member(&folded, &here));
                }
                seen.push(folded);
                members.push(text);
            }
        }
    }
    Error::join(errors).map_or(Ok(SynonymSet { root, synonyms: members }), Err)
}

impl Known {
    fn add_root(&mut self, folded: &str, pointer: &str) -> Option<Error> {
        let earlier = self.roots.insert(folded.to_owned(), pointer.to_owned())?;
        let message = format!("{folded:?} is already the root in {earlier}");
        Some(Error::at(Code::InvalidValue, pointer, message).hint("Join both sets: a root has one set."))
    }

    fn add_member(&mut self, folded: &str, pointer: &str) -> Option<Error> {
        let earlier = self.members.insert(folded.to_owned(), pointer.to_owned())?;
        let message = format!("{folded:?} is already in {earlier}");
        Some(
            Error::at(Code::InvalidValue, pointer, message)
                .hint("Join both sets, or give one of them a root: a term is in one set without a root."),
        )
    }
}

/// A word, or several words in a row, without the spaces around it, and folded, as it is compared.
fn checked(text: &str, pointer: &str) -> Result<(String, String), Error> {
    let text = text.trim();
    let folded = fold(text);
    let fault = if text.chars().nth(MOST_CHARACTERS).is_some() {
        format!("a synonym has at most {MOST_CHARACTERS} characters")
    } else if text.contains(char::is_control) {
        "a synonym has no control characters".to_owned()
    } else if folded.contains('"') {
        "a synonym has no quotation marks".to_owned()
    } else if words(&folded).any(|word| word.starts_with('-')) {
        "no word of a synonym can begin with a dash".to_owned()
    } else if folded.contains("=>") {
        "a synonym is a word or a phrase: for one direction, use a root".to_owned()
    } else {
        match words(text).count() {
            0 => "a synonym needs a letter, a digit or a sign".to_owned(),
            1..=MOST_WORDS => return Ok((text.to_owned(), folded)),
            _ => format!("a synonym has at most {MOST_WORDS} words"),
        }
    };
    Err(Error::at(Code::InvalidValue, pointer, fault))
}

/// Changes the synonyms of a template.
pub fn set(spi: &Connection, template: &Template, sets: &[SynonymSet]) -> Result<(), Error> {
    if template.synonyms.sets() == sets { Ok(()) } else { write(spi, template.id, sets) }
}

/// Writes them down. Until state step 30, there is no place for them.
pub fn write(spi: &Connection, template: i32, sets: &[SynonymSet]) -> Result<(), Error> {
    let step = "select from keyed_state.version where number = 30";
    if spi.run_once(step, Snapshot::Latest, &[]).is_empty() {
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
