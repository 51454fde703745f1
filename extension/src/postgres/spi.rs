//! Statements: prepared once, cached, run many times.

use super::guard::with_pinned_path;
use super::parameter::Parameter;
use super::planning;
pub use super::rows::Rows;
use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::{CStr, CString, c_char};
use std::marker::PhantomData;

/// A prepared statement that lives until it is dropped; PostgreSQL plans it again when its tables change, always for
/// large tables (see [`planning`]).
pub struct Plan {
    pointer: pg_sys::SPIPlanPtr,
    parameters: Vec<Oid>,
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: the pointer came from SPI_keepplan and is freed once.
        unsafe { pg_sys::SPI_freeplan(self.pointer) };
    }
}

impl Plan {
    /// The plan as SPI knows it.
    pub(super) fn pointer(&self) -> pg_sys::SPIPlanPtr {
        self.pointer
    }
}

/// A connection to SPI; statements run only inside [`connected`].
pub struct Connection(PhantomData<*const ()>);

/// Runs `body` with a connection and the search path pinned: else a caller's operators could take the place of
/// PostgreSQL's. What its statements return is freed at the end, so copy what must stay.
pub fn connected<R>(body: impl FnOnce(&Connection) -> R) -> R {
    with_pinned_path(|| {
        // SAFETY: every connect is paired with a finish; when an error unwinds past this frame, the end of the
        // (sub)transaction closes the connection instead.
        unsafe { pg_sys::SPI_connect() };
        let result = body(&Connection(PhantomData));
        // SAFETY: see above.
        unsafe { pg_sys::SPI_finish() };
        result
    })
}

/// The snapshot of a statement. Neither assigns a transaction id, so reading works on a standby.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Snapshot {
    /// The active snapshot, that of the calling statement; may only read.
    Active,
    /// A new snapshot: what is committed (below REPEATABLE READ) and what this transaction wrote; may write.
    Latest,
}

impl Connection {
    /// Prepares a statement, whose parameters have the types of these arguments, and keeps it.
    pub fn prepare(&self, sql: &str, arguments: &[Parameter]) -> Plan {
        let source = c_string(sql);
        let mut types = types_of(arguments);
        // All values are parameters, and one plan suits them all: a custom plan for each run took a tenth of an
        // upsert.
        let options = pg_sys::CURSOR_OPT_GENERIC_PLAN | pg_sys::CURSOR_OPT_PARALLEL_OK;
        // SAFETY: the string is NUL-terminated and the array has as many types as stated.
        let pointer = unsafe {
            pg_sys::SPI_prepare_cursor(
                source.as_ptr(),
                types.len() as i32,
                types.as_mut_ptr(),
                options as i32 | planning::KEPT,
            )
        };
        // SAFETY: the plan was just made; keeping it moves it out of this connection's memory.
        if pointer.is_null() || unsafe { pg_sys::SPI_keepplan(pointer) } != 0 {
            fail("prepare", sql);
        }
        Plan { pointer, parameters: types }
    }

