//! The background worker that runs jobs (`job_worker/`).
//!
//! It is a dynamic background worker, so keyed need not be in shared_preload_libraries. It connects as the proxy's role,
//! which has few privileges, and switches to `keyed_owner`. No superuser is involved.

use super::caught::Caught;
use super::compat;
use super::guard::{SEARCH_PATH, as_owner_defining, owner};
use super::library_version;
use super::spi::c_string;
use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgMemoryContexts, PgTryBuilder};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_long};

/// The name of the process in `pg_stat_activity` and `ps`.
const NAME: &CStr = c"keyed jobs";
const LIBRARY: &CStr = c"$libdir/keyed";
const FUNCTION: &CStr = c"keyed_work_on_jobs";
/// BGWORKER_SHMEM_ACCESS and BGWORKER_BACKEND_DATABASE_CONNECTION.
const FLAGS: c_int = 1 | 2;
const SIGINT: c_int = 2;
const SIGTERM: c_int = 15;

/// The number of kinds of work. Each has its own workers.
const KINDS: usize = 2;

thread_local! {
    /// For each kind of work, the role of a worker to start at commit.
    static REQUESTED: Cell<[Option<Oid>; KINDS]> = const { Cell::new([None; KINDS]) };
}

/// Starts a worker for this kind of work at commit, with this role. Nothing happens if max_worker_processes is reached.
pub fn start_at_commit(kind: u8, login: Oid) {
    let mut requested = REQUESTED.get();
    requested[usize::from(kind)] = Some(login);
    REQUESTED.set(requested);
}

/// Runs a change that the caller always rolls back, and discards its requests for workers.
pub fn without_starting<R>(body: impl FnOnce() -> R) -> R {
    let requested = REQUESTED.get();
    let result = body();
    REQUESTED.set(requested);
    result
}

/// Starts the requested workers at the end of a transaction. It must not raise errors, because the transaction has already
/// committed.
pub(super) fn transaction_ended(is_committed: bool) {
    let requested = REQUESTED.take();
    for (kind, role) in requested.into_iter().enumerate() {
        if let Some(role) = role.filter(|_| is_committed) {
            register(kind as u8, role);
        }
    }
}

fn register(kind: u8, role: Oid) {
    let mut worker = pg_sys::BackgroundWorker {
        bgw_flags: FLAGS,
        bgw_start_time: pg_sys::BgWorkerStartTime::BgWorkerStart_RecoveryFinished,
        bgw_restart_time: pg_sys::BGW_NEVER_RESTART,
        // SAFETY: reads a session variable.
        bgw_main_arg: Datum::from(unsafe { pg_sys::MyDatabaseId }),
        ..pg_sys::BackgroundWorker::default()
    };
    write(&mut worker.bgw_name, NAME.to_bytes());
    write(&mut worker.bgw_type, NAME.to_bytes());
    write(&mut worker.bgw_library_name, LIBRARY.to_bytes());
    write(&mut worker.bgw_function_name, FUNCTION.to_bytes());
    let [a, b, c, d] = role.to_u32().to_ne_bytes();
    write(&mut worker.bgw_extra, &[a, b, c, d, kind]);
    // SAFETY: the registration is complete. A failure is ignored.
    unsafe { pg_sys::RegisterDynamicBackgroundWorker(&mut worker, std::ptr::null_mut()) };
}

fn write(field: &mut [c_char], bytes: &[u8]) {
    field.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from as c_char);
}

/// Connects a new worker process to its database and switches to the owner. Returns the kind of its work.
pub fn begin(argument: Datum) -> u8 {
    // SAFETY: called once, at the start of the process, as PostgreSQL requires of a worker. An error outside a transaction
    // ends the process.
    unsafe {
        compat::on_signal(SIGTERM, request_exit);
        pg_sys::BackgroundWorkerUnblockSignals();
        let extra = (*pg_sys::MyBgworkerEntry).bgw_extra;
        let [a, b, c, d, kind] = std::array::from_fn(|position| extra[position] as u8);
        let role = Oid::from(u32::from_ne_bytes([a, b, c, d]));
        pg_sys::BackgroundWorkerInitializeConnectionByOid(Oid::from(argument.value() as u32), role, 0);
        pg_sys::StartTransactionCommand();
        let owner = owner();
        pg_sys::CommitTransactionCommand();
        pg_sys::SetUserIdAndSecContext(owner, 0);
        for (name, value) in [
            (c"search_path", SEARCH_PATH),
            (c"lock_timeout", c"0"),
            // Since PostgreSQL 17. Index builds have no time limit.
            (c"transaction_timeout", c"0"),
            (c"default_transaction_read_only", c"off"),
            (c"default_transaction_isolation", c"read committed"),
        ] {
            let (context, source) = (pg_sys::GucContext::PGC_USERSET, pg_sys::GucSource::PGC_S_SESSION);
            let is_missing_allowed = true;
            if pg_sys::GetConfigOption(name.as_ptr(), is_missing_allowed, false).is_null() {
                continue;
            }
            pg_sys::SetConfigOption(name.as_ptr(), value.as_ptr(), context, source);
        }
        kind
    }
}

/// Handles SIGTERM like PostgreSQL's `die`, as far as it applies to a worker.
unsafe extern "C-unwind" fn request_exit(_signal: c_int) {
    // SAFETY: sets two flags and a latch, as PostgreSQL's signal handlers do.
    unsafe {
        pg_sys::InterruptPending = 1;
        pg_sys::ProcDiePending = 1;
        pg_sys::SetLatch(pg_sys::MyLatch);
    }
}

