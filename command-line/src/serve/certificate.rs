//! The certificate of the listener: until when it is valid, in the log and in the metrics.

use std::sync::Arc;
use std::time::Duration;

use keyed_proxy::listener_tls::ListenerTls;
use keyed_proxy::metrics::Metrics;

/// Sets the metric.
pub(super) fn show_expiry(tls: &ListenerTls, metrics: &Metrics) {
    metrics.certificate_expires(tls.expiry());
}

/// Warns every day.
pub(super) async fn watch(tls: Arc<ListenerTls>) {
    let mut days = tokio::time::interval(Duration::from_secs(24 * 3600));
    loop {
        days.tick().await;
        warn(&tls);
    }
}

/// Says in the log that the certificate will not be valid for long, or is not.
pub(super) fn warn(tls: &ListenerTls) {
    match tls.warning() {
        Some((true, warning)) => tracing::error!("{warning}"),
        Some((false, warning)) => tracing::warn!("{warning}"),
        None => {}
    }
}
