//! What signals make of the service: an end in steps.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::service_manager;
use keyed_service::shutdown::{Shutdown, Step};

/// The signals that end the service.
pub(super) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

#[derive(PartialEq, Eq)]
enum Asked {
    /// By a user at a terminal, who waits.
    Now,
    /// By the service manager or an administrator.
    InOrder,
}

impl Signals {
    /// From now on, they do not end the process by themselves.
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

/// Goes from step to step: at a signal, and when the time of a step is over. `finishing` is what the last step may take.
pub(super) async fn run(mut signals: Signals, shutdown: Shutdown, drain: Duration, finishing: Duration) {
    let drain = if signals.next().await == Asked::InOrder { drain } else { Duration::ZERO };
    service_manager::stopping(drain + finishing);
    shutdown.advance(Step::Draining);
    if !drain.is_zero() {
        tracing::info!(
            seconds = drain.as_secs_f64(),
            "draining: /readyz answers 503, and requests are served"
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
