//! Table locks for changes of definitions.
//!
//! A waiting exclusive lock blocks all later requests for the table. Waiting while holding another table lock can deadlock,
//! because requests lock tables in various orders. So a change locks all its tables or none: after a short wait, it releases
//! all locks, including that on the project's definitions, and retries with increasing delay. A worker that builds an index
//! on one of the tables is cancelled, and restarts later.
//!
//! If a transaction still holds its lock after one attempt, for example because it is idle, the change only polls whether
//! that transaction has ended, and blocks no others while it waits.

use super::advisory_lock::LockKind;
use super::guard::{Counted, as_owner, attempt, with_settings};
use super::parameter::params;
use super::spi::{Snapshot, connected};
use super::worker;
use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::PgSqlErrorCode;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::time::{Duration, Instant};

/// The time limit of a change, if the session's `lock_timeout` is not shorter.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The time limit of a dry run.
const DRY_RUN_TIME_LIMIT: Duration = Duration::from_secs(1);

/// The lock timeout of an attempt, during which others wait: less than `deadlock_timeout`.
const WAIT: &CStr = c"300ms";

/// The initial and the maximum delay between attempts, in milliseconds.
const PAUSE: [u64; 2] = [100, 1000];

thread_local! {
    /// The nesting depth of [`with_retry`].
    static RETRY_DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The nesting depth of dry runs.
    static DRY_RUNS: Cell<u32> = const { Cell::new(0) };
    /// The lock that could not be taken.
    static BUSY: RefCell<Option<Busy>> = const { RefCell::new(None) };
}

/// A lock that conflicts with locks of other transactions.
struct Busy {
    /// A description for messages.
    what: String,
    tables: Vec<String>,
    views: Vec<Oid>,
    /// Whether the lock conflicts with readers.
    is_exclusive: bool,
}

impl Busy {
    /// A lock on something other than a table.
    fn other(what: &str) -> Busy {
        Busy { what: what.to_owned(), tables: Vec::new(), views: Vec::new(), is_exclusive: true }
    }

    /// The other transactions that hold a conflicting lock.
    fn blockers(&self) -> HashSet<String> {
        as_owner(|| {
            connected(|spi| {
                let rows = spi.run_once(
                    "select l.virtualtransaction from pg_catalog.pg_locks l where l.granted and l.locktype = 'relation' \
                     and l.pid is distinct from pg_catalog.pg_backend_pid() \
                     and l.database = (select d.oid from pg_catalog.pg_database d \
                       where d.datname = pg_catalog.current_database()) \
                     and ($1 or l.mode not in ('AccessShareLock', 'RowShareLock')) and l.relation = any ($2 || array( \
                       select pg_catalog.to_regclass(u.name)::oid from pg_catalog.unnest($3) u (name)))",
                    Snapshot::Latest,
                    &params![self.is_exclusive, &*self.views, &self.tables],
                );
                rows.column().collect()
            })
        })
    }
}

/// The maximum number of tables that one transaction locks, so that the shared lock table does not become full.
pub fn max_tables() -> usize {
    // SAFETY: reads server variables. The slots for prepared transactions are not counted.
    let slots = unsafe { i64::from(pg_sys::max_locks_per_xact) * i64::from(pg_sys::MaxBackends) };
    usize::try_from(slots / 8).unwrap_or(0).max(16)
}

/// Truncates the list to the tables that one transaction can lock, with a notice if more remain.
pub fn take_chunk(templates: &mut Vec<i32>, what: &str) {
    // Indexes and referenced tables are locked too.
    let max = max_tables() / 4;
    if templates.len() > max {
        let left = templates.len() - max;
        templates.truncate(max);
        pgrx::notice!("{what} of {left} more templates remain to be created: call keyed.migrate() again");
    }
}

/// Locks tables in ACCESS EXCLUSIVE mode until the transaction ends.
pub fn lock_exclusively(tables: &[String]) {
    lock_with_views(tables, &[]);
}

/// Like [`lock_exclusively`], also for views. LOCK TABLE would also lock the tables of a view.
pub fn lock_with_views(tables: &[String], views: &[Oid]) {
    lock(tables, views, true);
}

/// Locks tables in SHARE ROW EXCLUSIVE mode, which blocks writes, until the transaction ends.
pub fn lock_against_writers(tables: &[String]) {
    lock(tables, &[], false);
}

fn lock(tables: &[String], views: &[Oid], is_exclusive: bool) {
    if tables.is_empty() && views.is_empty() {
        return;
    }
    let mode = if is_exclusive { "access exclusive" } else { "share row exclusive" };
    let sql = match tables {
        [] => String::new(),
        tables => format!("lock table {} in {mode} mode", tables.join(", ")),
    };
    let requested =
        || Busy { what: describe(tables), tables: tables.to_vec(), views: views.to_vec(), is_exclusive };
    acquire(requested, WAIT, || {
        connected(|spi| spi.script(&sql));
        for view in views {
            // SAFETY: the lock is released at the end of the (sub)transaction. A dropped view can be locked too.
            unsafe { pg_sys::LockRelationOid(*view, pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE) };
        }
    });
}

