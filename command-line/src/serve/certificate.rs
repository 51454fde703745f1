//! The expiry of the listener's certificate, in the log and in the metrics.

use std::sync::Arc;
use std::time::Duration;

use keyed_proxy::listener_tls::ListenerTls;
use keyed_proxy::metrics::Metrics;

/// Sets the metric.
pub(super) fn show_expiry(tls: &ListenerTls, metrics: &Metrics) {
    metrics.certificate_expires(tls.expiry());
}

/// Logs the warning once a day.
pub(super) async fn watch(tls: Arc<ListenerTls>) {
    let mut days = tokio::time::interval(Duration::from_secs(24 * 3600));
    loop {
        days.tick().await;
        warn(&tls);
    }
}

/// Logs a warning if the certificate expires soon, or an error if it is not valid.
pub(super) fn warn(tls: &ListenerTls) {
    match tls.warning() {
        Some((true, warning)) => tracing::error!("{warning}"),
        Some((false, warning)) => tracing::warn!("{warning}"),
        None => {}
    }
}
