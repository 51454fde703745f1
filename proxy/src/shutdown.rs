//! The end of the service, step by step.

use std::sync::Arc;

use tokio::sync::watch;

/// How far the end has come. Each step includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Serving,
    /// Requests are served, and callers are told to go elsewhere.
    Draining,
    /// No more connections are accepted, and what has begun is finished.
    Finishing,
    /// What has not finished is given up.
    Overdue,
}

/// Shared by all who have to do with the end.
#[derive(Clone)]
pub(crate) struct Shutdown {
    step: Arc<watch::Sender<Step>>,
}

impl Shutdown {
    pub(crate) fn new() -> Shutdown {
        Shutdown { step: Arc::new(watch::Sender::new(Step::Serving)) }
    }

    /// Goes on to a step, unless a later one was reached.
    pub(crate) fn advance(&self, to: Step) {
        self.step.send_if_modified(|step| {
            let is_later = to > *step;
            *step = to.max(*step);
            is_later
        });
    }

    /// Whether callers are to go elsewhere.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_reached(Step::Draining)
    }

    /// Whether a step was reached.
    pub(crate) fn has_reached(&self, wanted: Step) -> bool {
        *self.step.borrow() >= wanted
    }

    /// Is done when a step is reached.
    pub(crate) async fn reached(&self, wanted: Step) {
        // The sender lives as long as `self`.
        let _ = self.step.subscribe().wait_for(|step| *step >= wanted).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_step_is_reached_by_a_later_one_and_never_left() {
        let shutdown = Shutdown::new();
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
