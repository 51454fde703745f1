//! Locks on whole tables for changes of definitions.
//!
//! Who waits for such a lock makes everybody wait who comes after, and who waits for one while holding another waits in
//! a circle sooner or later, since requests lock the same tables in an order of their own. So all are taken or none:
//! after a moment of waiting what was got is given back, others go on, and it is tried again. Our own worker that builds
//! an index on one of the tables gives way at once, and begins anew later.

use super::advisory_lock::Kind;
use super::guard::{subtransaction, with_settings};
use super::spi::{Access, connected};
use super::{datum, worker};
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::PgSqlErrorCode;

/// How often it is tried: half a minute in all.
const MOST_TRIES: u32 = 75;

/// For how long others go on before it is tried again: microseconds.
const PAUSE: i64 = 100_000;

/// Keeps everybody else out of these tables until the transaction ends.
pub fn lock_exclusively(tables: &[String]) {
    lock_with_views(tables, &[]);
}

/// The same for tables and for views, which LOCK TABLE would take together with all that they read.
pub fn lock_with_views(tables: &[String], views: &[Oid]) {
    lock(tables, views, "access exclusive");
}

/// Lets nobody else write to these tables until the transaction ends.
pub fn lock_against_writers(tables: &[String]) {
    lock(tables, &[], "share row exclusive");
}

fn lock(tables: &[String], views: &[Oid], mode: &str) {
    if tables.is_empty() && views.is_empty() {
        return;
    }
    let sql = match tables {
        [] => String::new(),
        tables => format!("lock table {} in {mode} mode", tables.join(", ")),
    };
    let lock = || {
        connected(|spi| spi.script(&sql));
        for view in views {
            // SAFETY: the lock is released at the end of the (sub)transaction; what is gone can be locked as well.
            unsafe { pg_sys::LockRelationOid(*view, pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE) };
        }
    };
    for remaining in (0..MOST_TRIES).rev() {
        if remaining + 1 < MOST_TRIES {
            cancel_worker(tables);
        }
        // Shorter than PostgreSQL waits before it looks for a circle.
        let locked = subtransaction(|| with_settings(&[(c"lock_timeout", c"300ms")], lock));
        match locked {
            Ok(()) => return,
            Err(caught) if caught.state == PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE && remaining > 0 => {
                // SAFETY: sleeps; an interrupt that comes meanwhile is served after it.
                unsafe { pg_sys::pg_usleep(PAUSE as std::ffi::c_long) };
                pgrx::check_for_interrupts!();
            }
            Err(caught) => caught.rethrow(),
        }
    }
}

/// Has our own worker give up what it does with one of these tables.
fn cancel_worker(tables: &[String]) {
    let names = datum::text_array(tables.iter().map(|table| Some(table.as_str())));
    let processes: Vec<i32> = connected(|spi| {
        let sql = format!(
            "select distinct l.pid from pg_catalog.pg_locks l join pg_catalog.pg_locks w on w.pid = l.pid \
             where l.granted and l.locktype = 'relation' and w.granted and w.locktype = 'advisory' and w.objsubid = {} \
             and l.database = w.database and w.database = (select d.oid from pg_catalog.pg_database d \
             where d.datname = pg_catalog.current_database()) \
             and l.relation = any (select pg_catalog.to_regclass(u.name) from pg_catalog.unnest($1) u (name))",
            Kind::Job as u16
        );
        let rows = spi.run_once(&sql, Access::Latest, &[(pg_sys::TEXTARRAYOID, names)]);
        (0..rows.len()).filter_map(|row| rows.get(row, 0).map(datum::read_i32)).collect()
    });
    processes.into_iter().for_each(worker::cancel);
}
