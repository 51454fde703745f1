//! The text exposition format, version 0.0.4.

use std::fmt::Write;

use prometheus::{Encoder, TextEncoder};

use super::all::Metrics;
use super::definitions;

impl Metrics {
    /// All metrics. Metrics without a series have only their HELP and TYPE lines, so that all names are listed.
    pub(crate) fn text(&self) -> String {
        self.read_process();
        let families = self.registry.gather();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Routes;

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
