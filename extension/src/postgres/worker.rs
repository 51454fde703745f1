//! A background worker of PostgreSQL: a server process without a client, for work in its own transactions. It runs
//! jobs (`job_worker/`).
//!
//! It is a dynamic worker, so nothing has to be preloaded. It logs in as the proxy's role, which has few privileges,
//! and then becomes the owner: no superuser is involved.

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

/// What the process is called in `pg_stat_activity` and by `ps`.
const NAME: &CStr = c"keyed jobs";
const LIBRARY: &CStr = c"$libdir/keyed";
const FUNCTION: &CStr = c"keyed_work_on_jobs";
/// BGWORKER_SHMEM_ACCESS and BGWORKER_BACKEND_DATABASE_CONNECTION.
const FLAGS: c_int = 1 | 2;
/// The number of the signal that cancels a statement.
const SIGINT: c_int = 2;
/// The number of the signal that ends a process in order.
const SIGTERM: c_int = 15;

/// How many kinds of work there are: each has workers of its own.
const KINDS: usize = 2;

thread_local! {
    /// The role as which a worker for each kind of work is to log in once this transaction is committed.
    static WANTED: Cell<[Option<Oid>; KINDS]> = const { Cell::new([None; KINDS]) };
}

/// Has a worker for this kind of work begin as soon as this transaction is committed, which logs in as this role. Where
/// the server has no room for one, nothing happens.
pub fn start_at_commit(kind: u8, login: Oid) {
    let mut wanted = WANTED.get();
    wanted[usize::from(kind)] = Some(login);
    WANTED.set(wanted);
}

/// Runs a change that the caller undoes in any case: the workers that it asks for are not started.
pub fn without_starting<R>(body: impl FnOnce() -> R) -> R {
    let wanted = WANTED.get();
    let result = body();
    WANTED.set(wanted);
    result
}

/// The transaction has ended. Nothing in here may fail, for what is committed cannot be undone.
pub(super) fn transaction_ended(is_committed: bool) {
    let wanted = WANTED.take();
    for (kind, role) in wanted.into_iter().enumerate() {
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
        // SAFETY: reads a variable of the session.
        bgw_main_arg: Datum::from(unsafe { pg_sys::MyDatabaseId }),
        ..pg_sys::BackgroundWorker::default()
    };
    write(&mut worker.bgw_name, NAME.to_bytes());
    write(&mut worker.bgw_type, NAME.to_bytes());
    write(&mut worker.bgw_library_name, LIBRARY.to_bytes());
    write(&mut worker.bgw_function_name, FUNCTION.to_bytes());
    let [a, b, c, d] = role.to_u32().to_ne_bytes();
    write(&mut worker.bgw_extra, &[a, b, c, d, kind]);
    // SAFETY: the description is complete; whether there was room is not asked for.
    unsafe { pg_sys::RegisterDynamicBackgroundWorker(&mut worker, std::ptr::null_mut()) };
}

fn write(field: &mut [c_char], bytes: &[u8]) {
    field.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from as c_char);
}

