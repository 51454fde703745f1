//! Updates pending policies: `keyed.enforce_grants`.
//!
//! A table stays locked until the transaction ends, so a run does not wait for a table while it holds another. It updates
//! free tables first, for a limited time, and waits for a busy one only if none was free. So a table in constant use does
//! not block others.

use super::reconcile::{Loser, Wait, pending, sync_if_free, unless_busy};
use crate::access::{binding, privileges};
use crate::postgres::guard::{as_owner_defining, subtransaction, with_settings};
use crate::postgres::spi::{Connection, connected};
use crate::postgres::{random, snapshot_is_fixed, table_lock};
use crate::template::catalog;
use pgrx::pg_sys::Oid;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Maximum time for locking further free tables, and for trying busy ones.
const TIME_LIMIT: Duration = Duration::from_millis(500);

/// Updates the policies of at most this many tables. Returns the number of tables that remain.
pub fn enforce(maximum: Option<usize>) -> usize {
    if snapshot_is_fixed() || binding::require_state().is_err() {
        return 0;
    }
    as_owner_defining(|| {
        connected(|spi| {
            let mut templates = pending(spi);
            let limit = maximum.unwrap_or(usize::MAX).min(table_lock::most_tables()).min(templates.len());
            if limit == 0 {
                return templates.len();
            }
            // A random start, so that no table is always last.
            let first = random::next_u64() % templates.len() as u64;
            templates.rotate_left(first as usize);
            let mut done = sync_free_tables(spi, &templates, limit);
            if done.is_empty() {
                done.extend(sync_busy_table(spi, &templates));
            }
            let remaining = templates.len() - done.len();
            revoke_schemas(spi, done.into_iter().flatten().collect());
            remaining
        })
    })
}

/// Updates the policies of tables that are not in use. Returns the roles that lost privileges on each.
fn sync_free_tables(spi: &Connection, templates: &[i32], limit: usize) -> Vec<Vec<Loser>> {
    let mut done = Vec::new();
    let mut locked_since: Option<Instant> = None;
    for template in templates {
        if done.len() == limit || locked_since.is_some_and(|since| since.elapsed() >= TIME_LIMIT) {
            break;
        }
        if let Some(losers) = sync_if_free(spi, *template, Wait::No) {
            done.push(losers);
            locked_since.get_or_insert_with(Instant::now);
        }
    }
    done
}

/// Waits for tables, one after another, until one can be locked.
fn sync_busy_table(spi: &Connection, templates: &[i32]) -> Option<Vec<Loser>> {
    let began = Instant::now();
    let mut tried = templates.iter().take_while(|_| began.elapsed() < TIME_LIMIT);
    tried.find_map(|template| sync_if_free(spi, *template, Wait::Briefly))
}

/// Revokes USAGE on the schemas of projects from roles without other privileges there, unless they are locked.
fn revoke_schemas(spi: &Connection, losers: BTreeSet<Loser>) {
    for (role, project) in losers {
        let Some(project) = catalog::project_by_id(project) else { continue };
        let revoke = || privileges::revoke_schema(spi, Oid::from(role), &project, &[]);
        unless_busy(subtransaction(|| with_settings(&[(c"lock_timeout", c"50ms")], revoke)));
    }
}
