//! The metrics of the process in Prometheus format: names with units, `_total` for counters, few labels.
//!
//! [`table`] lists all of them. No label contains a value chosen by a caller: routes and methods come from the service,
//! and SQLSTATEs from the server, up to a fixed number.

/// All metrics.
mod all;
/// The text exposition format.
mod exposition;
/// The measurements of the database.
mod measured;
/// The metrics of the operating system about the process.
mod process;
/// Counts of requests.
mod requests;
/// Gauges of open connections and running requests.
mod running;
/// The list of all metrics.
mod table;

pub use all::Metrics;
pub(crate) use requests::Outcome;
pub use requests::Routes;
pub(crate) use running::{Connected, Listening, Running};
use table::Definition;
pub(crate) use table::StatementKind;

/// All metrics, in the order of the reference page.
fn definitions() -> impl Iterator<Item = &'static Definition> {
    table::TABLE.iter().chain(measured::TABLE.iter())
}
