//! The cluster, its write-ahead log, and the ids of its transactions.

use pgrx::pg_sys::ffi::pg_guard_ffi_boundary as guarded;
use pgrx::pg_sys::{self, List, Oid, TimeLineID, XLogRecPtr};

unsafe extern "C-unwind" {
    fn readTimeLineHistory(target: TimeLineID) -> *mut List;
    fn tliInHistory(timeline: TimeLineID, history: *mut List) -> bool;
    fn tliSwitchPoint(timeline: TimeLineID, history: *mut List, next: *mut TimeLineID) -> XLogRecPtr;
}

/// The maximum size of a page header in the write-ahead log.
const PAGE_HEADER: u64 = size_of::<pg_sys::XLogLongPageHeaderData>() as u64;

/// A position in the write-ahead log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// The timeline.
    pub timeline: u32,
    /// The LSN.
    pub lsn: u64,
}

/// The system identifier of the cluster.
pub fn system_identifier() -> i64 {
    // SAFETY: reads shared memory.
    unsafe { pg_sys::GetSystemIdentifier() as i64 }
}

/// The database of this session.
pub fn database() -> Oid {
    // SAFETY: reads a variable of the session.
    unsafe { pg_sys::MyDatabaseId }
}

/// The 64-bit id of this transaction. Assigns one if necessary.
pub fn transaction_id() -> i64 {
    // SAFETY: called in a transaction that writes.
    unsafe { pg_sys::GetTopFullTransactionId().value as i64 }
}

/// The flush position of the log. Everything that a snapshot of this session includes survives a crash, even if its
/// writer did not wait for the disk (`synchronous_commit = off`).
pub fn flushed() -> LogPosition {
    // SAFETY: reads shared memory, and writes out the log as COMMIT does. The timeline of a primary is known once it is one.
    unsafe {
        if pg_sys::RecoveryInProgress() {
            let mut timeline = 0;
            let lsn = pg_sys::GetXLogReplayRecPtr(&mut timeline);
            return LogPosition { timeline, lsn };
        }
        let mut lsn = pg_sys::GetXLogInsertRecPtr();
        // At a page boundary, this is the position after the header of the next page, which may not
        // exist yet.
        let in_page = lsn % u64::from(pg_sys::XLOG_BLCKSZ);
        if in_page <= PAGE_HEADER {
            lsn -= in_page;
        }
        pg_sys::XLogFlush(lsn);
        LogPosition { timeline: pg_sys::GetWALInsertionTimeLine(), lsn }
    }
}

/// The end of a timeline in the log of this server: the maximum for the current timeline, 0 for a timeline that the
/// server was never on.
pub fn end_of(timeline: u32, present: u32) -> Option<u64> {
    if timeline == present {
        return Some(u64::MAX);
    }
    // SAFETY: both functions belong to the server. The second takes the list that the first returned. Their errors unwind as
    // Rust panics.
    unsafe {
        let history = guarded(|| readTimeLineHistory(present));
        guarded(|| tliInHistory(timeline, history))
            .then(|| guarded(|| tliSwitchPoint(timeline, history, std::ptr::null_mut())))
    }
}
