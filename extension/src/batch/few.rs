//! Runs many operations in few subtransactions. A rejected operation must be rolled back alone, which would need one
//! subtransaction for each. But with more than 64 subtransactions that have an id, PostgreSQL must look up the parent
//! transaction of every row that is read, here and on standbys.
//!
//! So operations share one subtransaction until one is rejected. Then it is rolled back, the operations before the
//! rejected one run again, and a new subtransaction begins after it. If more than `MOST` would be needed, everything
//! is rolled back, and the operations that were not rejected run in one.

use super::outcome::{Outcome, of_operation};
use crate::error::Error;
use crate::postgres::guard::attempt;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// With more subtransactions than this, the run starts again without the refused steps.
const MOST: usize = 32;

/// The steps that ran, in order, with their results.
pub(super) type Done = Vec<(usize, Outcome)>;

/// Why a pass ended early.
pub(super) enum Stop {
    /// This step is refused.
    Refused(usize, Box<Error>),
    /// One statement for these steps failed. `outside` names those at fault, if known.
    Together { steps: Vec<usize>, outside: Vec<usize> },
}

/// Why the run ends.
enum End {
    /// It needed too many subtransactions.
    Again,
    /// A step of an atomic batch is refused.
    Refused(usize, Box<Error>),
}

/// The results of passes that ended early, and the state of the current pass.
#[derive(Default)]
pub(super) struct Few {
    apart: HashSet<usize>,
    alone: HashSet<usize>,
    refused: HashMap<usize, Error>,
    running: RefCell<Vec<usize>>,
}

impl Few {
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

    /// Runs `count` steps. `pass` runs a range of them, may combine some, and skips those that are not wanted. An
    /// atomic run ends with the first refused step.
    pub(super) fn run(
        count: usize,
        atomic: bool,
        pass: impl Fn(&Few, Range<usize>) -> Result<Done, Stop>,
    ) -> Result<Done, (usize, Box<Error>)> {
        let mut few = Few::default();
        for may_begin_anew in [!atomic && count > MOST, false] {
            // A run that may start again needs a subtransaction.
            let mut passes = || few.passes(count, atomic, may_begin_anew, &pass);
            let ended = if may_begin_anew { attempt(passes).or_rethrow() } else { passes() };
            match ended {
                Ok(done) => return Ok(done),
                Err(End::Refused(step, error)) => return Err((step, error)),
                Err(End::Again) => {}
            }
        }
        unreachable!("the second time ends by itself")
    }

    /// Whether a step still has to run.
    pub(super) fn is_wanted(&self, step: usize) -> bool {
        !self.refused.contains_key(&step)
    }

    fn passes(
        &mut self,
        count: usize,
        atomic: bool,
        may_begin_anew: bool,
        pass: &impl Fn(&Few, Range<usize>) -> Result<Done, Stop>,
    ) -> Result<Done, End> {
        let (mut from, mut to, mut passes) = (0, count, 0);
        let mut done: Done = self.refused.iter().map(|(step, error)| (*step, Err(error.clone()))).collect();
        while from < count {
            pgrx::check_for_interrupts!();
            match self.one_pass(from..to, pass) {
                Ok(these) => {
                    done.extend(these);
                    passes += 1;
                    (from, to) = (to, count);
                }
                Err(Stop::Refused(step, error)) if atomic => return Err(End::Refused(step, error)),
                Err(Stop::Refused(step, error)) => {
                    // The steps before it run first; then it is tried again, because others may have written in the
                    // meantime.
                    to = step;
                    if step == from {
                        done.push((step, Err((*error).clone())));
                        self.refused.insert(step, *error);
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
        if may_begin_anew && passes > MOST { Err(End::Again) } else { Ok(done) }
    }

    fn one_pass(
        &self,
        steps: Range<usize>,
        pass: &impl Fn(&Few, Range<usize>) -> Result<Done, Stop>,
    ) -> Result<Done, Stop> {
        // An error of the session, rather than of a step, ends the run.
        let error = match attempt(|| pass(self, steps)).catch(of_operation) {
            Ok(ended) => return ended,
            Err(error) => error,
        };
        match self.running.take().as_slice() {
            [only] => Err(Stop::Refused(*only, Box::new(error))),
            steps => Err(Stop::Together { steps: steps.to_vec(), outside: Vec::new() }),
        }
    }
}
