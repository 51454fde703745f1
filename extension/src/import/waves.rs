//! Waves: a row comes after earlier rows of its record and after the records it refers to. A row is checked again
//! only when a record that it waits for was written.

use super::run::Run;
use super::{Outcome, RecordHash, Row};
use crate::error::Error;
use crate::template::Template;
use crate::value::change::{Change, Value};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// The maximum number of waves; rows of longer chains are written without their references first. Each wave costs
/// statements.
const MOST_WAVES: usize = 8;

/// The maximum number of waves: unlimited if records cannot be written without their references, because a reference is
/// required, or because a row names no record to which a reference could be added, and others may refer to it by a text.
fn most(template: &Template, rows: &[Row]) -> usize {
    let mut attributes = template.attributes.iter();
    let is_required = attributes.any(|it| it.required && it.target == Some(template.id));
    let by_text =
        |row: &Row| row.changes.iter().any(|(_, it)| matches!(it, Change::Set(Value::ReferenceByText(..))));
    let is_nameless =
        |row: &Row| row.record_hash().is_none() && by_text(row) && row.targets(template).next().is_some();
    if is_required || rows.iter().any(is_nameless) { usize::MAX } else { MOST_WAVES }
}

impl Run<'_> {
    /// Writes rows and returns those that no wave could write, in order: rows that refer to missing records, and rows
    /// that come after these.
    pub(super) fn write_in_waves<'a>(&mut self, rows: Vec<Row<'a>>) -> Result<Vec<Row<'a>>, Error> {
        let mut left = most(self.template, &rows);
        let (mut wave, mut followers) = first_of_each_record(rows);
        // Rows that refer to a missing record, by one such record.
        let mut parked: HashMap<RecordHash, Vec<Row>> = HashMap::new();
        while !wave.is_empty() && left > 0 {
            pgrx::check_for_interrupts!();
            left -= 1;
            let missing = self.resolve(&mut wave);
            let (mut ready, mut done) = (Vec::with_capacity(wave.len()), Vec::with_capacity(wave.len()));
            for (place, row) in wave.into_iter().enumerate() {
                let target = row.targets(self.template).next();
                match (missing.get(&place), target) {
                    (Some(Some(error)), _) => {
                        self.note(&row, &mut done);
                        self.settle(row.index, Outcome::Refused(error.clone()));
                    }
                    (Some(None), Some(target)) => parked.entry(target).or_default().push(row),
                    _ => {
                        self.note(&row, &mut done);
                        ready.push(row);
                    }
                }
            }
            self.write(ready)?;
            wave = Vec::new();
            for name in done {
                wave.extend(followers.get_mut(&name).and_then(VecDeque::pop_front));
                wave.extend(parked.remove(&name).into_iter().flatten());
            }
            wave.sort_by_key(|row| row.index);
        }
        let mut rest: Vec<Row> = wave.into_iter().chain(followers.into_values().flatten()).collect();
        let missing = self.resolve(&mut rest);
        let mut left = Vec::with_capacity(rest.len());
        for (place, row) in rest.into_iter().enumerate() {
            match missing.get(&place) {
                Some(Some(error)) => self.settle(row.index, Outcome::Refused(error.clone())),
                _ => left.push(row),
            }
        }
        left.extend(parked.into_values().flatten());
        left.sort_by_key(|row| row.index);
        Ok(left)
    }

    /// Notes by what other rows refer to the record of a row.
    fn note(&self, row: &Row, names: &mut Vec<RecordHash>) {
        names.extend(row.record_hash());
        names.extend(row.texts(self.template, self.matching.own()));
    }
}

/// The first row of each record, and the later ones.
type Ranked<'a> = (Vec<Row<'a>>, HashMap<RecordHash, VecDeque<Row<'a>>>);

fn first_of_each_record(rows: Vec<Row>) -> Ranked {
    let mut first = Vec::with_capacity(rows.len());
    let mut followers: HashMap<RecordHash, VecDeque<Row>> = HashMap::with_capacity(rows.len());
    for row in rows {
        match row.record_hash().map(|name| followers.entry(name)) {
            Some(Entry::Occupied(mut others)) => others.get_mut().push_back(row),
            Some(Entry::Vacant(others)) => {
                others.insert(VecDeque::new());
                first.push(row);
            }
            None => first.push(row),
        }
    }
    (first, followers)
}
