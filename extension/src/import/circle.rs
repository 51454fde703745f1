//! Rows that refer to each other: what cannot be written row after row, because each needs another one first.

use super::run::{Run, first_of_each_key};
use super::{Name, Outcome, Row};
use crate::embedding::Embedding;
use crate::error::Error;
use crate::record::reference;
use crate::record::value::{Change, Value};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

impl Run<'_> {
    /// The rows that refer to what none of them brings, directly or through others, by their places; also those that
    /// cannot be written without the reference. Each row is looked at once for each of its references.
    fn dangling(&self, rows: &[Row]) -> HashMap<usize, Error> {
        let coming: HashSet<&str> = rows.iter().filter_map(|row| row.key.as_deref()).collect();
        let mut referring: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            for (position, change) in &row.changes {
                let Change::Set(Value::ReferenceByKey(key)) = change else { continue };
                if self.template.attributes[*position].required || !coming.contains(key.as_ref()) {
                    found.push((place, *position));
                } else {
                    referring.entry(key.as_ref()).or_default().push((place, *position));
                }
            }
        }
        let mut errors = HashMap::new();
        while let Some((place, position)) = found.pop() {
            let new = || reference::not_found(&self.template.attributes[position]);
            if let Entry::Vacant(vacant) = errors.entry(place) {
                vacant.insert(new());
                let lost = rows[place].key.as_deref().and_then(|key| referring.remove(key));
                found.extend(lost.unwrap_or_default());
            }
        }
        errors
    }

    /// Writes rows that refer to each other, in a circle or a long chain: first without these references, then those
    /// alone. Rows that refer to what none of them brings wait for the rest of the file, or are refused at its end.
    pub(super) fn close_circles(&mut self, mut rows: Vec<Row>, is_last: bool) -> Result<(), Error> {
        // Rows that come after one of the same record that waits do so too, and what refers to them.
        loop {
            pgrx::check_for_interrupts!();
            let mut errors = self.dangling(&rows);
            if errors.is_empty() {
                break;
            }
            let mut held: HashSet<Name> = HashSet::new();
            let mut kept = Vec::with_capacity(rows.len());
            for (place, row) in rows.into_iter().enumerate() {
                match errors.remove(&place) {
                    Some(error) if is_last => self.settle(row.index, Outcome::Refused(error)),
                    None if row.name().is_none_or(|name| !held.contains(&name)) => kept.push(row),
                    _ => {
                        held.extend(row.name());
                        self.settle(row.index, row.waits(self.template));
                    }
                }
            }
            rows = kept;
        }
        let mut links = Vec::with_capacity(rows.len());
        for row in &mut rows {
            let (refers, others) = std::mem::take(&mut row.changes)
                .into_iter()
                .partition(|(_, change)| matches!(change, Change::Set(Value::ReferenceByKey(_))));
            row.changes = others;
            let (key, embedding) = (row.key.clone(), Embedding::Absent);
            links.push(Row { index: row.index, key, id: row.id, changes: refers, embedding });
        }
        let mut rest = rows;
        while !rest.is_empty() {
            let (wave, later) = first_of_each_key(rest);
            self.write(wave)?;
            rest = later;
        }
        // What was refused has no links, and a row whose references were found with those before it is done.
        links.retain(|row| {
            !row.changes.is_empty() && !matches!(self.outcomes[row.index], Some(Outcome::Refused(_)))
        });
        while !links.is_empty() {
            let (mut wave, later) = first_of_each_key(links);
            let missing = self.resolve(&mut wave);
            let made: Vec<Option<Outcome>> =
                wave.iter().map(|row| self.outcomes[row.index].clone()).collect();
            let indexes: Vec<usize> = wave.iter().map(|row| row.index).collect();
            let mut rows = Vec::with_capacity(wave.len());
            for (place, row) in wave.into_iter().enumerate() {
                if missing.contains_key(&place) {
                    // What it refers to was refused itself: the record stays, without the reference.
                    continue;
                }
                rows.push(row);
            }
            self.write(rows)?;
            // A record made a moment ago counts as made, not as changed.
            for (index, made) in indexes.into_iter().zip(made) {
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
        Ok(())
    }
}
