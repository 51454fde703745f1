//! The measurements of the database: queues, jobs, deliveries. They are queried at most every 15 seconds, regardless of
//! the number of scrapers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::timeout;
use tokio_postgres::Row;

use crate::database::{Database, Effect};
use crate::metrics::Metrics;
use crate::settings::Settings;

/// The minimum interval between two queries.
const PAUSE: Duration = Duration::from_secs(15);

/// The maximum time that a scrape waits for a query. Later scrapes get its result.
const PATIENCE: Duration = Duration::from_secs(1);

/// The timeout of a query.
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum age of measurements that are still reported.
const MAX_AGE: Duration = Duration::from_secs(300);

/// The maximum number of series.
const MAX_SERIES: usize = 1000;

const QUERY: &str = "select array_agg(name), array_agg(labels::text), array_agg(value::float8) \
                     from keyed_http.measurements()";

/// Uses a separate connection, so that scrapes neither wait for requests nor use their connections.
pub(super) struct Measurements {
    database: Arc<Database>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The time of the last query, successful or not.
    asked: Option<Instant>,
    /// The time of the last successful query.
    responded: Option<Instant>,
    is_up: bool,
}

impl Measurements {
    pub(super) fn new(settings: &Settings, served: &Database) -> anyhow::Result<Measurements> {
        let database = Arc::new(served.beside(settings)?);
        Ok(Measurements { database, state: Arc::default() })
    }

    /// Queries the database if it is due, and updates the age of the measurements.
    pub(super) async fn refresh(&self, metrics: &Arc<Metrics>) {
        if self.is_due() {
            let (database, state) = (Arc::clone(&self.database), Arc::clone(&self.state));
            let into = Arc::clone(metrics);
            // A task, so that the query continues when the scrape stops waiting.
            let task = tokio::spawn(async move {
                let result = timeout(QUERY_TIMEOUT, database.run(Effect::Read, QUERY, &[])).await;
                let row = result.ok().and_then(Result::ok);
                let is_up = row.is_some_and(|row| take(&row, &into).is_ok());
                let mut state = lock(&state);
                state.is_up = is_up;
                if is_up {
                    state.responded = Some(Instant::now());
                }
            });
            let _ = timeout(PATIENCE, task).await;
        }
        let state = lock(&self.state);
        metrics.measurements_up.set(f64::from(u8::from(state.is_up)));
        if state.responded.is_none_or(|at| at.elapsed() > MAX_AGE) {
            metrics.measured.forget();
        }
        let age = state.responded.map_or(f64::NAN, |at| at.elapsed().as_secs_f64());
        metrics.measurements_age.set(age);
    }

    fn is_due(&self) -> bool {
        let mut state = lock(&self.state);
        let is_due = state.asked.is_none_or(|asked| asked.elapsed() >= PAUSE);
        if is_due {
            state.asked = Some(Instant::now());
        }
        is_due
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the measurements. Unknown measurements of a newer database are ignored.
fn take(row: &Row, metrics: &Metrics) -> Result<(), tokio_postgres::Error> {
    let names: Option<Vec<String>> = row.try_get(0)?;
    let labels: Option<Vec<String>> = row.try_get(1)?;
    let values: Option<Vec<f64>> = row.try_get(2)?;
    let (names, labels, values) =
        (names.unwrap_or_default(), labels.unwrap_or_default(), values.unwrap_or_default());
    metrics.measured.forget();
    for ((name, labels), value) in names.iter().zip(&labels).zip(values).take(MAX_SERIES) {
        metrics.measured.take(name, labels, value);
    }
    Ok(())
}
