//! Administration over HTTP: API keys, projects, grants, quotas and background work. The functions parse a body and return
//! JSON. The SQL functions in the schema `keyed` use the same code.

/// API keys.
mod api_keys;
/// Background work: jobs, embedding, missing indexes.
mod background;
/// Checksums of tables.
mod checksums;
/// Checks of the database.
mod doctor;
/// The SQL functions.
pub mod functions;
/// Grants and roles.
mod grants;
/// Pagination.
mod page;
/// Projects and their quotas.
mod projects;
/// Query results as JSON.
mod report;

use crate::value::written::{Subject, Written};

/// The result of a write, for administrators.
fn response(status: u16, body: String) -> Written {
    Written::new(status, body, Subject::Administration)
}
