//! A value of the present transaction, which savepoints undo as they undo settings.
//!
//! A setting (`SET LOCAL`) does the same and costs more: before 16, each transaction that changes one walks over all settings at its
//! end. Nor can SQL write a variable, whatever the role.

use super::transaction::{Ended, Moment};

/// What was set in the subtransactions that can still commit, the innermost last.
pub struct TransactionLocal<T>(Vec<(Moment, T)>);

impl<T> Default for TransactionLocal<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> TransactionLocal<T> {
    /// Nothing was set.
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

    /// What was set in a subtransaction that has committed is now of the one around it; in one that has failed, it was never set.
    pub fn ended(&mut self, ended: Ended) {
        match ended {
            Ended::Transaction => self.0.clear(),
            Ended::Failed(moment) => self.0.retain(|(at, _)| at.is_before(moment)),
            Ended::Committed { moment, around } => {
                if let Some((_, value)) = self.0.pop_if(|(at, _)| *at == moment) {
                    self.0.pop_if(|(at, _)| *at == around);
                    self.0.push((around, value));
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
    fn a_value_is_of_its_transaction_alone() {
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
        /// A model that copies the value at the beginning of each subtransaction, and takes the copy back where it fails.
        #[test]
        fn savepoints_undo_what_was_set_behind_them(steps in prop::collection::vec(prop_oneof![
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
                        local.ended(Ended::Committed { moment: moment(now), around: moment(open[open.len() - 1]) });
                    }
                    Step::Fail => {
                        open.pop();
                        value = copies.pop().flatten();
                        local.ended(Ended::Failed(moment(now)));
                    }
                }
                prop_assert_eq!(local.get(moment(open[open.len() - 1])), value.as_ref());
            }
        }
    }
}
