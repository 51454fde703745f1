//! The settings that PostgreSQL knows.

use pgrx::pg_sys::{self, GucSource};
use std::ffi::CStr;

/// Whether a session began with a value of this setting: of the server, the database, the role or the connection.
pub(in crate::postgres) fn has_value_at_start(name: &CStr) -> bool {
    any(name, |setting| setting.reset_source > GucSource::PGC_S_DEFAULT)
}

/// Whether this setting has a value of anything but its default now.
pub(in crate::postgres) fn has_value(name: &CStr) -> bool {
    any(name, |setting| setting.source > GucSource::PGC_S_DEFAULT)
}

/// Whether PostgreSQL knows a setting of this name for which that holds.
fn any(name: &CStr, holds: impl Fn(&pg_sys::config_generic) -> bool) -> bool {
    // SAFETY: PostgreSQL lists as many settings as it says, each of which has a name that ends with a zero.
    unsafe {
        #[cfg(feature = "pg15")]
        let (settings, count) = (pg_sys::get_guc_variables(), pg_sys::GetNumConfigOptions());
        #[cfg(not(feature = "pg15"))]
        let (settings, count) = {
            let mut count = 0;
            (pg_sys::get_guc_variables(&raw mut count), count)
        };
        let settings = std::slice::from_raw_parts(settings, usize::try_from(count).unwrap_or(0));
        settings.iter().any(|setting| {
            let known = CStr::from_ptr((**setting).name);
            known.to_bytes().eq_ignore_ascii_case(name.to_bytes()) && holds(&**setting)
        })
    }
}
