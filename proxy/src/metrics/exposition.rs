//! The text exposition format, version 0.0.4.

use std::fmt::Write;
use std::sync::Arc;

use prometheus::proto::MetricFamily;
use prometheus::{Encoder, TextEncoder};

use super::all::Metrics;
use super::definitions;

impl Metrics {
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.text_with(&[])
    }

    /// All metrics, those of databases from the shards if there are any. Metrics without a series have their lines of help and type,
    /// so that a reader finds all names.
    pub(crate) fn text_with(&self, shards: &[&Arc<Metrics>]) -> String {
        self.read_process();
        let mut families = self.registry.gather();
        if !shards.is_empty() {
            families.retain(|family| is_of_the_process(family.name()));
            for shard in shards {
                merge(&mut families, shard.registry.gather());
            }
        }
        let mut text = Vec::new();
        // Encoding fails only for a family without series, which gather omits, or if writing fails.
        let _ = TextEncoder::new().encode(&families, &mut text);
        let mut text = String::from_utf8(text).unwrap_or_default();
        for metric in definitions() {
            if !families.iter().any(|family| family.name() == metric.name) {
                let (name, kind, help) = (metric.name, metric.kind, metric.help);
                let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            }
        }
        text
    }

    /// The content type.
    pub(crate) const CONTENT_TYPE: &str = prometheus::TEXT_FORMAT;
}

/// Whether a metric says nothing of a database. A process with shards has one series of such a metric, without the label of a
/// shard.
fn is_of_the_process(name: &str) -> bool {
    let prefixes = ["keyed_http_", "keyed_certificate_", "keyed_log_", "keyed_build_", "process_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) && name != "keyed_http_listeners"
}

/// Adds the series of a shard.
fn merge(families: &mut Vec<MetricFamily>, of_shard: Vec<MetricFamily>) {
    for mut family in of_shard.into_iter().filter(|family| !is_of_the_process(family.name())) {
        match families.iter_mut().find(|known| known.name() == family.name()) {
            Some(known) => known.mut_metric().append(&mut family.take_metric()),
            None => families.push(family),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Routes;
    use crate::shard::Shard;

    #[test]
    fn metrics_of_databases_have_the_label_of_their_shard() {
        let shards = [0, 3].map(|number| Arc::new(Metrics::of_shard(Shard::new(number).expect("a number"))));
        shards[0].ready.set(1.0);
        shards[1].retried("conflict");
        let process = Metrics::new(Routes::default());
        let text = process.text_with(&shards.iter().collect::<Vec<_>>());
        for line in [
            r#"keyed_ready{shard="0"} 1"#,
            r#"keyed_ready{shard="3"} 0"#,
            r#"keyed_database_retries_total{reason="conflict",shard="3"} 1"#,
            r#"keyed_http_listeners{shard="3"} 0"#,
            "keyed_http_requests_in_flight 0",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in {text}");
        }
        assert!(!text.lines().any(|line| line.starts_with("keyed_ready ")), "{text}");
        assert_eq!(text.matches("# TYPE ").count(), definitions().count());
    }

    #[test]
    fn reference_page_lists_every_metric() {
        let page = include_str!("../../../docs/reference/metrics.md");
        let found: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
        let rows: Vec<String> = definitions()
            .map(|metric| {
                let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
                format!("| `{}` | {} | {} | {} |", metric.name, metric.kind, labels.join(", "), metric.help)
            })
            .collect();
        assert_eq!(found, rows);
    }

    #[test]
    fn every_metric_has_one_help_and_one_type() {
        let text = Metrics::new(Routes::default()).text();
        for metric in definitions() {
            let help =
                format!("# HELP {} {}\n# TYPE {} {}\n", metric.name, metric.help, metric.name, metric.kind);
            assert_eq!(text.matches(&help).count(), 1, "{help}");
        }
        assert_eq!(text.matches("# TYPE ").count(), definitions().count());
    }
}
