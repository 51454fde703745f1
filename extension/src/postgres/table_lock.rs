//! Locks on whole tables for changes of definitions.
//!
//! A waiting exclusive lock blocks all later requests for the table, and waiting for one while holding another would
//! deadlock sooner or later, because requests lock the same tables in various orders. So tables are locked all or
//! none: after a short wait, all locks are released, including that on the project's definitions, and the attempt is
//! repeated, less and less often. A worker that builds an index on one of the tables is cancelled at once and starts
//! again later.
//!
//! A transaction that an attempt has waited for in vain is not waited for again: while it holds its lock, for example idle,
//! the change only looks whether it has ended, and keeps no other transaction waiting.

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

/// For how long it is tried, where the session's `lock_timeout` is not shorter.
const PATIENCE: Duration = Duration::from_secs(30);

/// For how long a dry run is tried.
const PATIENCE_OF_A_DRY_RUN: Duration = Duration::from_secs(1);

/// How long others wait at each attempt: less than deadlock_timeout.
const WAIT: &CStr = c"300ms";

/// For how long others go on before it is tried again, in milliseconds: at first, and at most.
const PAUSE: [u64; 2] = [100, 1000];

thread_local! {
    /// How many frames try again as a whole, one inside the other.
    static TRYING: Cell<u32> = const { Cell::new(0) };
    /// How many dry runs are under way, one inside the other.
    static DRY_RUNS: Cell<u32> = const { Cell::new(0) };
    /// The last lock, if it could not be taken.
    static BUSY: RefCell<Option<Busy>> = const { RefCell::new(None) };
}

/// What others have locked.
struct Busy {
    /// In words.
    what: String,
    tables: Vec<String>,
    views: Vec<Oid>,
    /// Whether readers are in the way as well.
    is_exclusive: bool,
}

impl Busy {
    /// A lock that is about no table.
    fn other(what: &str) -> Busy {
        Busy { what: what.to_owned(), tables: Vec::new(), views: Vec::new(), is_exclusive: true }
    }

