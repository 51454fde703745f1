//! Statements with `SKIP LOCKED` in transactions that hold row locks.
//!
//! `SKIP LOCKED` still waits in one case: the holder of the row lock ends during the check, and another transaction has
//! already locked the next row version (`heap_lock_updated_tuple` takes no wait policy). A waiter that holds other row
//! locks could then deadlock with a batch.

use super::guard::subtransaction;
use pgrx::pg_sys;
use pgrx::prelude::PgSqlErrorCode;
use std::ffi::c_int;

/// The maximum wait in milliseconds: less than any `deadlock_timeout`, and enough for the server's internal locks.
const WAIT: c_int = 10;

/// Runs statements with `SKIP LOCKED`. Returns `None` if one had to wait. They have then locked and written nothing, and
/// the caller continues as if all rows were locked.
pub fn without_waiting<R>(body: impl FnOnce() -> R) -> Option<R> {
    let locked = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
    let attempt = subtransaction(|| {
        let _wait = ShortWait::begin();
        body()
    });
    attempt.catch_also(&locked, |caught| caught.is_any_of(&locked).then_some(())).ok()
}

/// The previous `lock_timeout`. Dropping this, also during unwinding, restores it.
struct ShortWait(c_int);

impl ShortWait {
    fn begin() -> ShortWait {
        // SAFETY: a session has one thread, which reads and writes the variable.
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
