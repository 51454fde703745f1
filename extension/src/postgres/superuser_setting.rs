//! Settings that only superusers can change.
//!
//! Before the library is loaded, PostgreSQL accepts any value for its settings. A client can therefore supply one at
//! connection start, which replaces the value that an administrator has set for the database or the role. When the setting
//! is defined, PostgreSQL rejects the client's value with a warning and uses the default. A login could so revert an
//! administrator's setting. Every function of keyed checks [`rejected`] and rejects such a session.

use super::compat;
use pgrx::pg_sys::{self, GucSource};
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

thread_local! {
    /// Whether the setting that is being defined has a value other than its default.
    static HAS_VALUE: Cell<bool> = const { Cell::new(false) };
    static REJECTED: Cell<Option<&'static CStr>> = const { Cell::new(None) };
}

/// Whether the session has a rejected value. It is a setting, because parallel workers inherit settings but not the options
/// of the connection.
static IS_REJECTED: AtomicBool = AtomicBool::new(false);

/// The setting whose value PostgreSQL rejected in this session, if any.
pub(super) fn rejected() -> Option<&'static CStr> {
    REJECTED.get().or_else(|| IS_REJECTED.load(Ordering::Relaxed).then_some(c"a setting of superusers"))
}

/// Passes a rejection on to parallel workers. Called once after all settings are defined.
pub(super) fn finish() {
    let name = c"keyed.is_refused";
    let switch = Switch {
        name,
        variable: &IS_REJECTED,
        flags: pg_sys::GUC_NO_SHOW_ALL | pg_sys::GUC_NOT_IN_SAMPLE | pg_sys::GUC_DISALLOW_IN_FILE,
        summary: c"Shows whether PostgreSQL rejected a value that this session supplied for a superuser-only setting.",
        details: c"Set by keyed.",
    };
    switch.define();
    if REJECTED.get().is_some() {
        let (context, source) = (pg_sys::GucContext::PGC_SUSET, GucSource::PGC_S_OVERRIDE);
        // SAFETY: both strings are NUL-terminated and copied.
        unsafe { pg_sys::SetConfigOption(name.as_ptr(), c"on".as_ptr(), context, source) };
    }
}

/// An integer setting.
pub(super) struct Number {
    /// Its name.
    pub name: &'static CStr,
    /// The variable of its value, which has the default.
    pub variable: &'static AtomicI32,
    /// The minimum and the maximum.
    pub range: (c_int, c_int),
    /// The unit and visibility flags.
    pub flags: u32,
    /// The short description.
    pub summary: &'static CStr,
    /// The long description.
    pub details: &'static CStr,
    /// Called with each value that PostgreSQL would take; it calls [`note`].
    pub check: unsafe extern "C-unwind" fn(*mut c_int, *mut *mut c_void, GucSource::Type) -> bool,
    /// Called with each new value.
    pub assign: pg_sys::GucIntAssignHook,
}

impl Number {
    /// Defines the setting.
    pub(super) fn define(self) {
        define(self.name, || {
            // SAFETY: strings and the variable live as long as the process. PostgreSQL writes the variable from the session's
            // only thread. An AtomicI32 has the layout of an i32.
            unsafe {
                pg_sys::DefineCustomIntVariable(
                    self.name.as_ptr(),
                    self.summary.as_ptr(),
                    self.details.as_ptr(),
                    self.variable.as_ptr(),
                    self.variable.load(Ordering::Relaxed),
                    self.range.0,
                    self.range.1,
                    pg_sys::GucContext::PGC_SUSET,
                    self.flags as i32,
                    Some(self.check),
                    self.assign,
                    None,
                );
            }
        });
    }
}

/// A boolean setting.
pub(super) struct Switch {
    /// Its name.
    pub name: &'static CStr,
    /// The variable of its value, which has the default.
    pub variable: &'static AtomicBool,
    /// The visibility flags.
    pub flags: u32,
    /// The short description.
    pub summary: &'static CStr,
    /// The long description.
    pub details: &'static CStr,
}

impl Switch {
    /// Defines the setting.
    pub(super) fn define(self) {
        define(self.name, || {
            // SAFETY: as for a number. An AtomicBool has the layout of a bool.
            unsafe {
                pg_sys::DefineCustomBoolVariable(
                    self.name.as_ptr(),
                    self.summary.as_ptr(),
                    self.details.as_ptr(),
                    self.variable.as_ptr(),
                    self.variable.load(Ordering::Relaxed),
                    pg_sys::GucContext::PGC_SUSET,
                    self.flags as i32,
                    Some(check_switch),
                    None,
                    None,
                );
            }
        });
    }
}

fn define(name: &'static CStr, define: impl FnOnce()) {
    // An earlier SET in this session is rejected with a warning, and replaces no administrator's value.
    let was_given = compat::has_value_at_start(name);
    HAS_VALUE.set(false);
    define();
    if was_given && !HAS_VALUE.get() && REJECTED.get().is_none() {
        REJECTED.set(Some(name));
    }
}

/// # Safety
/// PostgreSQL calls it with a valid value.
pub(super) unsafe extern "C-unwind" fn check_number(
    _: *mut c_int,
    _: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    note(source)
}

/// # Safety
/// PostgreSQL calls it with a valid value.
unsafe extern "C-unwind" fn check_switch(_: *mut bool, _: *mut *mut c_void, source: GucSource::Type) -> bool {
    note(source)
}

/// Notes that a setting has a value from somewhere.
pub(super) fn note(source: GucSource::Type) -> bool {
    if source > GucSource::PGC_S_DEFAULT {
        HAS_VALUE.set(true);
    }
    true
}
