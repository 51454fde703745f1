//! The clock, and time zones as PostgreSQL knows them.

use pgrx::pg_sys;
use std::ffi::CString;

/// The present: microseconds since 2000-01-01T00:00:00Z.
pub fn now() -> i64 {
    // SAFETY: reads the clock.
    unsafe { pg_sys::GetCurrentTimestamp() }
}

/// Whether there is a time zone of this name, and one whose days have whole seconds.
pub fn is_time_zone(name: &str) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    // SAFETY: the name is NUL-terminated; an unknown one yields null, a known one an entry that stays for the session.
    unsafe {
        let zone = pg_sys::pg_tzset(name.as_ptr());
        !zone.is_null() && pg_sys::pg_tz_acceptable(zone)
    }
}
