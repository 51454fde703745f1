//! Former names of settings. They are supported until the next release, with a deprecation warning.

use super::compat;
use super::superuser_setting::{Number, note};
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::pg_sys::{self, GucSource};
use pgrx::prelude::*;
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

/// An integer setting with its old and new name.
pub(super) struct Renamed {
    old: &'static CStr,
    new: &'static CStr,
    summary: &'static CStr,
    /// The variable of the old name; 0 if it has no value.
    value: AtomicI32,
}

/// Since 0.2.0.
pub(super) static IDEMPOTENCY_SIZE: Renamed = Renamed {
    old: c"keyed.idempotency_room",
    new: c"keyed.max_idempotency_size",
    summary: c"Old name of keyed.max_idempotency_size.",
    value: AtomicI32::new(0),
};

/// Since 0.2.0.
pub(super) static INBOUND_LOG_SIZE: Renamed = Renamed {
    old: c"keyed.inbound_room",
    new: c"keyed.max_inbound_log_size",
    summary: c"Old name of keyed.max_inbound_log_size.",
    value: AtomicI32::new(0),
};

/// Registers the old names: sizes in MB, as under the new names.
pub(super) fn register() {
    let define = |renamed: &'static Renamed, check| {
        let number = Number {
            name: renamed.old,
            variable: &renamed.value,
            range: (0, 1 << 30),
            flags: pg_sys::GUC_UNIT_MB | pg_sys::GUC_NOT_IN_SAMPLE,
            summary: renamed.summary,
            details: c"Applies if the new name has no value. The next release removes it.",
            check,
            assign: None,
        };
        number.define();
    };
    define(&IDEMPOTENCY_SIZE, check_idempotency_size);
    define(&INBOUND_LOG_SIZE, check_inbound_log_size);
}

impl Renamed {
    /// The effective value, given that of the new name. The old name applies only if the new one is not set.
    pub(super) fn or_new(&self, new: i32) -> i32 {
        match self.value.load(Ordering::Relaxed) {
            0 => new,
            _ if compat::has_value(self.new) => new,
            old => old,
        }
    }

    /// Warns about the old name: once in a session for a stored value, and for each SET.
    fn warn(&self, source: GucSource::Type, has_warned: &Cell<bool>) {
        // SAFETY: reads a process variable.
        let is_parallel_worker = unsafe { pg_sys::ParallelWorkerNumber } >= 0;
        let is_stored = source < GucSource::PGC_S_INTERACTIVE;
        if source == GucSource::PGC_S_DEFAULT || is_parallel_worker || is_stored && has_warned.replace(true) {
            return;
        }
        let (old, new) = (self.old.to_string_lossy(), self.new.to_string_lossy());
        let message = format!("{old} is the old name of {new}");
        ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING_DEPRECATED_FEATURE, message, "keyed")
            .set_hint(format!("Set {new} and reset {old}: the next release does not support the old name."))
            .report(PgLogLevel::WARNING);
    }
}

thread_local! {
    static HAS_WARNED: [Cell<bool>; 2] = const { [Cell::new(false), Cell::new(false)] };
}

/// # Safety
/// PostgreSQL calls it with a valid value.
#[pg_guard]
unsafe extern "C-unwind" fn check_idempotency_size(
    _value: *mut c_int,
    _extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    HAS_WARNED.with(|warned| IDEMPOTENCY_SIZE.warn(source, &warned[0]));
    note(source)
}

/// # Safety
/// PostgreSQL calls it with a valid value.
#[pg_guard]
unsafe extern "C-unwind" fn check_inbound_log_size(
    _value: *mut c_int,
    _extra: *mut *mut c_void,
    source: GucSource::Type,
) -> bool {
    HAS_WARNED.with(|warned| INBOUND_LOG_SIZE.warn(source, &warned[1]));
    note(source)
}
