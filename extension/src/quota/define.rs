//! Sets quotas.

use crate::access::lookup::project_named;
use crate::access::target::Target;
use crate::access::{Caller, definition_lock};
use crate::error::{Code, Error};
use crate::postgres::advisory_lock::Mode;
use crate::postgres::guard::{as_owner_defining, not_migrated};
use crate::postgres::parameter::params;
use crate::postgres::raise::Raise;
use crate::postgres::snapshot;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::{lock_against_writers, lock_with_retry, max_tables};
use crate::quota::{Name, rebalance, slots, usage};
use crate::template::catalog::{self, Project};

/// The lock in the error message.
const BUSY: &str = "the quota";

/// Sets the maximum of a project; `None` removes it.
pub fn set(project: &str, name: &str, maximum: Option<i64>) -> Result<(), Error> {
    Caller::current().require_admin("set quotas")?;
    let Some(name) = Name::parse(name) else {
        let names = Name::ALL.map(Name::text).join(", ");
        return Err(Error::at(Code::InvalidValue, "/name", format!("quota {name:?} does not exist"))
            .hint(format!("Use one of the quotas {names}.")));
    };
    if maximum.is_some_and(|maximum| maximum < 0) {
        return Err(Error::at(Code::InvalidValue, "/maximum", "maximum must not be negative")
            .hint("Use null to remove the quota."));
    }
    if snapshot::is_fixed() {
        return Err(Error::new(
            Code::InvalidValue,
            "a quota cannot be set in a transaction with a fixed snapshot",
        )
        .hint("Use the isolation level READ COMMITTED."));
    }
    // Concurrent creations of templates wait, and see the quota afterwards.
    definition_lock::one_at_a_time(project_named(project)?.id, || {
        let project = project_named(project)?;
        if catalog::table_oid("keyed_state", "quota").is_none() {
            return Err(not_migrated());
        }
        as_owner_defining(|| {
            // Writers lock the quota before its rows. This uses the same order, to avoid deadlocks; no wait lasts
            // longer than a moment.
            if name.has_slots() {
                lock_with_retry(BUSY, || slots::take(project.id, name, Mode::Exclusive));
            }
            connected(|spi| match maximum {
                None => lock_with_retry(BUSY, || remove_quota(spi, &project, name)),
                Some(maximum) => put(spi, &project, name, maximum),
            });
        });
        Ok(())
    })
}

fn remove_quota(spi: &Connection, project: &Project, name: Name) {
    spi.run_once(
        "delete from keyed_state.quota q where q.project_id = $1 and q.name = $2",
        Snapshot::Latest,
        &params![project.id, name.text()],
    );
}

fn put(spi: &Connection, project: &Project, name: Name, maximum: i64) {
    let rows = spi.run_once(
        "insert into keyed_state.quota as q (project_id, name, maximum, set_by) values ($1, $2, $3, $4) \
         on conflict (project_id, name) do update \
         set maximum = excluded.maximum, set_at = excluded.set_at, set_by = excluded.set_by \
         returning not exists (select from keyed_state.quota_slot s where s.project_id = $1 and s.name = $2)",
        Snapshot::Latest,
        &params![project.id, name.text(), maximum, &Caller::actor()],
    );
    if !name.has_slots() {
        return;
    }
    if rows.get::<Option<bool>>(0, 0).unwrap_or_default() {
        let used = match name {
            Name::LiveRecords => count_records(spi, project.id),
            // A daily quota counts from the moment at which it is set.
            _ => 0,
        };
        create_slots(spi, project.id, name, used);
    }
    lock_with_retry(BUSY, || rebalance::all_slots(project.id, name));
}

/// The number of live records of the project. It cannot change until this transaction ends: writers wait, and count
/// afterwards.
fn count_records(spi: &Connection, project: i32) -> i64 {
    let Some(project) = catalog::project_by_id(project) else { return 0 };
    let tables = Target { project, template: None }.tables(spi);
    let tables: Vec<String> = tables.into_iter().map(|table| table.sql).collect();
    // All tables are locked while they are counted. Leaves space in the lock table for other
    // sessions.
    if tables.len() > 4 * max_tables() {
        let message = format!(
            "counting {} templates needs more locks than max_locks_per_transaction allows",
            tables.len()
        );
        Error::new(Code::PayloadTooLarge, message)
            .hint("Raise max_locks_per_transaction, restart the server, and set the quota again.")
            .raise();
    }
    lock_against_writers(&tables);
    tables.iter().map(|table| usage::live_in(spi, table)).sum()
}

fn create_slots(spi: &Connection, project: i32, name: Name, used: i64) {
    spi.run_once(
        "insert into keyed_state.quota_slot (project_id, name, slot, used, allowed, day) \
         select $1, $2, n, case when n = 0 then $3 else 0 end, 0, \
           case when $2 = 'live_records' then 'infinity'::date else '-infinity' end \
         from generate_series(0, $4 - 1) n",
        Snapshot::Latest,
        &params![project, name.text(), used, slots::SLOTS],
    );
}
