//! Rows that reference each other in cycles or long chains, so that no order of writes resolves all references.
//!
//! A rejected row has no effect: the rows of its cycle are rolled back and written again, without it and without the
//! rows that reference its record.

use super::writer::Writer;
use super::{
    Outcome, RecordHash, Row, first_of_each_record, hash_of_key, hash_of_text, is_unresolved, references,
};
use crate::error::Error;
use crate::postgres::guard::attempt;
use crate::record::reference;
use crate::value::change::{Change, Value};
use crate::value::vector::Embedding;
use keyed_write_order::dependents::{Dependents, Reference};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// The reason why rows were not written.
enum End {
    /// These rows are rejected, by index.
    Rejected(HashMap<usize, Error>),
    /// An error that no row caused.
    Failed(Box<Error>),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(Box::new(error))
    }
}

/// Writes rows that reference each other: first without these references, then the references. Rows that reference a
/// record that none of them creates wait for the rest of the file; at the end of the file, they are rejected. If a
/// reference is rejected after its record was written, everything is rolled back and repeated without that row.
pub(super) fn write(writer: &mut Writer, mut rows: Vec<Row>, is_last: bool) -> Result<(), Error> {
    while !rows.is_empty() {
        pgrx::check_for_interrupts!();
        rows = without_unresolved(writer, rows, is_last);
        let before = writer.outcomes.clone();
        let rejected = match attempt(|| write_cycles(writer, rows.clone())).or_rethrow() {
            Ok(()) => return Ok(()),
            Err(End::Failed(error)) => return Err(*error),
            Err(End::Rejected(rejected)) => rejected,
        };
        writer.outcomes = before;
        rows.retain(|row| !rejected.contains_key(&row.index));
        for (index, error) in rejected {
            writer.settle(index, Outcome::Rejected(error));
        }
    }
    Ok(())
}

/// The rows whose references all have a target, existing or created by these rows.
fn without_unresolved<'a>(writer: &mut Writer, mut rows: Vec<Row<'a>>, is_last: bool) -> Vec<Row<'a>> {
    // Later rows of a waiting record wait too, and so do rows that reference the record.
    loop {
        pgrx::check_for_interrupts!();
        let mut errors = dangling(writer, &rows);
        if errors.is_empty() {
            return rows;
        }
        let mut held: HashSet<RecordHash> = HashSet::new();
        let mut kept = Vec::with_capacity(rows.len());
        for (place, row) in rows.into_iter().enumerate() {
            match errors.remove(&place) {
                Some(error) if is_last => writer.settle(row.index, Outcome::Rejected(error)),
                None if row.record_hash().is_none_or(|record| !held.contains(&record)) => kept.push(row),
                _ => {
                    held.extend(row.record_hash());
                    writer.wait(&row);
                }
            }
        }
        rows = kept;
    }
}

/// The positions of the rows that reference, directly or through others, a record that none of them creates. Includes
/// rows that cannot be written without such a reference.
fn dangling(writer: &Writer, rows: &[Row]) -> HashMap<usize, Error> {
    let records = |row: &Row| {
        let texts = row.texts(writer.template, writer.matching.own());
        row.key.as_deref().map(hash_of_key).into_iter().chain(texts).collect::<Vec<RecordHash>>()
    };
    let mut dependents: Dependents<RecordHash> = Dependents::default();
    for row in rows {
        row.texts(writer.template, writer.matching.own()).for_each(|text| dependents.add_writer(text));
    }
    // Several rows may write a string attribute. A key is lost when its first row is, because the other rows of
    // the record follow it.
    rows.iter().filter_map(|row| row.key.as_deref()).for_each(|key| dependents.set_writer(hash_of_key(key)));
    let mut errors: HashMap<usize, Error> = HashMap::new();
    let mut lose = |reference: Reference, _: &RecordHash| {
        let Entry::Vacant(vacant) = errors.entry(reference.write) else { return false };
        let change = rows[reference.write].changes.iter().find(|change| change.0 == reference.attribute);
        let attribute = &writer.template.attributes[reference.attribute];
        vacant.insert(
            change.map_or_else(Error::not_found, |(_, change)| reference::not_found(attribute, change)),
        );
        true
    };
    let mut lost = Vec::new();
    for (write, row) in rows.iter().enumerate() {
        for (attribute, change) in &row.changes {
            let target = match change {
                Change::Set(Value::ReferenceByKey(key)) => hash_of_key(key),
                Change::Set(Value::ReferenceByText(matched, text)) => hash_of_text(*matched, text),
                _ => continue,
            };
            let reference = Reference { write, attribute: *attribute };
            if !writer.template.attributes[*attribute].required && dependents.is_written(&target) {
                dependents.add_reference(target, reference);
            } else if lose(reference, &target) {
                lost.push(write);
            }
        }
    }
    dependents.follow(lost, |row| records(&rows[row]), lose);
    errors
}

