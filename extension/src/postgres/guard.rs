//! Runs code as another role, and in subtransactions.
//!
//! Every function that touches records checks its caller, then runs as `keyed_owner`. Every statement has the search
//! path pinned, also one that runs as the caller ([`super::spi::connected`]). Nothing inside resolves a name in a
//! schema that a user can write to.
//!
//! `keyed_owner` defines nothing on its own. The event trigger `keyed_guard_definition` rejects definitions that run
//! as the owner outside of [`as_owner_defining`]. So a breach of the owner cannot plant code that a superuser runs.
//! docs/explanation/threat-model.md lists everything that a caller could replace.

use super::caught::{self, Attempt, Caught};
use super::role;
use super::session_settings::HeldSettings;
use crate::error::{Code, Error};
use crate::postgres::raise::Raise;
use pgrx::PgTryBuilder;
use pgrx::pg_sys::{self, Oid};
use std::cell::Cell;
use std::ffi::CStr;
use std::thread::LocalKey;

/// The only schemas in which a name inside our statements may be found without being spelled out.
pub(super) const SEARCH_PATH: &CStr = c"pg_catalog, pg_temp";

/// The same as the proxy writes it, in the options of a connection.
const SEARCH_PATH_OF_PROXY: &CStr = c"pg_catalog,pg_temp";

/// What the guarded statements do, which decides how much they are confined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Confinement {
    /// No SET ROLE and no temporary objects, so that triggers of others cannot abuse the owner's privileges.
    Data,
    /// Data definition, which needs some of that.
    Definition,
}

/// Reads and writes records as the role that owns the tables, with the search path pinned.
///
/// The caller's rights must have been checked, and what the caller may see must be written into the statement.
/// When an error unwinds, the end of the (sub)transaction restores both.
pub fn as_owner<R>(body: impl FnOnce() -> R) -> R {
    run(Confinement::Data, body)
}

/// Defines tables as the role that owns them, with the search path pinned.
pub fn as_owner_defining<R>(body: impl FnOnce() -> R) -> R {
    run(Confinement::Definition, body)
}

/// Runs statements as the caller, with the search path pinned and the [settings held](HeldSettings) that a trigger within
/// a function, or the role of a worker, may have set.
pub(super) fn with_pinned_path<R>(body: impl FnOnce() -> R) -> R {
    let _settings = HeldSettings::begin();
    let level = begin_settings();
    if !search_path_is_pinned() {
        set(c"search_path", SEARCH_PATH);
    }
    let result = body();
    end_settings(level);
    result
}

/// The OID of the owner; the error says how to create it.
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
    /// How many of our own functions are at work, one inside the other.
    static OWN_WORK: Cell<u32> = const { Cell::new(0) };
    /// How many of them define objects.
    static DEFINING: Cell<u32> = const { Cell::new(0) };
}

/// Whether one of our functions is at work.
pub fn is_own_work() -> bool {
    OWN_WORK.get() > 0
}

/// Whether a definition that runs as the owner is one of ours, or was typed by a superuser after SET ROLE.
pub fn is_defining() -> bool {
    // SAFETY: reads a variable of the session.
    let is_inside_function = unsafe { pg_sys::InLocalUserIdChange() };
    DEFINING.get() > 0 || !is_inside_function && role::is_superuser(role::session())
}

/// Counts what is going on, until it is dropped: also when an error unwinds.
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
    // SAFETY: reads two variables of the session.
    unsafe { pg_sys::GetUserIdAndSecContext(&mut role, &mut context) };
    let path_is_pinned = search_path_is_pinned();
    if role == owner && path_is_pinned {
        return body();
    }
    // Always: what triggers of others set within must not reach the next request of the session.
    let level = begin_settings();
    if !path_is_pinned {
        set(c"search_path", SEARCH_PATH);
    }
    let confined = match confinement {
        Confinement::Data => pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION,
        Confinement::Definition => pg_sys::SECURITY_LOCAL_USERID_CHANGE,
    };
    // SAFETY: the pair is restored below, and by the end of the (sub)transaction when an error unwinds.
    unsafe { pg_sys::SetUserIdAndSecContext(owner, context | confined as i32) };
    let result = body();
    end_settings(level);
    // SAFETY: see above.
    unsafe { pg_sys::SetUserIdAndSecContext(role, context) };
    result
}

fn search_path_is_pinned() -> bool {
    // SAFETY: the variable points to the current value of search_path, a NUL-terminated string.
    unsafe {
        let path = pg_sys::namespace_search_path;
        !path.is_null() && [SEARCH_PATH, SEARCH_PATH_OF_PROXY].contains(&CStr::from_ptr(path))
    }
}

/// Begins a level of settings: what is set from here on ends with it. It costs nothing as long as nothing is set: only then does its
/// end walk over all settings (before 16).
fn begin_settings() -> i32 {
    // SAFETY: counts levels; the caller ends this one, or the end of the (sub)transaction does when an error unwinds.
    unsafe { pg_sys::NewGUCNestLevel() }
}

/// Ends it: whatever was set within returns to what it was.
fn end_settings(level: i32) {
    // SAFETY: the level was begun by `begin_settings`, and those within have ended.
    unsafe { pg_sys::AtEOXact_GUC(false, level) };
}

/// Sets a setting for the level that was just begun.
fn set(name: &CStr, value: &CStr) {
    // SAFETY: both strings are NUL-terminated; GUC_ACTION_SAVE ties the change to the level.
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

/// Runs statements under settings that any user may change.
pub fn with_settings<R>(settings: &[(&CStr, &CStr)], body: impl FnOnce() -> R) -> R {
    let level = begin_settings();
    for (name, value) in settings {
        set(name, value);
    }
    let result = body();
    end_settings(level);
    result
}

/// Runs `body` in a subtransaction: an error undoes what it did, and the caller names the errors that it takes.
///
/// This is the only sound way to go on after an error of a statement: caught without it, a unique violation was
/// seen to leave two live rows under one primary key.
pub fn subtransaction<R>(body: impl FnOnce() -> R) -> Attempt<R> {
    subtransaction_if(body, |_| true)
}

/// Like [`subtransaction`], for a body that can also refuse by itself: then, too, what it did is undone.
pub fn attempt<R, E>(body: impl FnOnce() -> Result<R, E>) -> Attempt<Result<R, E>> {
    subtransaction_if(body, Result::is_ok)
}

fn subtransaction_if<R>(body: impl FnOnce() -> R, keep: impl FnOnce(&R) -> bool) -> Attempt<R> {
    // SAFETY: as in PL/pgSQL's exception block: the memory context and the resource owner in force before are
    // in force again on both ways out, and the subtransaction is either released or rolled back.
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
    fn the_search_path_of_the_proxy_is_known_as_pinned() {
        let settings = include_str!("../../../proxy/src/settings/mod.rs");
        assert!(settings.contains(&format!("-c search_path={}\"", SEARCH_PATH_OF_PROXY.to_string_lossy())));
    }
}
