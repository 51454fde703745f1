//! Reports problems of the database with the checks of `keyed-proxy doctor`, run as `keyed_owner`.

use super::report::as_reader;
use crate::access::Caller;
use crate::error::{Code, Error};
use crate::json_write::to_json;
use crate::postgres::advisory_lock::{LockKind, Mode, try_lock};
use crate::postgres::guard::{subtransaction, with_settings};
use crate::postgres::spi::{Snapshot, connected};
use keyed_checks::{Check, LOCK_TIMEOUT, LOCKED, Severity};
use pgrx::prelude::PgSqlErrorCode;
use serde::Serialize;

#[derive(Serialize)]
struct Examination {
    healthy: bool,
    extension_version: Option<String>,
    checks: Vec<Checked>,
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Checked {
    name: &'static str,
    description: &'static str,
    /// Whether there are no findings; null if the owner lacks privileges, or a table is locked.
    sound: Option<bool>,
}

#[derive(Serialize)]
struct Finding {
    check: &'static str,
    severity: Severity,
    message: String,
    remedy: String,
}

/// `{healthy, extension_version, checks: [{name, description, sound}], findings: [{check, severity, message, remedy}]}`.
pub(super) fn examine() -> Result<String, Error> {
    let caller = Caller::current();
    caller.require_admin("examine the database")?;
    caller.require_all_projects("examine the database")?;
    // The checks read the catalogs of all tables.
    if !try_lock(LockKind::Examination, 0, Mode::Exclusive) {
        return Err(Error::new(Code::Busy, "another request is already running the checks")
            .hint("Retry after the first request has completed."));
    }
    let (extension_version, reads_sessions) = as_reader(about);
    let (mut checks, mut findings) = (Vec::new(), Vec::new());
    for check in keyed_checks::checks() {
        let (sound, found) = match as_reader(|| findings_of(check)) {
            CheckResult::Found(found) if !found.is_empty() => (Some(false), found),
            CheckResult::Found(found) => ((reads_sessions || !check.reads_sessions()).then_some(true), found),
            CheckResult::Locked(found) => (None, found),
            CheckResult::Denied => (None, Vec::new()),
        };
        checks.push(Checked { name: check.name, description: check.sound, sound });
        findings.extend(found);
    }
    let healthy = findings.iter().all(|finding| finding.severity < Severity::Error);
    Ok(to_json(&Examination { healthy, extension_version, checks, findings }))
}

/// The version of the extension, and whether the owner can see statistics of other sessions.
fn about() -> (Option<String>, bool) {
    let query = "select (select e.extversion from pg_extension e where e.extname = 'keyed'), \
                 pg_has_role('pg_read_all_stats', 'usage')";
    connected(|spi| spi.run_once(query, Snapshot::Active, &[]).first().unwrap_or_default())
}

/// The result of a check.
enum CheckResult {
    Found(Vec<Finding>),
    /// A table is locked; the findings name the blocking session.
    Locked(Vec<Finding>),
    /// The owner lacks privileges.
    Denied,
}

fn findings_of(check: &Check) -> CheckResult {
    let read = |query: &str| {
        connected(|spi| {
            let rows = spi.run_once(query, Snapshot::Active, &[]);
            let finding =
                |(message, remedy)| Finding { check: check.name, severity: check.severity, message, remedy };
            rows.iter().map(finding).collect()
        })
    };
    let found = subtransaction(|| with_settings(&[(c"lock_timeout", LOCK_TIMEOUT)], || read(check.query)));
    let locked = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
    let found = found.catch_also(&locked, |caught| match caught.state {
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE => Some(CheckResult::Denied),
        PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE => Some(CheckResult::Locked(read(LOCKED))),
        _ => None,
    });
    found.map_or_else(|looked| looked, CheckResult::Found)
}
