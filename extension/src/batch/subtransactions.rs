//! Runs many operations in few subtransactions. A rejected operation must be rolled back separately, which would need one
//! subtransaction for each. But with more than 64 subtransactions that have an id, PostgreSQL must look up the parent
//! transaction of every row that is read, here and on standbys.
//!
//! So operations share one subtransaction until one is rejected. Then it is rolled back, the operations before the
//! rejected one run again, and a new subtransaction begins after it. If more than `MAX` would be needed, everything
//! is rolled back, and the operations that were not rejected run in one.

use super::single::{Outcome, of_operation};
use crate::error::Error;
use crate::postgres::guard::attempt;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// With more subtransactions than this, the run starts again without the rejected steps.
const MAX: usize = 32;

/// The steps that ran, in order, with their results.
pub(super) type Done = Vec<(usize, Outcome)>;

/// Why a subtransaction is rolled back.
pub(super) enum Stop {
    /// This step is rejected.
    Rejected(usize, Box<Error>),
    /// One statement for these steps failed. `outside` contains the steps that caused the error, if
    /// known.
    Together { steps: Vec<usize>, outside: Vec<usize> },
}

/// Why the run ends.
enum End {
    /// It needed too many subtransactions.
    TooMany,
    /// A step of an atomic batch is rejected.
    Rejected(usize, Box<Error>),
}

/// The rejected steps so far, and the steps that are running.
#[derive(Default)]
pub(super) struct Subtransactions {
    /// Steps that share no statement with the previous ones.
    apart: HashSet<usize>,
    /// Steps that share no statement.
    alone: HashSet<usize>,
    rejected: HashMap<usize, Error>,
    running: RefCell<Vec<usize>>,
}

impl Subtransactions {
    /// Whether a step may share a statement with others.
    pub(super) fn may_be_joined(&self, step: usize) -> bool {
        !self.alone.contains(&step)
    }

    /// Whether a step may share a statement with the previous ones.
    pub(super) fn may_join(&self, step: usize) -> bool {
        self.may_be_joined(step) && !self.apart.contains(&step)
    }

    /// Sets the running steps, which an error of PostgreSQL then applies to.
    pub(super) fn begin(&self, steps: &[usize]) {
        let mut running = self.running.borrow_mut();
        running.clear();
        running.extend(steps);
    }

    /// Runs `count` steps. `body` runs a range of them, may combine some, and skips those that must not run. An
    /// atomic run ends with the first rejected step.
    pub(super) fn run(
        count: usize,
        atomic: bool,
        body: impl Fn(&Subtransactions, Range<usize>) -> Result<Done, Stop>,
    ) -> Result<Done, (usize, Box<Error>)> {
        let mut subtransactions = Subtransactions::default();
        for may_restart in [!atomic && count > MAX, false] {
            // A run that may restart needs a subtransaction around all.
            let mut run = || subtransactions.run_all(count, atomic, may_restart, &body);
            let ended = if may_restart { attempt(run).or_rethrow() } else { run() };
            match ended {
                Ok(done) => return Ok(done),
                Err(End::Rejected(step, error)) => return Err((step, error)),
                Err(End::TooMany) => {}
            }
        }
        unreachable!("the second run has no limit")
    }

    /// Whether a step still has to run.
    pub(super) fn is_requested(&self, step: usize) -> bool {
        !self.rejected.contains_key(&step)
    }

    fn run_all(
        &mut self,
        count: usize,
        atomic: bool,
        may_restart: bool,
        body: &impl Fn(&Subtransactions, Range<usize>) -> Result<Done, Stop>,
    ) -> Result<Done, End> {
        let (mut from, mut to, mut kept) = (0, count, 0);
        let mut done: Done = self.rejected.iter().map(|(step, error)| (*step, Err(error.clone()))).collect();
        while from < count {
            pgrx::check_for_interrupts!();
            match self.run_one(from..to, body) {
                Ok(these) => {
                    done.extend(these);
                    kept += 1;
                    (from, to) = (to, count);
                }
                Err(Stop::Rejected(step, error)) if atomic => return Err(End::Rejected(step, error)),
                Err(Stop::Rejected(step, error)) => {
                    // The steps before it run first. Then it runs again, because other transactions may have written in
                    // the meantime.
                    to = step;
                    if step == from {
                        done.push((step, Err((*error).clone())));
                        self.rejected.insert(step, *error);
                        (from, to) = (step + 1, count);
                    }
                }
                Err(Stop::Together { steps, outside }) => {
                    let (first, middle) = (steps[0], steps[steps.len() / 2]);
                    if outside.is_empty() {
                        self.apart.insert(middle);
                    }
                    self.alone.extend(outside);
                    if first > from {
                        to = first;
                    }
                }
            }
        }
        if may_restart && kept > MAX { Err(End::TooMany) } else { Ok(done) }
    }

    /// Runs steps in one subtransaction.
    fn run_one(
        &self,
        steps: Range<usize>,
        body: &impl Fn(&Subtransactions, Range<usize>) -> Result<Done, Stop>,
    ) -> Result<Done, Stop> {
        // An error of the session, rather than of a step, ends the run.
        let error = match attempt(|| body(self, steps)).catch(of_operation) {
            Ok(ended) => return ended,
            Err(error) => error,
        };
        match self.running.take().as_slice() {
            [only] => Err(Stop::Rejected(*only, Box::new(error))),
            steps => Err(Stop::Together { steps: steps.to_vec(), outside: Vec::new() }),
        }
    }
}