/// Makes this process, which the server has just started as a worker, a session of the owner in the database that it was
/// started for. Answers the kind of its work.
pub fn begin(argument: Datum) -> u8 {
    // SAFETY: called once, at the beginning of the process, as PostgreSQL wants it of a worker. Outside of transactions no
    // error is caught: it ends the process.
    unsafe {
        compat::on_signal(SIGTERM, end_in_order);
        pg_sys::BackgroundWorkerUnblockSignals();
        let extra = (*pg_sys::MyBgworkerEntry).bgw_extra;
        let [a, b, c, d, kind] = std::array::from_fn(|place| extra[place] as u8);
        let role = Oid::from(u32::from_ne_bytes([a, b, c, d]));
        pg_sys::BackgroundWorkerInitializeConnectionByOid(Oid::from(argument.value() as u32), role, 0);
        pg_sys::StartTransactionCommand();
        let owner = owner();
        pg_sys::CommitTransactionCommand();
        pg_sys::SetUserIdAndSecContext(owner, 0);
        for (name, value) in [
            (c"search_path", SEARCH_PATH),
            (c"lock_timeout", c"0"),
            // PostgreSQL 17 and later: the phases of an index take as long as they take.
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

/// What PostgreSQL's own handler does that is of no use to a worker's connection is left out.
unsafe extern "C-unwind" fn end_in_order(_signal: c_int) {
    // SAFETY: sets two flags and a latch, as signal handlers of PostgreSQL do.
    unsafe {
        pg_sys::InterruptPending = 1;
        pg_sys::ProcDiePending = 1;
        pg_sys::SetLatch(pg_sys::MyLatch);
    }
}

/// Runs `body` in a transaction of its own; only in a worker. An error undoes it and comes back as a value.
pub fn transaction<R>(body: impl FnOnce() -> R) -> Result<R, Box<Caught>> {
    // SAFETY: as PostgreSQL's own workers do: one transaction from its beginning to its end, and after an error the whole
    // of it is rolled back, with all its resources, before anything else happens.
    unsafe {
        pg_sys::SetCurrentStatementStartTimestamp();
        let outcome = PgTryBuilder::new(std::panic::AssertUnwindSafe(|| {
            pg_sys::StartTransactionCommand();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
            library_version::check();
            let result = body();
            // A statement that commits by itself has taken it away.
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

/// Runs a definition that PostgreSQL allows only outside of a transaction block, such as CREATE INDEX CONCURRENTLY; only in
/// a worker.
pub fn run_alone(sql: &str) -> Result<(), Box<Caught>> {
    let source = c_string(sql);
    let memory = OutlivingMemory::new();
    transaction(|| {
        as_owner_defining(|| {
            // SAFETY: the statement is parsed into memory that outlives the transactions that it ends and begins, and begins
            // in it; a utility statement is its own plan. The end of the last transaction leaves that memory.
            unsafe {
                pg_sys::MemoryContextSwitchTo(memory.0);
                let statements = pg_sys::pg_parse_query(source.as_ptr());
                if pg_sys::list_length(statements) != 1 {
                    Error::new(Code::Internal, format!("not one statement: {sql}")).raise();
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

/// Memory that no end of a transaction frees.
struct OutlivingMemory(pg_sys::MemoryContext);

impl OutlivingMemory {
    fn new() -> OutlivingMemory {
        // SAFETY: a new context below the one that lasts as long as the process.
        unsafe {
            let (name, initial) = (c"keyed statement", 8 << 10);
            let max = pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize;
            OutlivingMemory(pg_sys::AllocSetContextCreateInternal(
                pg_sys::TopMemoryContext,
                name.as_ptr(),
                0,
                initial,
                max,
            ))
        }
    }
}

impl Drop for OutlivingMemory {
    fn drop(&mut self) {
        // SAFETY: it is dropped after the transaction has ended, whose end has left this context.
        unsafe { pg_sys::MemoryContextDelete(self.0) };
    }
}

/// Shows what the worker is about in `pg_stat_activity`.
pub fn show_activity(text: &str) {
    let text = c_string(text);
    // SAFETY: the string is NUL-terminated and copied.
    unsafe { pg_sys::pgstat_report_activity(pg_sys::BackendState::STATE_RUNNING, text.as_ptr()) };
}

/// Sleeps, unless the process is asked to end.
pub fn sleep(milliseconds: c_long) {
    // SAFETY: the latch is this process's own.
    unsafe {
        let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
        pg_sys::WaitLatch(pg_sys::MyLatch, events as c_int, milliseconds, pg_sys::PG_WAIT_EXTENSION);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
}

/// Exits if the postmaster has died, like any waiting process of the server.
pub fn end_without_server() {
    let events = pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
    // SAFETY: waits for no time; without WL_LATCH_SET no latch is looked at.
    unsafe { pg_sys::WaitLatch(std::ptr::null_mut(), events as c_int, 0, pg_sys::PG_WAIT_EXTENSION) };
}

/// Cancels the statement of a worker, identified by a lock that only workers take.
pub fn cancel(process: i32) {
    unsafe extern "C" {
        fn kill(process: c_int, signal: c_int) -> c_int;
    }
    // SAFETY: asks whether it is a process of this server, and sends it the signal that cancels a statement.
    unsafe {
        if !pg_sys::BackendPidGetProc(process).is_null() {
            kill(process, SIGINT);
        }
    }
}

/// Whether this server only follows another: then it writes nothing, and starts no worker of ours.
pub fn is_standby() -> bool {
    // SAFETY: reads a variable of the server.
    unsafe { pg_sys::RecoveryInProgress() }
}

/// Declares what PostgreSQL runs in the process of a background worker: a function of the number that the worker was
/// started with.
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
