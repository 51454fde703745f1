//! Runs code as another role, and in subtransactions.
//!
//! Every function that reads or writes records checks its caller, then runs as `keyed_owner`. The search path of each
//! statement is pinned, even if it runs as the caller ([`super::spi::connected`]). So no name resolves in a schema that a
//! user can write to.
//!
//! The event trigger `keyed_guard_definition` rejects DDL that runs as `keyed_owner` outside [`as_owner_defining`]. An
//! attacker who can run statements as the owner cannot create code that a superuser would run.
//! docs/explanation/threat-model.md lists everything that a caller could replace.

use super::caught::{self, Attempt, Caught};
use super::role;
use super::session_settings::OverriddenSettings;
use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use pgrx::PgTryBuilder;
use pgrx::pg_sys::{self, Oid};
use std::cell::Cell;
use std::ffi::CStr;
use std::thread::LocalKey;

/// The only schemas in which unqualified names of keyed's statements resolve.
pub(super) const SEARCH_PATH: &CStr = c"pg_catalog, pg_temp";

/// The same search path, as the proxy writes it in its connection options.
const SEARCH_PATH_OF_PROXY: &CStr = c"pg_catalog,pg_temp";

/// The restrictions on guarded statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Confinement {
    /// No SET ROLE and no temporary objects, so that users' triggers cannot abuse the owner's privileges.
    Data,
    /// DDL, which requires some of these operations.
    Definition,
}

/// Reads and writes records as `keyed_owner`, with the search path pinned.
///
/// The caller's privileges must have been checked, and the statement must contain the caller's scope. If an error unwinds,
/// the end of the (sub)transaction restores role and search path.
pub fn as_owner<R>(body: impl FnOnce() -> R) -> R {
    run(Confinement::Data, body)
}

/// Runs DDL as `keyed_owner`, with the search path pinned.
pub fn as_owner_defining<R>(body: impl FnOnce() -> R) -> R {
    run(Confinement::Definition, body)
}

/// Runs statements as the caller, with the search path pinned and [settings overridden](HeldSettings). A trigger or the role
/// of a worker may have set them.
pub(super) fn with_pinned_path<R>(body: impl FnOnce() -> R) -> R {
    let _settings = OverriddenSettings::begin();
    let level = begin_settings();
    if !search_path_is_pinned() {
        set(c"search_path", SEARCH_PATH);
    }
    let result = body();
    end_settings(level);
    result
}

/// The OID of `keyed_owner`. Raises an error if it does not exist.
pub fn owner() -> Oid {
    role::find(role::OWNER).unwrap_or_else(|| not_set_up().raise())
}

/// The error of a database in which [`crate::define::setup::init`] has not run.
pub fn not_set_up() -> Error {
    Error::new(Code::Internal, "keyed is not set up in this database")
        .hint("Run as a superuser: SELECT keyed.init().")
}

/// The error of a database whose state is older than this library.
pub fn not_migrated() -> Error {
    Error::new(Code::Internal, "the state of keyed in this database is older than the extension")
        .hint("Run SELECT keyed.migrate().")
}

thread_local! {
    /// The nesting depth of guarded code.
    static OWN_WORK: Cell<u32> = const { Cell::new(0) };
    /// The nesting depth of [`as_owner_defining`].
    static DEFINING: Cell<u32> = const { Cell::new(0) };
}

/// Whether guarded code is running.
pub fn is_own_work() -> bool {
    OWN_WORK.get() > 0
}

/// Whether DDL that runs as the owner is keyed's own, or was entered by a superuser after SET ROLE.
pub fn is_defining() -> bool {
    // SAFETY: reads a session variable.
    let is_inside_function = unsafe { pg_sys::InLocalUserIdChange() };
    DEFINING.get() > 0 || !is_inside_function && role::is_superuser(role::session())
}

