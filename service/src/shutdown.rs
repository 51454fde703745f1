//! Shutdown of the service, step by step.

use std::sync::Arc;

use tokio::sync::watch;

/// A step of shutdown. Each step includes the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Requests are served.
    Serving,
    /// Requests are served, and every response closes its connection.
    Draining,
    /// No more connections are accepted, and requests in flight are finished.
    Finishing,
    /// Unfinished requests are aborted.
    Overdue,
}

/// The current step, initially `Serving`. Clones share it.
#[derive(Clone)]
pub struct Shutdown {
    step: Arc<watch::Sender<Step>>,
}

impl Default for Shutdown {
    fn default() -> Shutdown {
        Shutdown { step: Arc::new(watch::Sender::new(Step::Serving)) }
    }
}

impl Shutdown {
    /// Advances to a step, unless a later one has been reached.
    pub fn advance(&self, to: Step) {
        self.step.send_if_modified(|step| {
            let is_later = to > *step;
            *step = to.max(*step);
            is_later
        });
    }

    /// Whether shutdown has begun.
    pub fn has_begun(&self) -> bool {
        self.has_reached(Step::Draining)
    }

    /// Whether a step has been reached.
    pub fn has_reached(&self, target: Step) -> bool {
        *self.step.borrow() >= target
    }

    /// Waits until a step is reached.
    pub async fn reached(&self, target: Step) {
        // The sender lives as long as `self`.
        let _ = self.step.subscribe().wait_for(|step| *step >= target).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn later_step_includes_earlier_ones() {
        let shutdown = Shutdown::default();
        assert!(!shutdown.has_begun());
        shutdown.advance(Step::Finishing);
        shutdown.advance(Step::Draining);
        shutdown.reached(Step::Draining).await;
        shutdown.reached(Step::Finishing).await;
        assert!(shutdown.has_begun());
        let waiting = tokio::spawn({
            let shutdown = shutdown.clone();
            async move { shutdown.reached(Step::Overdue).await }
        });
        shutdown.advance(Step::Overdue);
        waiting.await.expect("it is reached");
    }
}
