//! The references of rows, and what their records may keep.

use super::Row;
use super::matching::Match;
use super::run::Run;
use super::update;
use crate::error::Error;
use crate::record::by_text::{self, Found};
use crate::record::kept::{self, Keeper};
use crate::record::reference;
use crate::value::change::{Change, Changes, Value};
use std::collections::{HashMap, HashSet};

impl Run<'_> {
    /// Resolves the references of rows. Which of them refer to nothing: with the refusal, unless a later row may bring
    /// what they refer to.
    pub(super) fn resolve(&self, rows: &mut [Row]) -> HashMap<usize, Option<Error>> {
        let mut missing: HashMap<usize, Option<Error>> = HashMap::new();
        missing.extend(self.resolve_texts(rows).into_iter().map(|row| (row, None)));
        let mut all: Vec<&mut Changes> = rows.iter_mut().map(|row| &mut row.changes).collect();
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

    /// Resolves the references of rows that name their targets by texts. Gives back the rows whose target a later row may bring;
    /// other texts that not exactly one record has can only be refused.
    fn resolve_texts(&self, rows: &mut [Row]) -> Vec<usize> {
        let mut may_come = Vec::new();
        for (position, matched) in &self.matching.references {
            let attribute = &self.template.attributes[*position];
            let found = self.look_up(rows, *position, matched);
            for (place, row) in rows.iter_mut().enumerate() {
                let Some((_, change)) = row.changes.iter_mut().find(|it| it.0 == *position) else { continue };
                let Change::Set(Value::ReferenceByText(by, text)) = change else { continue };
                let error = match found.get(text.as_ref()).copied().unwrap_or(Found::None) {
                    Found::One(id) => {
                        *change = Change::Set(Value::Reference(id));
                        continue;
                    }
                    Found::None if matched.target.id == self.template.id => {
                        may_come.push(place);
                        continue;
                    }
                    Found::None => by_text::not_found(attribute, Some(&matched.target), *by, text),
                    Found::Many(count) => by_text::ambiguous(attribute, &matched.target, *by, text, count),
                };
                *change = Change::Keep(Value::Null, Box::new(error));
            }
        }
        may_come
    }

    fn look_up(&self, rows: &[Row], position: usize, matched: &Match) -> HashMap<String, Found> {
        let mut texts: Vec<&str> = Vec::new();
        for (_, change) in rows.iter().flat_map(|row| &row.changes).filter(|change| change.0 == position) {
            if let Change::Set(Value::ReferenceByText(_, text)) = change {
                texts.push(text);
            }
        }
        texts.sort_unstable();
        texts.dedup();
        let found = by_text::find(self.caller, &matched.target, matched.attribute(), &texts);
        texts.into_iter().map(str::to_owned).zip(found).collect()
    }
}
