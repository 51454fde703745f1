//! The transactions that a snapshot does not show because they were open.

use super::parameter::params;
use super::snapshot::is_fixed;
use super::spi::{Connection, Snapshot};
use super::write_ahead_log::database;
use pgrx::pg_sys::{self, TransactionId};

/// The maximum number of snapshots that are taken because a transaction that was open in the previous
/// one has ended since.
const MAX_SNAPSHOTS: usize = 5;

/// The transactions that a snapshot includes.
struct Settled {
    /// All transactions of this database with lower ids have ended, and the snapshot includes those that committed.
    end: i64,
    /// Whether this transaction id belongs to an open transaction of this database.
    is_exact: bool,
}

/// Calls `read` with a transaction id, under a snapshot that includes all committed transactions of this database with lower
/// ids. The snapshot is new, unless that of the transaction is fixed.
///
/// Open transactions of other databases are ignored, because they cannot write in this database.
pub fn with_settled<R>(spi: &Connection, read: impl FnOnce(i64) -> R) -> R {
    if is_fixed() {
        return read(settled(spi).end);
    }
    for _ in 1..MAX_SNAPSHOTS {
        let snapshot = Latest::push();
        let settled = settled(spi);
        if settled.is_exact {
            return snapshot.pop_after(|| read(settled.end));
        }
        snapshot.pop_after(|| ());
    }
    Latest::push().pop_after(|| read(settled(spi).end))
}

/// Pushes a new snapshot, which is active until it is popped. If an error unwinds, the end of the (sub)transaction pops it.
struct Latest;

impl Latest {
    fn push() -> Latest {
        // SAFETY: called in a transaction; the active snapshots are a stack, which copies what is pushed.
        unsafe { pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot()) };
        Latest
    }

    fn pop_after<R>(self, body: impl FnOnce() -> R) -> R {
        let result = body();
        // SAFETY: the body has popped all snapshots that it pushed.
        unsafe { pg_sys::PopActiveSnapshot() };
        result
    }
}

/// The transactions that the active snapshot includes.
fn settled(spi: &Connection) -> Settled {
    let open = "select x::text::bigint from pg_snapshot_xip(pg_current_snapshot()) x order by x";
    let open: Vec<i64> = spi.run_once(open, Snapshot::Active, &[]).column().collect();
    let places: Vec<(i64, Place)> = open.into_iter().map(|id| (id, place_of(short(id)))).collect();
    let bounds = "select pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint from pg_current_snapshot() s";
    let (oldest, next) =
        spi.run_once(bounds, Snapshot::Active, &[]).first::<(i64, i64)>().unwrap_or_default();
    // A snapshot on a standby lists no open transactions, but has the oldest one.
    if places.is_empty() {
        return Settled { end: oldest, is_exact: true };
    }
    let prepared = prepared(spi);
    let place = |(id, place): &(i64, Place)| match prepared.iter().find(|it| it.0 == short(*id)) {
        Some((_, is_here)) => (*id, if *is_here { Place::Here } else { Place::Elsewhere }),
        None => (*id, *place),
    };
    let first = places.iter().map(place).find(|(_, place)| *place != Place::Elsewhere);
    let own = own().unwrap_or(i64::MAX);
    match first {
        Some((id, place)) if id < own => Settled { end: id, is_exact: place == Place::Here },
        _ => Settled { end: next.min(own), is_exact: true },
    }
}

/// A transaction id without its epoch.
fn short(id: i64) -> TransactionId {
    TransactionId::from(id as u32)
}

/// The current transaction id, if it has been assigned.
fn own() -> Option<i64> {
    // SAFETY: reads a variable of the session.
    let own = unsafe { pg_sys::GetTopFullTransactionIdIfAny() };
    (own.value != 0).then_some(own.value as i64)
}

/// The prepared transactions, each with whether it belongs to this database.
fn prepared(spi: &Connection) -> Vec<(TransactionId, bool)> {
    let sql = "select x.transaction::text::bigint, x.database is not distinct from d.datname \
               from pg_prepared_xacts x, pg_database d where d.oid = $1";
    let rows = spi.run_once(sql, Snapshot::Active, &params![database()]);
    rows.iter::<(i64, bool)>().map(|(id, is_here)| (short(id), is_here)).collect()
}

/// The process that runs a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Here,
    Elsewhere,
    /// No process: the transaction is prepared or has ended.
    Nowhere,
}

fn place_of(id: TransactionId) -> Place {
    // SAFETY: the entry of a process stays in shared memory, and its database does not change while it runs. It is the same
    // process before and after, because it runs the transaction.
    let database_of = unsafe {
        let process = pg_sys::BackendXidGetPid(id);
        let entry = if process == 0 { std::ptr::null_mut() } else { pg_sys::BackendPidGetProc(process) };
        if entry.is_null() {
            return Place::Nowhere;
        }
        let database_of = std::ptr::read_volatile(&raw const (*entry).databaseId);
        if pg_sys::BackendXidGetPid(id) != process {
            return Place::Nowhere;
        }
        database_of
    };
    // A process that is not yet connected to a database may connect to this one.
    let is_elsewhere = database_of != pg_sys::InvalidOid && database_of != database();
    if is_elsewhere { Place::Elsewhere } else { Place::Here }
}
