//! How many entries of a GIN index wait in its list before they go into the index.

use pgrx::pg_sys;

/// Runs what writes rows while the lists of GIN indexes that have no limit of their own may have so many kilobytes.
///
/// This is the setting `gin_pending_list_limit`, written as PostgreSQL's own variable: a level of settings would cost each write
/// a walk over all of them, before 16.
pub fn with_limit<R>(kilobytes: i32, body: impl FnOnce() -> R) -> R {
    // SAFETY: reads and writes a variable of the session from its one thread.
    let _before = unsafe {
        let before = Before(pg_sys::gin_pending_list_limit);
        pg_sys::gin_pending_list_limit = kilobytes;
        before
    };
    body()
}

/// The limit before, which holds again when this is dropped: also when an error unwinds.
struct Before(i32);

impl Drop for Before {
    fn drop(&mut self) {
        // SAFETY: see above.
        unsafe { pg_sys::gin_pending_list_limit = self.0 };
    }
}
