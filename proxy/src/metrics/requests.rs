//! Counts of requests. The series of a request is found by two array indexes, without a lock.

use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;

use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec};

/// The label of requests without a route.
const NONE: &str = "none";

/// The label of the web application's routes.
const APPLICATION: &str = "application";

/// The methods of the API.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "other"];

/// The matched paths of the router, and their labels.
#[derive(Default)]
pub struct Routes {
    labels: Vec<String>,
    /// From the matched path to the position of its label.
    positions: HashMap<String, usize>,
}

impl Routes {
    /// Creates the list from routes and labels. Several routes can share a label.
    pub(crate) fn new(routes: impl IntoIterator<Item = (String, String)>) -> Routes {
        let mut labels = vec![NONE.to_owned(), APPLICATION.to_owned()];
        let mut positions = HashMap::new();
        for (path, label) in routes {
            let position = labels.iter().position(|known| *known == label).unwrap_or_else(|| {
                labels.push(label);
                labels.len() - 1
            });
            positions.insert(path, position);
        }
        Routes { labels, positions }
    }

    fn position(&self, route: Option<&str>) -> usize {
        route.map_or(0, |route| self.positions.get(route).copied().unwrap_or(1))
    }
}

/// A completed request.
pub(crate) struct Outcome<'a> {
    pub(crate) route: Option<&'a str>,
    pub(crate) method: &'static str,
    pub(crate) status: u16,
    pub(crate) time: Duration,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
}

/// The series of requests, created on first use.
pub(crate) struct Requests {
    routes: Routes,
    requests: IntCounterVec,
    received: IntCounterVec,
    sent: IntCounterVec,
    seconds: HistogramVec,
    /// Indexed by route, then by method.
    series: Vec<[OnceLock<Series>; METHODS.len()]>,
}

struct Series {
    received: IntCounter,
    sent: IntCounter,
    seconds: Histogram,
    /// By status. The service has about two dozen.
    statuses: RwLock<Vec<(u16, IntCounter)>>,
}

impl Requests {
    pub(super) fn new(
        routes: Routes,
        [requests, received, sent]: [&IntCounterVec; 3],
        seconds: &HistogramVec,
    ) -> Requests {
        let series = (0..routes.labels.len().max(2)).map(|_| Default::default()).collect();
        let (requests, received, sent) = (requests.clone(), received.clone(), sent.clone());
        Requests { routes, requests, received, sent, seconds: seconds.clone(), series }
    }

    pub(crate) fn count(&self, outcome: &Outcome<'_>) {
        let route = self.routes.position(outcome.route);
        let known = METHODS.iter().position(|method| *method == outcome.method);
        let method = known.unwrap_or(METHODS.len() - 1);
        let labels = [self.routes.labels.get(route).map_or(NONE, String::as_str), METHODS[method]];
        let series = self.series[route][method].get_or_init(|| Series {
            received: self.received.with_label_values(&labels),
            sent: self.sent.with_label_values(&labels),
            seconds: self.seconds.with_label_values(&labels),
            statuses: RwLock::default(),
        });
        series.seconds.observe(outcome.time.as_secs_f64());
        series.received.inc_by(outcome.bytes_received);
        series.sent.inc_by(outcome.bytes_sent);
        let find = |statuses: &[(u16, IntCounter)]| {
            let found = statuses.iter().find(|(status, _)| *status == outcome.status);
            found.map(|(_, counter)| counter.inc())
        };
        let found = find(&series.statuses.read().unwrap_or_else(PoisonError::into_inner));
        if found.is_none() {
            let status = outcome.status.to_string();
            let counter = self.requests.with_label_values(&[labels[0], labels[1], &status]);
            counter.inc();
            let mut statuses = series.statuses.write().unwrap_or_else(PoisonError::into_inner);
            if !statuses.iter().any(|(status, _)| *status == outcome.status) {
                statuses.push((outcome.status, counter));
            }
        }
    }
}
