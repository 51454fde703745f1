//! Rows that refer to each other in cycles, which cannot be written one after the other.
//!
//! A row that is reported as rejected leaves nothing behind: the rows of its cycle are rolled back, and written again
//! without it and the rows that refer to its record.

use super::run::{Run, first_of_each_key};
use super::{Outcome, RecordHash, Row, hash_of_key, hash_of_text};
use crate::error::Error;
use crate::postgres::guard::attempt;
use crate::record::reference;
use crate::value::change::{Change, Value};
use crate::value::vector::Embedding;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

/// Why rows were not written.
enum End {
    /// These are refused, by their places.
    Refused(HashMap<usize, Error>),
    /// It is no fault of a row.
    Failed(Box<Error>),
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(Box::new(error))
    }
}

impl Run<'_> {
    /// The rows with a reference, direct or indirect, to a record that none of them creates, by position; also those
    /// that cannot be written without the reference. Each row is checked once for each of its references.
    fn dangling(&self, rows: &[Row]) -> HashMap<usize, Error> {
        // Several rows may bring a text. A key is lost with the first of its rows: further ones come after it.
        let mut coming: HashMap<RecordHash, usize> = HashMap::new();
        let texts = |row: &Row| row.texts(self.template, self.matching.own()).collect::<Vec<_>>();
        for row in rows {
            coming.extend(row.key.as_deref().map(|key| (hash_of_key(key), 1)));
            texts(row).into_iter().for_each(|text| *coming.entry(text).or_default() += 1);
        }
        let mut referring: HashMap<RecordHash, Vec<(usize, usize)>> = HashMap::new();
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            for (position, change) in &row.changes {
                let target = match change {
                    Change::Set(Value::ReferenceByKey(key)) => hash_of_key(key),
                    Change::Set(Value::ReferenceByText(attribute, text)) => hash_of_text(*attribute, text),
                    _ => continue,
                };
                if self.template.attributes[*position].required || !coming.contains_key(&target) {
                    found.push((place, *position));
                } else {
                    referring.entry(target).or_default().push((place, *position));
                }
            }
        }
        let mut errors = HashMap::new();
        while let Some((place, position)) = found.pop() {
            if let Entry::Vacant(vacant) = errors.entry(place) {
                let change = rows[place].changes.iter().find(|change| change.0 == position);
                let error = change
                    .map(|(_, change)| reference::not_found(&self.template.attributes[position], change));
                vacant.insert(error.unwrap_or_else(Error::not_found));
                let row = &rows[place];
                for name in row.key.as_deref().map(hash_of_key).into_iter().chain(texts(row)) {
                    let left = coming.entry(name).or_default();
                    *left = left.saturating_sub(1);
                    if *left == 0 {
                        found.extend(referring.remove(&name).unwrap_or_default());
                    }
                }
            }
        }
        errors
    }

    /// Writes rows that refer to each other, in a cycle or a long chain: first without these references, then the
    /// references. Rows that refer to a record that none of them creates wait for the rest of the file, or are
    /// refused at its end. If a reference is refused after its record was written, everything is rolled back and
    /// repeated without that row.
    pub(super) fn close_cycles(&mut self, mut rows: Vec<Row>, is_last: bool) -> Result<(), Error> {
        while !rows.is_empty() {
            pgrx::check_for_interrupts!();
            rows = self.without_dangling(rows, is_last);
            let before = self.outcomes.clone();
            let refused = match attempt(|| self.write_cycles(rows.clone())).or_rethrow() {
                Ok(()) => return Ok(()),
                Err(End::Failed(error)) => return Err(*error),
                Err(End::Refused(refused)) => refused,
            };
            self.outcomes = before;
            rows.retain(|row| !refused.contains_key(&row.index));
            for (index, error) in refused {
                self.settle(index, Outcome::Refused(error));
            }
        }
        Ok(())
    }

    /// The rows whose references all exist or are created by one of them.
    fn without_dangling<'a>(&mut self, mut rows: Vec<Row<'a>>, is_last: bool) -> Vec<Row<'a>> {
        // Later rows of a waiting record wait too, and so do rows that refer to them.
        loop {
            pgrx::check_for_interrupts!();
            let mut errors = self.dangling(&rows);
            if errors.is_empty() {
                return rows;
            }
            let mut held: HashSet<RecordHash> = HashSet::new();
            let mut kept = Vec::with_capacity(rows.len());
            for (place, row) in rows.into_iter().enumerate() {
                match errors.remove(&place) {
                    Some(error) if is_last => self.settle(row.index, Outcome::Refused(error)),
                    None if row.record_hash().is_none_or(|name| !held.contains(&name)) => kept.push(row),
                    _ => {
                        held.extend(row.record_hash());
                        self.settle(row.index, self.waits(&row));
                    }
                }
            }
            rows = kept;
        }
    }

    /// Writes rows without their references, then the references. A record without key and id is found by no row but by a
    /// text: it is written completely, in between.
    fn write_cycles(&mut self, rows: Vec<Row>) -> Result<(), End> {
        let all: Vec<usize> = rows.iter().map(|row| row.index).collect();
        let (mut nameless, mut rows): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| row.record_hash().is_none());
        let mut links = Vec::with_capacity(rows.len());
        for row in &mut rows {
            let (refers, others) =
                std::mem::take(&mut row.changes).into_iter().partition(|(_, change)| is_unresolved(change));
            row.changes = others;
            let (key, embedding) = (row.key.clone(), Embedding::Absent);
            links.push(Row {
                index: row.index,
                key,
                id: row.id,
                changes: refers,
                embedding,
                exists: row.exists,
            });
        }
        let mut rest = rows;
        while !rest.is_empty() {
            let (wave, later) = first_of_each_key(rest);
            self.write(wave)?;
            rest = later;
        }
        let mut refused = HashMap::new();
        let missing = self.resolve(&mut nameless);
        let mut whole = Vec::with_capacity(nameless.len());
        for (place, row) in nameless.into_iter().enumerate() {
            if let Some(error) = missing.get(&place) {
                refused.insert(row.index, error.clone().unwrap_or_else(|| self.missing(&row)));
            } else {
                whole.push(row);
            }
        }
        self.write(whole)?;
        // What was refused has no links, and a row whose references were found with those before it is done.
        links.retain(|row| !row.changes.is_empty() && self.refusal(row.index).is_none());
        while !links.is_empty() {
            let (mut wave, later) = first_of_each_key(links);
            let missing = self.resolve(&mut wave);
            let made: Vec<Option<Outcome>> =
                wave.iter().map(|row| self.outcomes[row.index].clone()).collect();
            let indexes: Vec<usize> = wave.iter().map(|row| row.index).collect();
            let mut rows = Vec::with_capacity(wave.len());
            for (place, row) in wave.into_iter().enumerate() {
                if let Some(error) = missing.get(&place) {
                    refused.insert(row.index, error.clone().unwrap_or_else(|| self.missing(&row)));
                } else {
                    rows.push(row);
                }
            }
            self.link(rows)?;
            // A record that was just created counts as created, not as changed.
            for (index, made) in indexes.into_iter().zip(made) {
                refused.extend(self.refusal(index).map(|error| (index, error)));
                if matches!((&made, &self.outcomes[index]), (Some(Outcome::Created), Some(Outcome::Updated)))
                    || matches!(
                        (&made, &self.outcomes[index]),
                        (Some(Outcome::Updated), Some(Outcome::Unchanged))
                    )
                {
                    self.outcomes[index] = made;
                }
            }
            links = later;
        }
        if refused.is_empty() {
            return Ok(());
        }
        // A row whose target was refused is checked again without it: it may wait for a later row.
        let first: HashMap<usize, Error> =
            all.into_iter().filter_map(|index| Some((index, self.refusal(index)?))).collect();
        Err(End::Refused(if first.is_empty() { refused } else { first }))
    }

    /// Why a row is refused, if it is.
    fn refusal(&self, index: usize) -> Option<Error> {
        match &self.outcomes[index] {
            Some(Outcome::Refused(error)) => Some(error.clone()),
            _ => None,
        }
    }

    /// The refusal of a row that refers to what is not there.
    fn missing(&self, row: &Row) -> Error {
        let missing = row.changes.iter().filter(|(_, change)| is_unresolved(change));
        let errors = missing
            .map(|(position, change)| reference::not_found(&self.template.attributes[*position], change));
        Error::join(errors.collect()).unwrap_or_else(Error::not_found)
    }
}

/// Whether a change is a reference whose target is still to be looked up.
fn is_unresolved(change: &Change) -> bool {
    matches!(change, Change::Set(value) if value.is_unresolved())
}
