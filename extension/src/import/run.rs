//! Rows → records: in waves, so that a row comes after earlier rows of its record and after the records it refers to;
//! each wave uses one statement for all rows that write the same attributes, in the order of their keys.
//!
//! A bad row costs its neighbors at most a second attempt. Faults within a row are rejected before the statement,
//! references are looked up for all rows at once, and the statement reports rows outside a scope. Only an error of
//! PostgreSQL causes a bisection.

use super::matching::Matching;
use super::options::Options;
use super::update::{self, By};
use super::{Outcome, Row, limited};
use crate::access::{Action, Caller};
use crate::batch::group::{Group, Outside};
use crate::batch::operation::{Operation, OperationKind};
use crate::batch::outcome::{alone, of_operation};
use crate::batch::{self, single};
use crate::error::Error;
use crate::postgres::caught::Caught;
use crate::postgres::guard::attempt;
use crate::quota::reserve;
use crate::record::changes;
use crate::record::key::Key;
use crate::record::mode::Mode;
use crate::template::Template;
use crate::value::change::Change;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Writes the rows of a portion; outcomes are by position of the rows.
pub struct Run<'r> {
    pub(super) caller: &'r Caller,
    pub(super) template: &'r Rc<Template>,
    pub(super) mode: Mode,
    pub(super) matching: Matching,
    pub(super) outcomes: Vec<Option<Outcome>>,
}

/// The statement that writes a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum WriteStrategy {
    Create,
    Upsert,
    Update(By),
    /// Completes a record that an earlier statement of the portion created.
    Completion,
    /// Separate statements: the row increments, or appends to a series.
    Alone,
}

/// Rows that one statement can write: same strategy, same attributes.
type Shape = (WriteStrategy, Vec<usize>);

