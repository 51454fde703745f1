//! What administrators do over HTTP: API keys, projects, grants, quotas and background work. The SQL functions of the
//! schema `keyed` do the same with the same code; these read a body and answer JSON.

/// API keys.
mod api_keys;
/// Background work: jobs, embedding, indexes that are missing.
mod background;
/// What the database holds.
mod checksums;
/// What is wrong with the database.
mod doctor;
/// The SQL functions.
pub mod functions;
/// Grants and roles.
mod grants;
/// Pages of lists.
mod page;
/// Projects and their quotas.
mod projects;
/// Reading as JSON.
mod report;

use crate::value::written::{Subject, Written};

/// The answer of a write, for administrators.
fn answer(status: u16, body: String) -> Written {
    Written::new(status, body, Subject::Administration)
}