    /// The transactions of others that hold a lock in the way.
    fn in_the_way(&self) -> HashSet<String> {
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

/// How many tables one transaction may lock, so that others find room in the table of locks that all sessions share.
pub fn max_tables() -> usize {
    // SAFETY: reads variables of the server. Prepared transactions, which have room there as well, are left out.
    let room = unsafe { i64::from(pg_sys::max_locks_per_xact) * i64::from(pg_sys::MaxBackends) };
    usize::try_from(room / 8).unwrap_or(0).max(16)
}

/// Limits the list to what one transaction may lock, with a notice if more remain.
pub fn take_portion(templates: &mut Vec<i32>, what: &str) {
    // A table goes with its indexes and what it refers to.
    let max = max_tables() / 4;
    if templates.len() > max {
        let left = templates.len() - max;
        templates.truncate(max);
        pgrx::notice!("{what} of {left} more templates are to be made: call keyed.migrate() again");
    }
}

/// Keeps everybody else out of these tables until the transaction ends.
pub fn lock_exclusively(tables: &[String]) {
    lock_with_views(tables, &[]);
}

/// The same for tables and for views, which LOCK TABLE would take together with all that they read.
pub fn lock_with_views(tables: &[String], views: &[Oid]) {
    lock(tables, views, true);
}

/// Blocks writes to these tables until the transaction ends.
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
    let wanted =
        || Busy { what: in_words(tables), tables: tables.to_vec(), views: views.to_vec(), is_exclusive };
    take(wanted, WAIT, || {
        connected(|spi| spi.script(&sql));
        for view in views {
            // SAFETY: the lock is released at the end of the (sub)transaction; what is gone can be locked as well.
            unsafe { pg_sys::LockRelationOid(*view, pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE) };
        }
    });
}

/// Takes a lock that is about no table in the same way: it is not waited for as long as others wait for what is locked.
pub fn lock_in_turn<R>(what: &str, lock: impl Fn() -> R) -> R {
    take(|| Busy::other(what), WAIT, lock)
}

/// Takes the first lock: a transaction without locks blocks no other, so it keeps its place in the queue.
pub fn lock_first(what: &str, lock: impl Fn()) {
    let patience = CString::new(format!("{}ms", patience().as_millis())).unwrap_or_default();
    take(|| Busy::other(what), &patience, lock);
}

fn take<R>(wanted: impl Fn() -> Busy, wait: &CStr, lock: impl Fn() -> R) -> R {
    let lock = || {
        // Stays when an error ends this.
        BUSY.set(Some(wanted()));
        let locked = with_settings(&[(c"lock_timeout", wait)], &lock);
        BUSY.set(None);
        locked
    };
    if TRYING.get() > 0 {
        return lock();
    }
    trying_again(|| Ok(lock())).unwrap_or_else(|error| error.raise())
}

fn in_words(tables: &[String]) -> String {
    match tables {
        [] => "a view".to_owned(),
        [only] => only.replace('"', ""),
        [first, rest @ ..] => {
            format!("one of {} and {} more tables", first.replace('"', ""), rest.len())
        }
    }
}

/// Runs a change that the caller undoes in any case: it cancels no worker, and gives up soon on tables in use.
pub fn as_dry_run<R>(body: impl FnOnce() -> R) -> R {
    let _dry_run = Counted::begin(&DRY_RUNS);
    body()
}

fn patience() -> Duration {
    within_lock_timeout(if DRY_RUNS.get() > 0 { PATIENCE_OF_A_DRY_RUN } else { PATIENCE })
}

/// The session's `lock_timeout`, where it is shorter than `max`.
pub fn within_lock_timeout(max: Duration) -> Duration {
    // SAFETY: reads a setting of the session.
    match u64::try_from(unsafe { pg_sys::LockTimeout }) {
        Ok(longest) if longest > 0 => max.min(Duration::from_millis(longest)),
        _ => max,
    }
}

/// The error for tables that other transactions use for longer than a change waits.
pub fn still_busy(what: &str) -> Error {
    Error::new(Code::Busy, format!("other transactions are using {what}; nothing was changed")).hint(
        "Retry later, or find and end the blocking transaction: SELECT pid, usename, state, xact_start, \
         query FROM pg_stat_activity ORDER BY xact_start.",
    )
}

/// Runs `body`, and where it does not get a lock of this module undoes it and runs it again after a pause.
pub fn trying_again<R>(body: impl Fn() -> Result<R, Error>) -> Result<R, Error> {
    let (began, patience) = (Instant::now(), patience());
    let [mut pause, longest] = PAUSE;
    loop {
        BUSY.set(None);
        let outcome = {
            let _trying = Counted::begin(&TRYING);
            attempt(&body)
        };
        let locked = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
        let outcome = outcome.catch_also(&locked, |caught| {
            let is_outermost = TRYING.get() == 0;
            if caught.is_any_of(&locked) && is_outermost { BUSY.take() } else { None }
        });
        let busy = match outcome {
            Ok(result) => return result,
            Err(busy) => busy,
        };
        if began.elapsed() >= patience {
            return Err(still_busy(&busy.what));
        }
        if DRY_RUNS.get() == 0 {
            cancel_worker(&busy.tables);
        }
        let in_vain = busy.in_the_way();
        loop {
            rest(pause);
            pause = (pause * 3 / 2).min(longest);
            if busy.in_the_way().is_disjoint(&in_vain) {
                break;
            }
            if began.elapsed() >= patience {
                return Err(still_busy(&busy.what));
            }
        }
    }
}

fn rest(milliseconds: u64) {
    for _ in 0..milliseconds / 50 {
        // SAFETY: sleeps; an interrupt that comes meanwhile is served after it.
        unsafe { pg_sys::pg_usleep(50_000) };
        pgrx::check_for_interrupts!();
    }
}

/// Has our own worker give up what it does with one of these tables.
fn cancel_worker(tables: &[String]) {
    if tables.is_empty() {
        return;
    }
    // The caller may have no USAGE on the schema of these tables, whose names are resolved here.
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