impl<'r> Run<'r> {
    /// A run over this many rows, of which some are already refused.
    pub fn new(
        caller: &'r Caller,
        template: &'r Rc<Template>,
        mode: Mode,
        matching: Matching,
        rows: usize,
        refused: Vec<(usize, Outcome)>,
    ) -> Run<'r> {
        let mut outcomes: Vec<Option<Outcome>> = vec![None; rows];
        for (index, outcome) in refused {
            outcomes[index] = Some(outcome);
        }
        Run { caller, template, mode, matching, outcomes }
    }

    /// Writes the rows. Those that refer to a missing record of this template wait for the rest of the file, unless
    /// this is its end.
    pub fn run(mut self, rows: Vec<Row>, options: &Options) -> Result<Vec<Outcome>, Error> {
        let may_be_new = |row: &&Row| self.mode != Mode::Update && (row.key.is_some() || row.id.is_none());
        let may_be_new = rows.iter().filter(may_be_new).count();
        reserve::for_many(self.template.project_id, may_be_new, rows.len());
        let is_held = |row: &Row| row.record_hash().is_some_and(|name| options.held.contains(name));
        let (held, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_held);
        for row in held {
            self.settle(row.index, self.waits(&row));
        }
        let rows = self.without_nameless(rows);
        let left = self.write_in_waves(rows)?;
        self.close_cycles(left, options.is_last)?;
        // Only callers with the read privilege may learn whether values changed.
        let may_tell = self.caller.require(Action::Read, self.template).is_ok();
        let shown = |outcome: Option<Outcome>| match outcome {
            None | Some(Outcome::Unchanged) if !may_tell => Outcome::Updated,
            outcome => outcome.unwrap_or(Outcome::Unchanged),
        };
        Ok(self.outcomes.into_iter().map(shown).collect())
    }

    /// The outcome of a row that waits for its references.
    pub(super) fn waits(&self, row: &Row) -> Outcome {
        row.waits(self.template, self.matching.own())
    }

    pub(super) fn settle(&mut self, index: usize, outcome: Outcome) {
        self.outcomes[index] = Some(outcome);
    }

    /// Writes rows whose references are settled and whose keys differ.
    pub(super) fn write(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        let strategies = rows.into_iter().map(|row| (self.strategy(&row), row)).collect();
        self.write_by(strategies)
    }

    /// Writes the references of existing records. For a new record, this is part of its creation.
    pub(super) fn link(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        let is_new = |row: &Row| matches!(self.outcomes[row.index], Some(Outcome::Created));
        let strategy = |row: &Row| if is_new(row) { WriteStrategy::Completion } else { self.strategy(row) };
        let strategies = rows.into_iter().map(|row| (strategy(&row), row)).collect();
        self.write_by(strategies)
    }

    fn write_by(&mut self, rows: Vec<(WriteStrategy, Row)>) -> Result<(), Error> {
        let mut groups: HashMap<Shape, Vec<Row>> = HashMap::new();
        for (strategy, row) in rows {
            let shape = row.changes.iter().map(|change| change.0).collect();
            groups.entry((strategy, shape)).or_default().push(row);
        }
        // If several statements are needed, existing records are locked first, in the order of their keys.
        // Transactions that lock in this order cannot deadlock.
        if groups.len() > 1 {
            let keys = groups.values().flatten().filter_map(|row| row.key.as_deref());
            update::lock_all(self.template, keys);
        }
        let mut groups: Vec<(Shape, Vec<Row>)> = groups.into_iter().collect();
        groups.sort_by_cached_key(|(_, rows)| rows.iter().map(|row| row.index).min());
        for ((strategy, _), mut rows) in groups {
            rows.sort_by(|one, other| {
                (&one.key, one.id, one.index).cmp(&(&other.key, other.id, other.index))
            });
            self.write_group(strategy, rows)?;
        }
        Ok(())
    }

    fn strategy(&self, row: &Row) -> WriteStrategy {
        let may_create = self.mode != Mode::Update && !row.exists;
        let plain = row.changes.iter().all(|(_, change)| matches!(change, Change::Set(_)));
        match (&row.key, row.id) {
            (None, Some(_)) if plain => WriteStrategy::Update(By::Id),
            (None, None) if plain && changes::is_complete(self.template, &row.changes) => {
                WriteStrategy::Create
            }
            (Some(_), _) if plain && may_create && changes::is_complete(self.template, &row.changes) => {
                WriteStrategy::Upsert
            }
            (Some(_), _) if plain => WriteStrategy::Update(By::Key),
            _ => WriteStrategy::Alone,
        }
    }

    /// Writes rows of one shape, in the order given. A bad row costs its neighbours nothing but a second try.
    fn write_group(&mut self, strategy: WriteStrategy, rows: Vec<Row>) -> Result<(), Error> {
        // What is still to be written, the last first. A stack of its own grows with the rows, not with the calls.
        let mut parts = vec![rows];
        while let Some(mut rows) = parts.pop() {
            pgrx::check_for_interrupts!();
            if rows.is_empty() {
                continue;
            }
            // An error about the session, and not about a row, ends it all.
            let refusal_of = |caught: &Caught| {
                let error = of_operation(caught)?;
                Some(match rows.as_slice() {
                    [only] => limited::located(self.template, only, caught, error),
                    _ => error,
                })
            };
            let refusal = match attempt(|| self.try_group(strategy, &rows)).catch(refusal_of) {
                Ok(Ok(outcomes)) => {
                    outcomes.into_iter().for_each(|(index, outcome)| self.settle(index, outcome));
                    continue;
                }
                Ok(Err(Outside(places))) if !places.is_empty() => {
                    parts.push(self.write_outside(strategy, rows, &places.into_iter().collect())?);
                    continue;
                }
                Ok(Err(Outside(_))) => None,
                Err(error) => Some(error),
            };
            match (refusal, rows.as_slice()) {
                (Some(refusal), [only]) => self.settle(only.index, Outcome::Refused(refusal)),
                _ => {
                    let half = rows.split_off(rows.len() / 2);
                    parts.extend([half, rows]);
                }
            }
        }
        Ok(())
    }

    /// Writes the rows at these places one by one, because their writer may not write them, and returns the others.
    fn write_outside<'a>(
        &mut self,
        strategy: WriteStrategy,
        rows: Vec<Row<'a>>,
        places: &HashSet<usize>,
    ) -> Result<Vec<Row<'a>>, Error> {
        let (outside, rest): (Vec<_>, Vec<_>) =
            rows.into_iter().enumerate().partition(|(place, _)| places.contains(place));
        for (_, row) in outside {
            let index = row.index;
            if strategy == WriteStrategy::Completion {
                let refusal = self.caller.out_of_scope(Action::Create, self.template);
                self.settle(index, Outcome::Refused(refusal));
                continue;
            }
            let operation = self.operation(strategy, row);
            let done = alone(|| single::run(self.caller, &operation, operation.changes.clone()));
            self.settle(index, self.outcome_of(done, &operation.key));
        }
        Ok(rest.into_iter().map(|(_, row)| row).collect())
    }

    fn try_group(&self, strategy: WriteStrategy, rows: &[Row]) -> Result<Vec<(usize, Outcome)>, Outside> {
        let operations = || rows.iter().map(|row| self.operation(strategy, row.clone()));
        match strategy {
            WriteStrategy::Update(by) => {
                update::run(self.caller, Action::Update, self.template, self.mode, by, rows)
            }
            WriteStrategy::Completion => {
                update::run(self.caller, Action::Create, self.template, self.mode, By::Key, rows)
            }
            WriteStrategy::Create | WriteStrategy::Upsert => {
                let done = Group::of(operations().collect()).run(self.caller)?;
                Ok(done.into_iter().map(|(index, done)| (index, outcome_of(done))).collect())
            }
            WriteStrategy::Alone => {
                let mut outcomes = Vec::with_capacity(rows.len());
                for operation in operations() {
                    match single::run(self.caller, &operation, operation.changes.clone()) {
                        // Some of the rows are tried again, to know which.
                        Err(_) if rows.len() > 1 => return Err(Outside(Vec::new())),
                        done => outcomes.push((operation.index, self.outcome_of(done, &operation.key))),
                    }
                }
                Ok(outcomes)
            }
        }
    }

    fn operation<'a>(&self, strategy: WriteStrategy, row: Row<'a>) -> Operation<'a> {
        let kind = match (strategy, &row.key, row.id) {
            (WriteStrategy::Create, ..) | (WriteStrategy::Alone, None, None) => OperationKind::Create,
            (WriteStrategy::Update(By::Id), ..) | (WriteStrategy::Alone, None, Some(_)) => {
                OperationKind::Update
            }
            _ if row.exists || self.mode == Mode::Update => OperationKind::Update,
            _ => OperationKind::Upsert,
        };
        Operation {
            index: row.index,
            kind,
            template: Rc::clone(self.template),
            id: if row.key.is_none() { row.id } else { None },
            key: row.key.map_or(Key::Absent, Key::Value),
            changes: row.changes,
            embedding: row.embedding,
        }
    }
}

/// The outcome of a row, from that of its operation.
pub(super) fn outcome_of(done: batch::outcome::Outcome) -> Outcome {
    match done {
        Err(error) => Outcome::Refused(error),
        Ok(done) if done.is_created() => Outcome::Created,
        Ok(done) if done.is_changed() => Outcome::Updated,
        Ok(_) => Outcome::Unchanged,
    }
}

/// The first row of each key, and the others: rows of one key are written one after the other.
pub(super) fn first_of_each_key(rows: Vec<Row>) -> (Vec<Row>, Vec<Row>) {
    let mut seen: HashSet<String> = HashSet::with_capacity(rows.len());
    let mut ids = HashSet::new();
    rows.into_iter().partition(|row| match (&row.key, row.id) {
        (Some(key), _) => seen.insert(key.clone()),
        (None, Some(id)) => ids.insert(id),
        (None, None) => true,
    })
}
