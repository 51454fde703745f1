//! keyed: records under the caller's own key, as ordinary PostgreSQL tables. The rules live here, inside the
//! database, so that every door obeys them.
//!
//! Read in this order: the pure rules (`key`, `slug`, `record_id`, `json`, `quote`, `error`), then `template` (what a
//! table of ours is), `record` (how its rows are read and written), `filter` (which of them are meant), `access` (who
//! may), and `postgres`, the only part that touches PostgreSQL's C interface.

pgrx::pg_module_magic!();

/// API keys, principals and rights.
pub mod access;
/// Many operations in one call.
pub mod batch;
/// Changes of definitions: templates, attributes, grants, quotas, and the set-up of a database.
pub mod define;
/// Vectors that say what records mean.
pub mod embedding;
/// What can be refused, and how it reaches the caller.
pub mod error;
/// All records that a search finds, as a file.
pub mod export;
/// Which records are meant: conditions, from JSON to SQL.
pub mod filter;
/// What happened to a record.
pub mod history;
/// Requests that are run once, however often they are sent.
pub mod idempotency;
/// Rows of a file → records.
pub mod import;
/// Deliveries of other systems.
pub mod inbound;
/// What changes of definitions leave to a background worker.
pub mod job;
/// JSON in and out.
pub mod json;
/// Texts and numbers as JSON.
pub mod json_write;
/// How large things may be.
pub mod limits;
/// Time series behind metric attributes.
pub mod metric;
/// PostgreSQL's C interface.
pub mod postgres;
/// How much a project may hold and write.
pub mod quota;
/// Records.
pub mod record;
mod schema;
/// Search.
pub mod search;
/// Templates.
pub mod template;
/// Values and their rules.
pub mod value;
/// Saved views.
pub mod view;

/// Runs once in each session, when the library is loaded.
#[pgrx::pg_guard]
pub extern "C-unwind" fn _PG_init() {
    postgres::require_utf8();
    postgres::setting::register();
    postgres::invalidation::register();
    postgres::transaction::register();
    postgres::statistics::register();
    postgres::planning::register();
    template::catalog::set_subscribers(&[access::api_key::follow, quota::follow, access::rights::follow]);
}
