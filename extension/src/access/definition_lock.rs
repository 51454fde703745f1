//! Locks for changes of definitions: one change at a time in a project, and none during a migration.
//!
//! A change takes the lock of its project before it locks a table. Other projects do not wait. A change that waits for a
//! table releases the project lock while it waits.

use crate::access::Caller;
use crate::error::Error;
use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::table_lock;
use crate::template::catalog;
use pgrx::pg_sys::Oid;

/// Runs a change of definitions under the exclusive lock of the project. Check the caller's privilege first, because
/// the lock blocks all other changes of definitions in the project.
///
/// If a table is in use, the change is rolled back, releases the lock so that others continue, and starts again. So
/// `body` must be repeatable.
pub fn one_at_a_time<R>(project: i32, body: impl Fn() -> Result<R, Error>) -> Result<R, Error> {
    catalog::require_state();
    table_lock::with_retry(|| {
        advisory_lock::lock(LockKind::Setup, 0, Mode::Shared);
        table_lock::lock_first("the definitions of the project", || {
            advisory_lock::lock(LockKind::Definition, project as u64, Mode::Exclusive);
        });
        catalog::refresh();
        body()
    })
}

/// The same for the project of a table. Take this lock before the template is looked up: the lookup takes a weak lock on
/// the table, and waiting for other changes with that lock held could deadlock.
pub fn of_table<R>(table: Option<Oid>, body: impl Fn() -> Result<R, Error>) -> Result<R, Error> {
    Caller::current().require_define_somewhere()?;
    one_at_a_time(table.map_or(0, catalog::project_of_table), body)
}

/// The same for the template that a request names by slug, within the caller's project, or by id.
pub fn of_name<R>(name: &str, body: impl Fn() -> Result<R, Error>) -> Result<R, Error> {
    let caller = Caller::current();
    caller.require_define_somewhere()?;
    let project = match name.parse() {
        Ok(template) => project_of(template),
        Err(_) => caller.project(),
    };
    // A missing project is reported by `body`.
    one_at_a_time(project.unwrap_or(0), body)
}

fn project_of(template: i32) -> Option<i32> {
    catalog::require_state();
    as_owner(|| {
        connected(|spi| {
            let sql = "select t.project_id from keyed_state.template t where t.id = $1";
            let template = params![template];
            let rows = spi.run_once(sql, Snapshot::Latest, &template);
            rows.value::<Option<i32>>().flatten()
        })
    })
}
