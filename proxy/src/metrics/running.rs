//! Gauges of open connections and running requests.

use std::sync::Arc;

use prometheus::{IntCounterVec, IntGauge};

use super::all::Metrics;

/// Counts a running import or export until it is dropped, and then its outcome, which is failed by default.
pub(crate) struct Running {
    running: IntGauge,
    ended: IntCounterVec,
    outcome: &'static str,
}

impl Running {
    pub(crate) fn import(metrics: &Metrics) -> Running {
        Running::begin(&metrics.imports_running, &metrics.imports)
    }

    pub(crate) fn export(metrics: &Metrics) -> Running {
        Running::begin(&metrics.exports_running, &metrics.exports)
    }

    fn begin(running: &IntGauge, ended: &IntCounterVec) -> Running {
        running.inc();
        Running { running: running.clone(), ended: ended.clone(), outcome: "failed" }
    }

    pub(crate) fn ends(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.running.dec();
        self.ended.with_label_values(&[self.outcome]).inc();
    }
}

/// A request that waits for changes.
pub(crate) struct Listening(IntGauge);

impl Listening {
    pub(crate) fn new(metrics: &Metrics) -> Listening {
        metrics.listeners.inc();
        Listening(metrics.listeners.clone())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// An open connection of a client.
pub(crate) struct Connected(Arc<Metrics>);

impl Connected {
    pub(crate) fn new(metrics: &Arc<Metrics>) -> Connected {
        metrics.connections.inc();
        metrics.connections_accepted.inc();
        Connected(Arc::clone(metrics))
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.0.connections.dec();
    }
}
