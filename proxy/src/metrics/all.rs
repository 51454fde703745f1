//! All metrics of the process.

use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use keyed_embedding_worker::worker::Meter;
use prometheus::{Histogram, Registry};

use super::measured::Measured;
use super::requests::{Requests, Routes};
use super::table::{Series, StatementKind};
use crate::problem::Reason;
use crate::shard::Shard;

/// The maximum number of SQLSTATEs with a series. A trigger can raise any SQLSTATE.
const MAX_STATES: usize = 100;

/// The reasons of retries.
const RETRIES: [&str; 6] =
    ["conflict", "connection_lost", "read_only", "shared_stuck", "shared_error", "replica"];

/// The outcomes of inbound deliveries.
const DELIVERIES: [&str; 5] = ["accepted", "rejected", "unauthorized", "invalid", "failed"];
const IMPORTS: [&str; 3] = ["complete", "rejected", "failed"];
const IMPORT_ROWS: [&str; 4] = ["created", "updated", "unchanged", "failed"];
const EXPORTS: [&str; 2] = ["complete", "failed"];
const EMBEDDED: [&str; 2] = ["embedded", "failed"];
const WEBHOOKS: [&str; 2] = ["delivered", "failed"];

/// The causes of interrupted responses.
const INTERRUPTED: [&str; 3] = ["client", "slow_client", "proxy"];

/// All metrics of the process.
pub struct Metrics {
    series: Series,
    /// The metrics of requests, with a fast lookup of their series.
    pub(crate) http: Requests,
    /// The measurements of the database.
    pub(crate) measured: Measured,
    /// The metrics of statements, by kind.
    statements: [Histogram; StatementKind::ALL.len()],
    pub(super) registry: Registry,
    /// The SQLSTATEs that have a series.
    states: Mutex<HashSet<String>>,
}

impl Deref for Metrics {
    type Target = Series;

    fn deref(&self) -> &Series {
        &self.series
    }
}

impl Metrics {
    /// Creates the metrics. `routes` are the routes of the service.
    pub fn new(routes: Routes) -> Metrics {
        Metrics::registered(routes, Registry::new())
    }

    /// Those of one shard, each with a label that names it.
    pub(crate) fn of_shard(shard: Shard) -> Metrics {
        let labels = HashMap::from([("shard".to_owned(), shard.to_string())]);
        let registry = Registry::new_custom(None, Some(labels)).expect("a constant label");
        Metrics::registered(Routes::default(), registry)
    }

    fn registered(routes: Routes, registry: Registry) -> Metrics {
        let series = Series::new(&registry);
        // Counters with known labels start at zero, because rate() and increase() ignore the first value of a series.
        for (counter, values) in [
            (&series.rejected, &Reason::ALL.map(Reason::name)[..]),
            (&series.retries, &RETRIES),
            (&series.interrupted, &INTERRUPTED),
            (&series.imports, &IMPORTS),
            (&series.import_rows, &IMPORT_ROWS),
            (&series.exports, &EXPORTS),
            (&series.deliveries, &DELIVERIES),
            (&series.embedded, &EMBEDDED),
            (&series.webhooks, &WEBHOOKS),
        ] {
            for value in values {
                drop(counter.with_label_values(&[value]));
            }
        }
        series.build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1.0);
        let counters = [&series.requests, &series.request_bytes, &series.response_bytes];
        let http = Requests::new(routes, counters, &series.request_seconds);
        let statements =
            StatementKind::ALL.map(|kind| series.statement_seconds.with_label_values(&[kind.name()]));
        let measured = Measured::new(&registry).expect("constant names and labels, which a test creates");
        Metrics { series, http, measured, statements, registry, states: Mutex::default() }
    }

    /// Counts an error that the server reported.
    pub(crate) fn database_error(&self, sqlstate: &str) {
        let is_known = {
            let mut seen = self.states.lock().unwrap_or_else(PoisonError::into_inner);
            let is_known = seen.contains(sqlstate);
            if !is_known && seen.len() < MAX_STATES {
                seen.insert(sqlstate.to_owned());
            }
            is_known || seen.contains(sqlstate)
        };
        self.database_errors.with_label_values(&[if is_known { sqlstate } else { "other" }]).inc();
    }

    /// Records the duration of a statement.
    pub(crate) fn statement(&self, kind: StatementKind, time: Duration) {
        self.statements[kind as usize].observe(time.as_secs_f64());
    }

    /// Sets the expiry of the listener's certificate, since 1970.
    pub fn certificate_expires(&self, at: Duration) {
        self.certificate_expiry.with_label_values::<&str>(&[]).set(at.as_secs_f64());
    }

    /// Counts a retry.
    pub(crate) fn retried(&self, reason: &'static str) {
        self.retries.with_label_values(&[reason]).inc();
    }

    pub(crate) fn rejected(&self, reason: Reason) {
        self.rejected.with_label_values(&[reason.name()]).inc();
    }
}

