//! Rejects requests while the extension in the database has an incompatible version.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::problem::Problem;

/// Open until it is closed with a reason. A request reads one flag.
#[derive(Default)]
pub(super) struct Gate {
    is_closed: AtomicBool,
    reason: Mutex<Option<Problem>>,
}

impl Gate {
    /// Closes it for this reason, or opens it.
    pub(super) fn set(&self, reason: Option<Problem>) {
        let mut kept = self.reason.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_closed.store(reason.is_some(), Ordering::Release);
        *kept = reason;
    }

    /// Why no request may pass, if the gate is closed.
    pub(super) fn refusal(&self) -> Option<Problem> {
        if !self.is_closed.load(Ordering::Acquire) {
            return None;
        }
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_gate_rejects_with_its_reason() {
        let gate = Gate::default();
        assert!(gate.refusal().is_none());
        gate.set(Some(Problem::unavailable("not now", "a cause".to_owned())));
        assert_eq!(gate.refusal().map(|problem| problem.detail().to_owned()), Some("not now".to_owned()));
        gate.set(None);
        assert!(gate.refusal().is_none());
    }
}
