//! Errors of PostgreSQL that were survived, and how they become values.
//!
//! An error of a statement is caught only in a subtransaction (`guard::subtransaction`, `guard::attempt`). It becomes
//! a value only where a handler accepts it ([`Attempt::catch`]). A cancellation, a deadlock or another error of the
//! session or the server reaches no handler that does not name its SQLSTATE.

use pgrx::pg_sys::panic::CaughtError;
use pgrx::pg_sys::{self, Oid};
use pgrx::prelude::*;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};

/// An error of PostgreSQL that was survived.
#[derive(Debug)]
pub struct Caught {
    /// Its SQLSTATE, if pgrx knows it; of others, XX000.
    pub state: PgSqlErrorCode,
    /// Its message.
    pub message: String,
    /// Its DETAIL.
    pub detail: Option<String>,
    /// Its HINT.
    pub hint: Option<String>,
    /// The SQLSTATE as PostgreSQL packs it, also one that a user has made up.
    packed: i32,
    index: Option<Index>,
    caught: CaughtError,
}

/// What pgrx drops of an error that PostgreSQL reports.
pub(super) struct Reported {
    message: String,
    packed: i32,
    index: Option<Index>,
}

/// A unique index that refused a row.
#[derive(Debug)]
struct Index {
    schema: String,
    name: String,
}

/// Which kind of error it is, by its SQLSTATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// 22: a value.
    Data,
    /// 23: a constraint.
    IntegrityConstraint,
    /// 53400: a quota.
    Quota,
    /// 54: a limit.
    ProgramLimit,
    /// A refusal of the statement by a trigger, a privilege or a view, or with a user-defined SQLSTATE.
    Statement,
    /// Anything else: the session, the server, other sessions, and faults of code, which are no fault of a value.
    Other,
}

/// The classes of SQLSTATEs by which a statement is refused for what it writes: a triggered action, CASE without a branch,
/// more than one row, a change by the trigger of the row, WITH CHECK OPTION, and PL/pgSQL.
const OF_STATEMENT: [&str; 6] = ["09", "20", "21", "27", "44", "P0"];

impl Caught {
    /// An error as pgrx hands it over, whose statement was undone, and what was reported meanwhile.
    pub(super) fn new(caught: CaughtError, reported: Vec<Reported>) -> Box<Caught> {
        use CaughtError::{ErrorReport, PostgresError, RustPanic};
        let (PostgresError(report) | ErrorReport(report) | RustPanic { ereport: report, .. }) = &caught;
        let (state, message) = (report.sql_error_code(), report.message().to_owned());
        let (detail, hint) = (report.detail().map(str::to_owned), report.hint().map(str::to_owned));
        // PL/pgSQL may have raised an earlier one again.
        let is_this = |it: &Reported| known(it.packed) == state && it.message == message;
        let reported = reported.into_iter().rfind(is_this);
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
            _ if keyed_errors::is_made_up(&state) => Class::Statement,
            _ => Class::Other,
        }
    }

    /// The unique index that refused a row.
    pub fn unique_index(&self) -> Option<Oid> {
        let Index { schema, name } = self.index.as_ref()?;
        super::relation::table_oid(schema, name)
    }

    /// Whether it is one of these, by its SQLSTATE.
    pub fn is_any_of(&self, states: &[PgSqlErrorCode]) -> bool {
        states.contains(&self.state)
    }
}

/// The outcome of a body that ran in a subtransaction. An error of PostgreSQL has undone the work of the body.
///
/// The error becomes a value only where a handler takes it; all others are raised again. An error of the session or the
/// server, such as a cancellation or a deadlock, says nothing about the body, so a handler gets it only where its SQLSTATE
/// is named ([`Attempt::catch_also`]).
#[must_use = "an error of PostgreSQL would be lost"]
pub struct Attempt<R>(Result<R, Box<Caught>>);

impl<R> Attempt<R> {
    pub(super) fn new(outcome: Result<R, Box<Caught>>) -> Attempt<R> {
        Attempt(outcome)
    }

