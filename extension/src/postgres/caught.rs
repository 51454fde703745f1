//! Caught errors of PostgreSQL.
//!
//! An error of a statement is caught only in a subtransaction (`guard::subtransaction`, `guard::attempt`). It becomes a
//! value only if a handler accepts it ([`Attempt::catch`]). Errors of the session or the server, such as a cancellation or a
//! deadlock, are passed only to handlers that name their SQLSTATE.

use pgrx::pg_sys::panic::CaughtError;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};

/// A caught error of PostgreSQL.
#[derive(Debug)]
pub struct Caught {
    /// Its SQLSTATE, or XX000 if pgrx does not know it.
    pub state: PgSqlErrorCode,
    /// Its message.
    pub message: String,
    /// Its DETAIL.
    pub detail: Option<String>,
    /// Its HINT.
    pub hint: Option<String>,
    /// The packed SQLSTATE, including user-defined ones.
    packed: i32,
    index: Option<Index>,
    caught: CaughtError,
}

/// Fields of an error report that pgrx drops.
pub(super) struct Reported {
    message: String,
    packed: i32,
    index: Option<Index>,
}

/// A unique index that rejected a row.
#[derive(Debug)]
struct Index {
    schema: String,
    name: String,
}

/// The kind of an error, by its SQLSTATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// 22: data exception.
    Data,
    /// 23: integrity constraint violation.
    IntegrityConstraint,
    /// 53400: a quota.
    Quota,
    /// 54: program limit exceeded.
    ProgramLimit,
    /// A rejection by a trigger, a privilege or a view, or with a user-defined SQLSTATE.
    Statement,
    /// Errors of the session, the server, other sessions or code.
    Other,
}

/// SQLSTATE classes of rejected writes: triggered action exception, case not found, cardinality violation, triggered data
/// change violation, WITH CHECK OPTION violation, and PL/pgSQL error.
const OF_STATEMENT: [&str; 6] = ["09", "20", "21", "27", "44", "P0"];

impl Caught {
    /// Combines an error from pgrx with the reports that were made while it was caught.
    pub(super) fn new(caught: CaughtError, reported: Vec<Reported>) -> Box<Caught> {
        use CaughtError::{ErrorReport, PostgresError, RustPanic};
        let (PostgresError(report) | ErrorReport(report) | RustPanic { ereport: report, .. }) = &caught;
        let (state, message) = (report.sql_error_code(), report.message().to_owned());
        let (detail, hint) = (report.detail().map(str::to_owned), report.hint().map(str::to_owned));
        // PL/pgSQL may have re-raised an earlier error.
        let is_same = |it: &Reported| known(it.packed) == state && it.message == message;
        let reported = reported.into_iter().rfind(is_same);
        let (packed, index) = reported.map_or((state as i32, None), |it| (it.packed, it.index));
        Box::new(Caught { state, message, detail, hint, packed, index, caught })
    }

    /// Its class.
    pub fn class(&self) -> Class {
        let state = unpacked(self.packed);
        match &state[..2] {
            "22" => Class::Data,
            "23" => Class::IntegrityConstraint,
            "54" => Class::ProgramLimit,
            _ if state == "53400" => Class::Quota,
            class if OF_STATEMENT.contains(&class) || state == "42501" => Class::Statement,
            _ if keyed_errors::is_user_defined(&state) => Class::Statement,
            _ => Class::Other,
        }
    }

    /// The unique index that rejected a row.
    pub fn unique_index(&self) -> Option<Oid> {
        let Index { schema, name } = self.index.as_ref()?;
        super::relation::table_oid(schema, name)
    }

    /// Whether its SQLSTATE is one of these.
    pub fn is_any_of(&self, states: &[PgSqlErrorCode]) -> bool {
        states.contains(&self.state)
    }
}

/// The outcome of a body in a subtransaction. If an error was raised, the subtransaction was rolled back.
///
/// The error becomes a value only if a handler accepts it; otherwise it is raised again. An error of the session or the
/// server, such as a cancellation or a deadlock, is passed only to a handler that names its SQLSTATE
/// ([`Attempt::catch_also`]).
#[must_use = "an error of PostgreSQL would be lost"]
pub struct Attempt<R>(Result<R, Box<Caught>>);

impl<R> Attempt<R> {
    pub(super) fn new(outcome: Result<R, Box<Caught>>) -> Attempt<R> {
        Attempt(outcome)
    }

    /// The result of the body. Any error is raised again. Use this if the subtransaction serves only to roll back.
    pub fn or_rethrow(self) -> R {
        self.0.unwrap_or_else(|caught| caught.caught.rethrow())
    }

    /// The result of the body, or the handler's value for an error. Errors for which the handler returns `None`, and errors
    /// of the session or the server, are raised again.
    pub fn catch<E>(self, handle: impl FnOnce(&Caught) -> Option<E>) -> Result<R, E> {
        self.catch_also(&[], handle)
    }

