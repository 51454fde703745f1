//! Logs slow statements of keyed's functions (`keyed.log_slow_statements`), with the shape of their plan and without values.
//!
//! The hook is installed when the setting is first enabled, so it costs nothing in other sessions.

use super::activity;
use super::compat;
use super::function::running_function;
use super::guard;
use super::plan_shape;
use super::superuser_setting::{Number, check_number};
use pgrx::pg_sys::{self, QueryDesc};
use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// The minimum duration of a logged statement in milliseconds; negative if logging is off.
static THRESHOLD: AtomicI32 = AtomicI32::new(-1);

thread_local! {
    static IS_HOOKED: Cell<bool> = const { Cell::new(false) };
    /// The previous hook.
    static EARLIER: Cell<pg_sys::ExecutorRun_hook_type> = const { Cell::new(None) };
}

/// Registers the setting; called once when the library is loaded.
pub fn register() {
    let number = Number {
        name: c"keyed.log_slow_statements",
        variable: &THRESHOLD,
        range: (-1, i32::MAX),
        flags: pg_sys::GUC_UNIT_MS,
        summary: c"Sets the minimum execution time above which statements of keyed's functions are logged.",
        details: c"Logs the shape of the plan, without values. -1 disables logging.",
        check: check_number,
        assign: Some(assign),
    };
    number.define();
}

/// # Safety
/// PostgreSQL calls it with the new value.
unsafe extern "C-unwind" fn assign(threshold: c_int, _extra: *mut c_void) {
    if threshold < 0 || IS_HOOKED.replace(true) {
        return;
    }
    // SAFETY: the hook lives as long as the library, which is never unloaded; a session has one thread.
    unsafe {
        EARLIER.set(pg_sys::ExecutorRun_hook);
        pg_sys::ExecutorRun_hook = Some(hook);
    }
}

macro_rules! define_hook {
    ($query:ident: $type:ty $(, $argument:ident: $other:ty)*) => {
        /// The expansion of `#[pg_guard]`, which does not support argument names from a macro.
        unsafe extern "C-unwind" fn hook($query: $type $(, $argument: $other)*) {
            let execute = move || {
                // SAFETY: PostgreSQL's arguments are passed on once.
                unsafe {
                    match EARLIER.get() {
                        Some(earlier) => pg_sys::ffi::pg_guard_ffi_boundary(|| earlier($query $(, $argument)*)),
                        None => pg_sys::standard_ExecutorRun($query $(, $argument)*),
                    }
                }
            };
            // SAFETY: PostgreSQL passes a statement that is about to run.
            unsafe { pg_sys::panic::pgrx_extern_c_guard(move || run($query, execute)) }
        }
    };
}
compat::executor_run!(define_hook, query, direction, count, is_run_once);

/// Executes a statement by `execute`, and logs it if it belongs to keyed and is slow.
///
/// # Safety
/// The query descriptor belongs to a statement that is about to run.
unsafe fn run(query: *mut QueryDesc, execute: impl FnOnce()) {
    let threshold = THRESHOLD.load(Ordering::Relaxed);
    if threshold < 0 || !guard::is_own_work() {
        return execute();
    }
    let began = Instant::now();
    execute();
    let took = began.elapsed();
    if took >= Duration::from_millis(threshold.unsigned_abs().into()) {
        // SAFETY: the caller's; the executor's state lives until the statement ends.
        unsafe { log(query, took) };
    }
}

/// # Safety
/// See [`run`].
unsafe fn log(query: *mut QueryDesc, took: Duration) {
    // SAFETY: the caller's.
    let (rows, plan) = unsafe {
        let state = (*query).estate;
        (if state.is_null() { 0 } else { (*state).es_processed }, plan_shape::of((*query).plannedstmt))
    };
    let mut line = format!(
        "slow statement of {}: {}.{:03} ms, {rows} rows",
        running_function().unwrap_or_else(|| "a worker".to_owned()),
        took.as_millis(),
        took.as_micros() % 1000
    );
    if let Some(request) = activity::request() {
        line += &format!(", request {request}");
    }
    line += &format!(", plan: {plan}");
    report(&line);
}

/// Writes a line to the server log, never to the client. The report excludes the statement and the context, which contain
/// values.
fn report(line: &str) {
    unsafe extern "C-unwind" {
        fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
    }
    let Ok(line) = CString::new(line) else { return };
    // SAFETY: a complete report of a level below ERROR, which returns. The format takes one string.
    unsafe {
        if pg_sys::errstart_cold(pg_sys::LOG_SERVER_ONLY as c_int, std::ptr::null()) {
            pg_sys::errmsg_internal(c"%s".as_ptr(), line.as_ptr());
            pg_sys::errhidestmt(true);
            pg_sys::errhidecontext(true);
            errfinish(c"slow_statement.rs".as_ptr(), 0, c"report".as_ptr());
        }
    }
}
