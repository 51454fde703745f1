//! The cluster, its write-ahead log, and the ids of its transactions.

use pgrx::pg_sys::ffi::pg_guard_ffi_boundary as guarded;
use pgrx::pg_sys::{self, List, Oid, TimeLineID, XLogRecPtr};

unsafe extern "C-unwind" {
    fn readTimeLineHistory(target: TimeLineID) -> *mut List;
    fn tliInHistory(timeline: TimeLineID, history: *mut List) -> bool;
    fn tliSwitchPoint(timeline: TimeLineID, history: *mut List, next: *mut TimeLineID) -> XLogRecPtr;
}

/// How much room the header of a page of the log takes at most.
const PAGE_HEADER: u64 = size_of::<pg_sys::XLogLongPageHeaderData>() as u64;

/// A place in the write-ahead log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPlace {
    /// The timeline.
    pub timeline: u32,
    /// The place on it.
    pub lsn: u64,
}

/// The number that `initdb` gave the cluster.
pub fn system_identifier() -> i64 {
    // SAFETY: reads shared memory.
    unsafe { pg_sys::GetSystemIdentifier() as i64 }
}

/// The database of this session.
pub fn database() -> Oid {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::MyDatabaseId }
}

/// The id of this transaction, which never wraps around. It gets one if it has none.
pub fn transaction_id() -> i64 {
    // SAFETY: called in a transaction that writes.
    unsafe { pg_sys::GetTopFullTransactionId().value as i64 }
}

/// Where the log is. Everything before is on disk: what a snapshot of this session sees outlives a crash, also where its
/// writer did not wait for the disk (`synchronous_commit = off`).
pub fn flushed() -> LogPlace {
    // SAFETY: reads shared memory, and writes out the log as COMMIT does. The timeline of a primary is known once it is one.
    unsafe {
        if pg_sys::RecoveryInProgress() {
            let mut timeline = 0;
            let lsn = pg_sys::GetXLogReplayRecPtr(&mut timeline);
            return LogPlace { timeline, lsn };
        }
        let mut lsn = pg_sys::GetXLogInsertRecPtr();
        // At the beginning of a page, this is after the header of a page that may not exist yet.
        let in_page = lsn % u64::from(pg_sys::XLOG_BLCKSZ);
        if in_page <= PAGE_HEADER {
            lsn -= in_page;
        }
        pg_sys::XLogFlush(lsn);
        LogPlace { timeline: pg_sys::GetWALInsertionTimeLine(), lsn }
    }
}

/// Up to where the log of this server has a timeline: without end where that is the present one, nothing where the server
/// never was on it.
pub fn end_of(timeline: u32, present: u32) -> Option<u64> {
    if timeline == present {
        return Some(u64::MAX);
    }
    // SAFETY: the functions of the server take the list that the first of them made. Its errors unwind as Rust expects them.
    unsafe {
        let history = guarded(|| readTimeLineHistory(present));
        guarded(|| tliInHistory(timeline, history))
            .then(|| guarded(|| tliSwitchPoint(timeline, history, std::ptr::null_mut())))
    }
}
