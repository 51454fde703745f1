//! Statements with `SKIP LOCKED` that hold rows which others want.
//!
//! `SKIP LOCKED` alone waits in one case: the transaction that had the row ends while PostgreSQL looks at it, and another one
//! has its next version by then (`heap_lock_updated_tuple` knows no wait policy). Who holds further rows at that moment can
//! deadlock with a batch.

use super::guard::subtransaction;
use pgrx::pg_sys;
use pgrx::prelude::PgSqlErrorCode;
use std::ffi::c_int;

/// For how long such a statement waits, in milliseconds: less than any `deadlock_timeout`, and long enough for a lock of the
/// server's own.
const WAIT: c_int = 10;

/// Runs statements with `SKIP LOCKED`. `None` where one had to wait after all: then they have locked and written nothing, and
/// the caller goes on as if all rows were locked.
pub fn without_waiting<R>(body: impl FnOnce() -> R) -> Option<R> {
    let locked = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
    let attempt = subtransaction(|| {
        let _wait = ShortWait::begin();
        body()
    });
    attempt.catch_also(&locked, |caught| caught.is_any_of(&locked).then_some(())).ok()
}

/// The variable of `lock_timeout`, until this is dropped, also when an error unwinds.
struct ShortWait(c_int);

impl ShortWait {
    fn begin() -> ShortWait {
        // SAFETY: reads and writes a variable of the session from its one thread.
        unsafe {
            let before = pg_sys::LockTimeout;
            pg_sys::LockTimeout = WAIT;
            ShortWait(before)
        }
    }
}

impl Drop for ShortWait {
    fn drop(&mut self) {
        // SAFETY: see above.
        unsafe { pg_sys::LockTimeout = self.0 };
    }
}
