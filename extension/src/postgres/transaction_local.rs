//! A transaction-local value, which a rollback to a savepoint reverts as it reverts settings.
//!
//! A setting (`SET LOCAL`) would cost more: before 16, the end of a transaction that changes one visits all settings. SQL
//! can also set a setting, but not this value.

use super::transaction::{Ended, Moment};

/// The values that open subtransactions have set, innermost last.
pub struct TransactionLocal<T>(Vec<(Moment, T)>);

impl<T> Default for TransactionLocal<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> TransactionLocal<T> {
    /// No value.
    pub const fn new() -> Self {
        TransactionLocal(Vec::new())
    }

    /// The value that was set last.
    pub fn get(&self, now: Moment) -> Option<&T> {
        self.0.last().filter(|(at, _)| at.may_still_commit(now)).map(|(_, value)| value)
    }

    /// Sets the value until the transaction ends, or the subtransaction is rolled back.
    pub fn set(&mut self, now: Moment, value: T) {
        self.0.retain(|(at, _)| at.may_still_commit(now));
        match self.0.last_mut() {
            Some((at, last)) if *at == now => *last = value,
            _ => self.0.push((now, value)),
        }
    }

    /// Moves a value to the parent when a subtransaction commits, and discards it when one aborts.
    pub fn ended(&mut self, ended: Ended) {
        match ended {
            Ended::Transaction => self.0.clear(),
            Ended::Aborted(moment) => self.0.retain(|(at, _)| at.is_before(moment)),
            Ended::Committed { moment, parent } => {
                if let Some((_, value)) = self.0.pop_if(|(at, _)| *at == moment) {
                    self.0.pop_if(|(at, _)| *at == parent);
                    self.0.push((parent, value));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn moment(subtransaction: u32) -> Moment {
        Moment { transaction: 1, subtransaction }
    }

    #[test]
    fn value_ends_with_its_transaction() {
        let mut local = TransactionLocal::new();
        local.set(moment(1), "set");
        assert_eq!(local.get(moment(1)), Some(&"set"));
        assert_eq!(local.get(Moment { transaction: 2, subtransaction: 1 }), None);
        local.ended(Ended::Transaction);
        assert_eq!(local.get(moment(1)), None);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Begin,
        Set(u8),
        Commit,
        Fail,
    }

    proptest! {
        /// The model saves the value at the start of each subtransaction and restores it on abort.
        #[test]
        fn rollback_to_savepoint_restores_the_value(steps in prop::collection::vec(prop_oneof![
            Just(Step::Begin), any::<u8>().prop_map(Step::Set), Just(Step::Commit), Just(Step::Fail)], 0..60)) {
            let mut local = TransactionLocal::new();
            let (mut open, mut copies, mut value, mut newest) = (vec![1], Vec::new(), None, 1);
            for step in steps {
                let now = open[open.len() - 1];
                match step {
                    Step::Begin => {
                        newest += 1;
                        open.push(newest);
                        copies.push(value);
                    }
                    Step::Set(new) => {
                        local.set(moment(now), new);
                        value = Some(new);
                    }
                    Step::Commit | Step::Fail if open.len() == 1 => {}
                    Step::Commit => {
                        open.pop();
                        copies.pop();
                        local.ended(Ended::Committed { moment: moment(now), parent: moment(open[open.len() - 1]) });
                    }
                    Step::Fail => {
                        open.pop();
                        value = copies.pop().flatten();
                        local.ended(Ended::Aborted(moment(now)));
                    }
                }
                prop_assert_eq!(local.get(moment(open[open.len() - 1])), value.as_ref());
            }
        }
    }
}
