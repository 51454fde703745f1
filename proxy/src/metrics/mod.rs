//! The metrics of the process, as Prometheus takes them: names with units, `_total` for counters, few labels.
//!
//! [`table`] lists all of them. No label holds anything of a caller's making: routes and methods are those that the
//! service has, SQLSTATEs are those of the server, and no more than a fixed number.

/// All metrics.
mod all;
/// The text that is served.
mod exposition;
/// What the database measures of itself.
mod measured;
/// What the system says of the process.
mod process;
/// Counts of requests.
mod requests;
/// What is open or runs.
mod running;
/// The list of all metrics.
mod table;

pub use all::Metrics;
pub(crate) use requests::Outcome;
pub use requests::Routes;
pub(crate) use running::{Connected, Listening, Running};
use table::Definition;
pub(crate) use table::StatementKind;

/// All metrics, in the order of the documents.
fn definitions() -> impl Iterator<Item = &'static Definition> {
    table::TABLE.iter().chain(measured::TABLE.iter())
}