    /// Like [`Attempt::catch`], with a handler that also gets errors of the session or the server with these SQLSTATEs.
    pub fn catch_also<E>(
        self,
        states: &[PgSqlErrorCode],
        handle: impl FnOnce(&Caught) -> Option<E>,
    ) -> Result<R, E> {
        self.0.map_err(|caught| {
            let is_offered = is_of_statement(&unpacked(caught.packed)) || caught.is_any_of(states);
            is_offered.then(|| handle(&caught)).flatten().unwrap_or_else(|| caught.caught.rethrow())
        })
    }
}

/// Whether an error with this SQLSTATE belongs to a statement. Other errors concern the connection, the transaction,
/// concurrent transactions, resources, locks, cancellation, shutdown, the system, or internal errors.
fn is_of_statement(state: &str) -> bool {
    match &state[..2] {
        "08" | "25" | "40" | "57" | "58" | "F0" | "XX" => false,
        // Quotas.
        "53" => state == "53400",
        "55" => state != "55P03",
        _ => true,
    }
}

/// The number of reports that are kept. A function can catch any number of errors.
const MAX_REPORTS: usize = 8;

/// Runs `body`, and collects PostgreSQL's error reports.
pub(super) fn watched<R>(body: impl FnOnce() -> R) -> (R, Vec<Reported>) {
    let reported = RefCell::new(Vec::new());
    // SAFETY: reads a session variable.
    let previous = unsafe { pg_sys::error_context_stack };
    let argument = (&raw const reported).cast_mut().cast();
    let mut callback = pg_sys::ErrorContextCallback { previous, callback: Some(note), arg: argument };
    // SAFETY: PostgreSQL calls the callback with its argument while `body` runs. Both live until this function returns.
    unsafe { pg_sys::error_context_stack = &raw mut callback };
    let result = body();
    // SAFETY: removes the entry that was added above. `body` catches its errors, so its own entries are already removed.
    unsafe { pg_sys::error_context_stack = previous };
    (result, reported.into_inner())
}

/// Records the fields of an error that pgrx drops.
///
/// # Safety
/// PostgreSQL calls it while it creates a report, with the argument from [`watched`].
#[pg_guard]
unsafe extern "C-unwind" fn note(argument: *mut c_void) {
    // SAFETY: a report is being created.
    let packed = unsafe { pg_sys::geterrcode() };
    let is_unique = packed == PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION as i32;
    if !is_unique && packed == known(packed) as i32 {
        return;
    }
    // SAFETY: a report is being created. It is copied into the transaction's memory context, because the current one is
    // ErrorContext. Its strings are NUL-terminated or null.
    let reported = unsafe {
        let context = pg_sys::MemoryContextSwitchTo(pg_sys::CurTransactionContext);
        let report = pg_sys::CopyErrorData();
        let name = text((*report).schema_name).zip(text((*report).constraint_name));
        let index = name.filter(|_| is_unique).map(|(schema, name)| Index { schema, name });
        let message = text((*report).message).unwrap_or_default();
        pg_sys::FreeErrorData(report);
        pg_sys::MemoryContextSwitchTo(context);
        Reported { message, packed, index }
    };
    // pgrx reports an error again, without the index, when it passes through Rust code.
    if is_unique && reported.index.is_none() {
        return;
    }
    // SAFETY: the argument comes from `watched`, which is still running in the same thread.
    let mut reports = unsafe { &*argument.cast::<RefCell<Vec<Reported>>>() }.borrow_mut();
    if reports.len() == MAX_REPORTS {
        reports.remove(0);
    }
    reports.push(reported);
}

/// # Safety
/// The string is NUL-terminated or null.
unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller's.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The SQLSTATE as an enum of pgrx: XX000 for a user-defined one.
fn known(state: i32) -> PgSqlErrorCode {
    PgSqlErrorCode::from(state)
}

/// The five characters of a packed SQLSTATE: six bits for each, the first in the lowest bits.
fn unpacked(state: i32) -> String {
    (0..5).map(|position| char::from(b'0' + ((state >> (6 * position)) & 0x3f) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn session_and_server_errors_do_not_belong_to_a_statement() {
        let others = [
            PgSqlErrorCode::ERRCODE_QUERY_CANCELED,
            PgSqlErrorCode::ERRCODE_ADMIN_SHUTDOWN,
            PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
            PgSqlErrorCode::ERRCODE_DISK_FULL,
            PgSqlErrorCode::ERRCODE_INTERNAL_ERROR,
            PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
            PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
            PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED,
            PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE,
            PgSqlErrorCode::ERRCODE_IO_ERROR,
            PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION,
            PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE,
        ];
        for state in others {
            assert!(!is_of_statement(&unpacked(state as i32)), "{state:?}");
        }
        let own = Code::ALL.iter().filter(|code| code.status() < 500).filter_map(|code| code.sqlstate());
        for state in own.chain(["23503", "22P02", "42P01", "P0001", "K0001"]) {
            assert!(is_of_statement(state), "{state}");
        }
    }

    #[test]
    fn sqlstate_is_unpacked() {
        assert_eq!(unpacked(PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION as i32), "23505");
        assert_eq!(unpacked(PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED as i32), "40P01");
        assert_eq!(unpacked(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR as i32), "XX000");
    }
}
