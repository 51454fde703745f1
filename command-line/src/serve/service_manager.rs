//! Notifications to a service manager, such as systemd: ready, alive, reloading, stopping. None if the environment names no
//! service manager.

use std::time::Duration;

use sd_notify::NotifyState;

/// How much longer than its steps the end may take.
const MARGIN: Duration = Duration::from_secs(10);

/// Requests are accepted, and the database has been asked for the first time.
pub(crate) fn ready() {
    tell(&[NotifyState::Ready]);
}

/// The service ends, within this time at most: the manager is to wait for as long, whatever its own patience.
pub(crate) fn stopping(within: Duration) {
    tell(&[NotifyState::Stopping, extend(within)]);
}

/// Settings and certificates are read again. [`ready`] follows.
pub(crate) fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::warn!(%error, "cannot tell the service manager of a reload"),
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
        tell(&[NotifyState::Watchdog]);
    }
}

fn tell(states: &[NotifyState]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot reach the service manager");
    }
}
