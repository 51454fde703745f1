//! Imports a file in one transaction. It cannot lock all records in key order, because each call contains one chunk
//! only.

use crate::access::principal::Principal;
use crate::error::{Code, Error};
use crate::json_write;
use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::clock::EPOCH_SECONDS;
use crate::postgres::guard::{as_owner, subtransaction, with_settings};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::table_lock::within_lock_timeout;
use crate::postgres::{setting, transaction};
use crate::template::Template;
use pgrx::prelude::PgSqlErrorCode;
use serde::Serialize;
use std::ffi::CString;
use std::fmt;
use std::time::Duration;

/// The maximum wait for another import. It is shorter than the statement timeout, whose error would not name the other
/// import. A shorter `lock_timeout` of the session applies.
const MAX_WAIT: Duration = Duration::from_secs(15);

/// Prepares the transaction. A concurrent import into the same template waits for its end. In a deadlock with a
/// batch, PostgreSQL aborts the batch: by its deadlock check, or, if the cycle closes after that check, by the
/// batch's lock timeout, which started earlier. If the import must not wait, returns the import that holds the
/// template.
pub fn enter(template: &Template, waits: bool) -> Result<Option<Importer>, Error> {
    let number = template.id as u64;
    if !advisory_lock::try_lock(LockKind::Import, number, Mode::Exclusive) {
        // After an error, the session cannot read pg_locks.
        let importer = Importer::of(template);
        if !waits && importer.is_some() {
            return Ok(importer);
        }
        wait(number).map_err(|()| busy(template, importer.as_ref()))?;
    }
    Importer::note();
    setting::set_until_commit(c"deadlock_timeout", c"1min");
    Ok(None)
}

fn wait(number: u64) -> Result<(), ()> {
    let max_wait =
        CString::new(format!("{}ms", within_lock_timeout(MAX_WAIT).as_millis())).unwrap_or_default();
    let locked = subtransaction(|| {
        with_settings(&[(c"lock_timeout", &max_wait)], || {
            advisory_lock::lock(LockKind::Import, number, Mode::Exclusive);
        });
    });
    let states = [PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE];
    locked.catch_also(&states, |caught| caught.is_any_of(&states).then_some(()))
}

fn busy(template: &Template, importer: Option<&Importer>) -> Error {
    let name = template.full_name();
    let message = match importer {
        Some(importer) => format!("{importer} into {name} in one transaction; nothing was imported"),
        None => format!("another all-or-nothing import into {name} is running; nothing was imported"),
    };
    Error::new(Code::ImportInProgress, message).hint(format!(
        "Retry later, import with on_error=skip, which does not wait, or ask an administrator to end the \
         other import: DELETE /entities/template/{name}/import."
    ))
}

/// The import that holds a template.
#[derive(Serialize)]
pub struct Importer {
    /// The process id of the server process.
    process: i32,
    /// Its transaction, by a number that is unique across sessions.
    transaction: String,
    /// The role of its API key, or its login.
    role: String,
    /// When its transaction began, in UTC by RFC 3339.
    since: Option<String>,
}

impl Importer {
    /// Publishes the importing session and its start time in an advisory lock. Other sessions can neither read the tables
    /// of an open transaction nor, for a session of another role, `pg_stat_activity`. They can read pg_locks.
    pub fn note() {
        let key = Principal::current().and_then(|principal| principal.key).unwrap_or_default().unsigned_abs();
        let seconds = transaction::began_at() / 1_000_000 + EPOCH_SECONDS;
        let number = u64::from(key) << 32 | u64::from(u32::try_from(seconds).unwrap_or_default());
        advisory_lock::lock(LockKind::Importer, number, Mode::Shared);
    }

    /// The import that holds a template, if there is one.
    pub fn of(template: &Template) -> Option<Importer> {
        let sql = format!(
            "with held as materialized ( \
               select l.pid, l.virtualtransaction, l.objsubid, l.classid::bigint as high, l.objid::bigint as low from pg_catalog.pg_locks l \
               where l.locktype = 'advisory' and l.granted and l.pid is not null and l.objsubid in ({import}, {importer}) and l.database = ( \
                 select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database())) \
             select h.pid, h.virtualtransaction, coalesce(r.rolname, a.usename, '')::text, pg_catalog.to_char( \
               pg_catalog.to_timestamp(n.low) at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') \
             from held h left join held n on n.pid = h.pid and n.objsubid = {importer} \
             left join keyed_state.api_key k on k.id = n.high left join pg_catalog.pg_roles r on r.oid = k.role left join pg_catalog.pg_stat_activity a on a.pid = h.pid \
             where h.objsubid = {import} and h.high = 0 and h.low = $1 limit 1",
            import = LockKind::Import as u16,
            importer = LockKind::Importer as u16,
        );
        let found = as_owner(|| {
            connected(|spi| {
                let rows = spi.run_once(&sql, Snapshot::Latest, &params![i64::from(template.id)]);
                rows.first::<(i32, String, String, Option<String>)>()
            })
        });
        found.map(|(process, transaction, role, since)| Importer { process, transaction, role, since })
    }

    /// `{process, transaction, role, since}`.
    pub fn to_json(&self) -> String {
        json_write::to_json(self)
    }
}

impl fmt::Display for Importer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} has been importing a file", self.role)?;
        self.since.iter().try_for_each(|since| write!(out, " since {since}"))
    }
}
