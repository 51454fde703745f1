//! The clock, and time zones as PostgreSQL knows them.

use crate::value::zone::Zone;
use pgrx::pg_sys;
use std::ffi::CString;
use std::ptr::NonNull;

/// Seconds from 1970-01-01, where Unix time starts, to 2000-01-01, where PostgreSQL's does.
pub const EPOCH_SECONDS: i64 = 10_957 * 86_400;

/// The present: microseconds since 2000-01-01T00:00:00Z.
pub fn now() -> i64 {
    // SAFETY: reads the clock.
    unsafe { pg_sys::GetCurrentTimestamp() }
}

/// A time zone, which stays for the session.
pub struct TimeZone(NonNull<pg_sys::pg_tz>);

impl TimeZone {
    /// The time zone of this name, if there is one whose days have whole seconds.
    pub fn named(name: &str) -> Option<TimeZone> {
        let name = CString::new(name).ok()?;
        // SAFETY: the name is NUL-terminated; an unknown one yields null, a known one an entry that stays for the session.
        let zone = NonNull::new(unsafe { pg_sys::pg_tzset(name.as_ptr()) })?;
        // SAFETY: the zone is an entry of PostgreSQL's table.
        unsafe { pg_sys::pg_tz_acceptable(zone.as_ptr()) }.then_some(TimeZone(zone))
    }
}

impl Zone for TimeZone {
    fn offset_at(&self, seconds: i64) -> i64 {
        let unix = seconds.saturating_add(EPOCH_SECONDS);
        // SAFETY: reads the number and the zone, and yields null or a static that is read at once.
        let local = unsafe { pg_sys::pg_localtime(&unix, self.0.as_ptr()).as_ref() };
        local.map_or(0, |local| local.tm_gmtoff)
    }
}

/// Whether there is a time zone of this name, and one whose days have whole seconds.
pub fn is_time_zone(name: &str) -> bool {
    TimeZone::named(name).is_some()
}
