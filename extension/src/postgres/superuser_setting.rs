//! Settings that only superusers set.
//!
//! PostgreSQL knows a setting only once the library is loaded. Before, a client may name it when it connects, and this value
//! takes the place of the one that an administrator has set for the database or the role. When the setting is defined, the
//! client's value is refused with a warning, and the default of the setting remains. So a login would undo what an
//! administrator has set. A session to which that happened is refused: every function of keyed asks [`refused`].

use super::compat;
use pgrx::pg_sys::{self, GucSource};
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

thread_local! {
    /// Whether the setting that is being defined has a value from somewhere.
    static HAS_VALUE: Cell<bool> = const { Cell::new(false) };
    static REFUSED: Cell<Option<&'static CStr>> = const { Cell::new(None) };
}

/// Whether the session has such a value. Parallel workers, which know nothing of the connection, take it over as a setting.
static IS_REFUSED: AtomicBool = AtomicBool::new(false);

/// The setting, if there is one, that this session was given a value for which PostgreSQL did not take.
pub(super) fn refused() -> Option<&'static CStr> {
    REFUSED.get().or_else(|| IS_REFUSED.load(Ordering::Relaxed).then_some(c"a setting of superusers"))
}

/// Hands a refusal on to parallel workers; called once when all settings are defined.
pub(super) fn finish() {
    let name = c"keyed.is_refused";
    let switch = Switch {
        name,
        variable: &IS_REFUSED,
        flags: pg_sys::GUC_NO_SHOW_ALL | pg_sys::GUC_NOT_IN_SAMPLE | pg_sys::GUC_DISALLOW_IN_FILE,
        says:
            c"Whether this session was given a value of a superuser's setting that PostgreSQL did not take.",
        more: c"keyed sets it itself.",
    };
    switch.define();
    if REFUSED.get().is_some() {
        let (context, source) = (pg_sys::GucContext::PGC_SUSET, GucSource::PGC_S_OVERRIDE);
        // SAFETY: both texts end with a zero and are copied.
        unsafe { pg_sys::SetConfigOption(name.as_ptr(), c"on".as_ptr(), context, source) };
    }
}

/// A setting of a number.
pub(super) struct Number {
    /// Its name.
    pub name: &'static CStr,
    /// Where PostgreSQL writes its value; it has the default.
    pub variable: &'static AtomicI32,
    /// The minimum and the maximum.
    pub range: (c_int, c_int),
    /// What it is counted in, and who is shown it.
    pub flags: u32,
    /// What it decides, in one sentence.
    pub says: &'static CStr,
    /// Further sentences.
    pub more: &'static CStr,
    /// Called with each value that PostgreSQL would take; it calls [`note`].
    pub check: unsafe extern "C-unwind" fn(*mut c_int, *mut *mut c_void, GucSource::Type) -> bool,
    /// Called with each new value.
    pub assign: pg_sys::GucIntAssignHook,
}

impl Number {
    /// Makes PostgreSQL know it.
    pub(super) fn define(self) {
        define(self.name, || {
            // SAFETY: names, texts and the variable live as long as the process, and PostgreSQL writes the variable from the
            // session's one thread. An AtomicI32 has the layout of an i32.
            unsafe {
                pg_sys::DefineCustomIntVariable(
                    self.name.as_ptr(),
                    self.says.as_ptr(),
                    self.more.as_ptr(),
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

/// A switch.
pub(super) struct Switch {
    /// Its name.
    pub name: &'static CStr,
    /// Where PostgreSQL writes its value; it has the default.
    pub variable: &'static AtomicBool,
    /// Who is shown it.
    pub flags: u32,
    /// What it decides, in one sentence.
    pub says: &'static CStr,
    /// Further sentences.
    pub more: &'static CStr,
}

impl Switch {
    /// Makes PostgreSQL know it.
    pub(super) fn define(self) {
        define(self.name, || {
            // SAFETY: as for a number. An AtomicBool has the layout of a bool.
            unsafe {
                pg_sys::DefineCustomBoolVariable(
                    self.name.as_ptr(),
                    self.says.as_ptr(),
                    self.more.as_ptr(),
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
    // A SET of this session before is refused with a warning, and displaces nothing.
    let was_given = compat::has_value_at_start(name);
    HAS_VALUE.set(false);
    define();
    if was_given && !HAS_VALUE.get() && REFUSED.get().is_none() {
        REFUSED.set(Some(name));
    }
}

/// # Safety
/// PostgreSQL calls it with a value that it would take.
pub(super) unsafe extern "C-unwind" fn check_number(
    _: *mut c_int,
    _: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    note(source)
}

/// # Safety
/// PostgreSQL calls it with a value that it would take.
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
