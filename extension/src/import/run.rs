//! Writes the rows of a chunk, each after earlier rows of its record and after the records that it references. Rows
//! are written in levels: first rows without such dependencies, then rows that depend only on these, and so on. Each
//! level needs one statement for all rows that write the same attributes.

use super::matching::Matching;
use super::options::Options;
use super::writer::Writer;
use super::{Outcome, RecordHash, Row, cycles, first_of_each_record, references};
use crate::access::{Action, Caller};
use crate::error::{Code, Error};
use crate::quota::reserve;
use crate::record::mode::Mode;
use crate::template::Template;
use crate::value::change::{Change, Value};
use keyed_write_order::rows::{Levels, Rows};
use std::collections::HashSet;
use std::rc::Rc;

/// The maximum number of levels, each of which costs statements. Rows of longer chains are written without their
/// references first.
const MAX_LEVELS: usize = 8;

/// Writes the rows of a chunk of this size, some of which are rejected already. Rows that reference a missing record of
/// their template wait for the rest of the file, unless this is its end. Outcomes are by position.
pub fn run(
    caller: &Caller,
    template: &Rc<Template>,
    options: &Options,
    matching: Matching,
    count: usize,
    rejected: Vec<(usize, Outcome)>,
    rows: Vec<Row>,
) -> Result<Vec<Outcome>, Error> {
    let mut writer = Writer::new(caller, template, options.mode, matching, count);
    rejected.into_iter().for_each(|(index, outcome)| writer.settle(index, outcome));
    let may_be_new = |row: &&Row| options.mode != Mode::Update && (row.key.is_some() || row.id.is_none());
    let may_be_new = rows.iter().filter(may_be_new).count();
    reserve::for_many(template.project_id, may_be_new, rows.len());
    let is_held = |row: &Row| row.record_hash().is_some_and(|record| options.held.contains(record));
    let (held, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_held);
    held.iter().for_each(|row| writer.wait(row));
    let rows = without_unnamed(&mut writer, options, rows);
    let rest = write_levels(&mut writer, rows)?;
    cycles::write(&mut writer, rest, options.is_last)?;
    // Only callers with the read privilege may learn whether values changed.
    let may_read = caller.require(Action::Read, template).is_ok();
    let shown = |outcome: Option<Outcome>| match outcome {
        Some(Outcome::Unchanged(id)) if !may_read => Outcome::Updated(id),
        Some(outcome) => outcome,
        None => Outcome::Rejected(Error::new(Code::Internal, "the row was not written")),
    };
    Ok(writer.outcomes.into_iter().map(shown).collect())
}

/// The rows that may be written. A mode that only updates records rejects rows without a key or an id. So does the mode
/// mirror, because such a row would create another record with each import.
fn without_unnamed<'a>(writer: &mut Writer, options: &Options, rows: Vec<Row<'a>>) -> Vec<Row<'a>> {
    let Some(mode) = options.mode_that_requires_identifiers() else { return rows };
    let (unnamed, named) = rows.into_iter().partition::<Vec<_>, _>(|row| row.record_hash().is_none());
    for row in unnamed {
        let error = Error::at(Code::InvalidExternalKey, "/external_key", "the row has no key and no id")
            .hint(format!("Add one, or import it without mode={mode} to create a record."));
        writer.settle(row.index, Outcome::Rejected(error));
    }
    named
}

/// Writes rows level by level and returns the others in their order: rows in cycles, rows of long chains, rows that
/// reference missing records, and rows that come after these.
fn write_levels<'a>(writer: &mut Writer, rows: Vec<Row<'a>>) -> Result<Vec<Row<'a>>, Error> {
    let max = max_levels(writer.template, &rows);
    let (first, later) = first_of_each_record(rows);
    let mut rows = references::resolve_or_reject(writer, first);
    if later.is_empty() && rows.iter().all(|row| !row.has_unresolved()) {
        writer.write(rows)?;
        return Ok(Vec::new());
    }
    rows.extend(later);
    rows.sort_by_key(|row| row.index);
    let mut all = Rows::default();
    for row in &rows {
        let texts: Vec<RecordHash> = row.texts(writer.template, writer.matching.own()).collect();
        let targets: Vec<RecordHash> = row.targets(writer.template).collect();
        all.push(row.record_hash(), &texts, &targets);
    }
    let Levels { levels, rest } = all.levels(max);
    let mut slots: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    let mut take = |places: Vec<u32>| -> Vec<Row<'a>> {
        places.into_iter().filter_map(|place| slots[place as usize].take()).collect()
    };
    let mut left = take(rest);
    let mut records_left: HashSet<RecordHash> = HashSet::new();
    for (number, level) in levels.into_iter().enumerate() {
        pgrx::check_for_interrupts!();
        let is_after = |row: &Row| row.record_hash().is_some_and(|record| records_left.contains(&record));
        let (after, mut level): (Vec<_>, Vec<_>) = take(level).into_iter().partition(is_after);
        if number > 0 {
            level = references::resolve_or_reject(writer, level);
        }
        let (open, ready): (Vec<_>, Vec<_>) = level.into_iter().partition(Row::has_unresolved);
        records_left.extend(open.iter().filter_map(Row::record_hash));
        left.extend(open.into_iter().chain(after));
        writer.write(ready)?;
    }
    left.sort_by_key(|row| row.index);
    // Another row than the one that this row waited for may have written its targets.
    Ok(references::resolve_or_reject(writer, left))
}

/// The maximum number of levels. It is unlimited if records cannot be written without their references: because a
/// reference is required, or because a row has neither key nor id, so that a reference could not be added later, and
/// other rows may reference its record by a string attribute.
fn max_levels(template: &Template, rows: &[Row]) -> usize {
    let mut attributes = template.attributes.iter();
    let is_required = attributes.any(|it| it.required && it.target == Some(template.id));
    let by_text =
        |row: &Row| row.changes.iter().any(|(_, it)| matches!(it, Change::Set(Value::ReferenceByText(..))));
    let is_unnamed =
        |row: &Row| row.record_hash().is_none() && by_text(row) && row.targets(template).next().is_some();
    if is_required || rows.iter().any(is_unnamed) { usize::MAX } else { MAX_LEVELS }
}
