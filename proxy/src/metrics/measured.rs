//! The measurements of the database: its list of measurements, with a prefix.

use std::collections::HashMap;
use std::sync::LazyLock;

use keyed_checks::MEASUREMENTS;
use prometheus::{CounterVec, GaugeVec, Opts, Registry};

use super::table::Definition;

/// The measurements, as metrics.
pub(super) static TABLE: LazyLock<Vec<Definition>> = LazyLock::new(|| {
    let definition = |it: &'static keyed_checks::Measurement| Definition {
        name: format!("keyed_{}", it.name).leak(),
        kind: if it.name.ends_with("_total") { "counter" } else { "gauge" },
        labels: it.labels,
        help: it.help,
    };
    MEASUREMENTS.iter().map(definition).collect()
});

/// Their series.
pub(crate) struct Measured {
    series: Vec<Series>,
    /// From the name of a measurement to its series.
    indexes: HashMap<&'static str, usize>,
}

enum Series {
    Gauge(GaugeVec),
    Counter(CounterVec),
}

impl Measured {
    pub(super) fn new(registry: &Registry) -> prometheus::Result<Measured> {
        let mut series = Vec::with_capacity(TABLE.len());
        for metric in TABLE.iter() {
            let options = Opts::new(metric.name, metric.help);
            series.push(if metric.kind == "counter" {
                let counter = CounterVec::new(options, metric.labels)?;
                registry.register(Box::new(counter.clone()))?;
                Series::Counter(counter)
            } else {
                let gauge = GaugeVec::new(options, metric.labels)?;
                registry.register(Box::new(gauge.clone()))?;
                Series::Gauge(gauge)
            });
        }
        let indexes = MEASUREMENTS.iter().enumerate().map(|(index, it)| (it.name, index)).collect();
        Ok(Measured { series, indexes })
    }

    /// Removes the previous measurements.
    pub(crate) fn forget(&self) {
        for series in &self.series {
            match series {
                Series::Gauge(gauge) => gauge.reset(),
                Series::Counter(counter) => counter.reset(),
            }
        }
    }

    /// Stores a measurement. Unknown measurements, and those with other labels, are ignored.
    pub(crate) fn take(&self, name: &str, labels: &str, value: f64) {
        let Some(index) = self.indexes.get(name).copied() else { return };
        let Ok(labels) = serde_json::from_str::<HashMap<String, String>>(labels) else { return };
        let labels: HashMap<&str, &str> =
            labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        match &self.series[index] {
            Series::Gauge(gauge) => {
                if let Ok(gauge) = gauge.get_metric_with(&labels) {
                    gauge.set(value);
                }
            }
            Series::Counter(counter) => {
                if let Ok(counter) = counter.get_metric_with(&labels) {
                    counter.reset();
                    counter.inc_by(value.max(0.0));
                }
            }
        }
    }
}