impl Meter for Metrics {
    fn provider_took(&self, outcome: &'static str, time: Duration) {
        self.provider_seconds.with_label_values(&[outcome]).observe(time.as_secs_f64());
    }

    fn text(&self, outcome: &'static str) {
        self.embedded.with_label_values(&[outcome]).inc();
    }
}

impl keyed_webhook_worker::worker::Meter for Metrics {
    fn attempt(&self, outcome: &'static str, time: Duration) {
        self.webhooks.with_label_values(&[outcome]).inc();
        self.webhook_seconds.with_label_values(&[outcome]).observe(time.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Outcome;

    #[test]
    fn number_of_sqlstate_labels_is_bounded() {
        let metrics = Metrics::new(Routes::default());
        for number in 0..10_000 {
            metrics.database_error(&format!("{number:05}"));
        }
        metrics.database_error("00001");
        let text = metrics.text();
        let lines: Vec<&str> =
            text.lines().filter(|line| line.starts_with("keyed_database_errors_total{")).collect();
        assert_eq!(lines.len(), MAX_STATES + 1);
        assert!(lines.contains(&"keyed_database_errors_total{sqlstate=\"00001\"} 2"), "{lines:?}");
        assert!(lines.contains(&"keyed_database_errors_total{sqlstate=\"other\"} 9900"), "{lines:?}");
    }

    #[test]
    fn series_with_known_labels_begin_at_zero() {
        let text = Metrics::new(Routes::default()).text();
        for (name, label, values) in [
            ("keyed_http_responses_interrupted_total", "by", &["client", "slow_client", "proxy"][..]),
            ("keyed_imports_total", "outcome", &["complete", "rejected", "failed"]),
            ("keyed_import_rows_total", "outcome", &["created", "updated", "unchanged", "failed"]),
            ("keyed_exports_total", "outcome", &["complete", "failed"]),
            (
                "keyed_inbound_deliveries_total",
                "outcome",
                &["accepted", "rejected", "unauthorized", "invalid", "failed"],
            ),
            ("keyed_embedding_texts_total", "outcome", &["embedded", "failed"]),
            ("keyed_webhook_attempts_total", "outcome", &["delivered", "failed"]),
            ("keyed_database_retries_total", "reason", &["conflict", "shared_error"]),
            ("keyed_http_rejected_total", "reason", &["key_rate", "version"]),
        ] {
            for value in values {
                let line = format!("{name}{{{label}=\"{value}\"}} 0");
                assert!(text.lines().any(|it| it == line), "{line}");
            }
        }
    }

    #[test]
    fn unknown_paths_and_methods_share_a_series() {
        let route = |path: &str| (path.to_owned(), "/v1/me".to_owned());
        let metrics = Metrics::new(Routes::new([route("/v1/me"), route("/api/v1/me")]));
        let count = |route: Option<&str>, method: &'static str, status| {
            let (time, bytes_received, bytes_sent) = (Duration::from_millis(3), 5, 7);
            metrics.http.count(&Outcome { route, method, status, time, bytes_received, bytes_sent });
        };
        count(Some("/v1/me"), "GET", 200);
        count(Some("/api/v1/me"), "GET", 200);
        count(None, "GET", 404);
        count(Some("/assets/a.js"), "GET", 200);
        count(Some("/assets/b.js"), "GET", 200);
        count(Some("/v1/me"), "BREW", 405);
        let text = metrics.text();
        let has = |line: &str| assert!(text.lines().any(|it| it == line), "{line} in {text}");
        has(r#"keyed_http_requests_total{method="GET",route="/v1/me",status="200"} 2"#);
        has(r#"keyed_http_requests_total{method="GET",route="none",status="404"} 1"#);
        has(r#"keyed_http_requests_total{method="GET",route="application",status="200"} 2"#);
        has(r#"keyed_http_requests_total{method="other",route="/v1/me",status="405"} 1"#);
        has(r#"keyed_http_request_bytes_total{method="GET",route="/v1/me"} 10"#);
        has(r#"keyed_http_response_bytes_total{method="GET",route="/v1/me"} 14"#);
        has(r#"keyed_http_request_duration_seconds_bucket{method="GET",route="/v1/me",le="0.002"} 0"#);
        has(r#"keyed_http_request_duration_seconds_bucket{method="GET",route="/v1/me",le="0.005"} 2"#);
        assert_eq!(text.matches("\nkeyed_http_requests_total{").count(), 4, "{text}");
    }

    #[test]
    fn names_have_units_and_follow_the_conventions() {
        let mut names = HashSet::new();
        for metric in crate::metrics::definitions() {
            assert!(names.insert(metric.name), "{} twice", metric.name);
            assert_eq!(metric.name.ends_with("_total"), metric.kind == "counter", "{}", metric.name);
            let has_unit = metric.name.ends_with("_seconds");
            assert!(metric.kind != "histogram" || has_unit, "{} has no unit", metric.name);
            assert!(metric.name.starts_with("keyed_") || metric.name.starts_with("process_"));
            assert!(metric.help.ends_with('.') && metric.help.starts_with(char::is_uppercase));
        }
    }
}
