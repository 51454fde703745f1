//! Runs a batch whose operations can be rejected one by one.
//!
//! A rejected operation has no effect. A deferred reference may be rejected after its record was written. Then
//! everything is rolled back and run again without the operation and without those that reference its record, directly
//! or through others.
//!
//! If that happens more than `MAX` times, the last attempt defers nothing: it rejects references to records that later
//! operations create.

use super::conflict::Watch;
use super::operation::{Operation, RecordKey, references_by_key};
use super::single::{self, Outcome};
use super::subtransactions::{Stop, Subtransactions};
use super::{order, sequence};
use crate::access::Caller;
use crate::error::Error;
use crate::postgres::guard::attempt;
use crate::record::reference;
use crate::value::change::{Change, Changes, Value};
use keyed_write_order::dependents::{Dependents, Reference};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The maximum number of attempts with deferred references. The second one succeeds, unless the result of an operation
/// depends on whether another one on the same record is rejected.
const MAX: usize = 6;

/// A batch that is ready to run.
pub(super) struct Attempts<'b, 'a> {
    pub(super) caller: &'b Caller,
    /// In the order in which they run.
    pub(super) operations: Vec<&'b Operation<'a>>,
    /// Deferred references, by the position of their operation.
    pub(super) deferred: Vec<(usize, Changes<'a>)>,
    pub(super) atomic: bool,
}

/// The results of operations, by position in the request.
type Done = Vec<(usize, Outcome)>;

/// The rejected operation of an atomic batch, by position in the request.
type Rejected = (usize, Box<Error>);

/// Why an attempt ended early.
enum End {
    /// An operation of an atomic batch is rejected.
    Atomic(Rejected),
    /// The deferred references of these operations, by position in the request, are rejected.
    References(HashMap<usize, Error>),
}

impl<'a> Attempts<'_, 'a> {
    /// Runs all operations.
    pub(super) fn run(&self, watch: &mut Watch) -> Result<Done, Rejected> {
        let mut rejected: HashMap<usize, Error> = HashMap::new();
        let mut ended = Err(End::References(HashMap::new()));
        for _ in 0..MAX {
            pgrx::check_for_interrupts!();
            let mut run = || self.attempt_one(&rejected, watch);
            ended = if self.atomic || self.deferred.is_empty() { run() } else { attempt(run).or_rethrow() };
            let Err(End::References(more)) = &mut ended else { break };
            rejected.extend(more.drain());
            self.add_dependents(&mut rejected);
        }
        if let Err(End::References(_)) = ended {
            let operations = self.complete();
            let last = Attempts { operations: operations.iter().collect(), deferred: Vec::new(), ..*self };
            ended = last.attempt_one(&rejected, watch);
        }
        match ended {
            Ok(mut done) => {
                done.extend(rejected.into_iter().map(|(index, error)| (index, Err(error))));
                Ok(done)
            }
            Err(End::Atomic(rejected)) => Err(rejected),
            Err(End::References(_)) => unreachable!("the last attempt defers no reference"),
        }
    }

    /// The operations with their deferred references.
    fn complete(&self) -> Vec<Operation<'a>> {
        let mut operations: Vec<Operation> =
            self.operations.iter().map(|operation| (*operation).clone()).collect();
        for (place, changes) in &self.deferred {
            operations[*place].changes.extend(changes.iter().cloned());
        }
        operations
    }

    fn index(&self, place: usize) -> usize {
        self.operations[place].index
    }

    /// Runs all operations except rejected ones.
    fn attempt_one(&self, rejected: &HashMap<usize, Error>, watch: &mut Watch) -> Result<Done, End> {
        let places: Vec<usize> =
            (0..self.operations.len()).filter(|place| !rejected.contains_key(&self.index(*place))).collect();
        let operations: Vec<&Operation> = places.iter().map(|place| self.operations[*place]).collect();
        let done = Subtransactions::run(operations.len(), self.atomic, |subtransactions, steps| {
            sequence::run(self.caller, &operations, subtransactions, steps)
        });
        let done = done.map_err(|(step, error)| End::Atomic((self.index(places[step]), error)))?;
        let mut outcomes: HashMap<usize, Outcome> = HashMap::with_capacity(done.len());
        for (step, outcome) in done {
            let place = places[step];
            watch.note(self.operations[place], &outcome);
            match outcome {
                Err(error) if self.atomic => {
                    return Err(End::Atomic((self.index(place), Box::new(error))));
                }
                outcome => outcomes.insert(place, outcome),
            };
        }
        if let Some((index, error)) = watch.first_taken(self.caller) {
            return Err(End::Atomic((index, Box::new(error))));
        }
        let rejected = self.link(&outcomes)?;
        if rejected.is_empty() {
            Ok(outcomes.into_iter().map(|(place, outcome)| (self.index(place), outcome)).collect())
        } else {
            Err(End::References(rejected))
        }
    }

    /// Sets the deferred references: their records exist now. Returns the errors of the rejected ones.
    fn link(&self, outcomes: &HashMap<usize, Outcome>) -> Result<HashMap<usize, Error>, End> {
        let mut links = Vec::new();
        for (place, changes) in &self.deferred {
            if let Some(Ok(done)) = outcomes.get(place) {
                links.push((*place, *done, changes));
            }
        }
        let done = Subtransactions::run(links.len(), self.atomic, |subtransactions, steps| {
            let requested = steps.filter(|link| subtransactions.is_requested(*link));
            let link = |link: usize| {
                let (place, done, changes) = &links[link];
                subtransactions.begin(&[link]);
                let outcome = single::link(self.caller, self.operations[*place], *done, (*changes).clone());
                outcome.map(|done| (link, Ok(done))).map_err(|error| Stop::Rejected(link, Box::new(error)))
            };
            requested.map(link).collect()
        });
        let index = |link: usize| self.index(links[link].0);
        let done = done.map_err(|(link, error)| End::Atomic((index(link), error)))?;
        Ok(done.into_iter().filter_map(|(link, outcome)| Some((index(link), outcome.err()?))).collect())
    }

    /// Adds the operations with a reference to a record that only rejected operations create, directly or through others.
    fn add_dependents(&self, rejected: &mut HashMap<usize, Error>) {
        let mut dependents: Dependents<RecordKey> = Dependents::default();
        for record in self.operations.iter().filter_map(|operation| operation.written_record()) {
            dependents.add_writer(record);
        }
        let own =
            self.operations.iter().enumerate().map(|(place, operation)| (place, &operation.changes, false));
        let deferred = self.deferred.iter().map(|(place, changes)| (*place, changes, true));
        for (place, changes, is_new) in own.chain(deferred) {
            for (attribute, record) in references_by_key(&self.operations[place].template, changes) {
                // A deferred reference is to a new record. Another one may be to a record that exists without the batch.
                if is_new || dependents.is_written(&record) && !order::exists(record) {
                    dependents.add_reference(record, Reference { write: place, attribute });
                }
            }
        }
        let is_rejected = |place: &usize| rejected.contains_key(&self.index(*place));
        let lost: Vec<usize> = (0..self.operations.len()).filter(is_rejected).collect();
        let records = |place: usize| self.operations[place].written_record();
        dependents.follow(lost, records, |Reference { write, attribute }, (_, key)| {
            let Entry::Vacant(vacant) = rejected.entry(self.index(write)) else { return false };
            let attribute = &self.operations[write].template.attributes[attribute];
            let change = Change::Set(Value::ReferenceByKey((*key).into()));
            vacant.insert(reference::not_found(attribute, &change));
            true
        });
    }
}
