//! Settings of the session that keyed's own work does not follow, because they change which rows a statement finds, or
//! what it costs, without an error.

use pgrx::pg_sys;
use std::ffi::c_int;

/// The variables behind two settings, held at fixed values until this is dropped, also when an error unwinds.
///
/// - `gin_fuzzy_search_limit` is 0. With a limit, a scan of a GIN index drops rows at random. Where a condition excludes
///   what such a scan finds, hidden rows would pass, and any login may set a limit.
/// - `jit` is off. Statements of functions are short, and a row check that is compiled again for each row takes hundreds of
///   times as long. `enable_seqscan = off` is enough to raise its cost above `jit_above_cost`.
///
/// Only the variables are written: a level of settings would cost each call a walk over all of them, before 16. Parallel
/// workers take over the variables, and `SHOW` reads them.
pub struct HeldSettings {
    gin_fuzzy_search_limit: c_int,
    jit: bool,
}

impl HeldSettings {
    /// Holds them from now on.
    #[inline]
    pub fn begin() -> HeldSettings {
        // SAFETY: reads and writes variables of the session from its one thread.
        unsafe {
            let before = HeldSettings {
                gin_fuzzy_search_limit: pg_sys::GinFuzzySearchLimit,
                jit: pg_sys::jit_enabled,
            };
            pg_sys::GinFuzzySearchLimit = 0;
            pg_sys::jit_enabled = false;
            before
        }
    }
}

impl Drop for HeldSettings {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: see above.
        unsafe {
            pg_sys::GinFuzzySearchLimit = self.gin_fuzzy_search_limit;
            pg_sys::jit_enabled = self.jit;
        }
    }
}
