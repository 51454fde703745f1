//! Session settings that keyed overrides while it works.
//!
//! Only the variables are written: a nesting level of settings would visit all settings for each call before 16. Parallel
//! workers inherit the variables, and `SHOW` reads them.

use pgrx::pg_sys;
use std::ffi::c_int;

/// Overrides two settings until this is dropped, also during unwinding. They would change results or costs without an error.
///
/// - `gin_fuzzy_search_limit` is 0. With a limit, a GIN index scan omits rows at random. If a condition excludes the rows of
///   such a scan, hidden rows would become visible. Any login can set a limit.
/// - `jit` is off. Statements of functions are short, and a row check that is compiled for each row takes hundreds of times as
///   long. `enable_seqscan = off` suffices to raise its cost above `jit_above_cost`.
pub struct OverriddenSettings {
    gin_fuzzy_search_limit: c_int,
    jit: bool,
}

impl OverriddenSettings {
    /// Overrides the settings.
    #[inline]
    pub fn begin() -> OverriddenSettings {
        // SAFETY: a session has one thread, which reads and writes the variables.
        unsafe {
            let before = OverriddenSettings {
                gin_fuzzy_search_limit: pg_sys::GinFuzzySearchLimit,
                jit: pg_sys::jit_enabled,
            };
            pg_sys::GinFuzzySearchLimit = 0;
            pg_sys::jit_enabled = false;
            before
        }
    }
}

impl Drop for OverriddenSettings {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: see above.
        unsafe {
            pg_sys::GinFuzzySearchLimit = self.gin_fuzzy_search_limit;
            pg_sys::jit_enabled = self.jit;
        }
    }
}

/// Runs `body` with this value of `gin_pending_list_limit`, in kilobytes.
pub fn with_gin_pending_list_limit<R>(kilobytes: i32, body: impl FnOnce() -> R) -> R {
    // SAFETY: a session has one thread, which reads and writes the variable.
    let _before = unsafe {
        let before = RestoredLimit(pg_sys::gin_pending_list_limit);
        pg_sys::gin_pending_list_limit = kilobytes;
        before
    };
    body()
}

/// The previous limit. Dropping this, also during unwinding, restores it.
struct RestoredLimit(i32);

impl Drop for RestoredLimit {
    fn drop(&mut self) {
        // SAFETY: see above.
        unsafe { pg_sys::gin_pending_list_limit = self.0 };
    }
}
