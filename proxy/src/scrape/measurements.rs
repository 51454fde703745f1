//! What the database counts: queues, jobs, deliveries. However many scrapers there are, it is asked at most every 15 seconds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::time::timeout;
use tokio_postgres::Row;

use crate::database::{Database, Effect};
use crate::metrics::Metrics;
use crate::settings::Settings;

/// The least time between two queries.
const PAUSE: Duration = Duration::from_secs(15);

/// How long a scrape waits for an answer. Later ones have it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The maximum time of a query.
const LONGEST: Duration = Duration::from_secs(10);

/// How long measurements are shown when there are no newer ones.
const OLDEST: Duration = Duration::from_secs(300);

/// The most series that are taken.
const MOST: usize = 1000;

const QUERY: &str = "select array_agg(name), array_agg(labels::text), array_agg(value::float8) \
                     from keyed_http.measurements()";

/// On a connection of its own, so that scrapes neither wait for requests nor take their connections.
pub(super) struct Measurements {
    database: Arc<Database>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// When the database was last asked, whether it answered or not.
    asked: Option<Instant>,
    /// When it last answered.
    answered: Option<Instant>,
    is_up: bool,
}

impl Measurements {
    pub(super) fn new(settings: &Settings, served: &Database) -> anyhow::Result<Measurements> {
        let database = Arc::new(served.beside(settings)?);
        Ok(Measurements { database, state: Arc::default() })
    }

    /// Asks the database if it is time, and says how old the answer is.
    pub(super) async fn refresh(&self, metrics: &Arc<Metrics>) {
        if self.is_due() {
            let (database, state) = (Arc::clone(&self.database), Arc::clone(&self.state));
            let into = Arc::clone(metrics);
            // A task, so that the query goes on when the scrape does not wait for it.
            let task = tokio::spawn(async move {
                let answer = timeout(LONGEST, database.run(Effect::Read, QUERY, &[])).await;
                let row = answer.ok().and_then(Result::ok);
                let is_up = row.is_some_and(|row| take(&row, &into).is_ok());
                let mut state = lock(&state);
                state.is_up = is_up;
                if is_up {
                    state.answered = Some(Instant::now());
                }
            });
            let _ = timeout(PATIENCE, task).await;
        }
        let state = lock(&self.state);
        metrics.measurements_up.set(f64::from(u8::from(state.is_up)));
        if state.answered.is_none_or(|at| at.elapsed() > OLDEST) {
            metrics.measured.forget();
        }
        let age = state.answered.map_or(f64::NAN, |at| at.elapsed().as_secs_f64());
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

/// Sets the gauges. What a newer database counts and this program does not know is left out.
fn take(row: &Row, metrics: &Metrics) -> Result<(), tokio_postgres::Error> {
    let names: Option<Vec<String>> = row.try_get(0)?;
    let labels: Option<Vec<String>> = row.try_get(1)?;
    let values: Option<Vec<f64>> = row.try_get(2)?;
    let (names, labels, values) =
        (names.unwrap_or_default(), labels.unwrap_or_default(), values.unwrap_or_default());
    metrics.measured.forget();
    for ((name, labels), value) in names.iter().zip(&labels).zip(values).take(MOST) {
        metrics.measured.take(name, labels, value);
    }
    Ok(())
}
