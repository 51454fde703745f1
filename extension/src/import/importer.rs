//! Who imports a file as a whole into a template.

use crate::access::principal::Principal;
use crate::json_write;
use crate::postgres::advisory_lock::{self, LockKind, Mode};
use crate::postgres::clock::EPOCH_SECONDS;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::transaction;
use crate::template::Template;
use serde::Serialize;
use std::fmt;

/// The import that holds a template.
#[derive(Serialize)]
pub struct Importer {
    /// The process of PostgreSQL.
    process: i32,
    /// Its transaction, by the number of the session: no other ever has it.
    transaction: String,
    /// The role of its API key, or its login.
    role: String,
    /// When its transaction began, in UTC by RFC 3339.
    since: Option<String>,
}

impl Importer {
    /// Notes who imports and since when. Others cannot read the tables of an open transaction, nor what `pg_stat_activity`
    /// knows of a session of another role. They can read its locks.
    pub fn note() {
        let key = Principal::current().and_then(|principal| principal.key).unwrap_or_default().unsigned_abs();
        let seconds = transaction::began_at() / 1_000_000 + EPOCH_SECONDS;
        let number = u64::from(key) << 32 | u64::from(u32::try_from(seconds).unwrap_or_default());
        advisory_lock::lock(LockKind::Importer, number, Mode::Shared);
    }

    /// That of a template, if there is one.
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
        write!(out, "{} has imported a file", self.role)?;
        self.since.iter().try_for_each(|since| write!(out, " since {since}"))
    }
}
