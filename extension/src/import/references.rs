//! The references of rows, and what their records may keep.

use super::Row;
use super::run::Run;
use super::update;
use crate::error::Error;
use crate::record::kept::{self, Keeper};
use crate::record::reference;
use crate::value::change::{Change, Changes, Value};
use std::collections::{HashMap, HashSet};

impl Run<'_> {
    /// Resolves the references of rows. Which of them refer to nothing: with the refusal, unless a later row may bring
    /// what they refer to.
    pub(super) fn resolve(&self, rows: &mut [Row]) -> HashMap<usize, Option<Error>> {
        let mut all: Vec<&mut Changes> = rows.iter_mut().map(|row| &mut row.changes).collect();
        let mut missing: HashMap<usize, Option<Error>> = HashMap::new();
        for (row, place) in reference::find_targets_of_all(self.caller, self.template, &mut all) {
            let (position, change) = &mut rows[row].changes[place];
            let attribute = &self.template.attributes[*position];
            let may_come = attribute.target == Some(self.template.id)
                && matches!(change, Change::Set(Value::ReferenceByKey(_)));
            if may_come {
                missing.insert(row, None);
            } else {
                reference::can_only_be_kept(attribute, change);
            }
        }
        for (row, error) in self.settle_kept(rows) {
            missing.insert(row, Some(error));
        }
        missing
    }

    /// Takes out what the records of rows have already, and gives back the errors of those that do not have it. What a later
    /// row of the same record may keep depends on the earlier one: it is settled when it is written, as a row alone.
    fn settle_kept(&self, rows: &mut [Row]) -> Vec<(usize, Error)> {
        if !rows.iter().any(|row| kept::has(&row.changes)) {
            return Vec::new();
        }
        // In the order in which they are written, with all that one statement writes.
        let keys: Vec<String> = rows.iter().filter_map(|row| row.key.clone()).collect();
        update::lock_all(self.template, keys.iter().map(String::as_str));
        let mut seen = HashSet::new();
        let first =
            rows.iter_mut().enumerate().filter(|(_, row)| row.record_hash().is_none_or(|it| seen.insert(it)));
        let kept = first.filter(|(_, row)| kept::has(&row.changes));
        let (places, mut settled): (Vec<_>, Vec<_>) = kept
            .map(|(place, Row { key, id, changes, exists, .. })| {
                let keeper = match (key, id) {
                    (Some(key), _) => Keeper::Key(key),
                    (None, Some(id)) => Keeper::Id(*id),
                    (None, None) => Keeper::None,
                };
                ((place, exists), (keeper, changes))
            })
            .unzip();
        let outcomes = kept::settle_all(self.caller, self.template, &mut settled);
        let mut errors = Vec::new();
        for ((place, exists), outcome) in places.into_iter().zip(outcomes) {
            match outcome {
                Ok(keeps) => *exists |= keeps,
                Err(error) => errors.push((place, error)),
            }
        }
        errors
    }
}
