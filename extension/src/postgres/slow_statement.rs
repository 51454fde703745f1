//! Logs the statements of keyed's functions that take long, with the shape of their plan and never a value
//! (`keyed.log_slow_statements`).
//!
//! The hook is put in place when the setting is first switched on, so a session without it runs as if there were none.

use super::activity;
use super::compat;
use super::guard;
use super::plan_shape;
use super::running;
use super::superuser_setting::{Number, check_number};
use pgrx::pg_sys::{self, QueryDesc};
use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

/// From how many milliseconds on a statement is logged; below 0, none is.
static THRESHOLD: AtomicI32 = AtomicI32::new(-1);

thread_local! {
    static IS_HOOKED: Cell<bool> = const { Cell::new(false) };
    /// Whom another library that was loaded before has put here.
    static EARLIER: Cell<pg_sys::ExecutorRun_hook_type> = const { Cell::new(None) };
}

/// Registers the setting; called once when the library is loaded.
pub fn register() {
    let number = Number {
        name: c"keyed.log_slow_statements",
        variable: &THRESHOLD,
        range: (-1, i32::MAX),
        flags: pg_sys::GUC_UNIT_MS,
        says: c"Logs the statements that functions of keyed run if they take at least this long.",
        more: c"With the shape of their plan, and no values. -1 switches it off.",
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
        /// What `#[pg_guard]` would write, which does not know the names that a macro gives.
        unsafe extern "C-unwind" fn hook($query: $type $(, $argument: $other)*) {
            let go_on = move || {
                // SAFETY: PostgreSQL's own arguments are passed on, once.
                unsafe {
                    match EARLIER.get() {
                        Some(earlier) => pg_sys::ffi::pg_guard_ffi_boundary(|| earlier($query $(, $argument)*)),
                        None => pg_sys::standard_ExecutorRun($query $(, $argument)*),
                    }
                }
            };
            // SAFETY: PostgreSQL hands over a statement that is about to be run.
            unsafe { pg_sys::panic::pgrx_extern_c_guard(move || run($query, go_on)) }
        }
    };
}
compat::executor_run!(define_hook, query, direction, count, is_run_once);

/// Runs a statement, and logs it if it is keyed's own and took long. `go_on` runs it.
///
/// # Safety
/// The description is that of a statement that is about to be run.
unsafe fn run(query: *mut QueryDesc, go_on: impl FnOnce()) {
    let threshold = THRESHOLD.load(Ordering::Relaxed);
    if threshold < 0 || !guard::is_own_work() {
        return go_on();
    }
    let began = Instant::now();
    go_on();
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
        running::function().unwrap_or_else(|| "a worker".to_owned()),
        took.as_millis(),
        took.as_micros() % 1000
    );
    if let Some(request) = activity::request() {
        line += &format!(", request {request}");
    }
    line += &format!(", plan: {plan}");
    report(&line);
}

/// Into the log of the server, never to the client. Neither the statement of the caller nor ours goes along, as PostgreSQL
/// would add them, with the values in them.
fn report(line: &str) {
    unsafe extern "C-unwind" {
        fn errfinish(file: *const c_char, line: c_int, function: *const c_char);
    }
    let Ok(line) = CString::new(line) else { return };
    // SAFETY: an error report below ERROR from its beginning to its end, which returns; the format takes the one string.
    unsafe {
        if pg_sys::errstart_cold(pg_sys::LOG_SERVER_ONLY as c_int, std::ptr::null()) {
            pg_sys::errmsg_internal(c"%s".as_ptr(), line.as_ptr());
            pg_sys::errhidestmt(true);
            pg_sys::errhidecontext(true);
            errfinish(c"slow_statement.rs".as_ptr(), 0, c"report".as_ptr());
        }
    }
}
