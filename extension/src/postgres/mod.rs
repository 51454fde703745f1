//! Safe wrappers around PostgreSQL's C API. `unsafe` code is allowed in this folder only.

/// The session's entry in `pg_stat_activity`.
pub mod activity;
/// Advisory locks.
pub mod advisory_lock;
/// Arguments of function calls.
mod call_arguments;
/// Caught errors.
pub mod caught;
/// Time zones.
pub mod clock;
/// Differences between the major versions of PostgreSQL.
mod compat;
/// Conditions on one row without a statement.
pub mod condition;
/// Cursors.
pub mod cursor;
/// Conversion of `Datum` values.
pub mod datum;
/// The switch for access without a statement.
pub mod direct_access;
/// C-language functions that PostgreSQL calls.
pub mod function;
/// Support functions of GIN indexes.
pub mod gin;
/// Roles and subtransactions for running code.
pub mod guard;
/// Tables of two columns, read page by page.
pub mod heap;
/// Bitmap heap scans over a GIN index without a statement.
pub mod heap_by_index;
/// Index lookups without a statement.
pub mod index;
/// Inserts without a statement.
pub mod insert;
/// Cache invalidation across sessions.
pub mod invalidation;
/// Ordered index scans without a statement.
pub mod key_order;
/// Leakproof conditions.
mod leakproof;
/// The compatibility of the library with the SQL.
pub mod library_version;
/// Memory contexts.
pub mod memory;
/// Leakproof expressions of dates and times.
mod moment;
/// Work that row triggers leave for the end of the statement.
pub mod notes;
/// The transactions that a snapshot does not show because they were open.
pub mod open_transactions;
/// B-trees on a value and the id.
pub mod ordered_index;
/// Detection of keyed's own statements.
pub mod own_statement;
/// Typed arguments of statements.
pub mod parameter;
/// The shape of a plan, for the log.
mod plan_shape;
/// Planning of cached statements.
pub mod planning;
/// Indexes for conditions under row-level security.
pub mod policy_paths;
/// Preloading of the library.
pub mod preload;
/// Raises errors.
pub mod raise;
/// Random bits.
pub mod random;
/// Relations by name and OID.
pub mod relation;
/// Former names of settings.
mod renamed_setting;
/// Roles and their privileges.
pub mod role;
/// The existence of a committed row.
pub mod row;
/// Rows that statements return.
pub mod rows;
/// Session settings that keyed overrides while it works.
pub mod session_settings;
/// Settings: limits and cache sizes.
pub mod setting;
/// Statements with SKIP LOCKED that never wait.
pub mod skip_locked;
/// The log of slow statements.
pub mod slow_statement;
/// The snapshot of the transaction.
pub mod snapshot;
/// Statements through SPI.
pub mod spi;
/// Statistics for the planner.
pub mod statistics;
/// Settings that only superusers can change.
mod superuser_setting;
/// Tables and rows that are read without a statement.
pub mod table;
/// Bitmap index scans for `like` and `ilike`.
pub mod table_by_text;
/// Table locks with retry.
pub mod table_lock;
/// Full-text search configurations and lexemes.
pub mod text_search;
/// Tuple identifiers.
pub mod tid;
/// The current (sub)transaction.
pub mod transaction;
/// Transaction-local values.
pub mod transaction_local;
/// Trigger functions: the old and the new row.
pub mod trigger;
/// Updates without a statement.
pub mod update;
/// The order of the values of a column.
pub mod value_order;
/// Background workers.
pub mod worker;
/// The cluster and its write-ahead log.
pub mod write_ahead_log;

/// The major version of PostgreSQL that this library is built for, such as 15.
pub const MAJOR_VERSION: u32 = pgrx::pg_sys::PG_VERSION_NUM / 10_000;

/// The process id of this session.
pub fn process_id() -> i32 {
    // SAFETY: reads a session variable.
    unsafe { pgrx::pg_sys::MyProcPid }
}

/// Raises an error unless the database encoding is UTF8, because this crate reads strings as UTF-8 without a check.
pub fn require_utf8() {
    use pgrx::pg_sys;
    // SAFETY: reads session variables. The postmaster has no database.
    let is_other = unsafe {
        pg_sys::MyDatabaseId != pg_sys::InvalidOid
            && pg_sys::GetDatabaseEncoding() != pg_sys::pg_enc::PG_UTF8 as i32
    };
    if is_other {
        use crate::error::{Code, Error};
        use raise::Raise as _;
        Error::new(Code::Internal, "keyed needs a database with encoding UTF8")
            .hint("Create a database in UTF-8: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0.")
            .raise();
    }
}
