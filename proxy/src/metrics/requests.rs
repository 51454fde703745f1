//! Counts of requests. A request finds its series by two positions in lists, without a lock.

use std::collections::HashMap;
use std::sync::{OnceLock, PoisonError, RwLock};
use std::time::Duration;

use prometheus::{Histogram, HistogramVec, IntCounter, IntCounterVec};

/// The label of requests without a route.
const NONE: &str = "none";

/// The label of routes that are not part of the interface: the web application.
const APPLICATION: &str = "application";

/// The methods that the interface has.
const METHODS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "other"];

/// The routes of the service, as the router matches them, and their labels.
#[derive(Default)]
pub struct Routes {
    labels: Vec<String>,
    /// From the matched path to the position of its label.
    positions: HashMap<String, usize>,
}

impl Routes {
    /// Each route with its label, which several routes may share.
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

/// A request that has ended.
pub(crate) struct Outcome<'a> {
    pub(crate) route: Option<&'a str>,
    pub(crate) method: &'static str,
    pub(crate) status: u16,
    pub(crate) time: Duration,
    pub(crate) bytes_received: u64,
    pub(crate) bytes_sent: u64,
}

/// The series of requests, made when they are first needed.
pub(crate) struct Requests {
    routes: Routes,
    requests: IntCounterVec,
    received: IntCounterVec,
    sent: IntCounterVec,
    seconds: HistogramVec,
    /// By route, then by method.
    series: Vec<[OnceLock<Series>; METHODS.len()]>,
}

struct Series {
    received: IntCounter,
    sent: IntCounter,
    seconds: Histogram,
    /// The service has about two dozen.
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
