//! Rows with resolved references → records: one statement for all rows that write the same attributes, in the order of
//! their keys.
//!
//! A row that keyed rejects causes at most one more attempt for other rows: errors within a row are detected before the
//! statement, references are resolved for all rows together, and the statement reports rows outside a scope. If
//! PostgreSQL rejects a row, or the row is unknown, a bisection finds it, and other rows are tried again about log2(n)
//! times.

use super::matching::Matching;
use super::update::{self, By};
use super::{Outcome, Row, limited};
use crate::access::{Action, Caller};
use crate::batch::group::{Group, Outside};
use crate::batch::operation::{Operation, OperationKind};
use crate::batch::single;
use crate::batch::single::{alone, of_operation};
use crate::error::{Code, Error};
use crate::postgres::caught::Caught;
use crate::postgres::guard::attempt;
use crate::record::changes;
use crate::record::key::Key;
use crate::record::mode::Mode;
use crate::record::version::Preconditions;
use crate::template::Template;
use crate::value::change::Change;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Writes the rows of a chunk.
pub(super) struct Writer<'w> {
    pub(super) caller: &'w Caller,
    pub(super) template: &'w Rc<Template>,
    pub(super) mode: Mode,
    pub(super) matching: Matching,
    /// By position of the rows.
    pub(super) outcomes: Vec<Option<Outcome>>,
}

/// How a row is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum WriteStrategy {
    Create,
    Upsert,
    Update(By),
    /// Completes a record that an earlier statement of the chunk created.
    Completion,
    /// Separately: the row increments a value or appends to a series.
    Alone,
}

/// Rows for one statement: the same strategy and the same attributes.
type Shape = (WriteStrategy, Vec<usize>);

impl<'w> Writer<'w> {
    /// A writer for a chunk of this many rows.
    pub(super) fn new(
        caller: &'w Caller,
        template: &'w Rc<Template>,
        mode: Mode,
        matching: Matching,
        rows: usize,
    ) -> Writer<'w> {
        Writer { caller, template, mode, matching, outcomes: vec![None; rows] }
    }

    /// Makes a row wait for its references.
    pub(super) fn wait(&mut self, row: &Row) {
        self.settle(row.index, row.waits(self.template, self.matching.own()));
    }

    pub(super) fn settle(&mut self, index: usize, outcome: Outcome) {
        self.outcomes[index] = Some(outcome);
    }

    /// The error of a rejected row.
    pub(super) fn error(&self, index: usize) -> Option<Error> {
        match &self.outcomes[index] {
            Some(Outcome::Rejected(error)) => Some(error.clone()),
            _ => None,
        }
    }

    /// Writes rows whose references are resolved and whose records differ.
    pub(super) fn write(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        let strategies = rows.into_iter().map(|row| (self.strategy(&row), row)).collect();
        self.write_by(strategies)
    }

    /// Adds references to records that this chunk has written. For a new record, this is part of its creation.
    pub(super) fn link(&mut self, rows: Vec<Row>) -> Result<(), Error> {
        let is_new = |row: &Row| matches!(self.outcomes[row.index], Some(Outcome::Created(_)));
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

    /// Writes rows of one shape, in the given order. An invalid row is found by bisection.
    fn write_group(&mut self, strategy: WriteStrategy, rows: Vec<Row>) -> Result<(), Error> {
        // The rows to write, the last ones first. A stack, because recursion could be deep.
        let mut parts = vec![rows];
        while let Some(mut rows) = parts.pop() {
            pgrx::check_for_interrupts!();
            if rows.is_empty() {
                continue;
            }
            // An error about the session, and not about a row, ends the import.
            let error_of = |caught: &Caught| {
                let error = of_operation(caught)?;
                Some(match rows.as_slice() {
                    [only] => limited::located(self.template, only, caught, error),
                    _ => error,
                })
            };
            let error = match attempt(|| self.try_group(strategy, &rows)).catch(error_of) {
                Ok(Ok(outcomes)) => {
                    outcomes.into_iter().for_each(|(index, outcome)| self.settle(index, outcome));
                    continue;
                }
                // If a trigger changes keys, the statement does not show which rows are outside of the scope. They are found
                // by bisection.
                Ok(Err(Outside(places))) if !places.is_empty() || rows.len() == 1 => {
                    let places =
                        if rows.len() == 1 { HashSet::from([0]) } else { places.into_iter().collect() };
                    parts.push(self.write_outside(strategy, rows, &places)?);
                    continue;
                }
                Ok(Err(Outside(_))) => None,
                Err(error) => Some(error),
            };
            match (error, rows.as_slice()) {
                (Some(error), [only]) => self.settle(only.index, Outcome::Rejected(error)),
                _ => {
                    let half = rows.split_off(rows.len() / 2);
                    parts.extend([half, rows]);
                }
            }
        }
        Ok(())
    }

    /// Writes the rows at these positions one by one, because the caller may not write them, and returns the
    /// others.
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
                let error = self.caller.out_of_scope(Action::Create, self.template);
                self.settle(index, Outcome::Rejected(error));
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
                        // Half of the rows are tried again, to find the invalid one.
                        Err(_) if rows.len() > 1 => return Err(Outside(Vec::new())),
                        done => outcomes.push((operation.index, self.outcome_of(done, &operation.key))),
                    }
                }
                Ok(outcomes)
            }
        }
    }

    /// The outcome of a row that was written separately.
    fn outcome_of(&self, done: single::Outcome, key: &Key) -> Outcome {
        match (done, key.value()) {
            (Err(error), Some(key)) if self.mode == Mode::Update && error.code == Code::NotFound => {
                Outcome::Rejected(update::missing(self.template, key))
            }
            (done, _) => outcome_of(done),
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
            preconditions: Preconditions::default(),
        }
    }
}

/// The outcome of a row, from that of its operation.
fn outcome_of(done: single::Outcome) -> Outcome {
    match done {
        Err(error) => Outcome::Rejected(error),
        Ok(done) if done.is_created() => Outcome::Created(done.id()),
        Ok(done) if done.is_changed() => Outcome::Updated(done.id()),
        Ok(done) => Outcome::Unchanged(done.id()),
    }
}
