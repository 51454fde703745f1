//! keyed: records with keys of the client's systems, in ordinary PostgreSQL tables. The rules are enforced inside the
//! database, for SQL functions, plain statements and HTTP.
//!
//! The extension owns code only. State and records are ordinary tables that `keyed.init()` and `create_template`
//! create. So dump and restore treat them like any other tables, and `DROP EXTENSION` cannot delete data.
//!
//! Each folder imports only from those before it; `layers.rs` has the order, ARCHITECTURE.md the map of all folders. In
//! short: pure code (`json`, `error`, `value`), the interface to PostgreSQL (`postgres`), definitions (`attribute_type`,
//! `filter`, `template`), authorization (`access`), records and their dependents (`quota`, `job`, `metric`, `vectors`,
//! `record`), reading (`view`, `search`, `change`), interfaces (`embedding`, `batch`, `import`, `export`, `inbound`,
//! `webhook`, `idempotency`), changes of definitions (`define`), the triggers of each write (`trigger`), background workers
//! (`job_worker`), administration over HTTP (`administration`), and measurements (`statistics`).

#![deny(unsafe_code)]

pgrx::pg_module_magic!();

/// API keys, principals and privileges.
pub mod access;
/// Administration over HTTP.
pub mod administration;
/// The types of attributes.
pub mod attribute_type;
/// Batches.
pub mod batch;
/// The feed of changes.
pub mod change;
/// Changes of definitions: templates, attributes, grants, quotas, and the set-up of a database.
pub mod define;
/// Embeddings of records.
pub mod embedding;
/// Errors.
pub mod error;
/// Export.
pub mod export;
/// Filters: conditions in JSON, compiled to SQL.
pub mod filter;
/// Cell formats of imported and exported files.
pub mod format;
/// Idempotent requests.
pub mod idempotency;
/// Import.
pub mod import;
/// Inbound webhooks.
pub mod inbound;
/// Jobs: deferred work of definition changes.
pub mod job;
/// The background workers that run jobs.
pub mod job_worker;
/// Parsing of JSON.
pub mod json;
/// Writing of JSON.
pub mod json_write;
#[cfg(test)]
mod layers;
/// Limits.
pub mod limits;
/// Time series of metric attributes.
pub mod metric;
/// Wrappers around PostgreSQL's C API.
#[allow(unsafe_code, reason = "PostgreSQL is written in C")]
pub mod postgres;
/// Quotas.
pub mod quota;
/// Records.
pub mod record;
/// Search.
pub mod search;
/// Statistics and measurements.
pub mod statistics;
/// Templates.
pub mod template;
/// Triggers on records.
pub mod trigger;
/// Values and their rules.
pub mod value;
/// The table of vectors, and its writes.
pub mod vectors;
/// Saved views.
pub mod view;
/// Webhook endpoints.
pub mod webhook;

/// Runs once in each session, when the library is loaded.
#[pgrx::pg_guard]
pub extern "C-unwind" fn _PG_init() {
    postgres::require_utf8();
    postgres::setting::register();
    postgres::invalidation::register();
    postgres::transaction::register(|ended| {
        access::principal::on_end(ended);
        import::mirror::on_end(ended);
    });
    postgres::statistics::register();
    postgres::planning::register();
    postgres::policy_paths::register();
    postgres::slow_statement::register();
    postgres::setting::finish();
    postgres::library_version::register(define::setup::newest_version());
    template::catalog::set_subscribers(&[
        access::api_key::on_change,
        quota::stored::on_change,
        access::permissions::on_change,
        change::generation::on_change,
    ]);
}
