//! Updates pending policies: `keyed.enforce_grants`.
//!
//! A table stays locked until the transaction ends, so a round never waits for a table while it holds another. It
//! takes free tables first, for a short time, and waits for a busy one only if none was free. So a table in constant
//! use does not block others.

use super::reconcile::{Loser, Wait, sync_if_free, unless_busy, waiting};
use crate::access::{binding, privileges};
use crate::postgres::guard::{as_owner_defining, subtransaction, with_settings};
use crate::postgres::spi::{Connection, connected};
use crate::postgres::{random, snapshot, table_lock};
use crate::template::catalog;
use pgrx::pg_sys::Oid;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How long locked tables are held while more are locked, and how long busy ones are tried.
const LONGEST: Duration = Duration::from_millis(500);

/// Updates the policies of at most this many tables. Returns the number of tables that remain.
pub fn enforce(maximum: Option<usize>) -> usize {
    if snapshot::is_fixed() || binding::require_state().is_err() {
        return 0;
    }
    as_owner_defining(|| {
        connected(|spi| {
            let mut templates = waiting(spi);
            let most = maximum.unwrap_or(usize::MAX).min(table_lock::most_tables()).min(templates.len());
            if most == 0 {
                return templates.len();
            }
            // Starts with a different table each time, so that each gets its turn.
            let first = random::next_u64() % templates.len() as u64;
            templates.rotate_left(first as usize);
            let mut done = take_free(spi, &templates, most);
            if done.is_empty() {
                done.extend(take_busy(spi, &templates));
            }
            let left = templates.len() - done.len();
            close_schemas(spi, done.into_iter().flatten().collect());
            left
        })
    })
}

/// Updates the policies of tables that are not in use. Returns the roles that lost privileges on each.
fn take_free(spi: &Connection, templates: &[i32], most: usize) -> Vec<Vec<Loser>> {
    let mut done = Vec::new();
    let mut kept_since: Option<Instant> = None;
    for template in templates {
        if done.len() == most || kept_since.is_some_and(|since| since.elapsed() >= LONGEST) {
            break;
        }
        if let Some(lost) = sync_if_free(spi, *template, Wait::Not) {
            done.push(lost);
            kept_since.get_or_insert_with(Instant::now);
        }
    }
    done
}

/// Waits for tables, one after the other, until one can be locked.
fn take_busy(spi: &Connection, templates: &[i32]) -> Option<Vec<Loser>> {
    let began = Instant::now();
    let mut tried = templates.iter().take_while(|_| began.elapsed() < LONGEST);
    tried.find_map(|template| sync_if_free(spi, *template, Wait::Moment))
}

/// Revokes USAGE on the schemas of projects from roles without other privileges there, unless they are locked.
fn close_schemas(spi: &Connection, losers: BTreeSet<Loser>) {
    for (role, project) in losers {
        let Some(project) = catalog::project_by_id(project) else { continue };
        let close = || privileges::close_schema(spi, Oid::from(role), &project, &[]);
        let closed = subtransaction(|| with_settings(&[(c"lock_timeout", c"50ms")], close));
        unless_busy(closed);
    }
}