    /// Runs a kept statement.
    pub fn run(&self, plan: &Plan, snapshot: Snapshot, arguments: &[Parameter]) -> Rows<'_> {
        let types = arguments.iter().map(|argument| argument.type_oid());
        assert!(types.eq(plan.parameters.iter().copied()), "the arguments have the types of the parameters");
        let (mut values, nulls) = split(arguments);
        // SAFETY: values and nulls have one entry for each parameter, of the type it was prepared with.
        let status = unsafe {
            pg_sys::SPI_execute_plan(
                plan.pointer,
                values.as_mut_ptr(),
                nulls.as_ptr(),
                snapshot == Snapshot::Active,
                0,
            )
        };
        self.rows(status, "a kept statement")
    }

    /// Runs a statement once, with parameters of the given types.
    pub fn run_once(&self, sql: &str, snapshot: Snapshot, arguments: &[Parameter]) -> Rows<'_> {
        let source = c_string(sql);
        let mut types = types_of(arguments);
        let (mut values, nulls) = split(arguments);
        // SAFETY: the string is NUL-terminated; types, values and nulls have one entry for each argument.
        let status = unsafe {
            pg_sys::SPI_execute_with_args(
                source.as_ptr(),
                types.len() as i32,
                types.as_mut_ptr(),
                values.as_mut_ptr(),
                nulls.as_ptr(),
                snapshot == Snapshot::Active,
                0,
            )
        };
        self.rows(status, sql)
    }

    /// Reads with the latest snapshot, also if the transaction's own snapshot is fixed.
    pub fn run_newest(&self, sql: &str, arguments: &[Parameter]) -> Rows<'_> {
        let source = c_string(sql);
        let mut types = types_of(arguments);
        let (mut values, nulls) = split(arguments);
        // SAFETY: the string is NUL-terminated; types, values and nulls have one entry for each argument. The plan, which
        // the connection frees, is run under a snapshot that SPI keeps for as long.
        let status = unsafe {
            let plan = pg_sys::SPI_prepare(source.as_ptr(), types.len() as i32, types.as_mut_ptr());
            if plan.is_null() {
                fail("prepare", sql);
            }
            let (latest, crosscheck) = (pg_sys::GetLatestSnapshot(), std::ptr::null_mut());
            pg_sys::SPI_execute_snapshot(
                plan,
                values.as_mut_ptr(),
                nulls.as_ptr(),
                latest,
                crosscheck,
                true,
                false,
                0,
            )
        };
        self.rows(status, sql)
    }

    /// Reads with the latest snapshot and this transaction's own writes, also if its own snapshot is fixed.
    pub fn run_newest_and_own(&self, sql: &str, arguments: &[Parameter]) -> Rows<'_> {
        // SAFETY: makes what the statement at hand wrote so far visible, as SPI does before one that may write.
        unsafe { pg_sys::CommandCounterIncrement() };
        self.run_newest(sql, arguments)
    }

    /// Runs one or several statements without parameters, data definition among them.
    pub fn script(&self, sql: &str) {
        let source = c_string(sql);
        // SAFETY: the string is NUL-terminated.
        let status = unsafe { pg_sys::SPI_execute(source.as_ptr(), false, 0) };
        self.rows(status, sql);
    }

    pub(super) fn rows(&self, status: i32, sql: &str) -> Rows<'_> {
        if status < 0 {
            fail("run", sql);
        }
        // SAFETY: SPI sets both after each statement; the table stays until the connection ends.
        unsafe { Rows::new(pg_sys::SPI_tuptable, pg_sys::SPI_processed as usize) }
    }
}

/// The types of arguments, for the statement that is prepared for them.
pub(super) fn types_of(arguments: &[Parameter]) -> Vec<Oid> {
    arguments.iter().map(|argument| argument.type_oid()).collect()
}

pub(super) fn split(arguments: &[Parameter]) -> (Vec<Datum>, Vec<c_char>) {
    let values = arguments.iter().map(|argument| argument.value().unwrap_or(Datum::from(0usize))).collect();
    let null = |argument: &Parameter| if argument.value().is_some() { b' ' } else { b'n' } as c_char;
    (values, arguments.iter().map(null).collect())
}

pub(super) fn c_string(sql: &str) -> CString {
    CString::new(sql)
        .unwrap_or_else(|_| Error::new(Code::InvalidValue, "a statement cannot contain U+0000").raise())
}

pub(super) fn fail(what: &str, sql: &str) -> ! {
    // SAFETY: the function maps SPI_result to a static string.
    let reason =
        unsafe { CStr::from_ptr(pg_sys::SPI_result_code_string(pg_sys::SPI_result)) }.to_string_lossy();
    Error::new(Code::Internal, format!("could not {what} {sql}: {reason}")).raise()
}