/// Writes rows without their references, then the references. Other rows can reference a record without key and id only
/// by a string attribute, so such a record is written with its references, between the two steps.
fn write_cycles(writer: &mut Writer, rows: Vec<Row>) -> Result<(), End> {
    let all: Vec<usize> = rows.iter().map(|row| row.index).collect();
    let (unnamed, mut rows): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.record_hash().is_none());
    let mut links = Vec::with_capacity(rows.len());
    for row in &mut rows {
        let (references, others) =
            std::mem::take(&mut row.changes).into_iter().partition(|(_, change)| is_unresolved(change));
        row.changes = others;
        let (key, embedding) = (row.key.clone(), Embedding::Absent);
        links.push(Row {
            index: row.index,
            key,
            id: row.id,
            changes: references,
            embedding,
            exists: row.exists,
        });
    }
    while !rows.is_empty() {
        let (first, later) = first_of_each_record(rows);
        writer.write(first)?;
        rows = later;
    }
    let mut missing = HashMap::new();
    let complete = with_targets(writer, unnamed, &mut missing);
    writer.write(complete)?;
    // A rejected row sets no references. A row needs no second write if all its targets were found.
    links.retain(|row| !row.changes.is_empty() && writer.error(row.index).is_none());
    while !links.is_empty() {
        let (first, later) = first_of_each_record(links);
        let before: Vec<(usize, Option<Outcome>)> =
            first.iter().map(|row| (row.index, writer.outcomes[row.index].clone())).collect();
        let complete = with_targets(writer, first, &mut missing);
        writer.link(complete)?;
        for (index, before) in before {
            // A new record counts as created, and a changed one as updated, whether or not its
            // references change.
            if let (Some(Outcome::Created(_)), Some(Outcome::Updated(_)))
            | (Some(Outcome::Updated(_)), Some(Outcome::Unchanged(_))) = (&before, &writer.outcomes[index])
            {
                writer.outcomes[index] = before;
            }
        }
        links = later;
    }
    let rejected: HashMap<usize, Error> =
        all.into_iter().filter_map(|index| Some((index, writer.error(index)?))).collect();
    // A row whose target was rejected is checked again without that target: a later row may create
    // it.
    let rejected = if rejected.is_empty() { missing } else { rejected };
    if rejected.is_empty() { Ok(()) } else { Err(End::Rejected(rejected)) }
}

/// The rows whose references all have a target. The errors of other rows go to `missing`, by index.
fn with_targets<'a>(
    writer: &Writer,
    mut rows: Vec<Row<'a>>,
    missing: &mut HashMap<usize, Error>,
) -> Vec<Row<'a>> {
    let mut errors = references::resolve(writer, &mut rows);
    let mut found = Vec::with_capacity(rows.len());
    for (place, row) in rows.into_iter().enumerate() {
        match errors.remove(&place) {
            Some(error) => {
                missing.insert(row.index, error);
            }
            None if row.has_unresolved() => {
                missing.insert(row.index, not_found(writer, &row));
            }
            None => found.push(row),
        }
    }
    found
}

/// The error for a row whose references have no target.
fn not_found(writer: &Writer, row: &Row) -> Error {
    let unresolved = row.changes.iter().filter(|(_, change)| is_unresolved(change));
    let errors = unresolved
        .map(|(position, change)| reference::not_found(&writer.template.attributes[*position], change));
    Error::join(errors.collect()).unwrap_or_else(Error::not_found)
}