/// Increments a nesting depth until this is dropped, also during unwinding.
pub(super) struct Counted(&'static LocalKey<Cell<u32>>);

impl Counted {
    pub(super) fn begin(counter: &'static LocalKey<Cell<u32>>) -> Counted {
        counter.set(counter.get() + 1);
        Counted(counter)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

fn run<R>(confinement: Confinement, body: impl FnOnce() -> R) -> R {
    let _working = Counted::begin(&OWN_WORK);
    let _defining = (confinement == Confinement::Definition).then(|| Counted::begin(&DEFINING));
    let owner = owner();
    let (mut role, mut context) = (Oid::INVALID, 0);
    // SAFETY: reads two session variables.
    unsafe { pg_sys::GetUserIdAndSecContext(&mut role, &mut context) };
    let path_is_pinned = search_path_is_pinned();
    if role == owner && path_is_pinned {
        return body();
    }
    // Always, so that a setting from a user's trigger does not last until the next request of the session.
    let level = begin_settings();
    if !path_is_pinned {
        set(c"search_path", SEARCH_PATH);
    }
    let confined = match confinement {
        Confinement::Data => pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION,
        Confinement::Definition => pg_sys::SECURITY_LOCAL_USERID_CHANGE,
    };
    // SAFETY: both are restored below, or at the end of the (sub)transaction if an error unwinds.
    unsafe { pg_sys::SetUserIdAndSecContext(owner, context | confined as i32) };
    let result = body();
    end_settings(level);
    // SAFETY: see above.
    unsafe { pg_sys::SetUserIdAndSecContext(role, context) };
    result
}

fn search_path_is_pinned() -> bool {
    // SAFETY: the variable points to the value of search_path, a NUL-terminated string.
    unsafe {
        let path = pg_sys::namespace_search_path;
        !path.is_null() && [SEARCH_PATH, SEARCH_PATH_OF_PROXY].contains(&CStr::from_ptr(path))
    }
}

/// Begins a nesting level of settings. Its end visits all settings before 16, but only if one was changed.
fn begin_settings() -> i32 {
    // SAFETY: the caller ends the level, or the end of the (sub)transaction does if an error unwinds.
    unsafe { pg_sys::NewGUCNestLevel() }
}

/// Ends a nesting level, and restores its settings.
fn end_settings(level: i32) {
    // SAFETY: `begin_settings` began the level, and inner levels have ended.
    unsafe { pg_sys::AtEOXact_GUC(false, level) };
}

/// Sets a setting until the current nesting level ends.
fn set(name: &CStr, value: &CStr) {
    // SAFETY: both strings are NUL-terminated. GUC_ACTION_SAVE limits the change to the level.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
}

/// Runs `body` with settings that any user can change.
pub fn with_settings<R>(settings: &[(&CStr, &CStr)], body: impl FnOnce() -> R) -> R {
    let level = begin_settings();
    for (name, value) in settings {
        set(name, value);
    }
    let result = body();
    end_settings(level);
    result
}

/// Runs `body` in a subtransaction. An error rolls it back, and the caller selects the errors that it handles.
///
/// This is the only sound way to continue after an error of a statement. Without it, a caught unique violation left two live
/// rows with one primary key.
pub fn subtransaction<R>(body: impl FnOnce() -> R) -> Attempt<R> {
    subtransaction_if(body, |_| true)
}

/// Like [`subtransaction`], for a body that can also return an error, which rolls back too.
pub fn attempt<R, E>(body: impl FnOnce() -> Result<R, E>) -> Attempt<Result<R, E>> {
    subtransaction_if(body, Result::is_ok)
}

fn subtransaction_if<R>(body: impl FnOnce() -> R, keep: impl FnOnce(&R) -> bool) -> Attempt<R> {
    // SAFETY: as in PL/pgSQL's exception block. The memory context and the resource owner are restored in both cases, and the
    // subtransaction is either released or rolled back.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let (outcome, reported) = caught::watched(|| {
            PgTryBuilder::new(std::panic::AssertUnwindSafe(|| Ok(body())))
                .catch_others(|caught| Err(Box::new(caught)))
                .catch_rust_panic(|caught| Err(Box::new(caught)))
                .execute()
        });
        match &outcome {
            Ok(result) if keep(result) => pg_sys::ReleaseCurrentSubTransaction(),
            Ok(_) | Err(_) => {
                pg_sys::MemoryContextSwitchTo(context);
                pg_sys::RollbackAndReleaseCurrentSubTransaction();
            }
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        Attempt::new(outcome.map_err(|caught| Caught::new(*caught, reported)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_path_of_the_proxy_is_pinned() {
        let settings = include_str!("../../../proxy/src/settings/mod.rs");
        assert!(settings.contains(&format!("-c search_path={}\"", SEARCH_PATH_OF_PROXY.to_string_lossy())));
    }
}
