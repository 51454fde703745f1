//! Shuts the service down in steps when it receives a signal.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::service_manager;
use keyed_service::shutdown::{Shutdown, Step};

/// The signals that stop the service.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

#[derive(PartialEq, Eq)]
enum Asked {
    /// SIGINT, from a user at a terminal, who waits for the end.
    Now,
    /// SIGTERM, from the service manager or an administrator.
    InOrder,
}

impl Signals {
    /// Installs the handlers. Afterwards, a signal no longer ends the process directly.
    pub(super) fn listen() -> std::io::Result<Signals> {
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.interrupt.recv() => Asked::Now,
            _ = self.terminate.recv() => Asked::InOrder,
        }
    }
}

/// Advances to the next step at a signal, or when the time of a step is over. `finishing` is the maximum time of the last step.
pub(super) async fn run(mut signals: Signals, shutdown: Shutdown, drain: Duration, finishing: Duration) {
    let drain = if signals.next().await == Asked::InOrder { drain } else { Duration::ZERO };
    service_manager::stopping(drain + finishing);
    shutdown.advance(Step::Draining);
    if !drain.is_zero() {
        tracing::info!(
            seconds = drain.as_secs_f64(),
            "draining: /readyz returns 503, and requests are still served"
        );
        tokio::select! {
            () = tokio::time::sleep(drain) => {}
            _ = signals.next() => {}
        }
    }
    shutdown.advance(Step::Finishing);
    signals.next().await;
    shutdown.advance(Step::Overdue);
}
