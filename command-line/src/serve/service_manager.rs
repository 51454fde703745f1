//! Notifications to a service manager such as systemd: ready, alive, reloading, stopping. Without a service manager,
//! they have no effect.

use std::time::Duration;

use sd_notify::NotifyState;

/// The time that shutdown may take in addition to its steps.
const MARGIN: Duration = Duration::from_secs(10);

/// Reports that requests are accepted and the first readiness check is done.
pub(crate) fn ready() {
    notify_manager(&[NotifyState::Ready]);
}

/// Reports that the service stops within this time, and extends the stop timeout of the service manager accordingly.
pub(crate) fn stopping(within: Duration) {
    notify_manager(&[NotifyState::Stopping, extend(within)]);
}

/// Reports that settings and certificates are being reloaded. [`ready`] follows.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => notify_manager(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "cannot notify the service manager of a reload"),
    }
}

fn extend(by: Duration) -> NotifyState<'static> {
    let by = by.saturating_add(MARGIN).as_micros();
    NotifyState::ExtendTimeoutUsec(u32::try_from(by).unwrap_or(u32::MAX))
}

/// Notifies at half of the interval that the service manager requires; never if it requires none.
pub(crate) async fn keep_alive() {
    let Some(interval) = sd_notify::watchdog_enabled().filter(|interval| *interval > Duration::ZERO) else {
        return;
    };
    let mut ticks = tokio::time::interval(interval / 2);
    loop {
        ticks.tick().await;
        notify_manager(&[NotifyState::Watchdog]);
    }
}

fn notify_manager(states: &[NotifyState]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot reach the service manager");
    }
}
