//! Waves: a row comes after earlier rows of its record and after the records it refers to. A row is checked again
//! only when a record that it waits for was written.

use super::run::Run;
use super::{Outcome, RecordHash, Row};
use crate::error::Error;
use crate::template::Template;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// The maximum number of waves; rows of longer chains are written without their references first. Each wave costs
/// statements.
const MOST_WAVES: usize = 8;

/// The maximum number of waves: unlimited if a reference is required, because such a record cannot be written without
/// it.
fn most(template: &Template) -> usize {
    let mut attributes = template.attributes.iter();
    let is_required = attributes.any(|it| it.required && it.target == Some(template.id));
    if is_required { usize::MAX } else { MOST_WAVES }
}

impl Run<'_> {
    /// Writes rows and returns those that no wave could write, in order: rows that refer to missing records, and rows
    /// that come after these.
    pub(super) fn write_in_waves<'a>(&mut self, rows: Vec<Row<'a>>) -> Result<Vec<Row<'a>>, Error> {
        let (mut wave, mut followers) = first_of_each_record(rows);
        // Rows that refer to a missing record, by one such record.
        let mut parked: HashMap<RecordHash, Vec<Row>> = HashMap::new();
        let mut left = most(self.template);
        while !wave.is_empty() && left > 0 {
            pgrx::check_for_interrupts!();
            left -= 1;
            let missing = self.resolve(&mut wave);
            let (mut ready, mut done) = (Vec::with_capacity(wave.len()), Vec::with_capacity(wave.len()));
            for (place, row) in wave.into_iter().enumerate() {
                let target = row.targets(self.template).next();
                match (missing.get(&place), target) {
                    (Some(Some(error)), _) => {
                        done.extend(row.record_hash());
                        self.settle(row.index, Outcome::Refused(error.clone()));
                    }
                    (Some(None), Some(target)) => parked.entry(target).or_default().push(row),
                    _ => {
                        done.extend(row.record_hash());
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
