//! Runs a batch whose operations can be rejected one by one.
//!
//! What is reported as rejected leaves nothing behind. A deferred reference may be rejected after its record was
//! written. So everything is rolled back and run again without the operation and those that refer to its record.
//!
//! A batch runs at most `2 * MOST + 1` times: up to `MOST` times in the order that all batches share; up to `MOST`
//! times in dependency order, so that only references in cycles are deferred; and once without deferred references,
//! which rejects the rest of the cycles. If an operation sets a key, the second runs use the common order again,
//! because the order decides what a key means.

use super::conflict::Watch;
use super::few::{Few, Stop};
use super::operation::{Operation, OperationKind};
use super::outcome::Outcome;
use super::pass::pass;
use super::{dependencies, single};
use crate::access::Caller;
use crate::error::Error;
use crate::postgres::guard::attempt;
use crate::record::reference;
use crate::value::change::{Change, Changes, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The maximum number of rounds in one order.
const MOST: usize = 3;

/// A batch that is ready to run.
pub(super) struct Rounds<'b, 'a> {
    pub(super) caller: &'b Caller,
    /// In the order in which they run.
    pub(super) operations: Vec<&'b Operation<'a>>,
    /// Deferred references, by the position of their operation.
    pub(super) put_off: Vec<(usize, Changes<'a>)>,
    pub(super) atomic: bool,
}

/// The results of operations, by position in the request.
type Done = Vec<(usize, Outcome)>;

/// The refused operation of an atomic batch, by position in the request.
type Refused = (usize, Box<Error>);

/// Why a round ended early.
enum End {
    /// An operation of an atomic batch is refused.
    Refused(Refused),
    /// The deferred references of these operations, by position in the request, are refused.
    Lost(HashMap<usize, Error>),
}

/// The template and key of a record.
type RecordKey<'b> = (i32, &'b str);

impl<'a> Rounds<'_, 'a> {
    /// Runs all operations.
    pub(super) fn run(&self, watch: &mut Watch) -> Result<Done, Refused> {
        let mut lost: HashMap<usize, Error> = HashMap::new();
        if let Some(done) = self.some_rounds(true, &mut lost, watch)? {
            return Ok(done);
        }
        let mut operations = self.whole();
        // If keys move between records, the meaning of a key depends on the order.
        let done = if operations.iter().any(Operation::sets_key) {
            self.some_rounds(true, &mut lost, watch)?
        } else {
            let put_off = dependencies::sort_by_dependency(&mut operations);
            let later = Rounds { operations: operations.iter().collect(), put_off, ..*self };
            let done = later.some_rounds(false, &mut lost, watch)?;
            operations = later.whole();
            done
        };
        if let Some(done) = done {
            return Ok(done);
        }
        let last = Rounds { operations: operations.iter().collect(), put_off: Vec::new(), ..*self };
        let done = last.some_rounds(false, &mut lost, watch)?;
        Ok(done.expect("where no reference waits, none is refused late"))
    }

    /// The operations including their deferred references.
    fn whole(&self) -> Vec<Operation<'a>> {
        let mut operations: Vec<Operation> =
            self.operations.iter().map(|operation| (*operation).clone()).collect();
        for (place, changes) in &self.put_off {
            operations[*place].changes.extend(changes.iter().cloned());
        }
        operations
    }

    fn index(&self, place: usize) -> usize {
        self.operations[place].index
    }

    /// Runs all operations except lost ones until no more are lost; `None` if the number of rounds was not enough.
    /// `foresees`: also predicts which others are lost, which is possible only if all deferred references are to new
    /// records.
    fn some_rounds(
        &self,
        foresees: bool,
        lost: &mut HashMap<usize, Error>,
        watch: &mut Watch,
    ) -> Result<Option<Done>, Refused> {
        for _ in 0..MOST {
            pgrx::check_for_interrupts!();
            let mut round = || self.round(lost, watch);
            let ended =
                if self.atomic || self.put_off.is_empty() { round() } else { attempt(round).or_rethrow() };
            match ended {
                Ok(mut done) => {
                    done.extend(lost.drain().map(|(index, error)| (index, Err(error))));
                    return Ok(Some(done));
                }
                Err(End::Refused(refused)) => return Err(refused),
                Err(End::Lost(more)) => {
                    lost.extend(more);
                    if foresees {
                        self.add_followers(lost);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Runs all operations but those that are lost.
    fn round(&self, lost: &HashMap<usize, Error>, watch: &mut Watch) -> Result<Done, End> {
        let places: Vec<usize> =
            (0..self.operations.len()).filter(|place| !lost.contains_key(&self.index(*place))).collect();
        let operations: Vec<&Operation> = places.iter().map(|place| self.operations[*place]).collect();
        let done =
            Few::run(operations.len(), self.atomic, |few, some| pass(self.caller, &operations, few, some));
        let done = done.map_err(|(step, error)| End::Refused((self.index(places[step]), error)))?;
        let mut outcomes: HashMap<usize, Outcome> = HashMap::with_capacity(done.len());
        for (step, outcome) in done {
            let place = places[step];
            watch.note(self.operations[place], &outcome);
            match outcome {
                Err(error) if self.atomic => {
                    return Err(End::Refused((self.index(place), Box::new(error))));
                }
                outcome => outcomes.insert(place, outcome),
            };
        }
        if let Some((index, error)) = watch.first_taken(self.caller) {
            return Err(End::Refused((index, Box::new(error))));
        }
        let refused = self.link(&outcomes)?;
        if refused.is_empty() {
            Ok(outcomes.into_iter().map(|(place, outcome)| (self.index(place), outcome)).collect())
        } else {
            Err(End::Lost(refused))
        }
    }

    /// Makes the references that waited: the records that they refer to exist now. Answers which are refused.
    fn link(&self, outcomes: &HashMap<usize, Outcome>) -> Result<HashMap<usize, Error>, End> {
        let mut links = Vec::new();
        for (place, changes) in &self.put_off {
            if let Some(Ok(done)) = outcomes.get(place) {
                links.push((*place, *done, changes));
            }
        }
        let done = Few::run(links.len(), self.atomic, |few, some| {
            let wanted = some.filter(|link| few.is_wanted(*link));
            let link = |link: usize| {
                let (place, done, changes) = &links[link];
                few.begin(&[link]);
                let outcome = single::link(self.caller, self.operations[*place], *done, (*changes).clone());
                outcome.map(|done| (link, Ok(done))).map_err(|error| Stop::Refused(link, Box::new(error)))
            };
            wanted.map(link).collect()
        });
        let index = |link: usize| self.index(links[link].0);
        let done = done.map_err(|(link, error)| End::Refused((index(link), error)))?;
        Ok(done.into_iter().filter_map(|(link, outcome)| Some((index(link), outcome.err()?))).collect())
    }

    /// Adds the operations that wait for what only lost ones would have brought, directly or through others. What this
    /// does not find, the next round does.
    fn add_followers(&self, lost: &mut HashMap<usize, Error>) {
        let mut bringing: HashMap<RecordKey, usize> = HashMap::new();
        for name in self.operations.iter().filter_map(|operation| brought(operation)) {
            *bringing.entry(name).or_default() += 1;
        }
        let mut waiting: HashMap<RecordKey, Vec<(usize, usize)>> = HashMap::new();
        for (place, changes) in &self.put_off {
            for (attribute, change) in changes {
                let Change::Set(Value::ReferenceByKey(key)) = change else { continue };
                let Some(target) = self.operations[*place].template.attributes[*attribute].target else {
                    continue;
                };
                waiting.entry((target, key.as_ref())).or_default().push((*place, *attribute));
            }
        }
        let mut open: Vec<usize> =
            (0..self.operations.len()).filter(|place| lost.contains_key(&self.index(*place))).collect();
        while let Some(name) = open.pop().map(|place| brought(self.operations[place])) {
            let Some((name, left)) = name.and_then(|name| Some((name, bringing.get_mut(&name)?))) else {
                continue;
            };
            *left = left.saturating_sub(1);
            if *left > 0 {
                continue;
            }
            for (place, attribute) in waiting.remove(&name).unwrap_or_default() {
                if let Entry::Vacant(vacant) = lost.entry(self.index(place)) {
                    let attribute = &self.operations[place].template.attributes[attribute];
                    let change = Change::Set(Value::ReferenceByKey(name.1.into()));
                    vacant.insert(reference::not_found(attribute, &change));
                    open.push(place);
                }
            }
        }
    }
}

/// The record that an operation may bring into being, or give its key.
fn brought<'b>(operation: &'b Operation) -> Option<RecordKey<'b>> {
    let brings =
        matches!(operation.kind, OperationKind::Create | OperationKind::Upsert) || operation.sets_key();
    operation.key.value().filter(|_| brings).map(|key| (operation.template.id, key))
}