/// Takes a lock on something other than a table, with the same retries.
pub fn lock_with_retry<R>(what: &str, lock: impl Fn() -> R) -> R {
    acquire(|| Busy::other(what), WAIT, lock)
}

/// Takes the first lock of a transaction. It blocks no other transaction, so it waits in the queue without retries.
pub fn lock_first(what: &str, lock: impl Fn()) {
    let wait = CString::new(format!("{}ms", time_limit().as_millis())).unwrap_or_default();
    acquire(|| Busy::other(what), &wait, lock);
}

fn acquire<R>(requested: impl Fn() -> Busy, wait: &CStr, lock: impl Fn() -> R) -> R {
    let lock = || {
        // An error leaves the value set.
        BUSY.set(Some(requested()));
        let locked = with_settings(&[(c"lock_timeout", wait)], &lock);
        BUSY.set(None);
        locked
    };
    if RETRY_DEPTH.get() > 0 {
        return lock();
    }
    with_retry(|| Ok(lock())).unwrap_or_else(|error| error.raise())
}

fn describe(tables: &[String]) -> String {
    match tables {
        [] => "a view".to_owned(),
        [only] => only.replace('"', ""),
        [first, rest @ ..] => {
            format!("one of {} and {} more tables", first.replace('"', ""), rest.len())
        }
    }
}

/// Runs a change that the caller always rolls back. It cancels no worker, and times out soon.
pub fn as_dry_run<R>(body: impl FnOnce() -> R) -> R {
    let _dry_run = Counted::begin(&DRY_RUNS);
    body()
}

fn time_limit() -> Duration {
    within_lock_timeout(if DRY_RUNS.get() > 0 { DRY_RUN_TIME_LIMIT } else { TIME_LIMIT })
}

/// The minimum of `most` and the session's `lock_timeout`.
pub fn within_lock_timeout(max: Duration) -> Duration {
    // SAFETY: reads a session variable.
    match u64::try_from(unsafe { pg_sys::LockTimeout }) {
        Ok(timeout) if timeout > 0 => max.min(Duration::from_millis(timeout)),
        _ => max,
    }
}

/// The error for a lock that a change could not take in time.
pub fn still_busy(what: &str) -> Error {
    Error::new(Code::Busy, format!("other transactions are using {what}; nothing was changed")).hint(
        "Retry later, or find and end the blocking transaction: SELECT pid, usename, state, xact_start, \
         query FROM pg_stat_activity ORDER BY xact_start.",
    )
}

/// Runs `body`. If it does not get a lock of this module, rolls it back and retries after a delay.
pub fn with_retry<R>(body: impl Fn() -> Result<R, Error>) -> Result<R, Error> {
    let (began, time_limit) = (Instant::now(), time_limit());
    let [mut pause, max_pause] = PAUSE;
    loop {
        BUSY.set(None);
        let outcome = {
            let _depth = Counted::begin(&RETRY_DEPTH);
            attempt(&body)
        };
        let locked = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
        let outcome = outcome.catch_also(&locked, |caught| {
            let is_outermost = RETRY_DEPTH.get() == 0;
            if caught.is_any_of(&locked) && is_outermost { BUSY.take() } else { None }
        });
        let busy = match outcome {
            Ok(result) => return result,
            Err(busy) => busy,
        };
        if began.elapsed() >= time_limit {
            return Err(still_busy(&busy.what));
        }
        if DRY_RUNS.get() == 0 {
            cancel_worker(&busy.tables);
        }
        let blockers = busy.blockers();
        loop {
            sleep(pause);
            pause = (pause * 3 / 2).min(max_pause);
            if busy.blockers().is_disjoint(&blockers) {
                break;
            }
            if began.elapsed() >= time_limit {
                return Err(still_busy(&busy.what));
            }
        }
    }
}

fn sleep(milliseconds: u64) {
    for _ in 0..milliseconds / 50 {
        // SAFETY: sleeps. Interrupts are processed afterwards.
        unsafe { pg_sys::pg_usleep(50_000) };
        pgrx::check_for_interrupts!();
    }
}

/// Cancels the job that uses one of these tables.
fn cancel_worker(tables: &[String]) {
    if tables.is_empty() {
        return;
    }
    // Resolving the names needs USAGE on the schema, which the caller may lack.
    let processes: Vec<i32> = as_owner(|| {
        connected(|spi| {
            let sql = format!(
                "select distinct l.pid from pg_catalog.pg_locks l join pg_catalog.pg_locks w on w.pid = l.pid \
                 where l.granted and l.locktype = 'relation' and w.granted and w.locktype = 'advisory' and w.objsubid = {} \
                 and l.database = w.database and w.database = (select d.oid from pg_catalog.pg_database d \
                 where d.datname = pg_catalog.current_database()) \
                 and l.relation = any (select pg_catalog.to_regclass(u.name) from pg_catalog.unnest($1) u (name))",
                LockKind::Job as u16
            );
            let rows = spi.run_once(&sql, Snapshot::Latest, &params![tables]);
            rows.column::<i32>().collect()
        })
    });
    processes.into_iter().for_each(worker::cancel);
}
