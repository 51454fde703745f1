//! Statements through SPI: prepared statements, and statements that run once.

use super::guard::with_pinned_path;
use super::memory::allocated;
use super::parameter::Parameter;
use super::planning;
pub use super::rows::Rows;
use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::{CStr, CString, c_char};
use std::marker::PhantomData;

/// A saved prepared statement. PostgreSQL replans it when its tables change, always for large tables (see [`planning`]).
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
    /// The SPI plan.
    pub(super) fn pointer(&self) -> pg_sys::SPIPlanPtr {
        self.pointer
    }

    /// The memory of the statement: its text, its query tree and its plan. Before the first run, the plan is assumed to be
    /// as large as the query tree, because a statement that runs once is not measured again.
    pub fn bytes(&self) -> usize {
        // SAFETY: the plan is saved, so its sources and their memory contexts live as long as it does.
        unsafe {
            let sources = pg_sys::SPI_plan_get_plan_sources(self.pointer());
            (0..pg_sys::list_length(sources))
                .map(|number| {
                    let source = pg_sys::list_nth(sources, number).cast::<pg_sys::CachedPlanSource>();
                    let (plan, query) = ((*source).gplan, (*source).query_context);
                    let planned = if plan.is_null() { query } else { (*plan).context };
                    allocated((*source).context) + if planned.is_null() { 0 } else { allocated(planned) }
                })
                .sum()
        }
    }
}

/// An SPI connection. Statements run only inside [`connected`].
pub struct Connection(PhantomData<*const ()>);

/// Runs `body` with a connection and a pinned search path, so that a caller's operators cannot shadow built-in ones. The
/// results of its statements are freed at the end.
pub fn connected<R>(body: impl FnOnce(&Connection) -> R) -> R {
    with_pinned_path(|| {
        // SAFETY: each connect is paired with a finish. If an error unwinds, the end of the (sub)transaction closes the
        // connection.
        unsafe { pg_sys::SPI_connect() };
        let result = body(&Connection(PhantomData));
        // SAFETY: see above.
        unsafe { pg_sys::SPI_finish() };
        result
    })
}

/// The snapshot of a statement. Neither assigns a transaction id, so reads work on a standby.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Snapshot {
    /// The active snapshot, which is that of the calling statement. Read-only.
    Active,
    /// A new snapshot, which includes this transaction's writes and, in READ COMMITTED, the latest commits. Read-write.
    Latest,
}

impl Connection {
    /// Prepares and saves a statement whose parameters have the types of these arguments.
    pub fn prepare(&self, sql: &str, arguments: &[Parameter]) -> Plan {
        let source = c_string(sql);
        let mut types = types_of(arguments);
        // A generic plan: custom plans took a tenth of the time of an upsert.
        let options = pg_sys::CURSOR_OPT_GENERIC_PLAN | pg_sys::CURSOR_OPT_PARALLEL_OK;
        // SAFETY: the string is NUL-terminated, and the array has as many types as stated.
        let pointer = unsafe {
            pg_sys::SPI_prepare_cursor(
                source.as_ptr(),
                types.len() as i32,
                types.as_mut_ptr(),
                options as i32 | planning::CACHED,
            )
        };
        // SAFETY: the plan was just created. SPI_keepplan moves it out of the connection's memory.
        if pointer.is_null() || unsafe { pg_sys::SPI_keepplan(pointer) } != 0 {
            fail("prepare", sql);
        }
        Plan { pointer, parameters: types }
    }

    /// Runs a prepared statement.
    pub fn run(&self, plan: &Plan, snapshot: Snapshot, arguments: &[Parameter]) -> Rows<'_> {
        let types = arguments.iter().map(|argument| argument.type_oid());
        assert!(types.eq(plan.parameters.iter().copied()), "the arguments have the types of the parameters");
        let (mut values, nulls) = split(arguments);
        // SAFETY: values and nulls have one entry for each parameter, of its type.
        let status = unsafe {
            pg_sys::SPI_execute_plan(
                plan.pointer,
                values.as_mut_ptr(),
                nulls.as_ptr(),
                snapshot == Snapshot::Active,
                0,
            )
        };
        self.rows(status, "a prepared statement")
    }

    /// Runs a statement once.
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

    /// Reads with the latest snapshot, even in a transaction with a fixed snapshot.
    pub fn run_newest(&self, sql: &str, arguments: &[Parameter]) -> Rows<'_> {
        let source = c_string(sql);
        let mut types = types_of(arguments);
        let (mut values, nulls) = split(arguments);
        // SAFETY: the string is NUL-terminated; types, values and nulls have one entry for each argument. The connection frees
        // the plan. SPI registers the snapshot while the plan runs.
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

    /// Like [`Connection::run_newest`], including all writes of this transaction.
    pub fn run_newest_and_own(&self, sql: &str, arguments: &[Parameter]) -> Rows<'_> {
        // SAFETY: makes the writes of the running statement visible, as SPI does before a read-write statement.
        unsafe { pg_sys::CommandCounterIncrement() };
        self.run_newest(sql, arguments)
    }

    /// Runs one or more statements without parameters, such as DDL.
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
        // SAFETY: SPI sets both after each statement. The tuple table lives until the connection ends.
        unsafe { Rows::new(pg_sys::SPI_tuptable, pg_sys::SPI_processed as usize) }
    }
}

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
