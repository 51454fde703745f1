//! What the service manager is told, such as systemd: that the service is ready, that it is alive, that it stops. Nothing
//! where no service manager asks for it by the environment.

use std::time::Duration;

use sd_notify::NotifyState;

/// Requests are accepted, and the database has been asked for the first time.
pub(crate) fn ready() {
    tell(NotifyState::Ready);
}

/// Requests in flight finish, and no others are accepted.
pub(crate) fn stopping() {
    tell(NotifyState::Stopping);
}

/// Tells it at half of the interval that the service manager requires. A manager without such a watch is told nothing.
pub(crate) async fn keep_alive() {
    let Some(interval) = sd_notify::watchdog_enabled().filter(|interval| *interval > Duration::ZERO) else {
        return;
    };
    let mut ticks = tokio::time::interval(interval / 2);
    loop {
        ticks.tick().await;
        tell(NotifyState::Watchdog);
    }
}

fn tell(state: NotifyState) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "cannot reach the service manager");
    }
}