    /// The result of the body. Any error of PostgreSQL is raised again: the subtransaction served to undo, not to catch.
    pub fn or_rethrow(self) -> R {
        self.0.unwrap_or_else(|caught| caught.caught.rethrow())
    }

    /// The result of the body, or what the handler makes of an error of PostgreSQL. One for which the handler returns
    /// `None`, and one of the session or the server, is raised again.
    pub fn catch<E>(self, handle: impl FnOnce(&Caught) -> Option<E>) -> Result<R, E> {
        self.catch_also(&[], handle)
    }

    /// Like [`Attempt::catch`], for a handler that also gets errors of the session or the server with these SQLSTATEs.
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

/// Whether an error with this SQLSTATE is about a statement. Others are about the connection, the transaction, other
/// transactions, resources, locks, cancellation and shutdown, the system, and faults of code.
fn is_of_statement(state: &str) -> bool {
    match &state[..2] {
        "08" | "25" | "40" | "57" | "58" | "F0" | "XX" => false,
        // A quota.
        "53" => state == "53400",
        "55" => state != "55P03",
        _ => true,
    }
}

/// How many reports are kept; a function may catch any number of errors.
const MAX_REPORTS: usize = 8;

/// Runs `body`, and says what PostgreSQL reported meanwhile.
pub(super) fn watched<R>(body: impl FnOnce() -> R) -> (R, Vec<Reported>) {
    let reported = RefCell::new(Vec::new());
    // SAFETY: reads a variable of the session.
    let previous = unsafe { pg_sys::error_context_stack };
    let argument = (&raw const reported).cast_mut().cast();
    let mut callback = pg_sys::ErrorContextCallback { previous, callback: Some(note), arg: argument };
    // SAFETY: PostgreSQL calls the function with what it points to while `body` runs, and both live until this returns.
    unsafe { pg_sys::error_context_stack = &raw mut callback };
    let result = body();
    // SAFETY: takes away what was added above. `body` catches its errors, and what it added is gone.
    unsafe { pg_sys::error_context_stack = previous };
    (result, reported.into_inner())
}

/// Notes what pgrx will drop of an error.
///
/// # Safety
/// PostgreSQL calls it while it makes a report, with the argument that [`watched`] gave it.
#[pg_guard]
unsafe extern "C-unwind" fn note(argument: *mut c_void) {
    // SAFETY: a report is being made.
    let packed = unsafe { pg_sys::geterrcode() };
    let is_unique = packed == PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION as i32;
    if !is_unique && packed == known(packed) as i32 {
        return;
    }
    // SAFETY: a report is being made. It is copied into memory of the transaction, since the current one is that of errors;
    // its texts are NUL-terminated or null.
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
    // Rust that an error passes through reports it again, without its index.
    if is_unique && reported.index.is_none() {
        return;
    }
    // SAFETY: the argument is that of `watched`, which is still running, in this same thread.
    let mut reports = unsafe { &*argument.cast::<RefCell<Vec<Reported>>>() }.borrow_mut();
    if reports.len() == MAX_REPORTS {
        reports.remove(0);
    }
    reports.push(reported);
}

/// # Safety
/// The text is NUL-terminated or null.
unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller's.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The SQLSTATE as pgrx knows it: XX000 for one that a user has made up.
fn known(state: i32) -> PgSqlErrorCode {
    PgSqlErrorCode::from(state)
}

/// The five characters of a SQLSTATE that PostgreSQL has packed: six bits for each, the first in the lowest.
fn unpacked(state: i32) -> String {
    (0..5).map(|place| char::from(b'0' + ((state >> (6 * place)) & 0x3f) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn errors_of_session_and_server_are_not_of_a_statement() {
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
    fn a_sqlstate_is_unpacked() {
        assert_eq!(unpacked(PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION as i32), "23505");
        assert_eq!(unpacked(PgSqlErrorCode::ERRCODE_T_R_DEADLOCK_DETECTED as i32), "40P01");
        assert_eq!(unpacked(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR as i32), "XX000");
    }
}
