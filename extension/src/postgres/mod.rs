//! The interface to PostgreSQL's C API, and the only place of `unsafe`; the rest of the crate uses these types.

/// What `pg_stat_activity` shows of this session.
pub mod activity;
/// Advisory locks.
pub mod advisory_lock;
/// The arguments of a call of a function.
mod call_arguments;
/// Errors that were survived.
pub mod caught;
/// Time zones.
pub mod clock;
/// What differs between the major versions of PostgreSQL.
mod compat;
/// Conditions on one row, without a statement.
pub mod condition;
/// Statements whose rows are taken portion by portion.
pub mod cursor;
/// Values in and out of PostgreSQL's `Datum`.
pub mod datum;
/// Whether rows are found and inserted without a statement.
pub mod direct_access;
/// The memory of cached values.
pub mod footprint;
/// A row that a scan has found.
pub mod found;
/// Functions that PostgreSQL calls: arguments in, one result out.
pub mod function;
/// Keys of GIN indexes.
pub mod gin;
/// How many entries wait to go into a GIN index.
pub mod gin_pending;
/// Runs code as another role, and in subtransactions.
pub mod guard;
/// Rows of a table page by page, without a statement.
pub mod heap;
/// Rows of a table that a GIN index finds, without a statement.
pub mod heap_by_index;
/// Numbers of identity columns.
pub mod identity;
/// Rows by a unique index.
pub mod index;
/// How many entries an index has for a value.
pub mod index_entries;
/// One row into a table.
pub mod insert;
/// Cache invalidation by changes of other sessions.
pub mod invalidation;
/// Rows in the order of a primary key, without a statement.
pub mod key_order;
/// Conditions that say nothing about a row but their result.
mod leakproof;
/// Whether this library fits the SQL of the extension.
pub mod library_version;
/// Memory contexts.
pub mod memory;
/// Dates and moments in conditions.
mod moment;
/// What a fixed snapshot does not show.
pub mod newer;
/// Notes that row triggers leave for the end of the statement.
pub mod notes;
/// The index of a value and the ids.
pub mod ordered_index;
/// Which rows our own statements write.
pub mod own_statement;
/// Arguments of statements.
pub mod parameter;
/// Places of rows.
pub mod places;
/// The shape of a plan, without values.
mod plan_shape;
/// Plans of cached statements.
pub mod planning;
/// Indexes for conditions under row-level security.
pub mod policy_paths;
/// Whether sessions load the library when they begin.
pub mod preload;
/// Raises errors.
pub mod raise;
/// Random bits.
pub mod random;
/// Relations by name and OID.
pub mod relation;
/// Settings under the names of the release before.
mod renamed_setting;
/// Roles and what they may do.
pub mod role;
/// Whether a row exists now.
pub mod row;
/// Triggers that run before a row is written.
pub mod row_triggers;
/// What statements return.
pub mod rows;
/// Which of our functions is running.
pub mod running;
/// Settings of the session that keyed's own work does not follow.
pub mod session_settings;
/// Settings: limits and cache sizes.
pub mod setting;
/// Statements with SKIP LOCKED that wait for nothing.
pub mod skip_locked;
/// The log of slow statements.
pub mod slow_statement;
/// Statements: prepared once, cached, run many times.
pub mod spi;
/// What a moment within the calling statement saw.
pub mod statement_moment;
/// Hides statistics of tables from the planner.
pub mod statistics;
/// Settings that only superusers set.
mod superuser_setting;
/// A table that is read without a statement.
pub mod table;
/// Rows of a table that a text in one of their columns is found by, without a statement.
pub mod table_by_text;
/// Locks on whole tables.
pub mod table_lock;
/// Rows of a table, page by page.
pub mod table_rows;
/// Lexemes.
pub mod text_search;
/// The present (sub)transaction.
pub mod transaction;
/// A value of the present transaction.
pub mod transaction_local;
/// Row triggers: the old and the new row.
pub mod trigger;
/// One row in place of another.
pub mod update;
/// The order of the values of a column.
pub mod value_order;
/// Background workers.
pub mod worker;

/// The version of PostgreSQL that this library is built for, such as 15; no other loads it.
pub const MAJOR_VERSION: u32 = pgrx::pg_sys::PG_VERSION_NUM / 10_000;

/// The number of this session's process.
pub fn process_id() -> i32 {
    // SAFETY: reads a variable of the session.
    unsafe { pgrx::pg_sys::MyProcPid }
}

/// Whether every statement of this transaction sees one fixed snapshot (REPEATABLE READ and SERIALIZABLE).
pub fn snapshot_is_fixed() -> bool {
    // SAFETY: reads a variable of the session.
    unsafe { pgrx::pg_sys::XactIsoLevel >= pgrx::pg_sys::XACT_REPEATABLE_READ as i32 }
}

/// Refuses to be loaded where texts are not UTF-8: this crate reads them as such without checking again.
pub fn require_utf8() {
    use pgrx::pg_sys;
    // SAFETY: reads variables of the session; without a database, as in the postmaster, there is no text yet.
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