/// Runs `body` in its own transaction. An error aborts the transaction and is returned. Only for workers.
pub fn transaction<R>(body: impl FnOnce() -> R) -> Result<R, Box<Caught>> {
    // SAFETY: one complete transaction, as in PostgreSQL's own workers. After an error, the transaction is aborted with all
    // its resources before anything else happens.
    unsafe {
        pg_sys::SetCurrentStatementStartTimestamp();
        let outcome = PgTryBuilder::new(std::panic::AssertUnwindSafe(|| {
            pg_sys::StartTransactionCommand();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
            library_version::check();
            let result = body();
            // A statement that commits internally has popped it.
            if pg_sys::ActiveSnapshotSet() {
                pg_sys::PopActiveSnapshot();
            }
            pg_sys::CommitTransactionCommand();
            Ok(result)
        }))
        .catch_others(|caught| Err(Box::new(caught)))
        .catch_rust_panic(|caught| Err(Box::new(caught)))
        .execute();
        if outcome.is_err() {
            pg_sys::AbortCurrentTransaction();
        }
        pg_sys::pgstat_report_stat(true);
        outcome.map_err(|caught| Caught::new(*caught, Vec::new()))
    }
}

/// Runs a statement that cannot run in a transaction block, such as CREATE INDEX CONCURRENTLY. Only for workers.
pub fn run_alone(sql: &str) -> Result<(), Box<Caught>> {
    let source = c_string(sql);
    let memory = SessionMemory::new();
    transaction(|| {
        as_owner_defining(|| {
            // SAFETY: the statement is parsed and started in a memory context that outlives the transactions that it ends and
            // begins. A utility statement needs no plan. The end of the last transaction switches to another context.
            unsafe {
                pg_sys::MemoryContextSwitchTo(memory.0);
                let statements = pg_sys::pg_parse_query(source.as_ptr());
                if pg_sys::list_length(statements) != 1 {
                    Error::new(Code::Internal, format!("expected one statement: {sql}")).raise();
                }
                let parsed = pg_sys::list_nth(statements, 0).cast::<pg_sys::RawStmt>();
                let plan = PgMemoryContexts::CurrentMemoryContext.palloc0_struct::<pg_sys::PlannedStmt>();
                (*plan).type_ = pg_sys::NodeTag::T_PlannedStmt;
                (*plan).commandType = pg_sys::CmdType::CMD_UTILITY;
                (*plan).utilityStmt = (*parsed).stmt;
                pg_sys::ProcessUtility(
                    plan,
                    source.as_ptr(),
                    false,
                    pg_sys::ProcessUtilityContext::PROCESS_UTILITY_TOPLEVEL,
                    std::ptr::null_mut(),
                    std::ptr::null_mut(),
                    pg_sys::None_Receiver,
                    std::ptr::null_mut(),
                );
            }
        });
    })
}

/// A memory context that outlives transactions.
struct SessionMemory(pg_sys::MemoryContext);

impl SessionMemory {
    fn new() -> SessionMemory {
        // SAFETY: a new child of TopMemoryContext, which lives as long as the process.
        unsafe {
            let (name, initial) = (c"keyed statement", 8 << 10);
            let max = pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize;
            SessionMemory(pg_sys::AllocSetContextCreateInternal(
                pg_sys::TopMemoryContext,
                name.as_ptr(),
                0,
                initial,
                max,
            ))
        }
    }
}

impl Drop for SessionMemory {
    fn drop(&mut self) {
        // SAFETY: it is dropped after the end of the transaction, which has switched to another context.
        unsafe { pg_sys::MemoryContextDelete(self.0) };
    }
}

/// Shows a string as the worker's query in `pg_stat_activity`.
pub fn show_activity(text: &str) {
    let text = c_string(text);
    // SAFETY: the string is NUL-terminated and copied.
    unsafe { pg_sys::pgstat_report_activity(pg_sys::BackendState::STATE_RUNNING, text.as_ptr()) };
}

/// Sleeps until the timeout or a signal.
pub fn sleep(milliseconds: c_long) {
    // SAFETY: the latch is this process's own.
    unsafe {
        let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
        pg_sys::WaitLatch(pg_sys::MyLatch, events as c_int, milliseconds, pg_sys::PG_WAIT_EXTENSION);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
}

/// Exits if the postmaster has died, like any waiting server process.
pub fn exit_on_postmaster_death() {
    let events = pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    // SAFETY: the timeout is 0. Without WL_LATCH_SET, the latch is not used.
    unsafe { pg_sys::WaitLatch(std::ptr::null_mut(), events as c_int, 0, pg_sys::PG_WAIT_EXTENSION) };
}

/// Cancels the statement of a worker.
pub fn cancel(process: i32) {
    unsafe extern "C" {
        fn kill(process: c_int, signal: c_int) -> c_int;
    }
    // SAFETY: checks that the process is a backend of this server, and sends it the signal that cancels a statement.
    unsafe {
        if !pg_sys::BackendPidGetProc(process).is_null() {
            kill(process, SIGINT);
        }
    }
}

/// Whether this server is in recovery. A standby is read-only and starts no workers of keyed.
pub fn is_standby() -> bool {
    // SAFETY: reads a server variable.
    unsafe { pg_sys::RecoveryInProgress() }
}

/// Declares the main function of a background worker. It gets the kind of work.
macro_rules! background_worker {
    ($(#[$doc:meta])* $name:ident => $body:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// Only PostgreSQL calls it, once, at the beginning of a background worker.
        #[allow(unsafe_code, reason = "PostgreSQL finds the function by its name")]
        #[unsafe(no_mangle)]
        #[pgrx::pg_guard]
        pub unsafe extern "C-unwind" fn $name(argument: pgrx::pg_sys::Datum) {
            let body: fn(u8) = $body;
            body($crate::postgres::worker::begin(argument));
        }
    };
}
pub(crate) use background_worker;
