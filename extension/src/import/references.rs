//! Resolves the references of rows, and checks values that are valid only if the record already has
//! them.

use super::matching::Match;
use super::writer::Writer;
use super::{Outcome, Row, update};
use crate::error::Error;
use crate::record::by_text::{self, Found};
use crate::record::kept::{self, RecordIdentity};
use crate::record::reference;
use crate::value::change::{Change, Changes, Value};
use std::collections::{HashMap, HashSet};

/// Resolves the references of rows, and rejects rows with a reference that no later row can resolve. Other references
/// without a target stay unresolved.
pub(super) fn resolve_or_reject<'a>(writer: &mut Writer, mut rows: Vec<Row<'a>>) -> Vec<Row<'a>> {
    let mut errors = resolve(writer, &mut rows);
    let mut left = Vec::with_capacity(rows.len());
    for (place, row) in rows.into_iter().enumerate() {
        match errors.remove(&place) {
            Some(error) => writer.settle(row.index, Outcome::Rejected(error)),
            None => left.push(row),
        }
    }
    left
}

/// Resolves references. Returns the errors of those that no later row can resolve, by the positions of their rows.
pub(super) fn resolve(writer: &Writer, rows: &mut [Row]) -> HashMap<usize, Error> {
    resolve_texts(writer, rows);
    let mut all: Vec<&mut Changes> = rows.iter_mut().map(|row| &mut row.changes).collect();
    for (row, place) in reference::find_targets_of_all(writer.caller, writer.template, &mut all) {
        let (position, change) = &mut rows[row].changes[place];
        let attribute = &writer.template.attributes[*position];
        let may_come = attribute.target == Some(writer.template.id)
            && matches!(change, Change::Set(Value::ReferenceByKey(_)));
        if !may_come {
            reference::can_only_be_kept(attribute, change);
        }
    }
    settle_kept(writer, rows)
}

/// Removes changes to values that the records already have, and returns the errors of changes to invalid values. Whether
/// a later row of the same record may keep a value depends on the earlier row, so the later row is written separately.
fn settle_kept(writer: &Writer, rows: &mut [Row]) -> HashMap<usize, Error> {
    if !rows.iter().any(|row| kept::has(&row.changes)) {
        return HashMap::new();
    }
    // All records of the statement are locked, in the order in which it writes them.
    let keys: Vec<String> = rows.iter().filter_map(|row| row.key.clone()).collect();
    update::lock_all(writer.template, keys.iter().map(String::as_str));
    let mut seen = HashSet::new();
    let first =
        rows.iter_mut().enumerate().filter(|(_, row)| row.record_hash().is_none_or(|it| seen.insert(it)));
    let kept = first.filter(|(_, row)| kept::has(&row.changes));
    let (places, mut settled): (Vec<_>, Vec<_>) = kept
        .map(|(place, Row { key, id, changes, exists, .. })| {
            let identity = match (key, id) {
                (Some(key), _) => RecordIdentity::Key(key),
                (None, Some(id)) => RecordIdentity::Id(*id),
                (None, None) => RecordIdentity::None,
            };
            ((place, exists), (identity, changes))
        })
        .unzip();
    let outcomes = kept::settle_all(writer.caller, writer.template, &mut settled);
    let mut errors = HashMap::new();
    for ((place, exists), outcome) in places.into_iter().zip(outcomes) {
        match outcome {
            Ok(keeps) => *exists |= keeps,
            Err(error) => {
                errors.insert(place, error);
            }
        }
    }
    errors
}

/// Resolves references by string attributes. A reference whose target a later row may write stays unresolved. It is an error
/// if not exactly one record has the text, unless the record of the row already has the reference.
fn resolve_texts(writer: &Writer, rows: &mut [Row]) {
    for (position, matched) in &writer.matching.references {
        let attribute = &writer.template.attributes[*position];
        let found = find_texts(writer, rows, *position, matched);
        for row in rows.iter_mut() {
            let Some((_, change)) = row.changes.iter_mut().find(|it| it.0 == *position) else { continue };
            let Change::Set(Value::ReferenceByText(by, text)) = change else { continue };
            let error = match found.get(text.as_ref()).copied().unwrap_or(Found::None) {
                Found::One(id) => {
                    *change = Change::Set(Value::Reference(id));
                    continue;
                }
                Found::None if matched.target.id == writer.template.id => continue,
                Found::None => by_text::not_found(attribute, Some(&matched.target), *by, text),
                Found::Many(count) => by_text::ambiguous(attribute, &matched.target, *by, text, count),
            };
            *change = Change::Keep(Value::Null, Box::new(error));
        }
    }
}

fn find_texts(writer: &Writer, rows: &[Row], position: usize, matched: &Match) -> HashMap<String, Found> {
    let mut texts: Vec<&str> = Vec::new();
    for (_, change) in rows.iter().flat_map(|row| &row.changes).filter(|change| change.0 == position) {
        if let Change::Set(Value::ReferenceByText(_, text)) = change {
            texts.push(text);
        }
    }
    texts.sort_unstable();
    texts.dedup();
    let found = by_text::find(writer.caller, &matched.target, matched.attribute(), &texts);
    texts.into_iter().map(str::to_owned).zip(found).collect()
}
