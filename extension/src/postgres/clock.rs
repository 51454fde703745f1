//! The current time, and PostgreSQL's time zones.

use crate::value::zone::Zone;
use pgrx::pg_sys;
use std::ffi::CString;
use std::ptr::NonNull;

/// Seconds from the Unix epoch, 1970-01-01, to the PostgreSQL epoch, 2000-01-01.
pub const EPOCH_SECONDS: i64 = 10_957 * 86_400;

/// The current time in microseconds since 2000-01-01T00:00:00Z.
pub fn now() -> i64 {
    // SAFETY: reads the clock.
    unsafe { pg_sys::GetCurrentTimestamp() }
}

/// A time zone. It lives as long as the session.
pub struct TimeZone(NonNull<pg_sys::pg_tz>);

impl TimeZone {
    /// The time zone of this name. Rejects zones with leap seconds, as the setting `TimeZone` does.
    pub fn named(name: &str) -> Option<TimeZone> {
        let name = CString::new(name).ok()?;
        // SAFETY: the name is NUL-terminated. An unknown name yields null. An entry lives as long as the session.
        let zone = NonNull::new(unsafe { pg_sys::pg_tzset(name.as_ptr()) })?;
        // SAFETY: the zone is an entry of PostgreSQL's time zone cache.
        unsafe { pg_sys::pg_tz_acceptable(zone.as_ptr()) }.then_some(TimeZone(zone))
    }
}

impl Zone for TimeZone {
    fn offset_at(&self, seconds: i64) -> i64 {
        let unix = seconds.saturating_add(EPOCH_SECONDS);
        // SAFETY: the result is null or a static struct, which is read immediately.
        let local = unsafe { pg_sys::pg_localtime(&unix, self.0.as_ptr()).as_ref() };
        local.map_or(0, |local| local.tm_gmtoff)
    }
}

/// Whether this name is a time zone.
pub fn is_time_zone(name: &str) -> bool {
    TimeZone::named(name).is_some()
}
