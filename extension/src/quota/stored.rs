//! Stored quotas, and the session's cache of them.

use super::{Name, session_state};
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::params;
use crate::postgres::spi::connected;
use crate::postgres::{invalidation, snapshot};
use crate::template::catalog::{self, Change};
use pgrx::pg_sys::Oid;
use std::cell::RefCell;
use std::collections::HashMap;

/// The quotas of a project; `None` for no limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quotas([Option<i64>; Name::ALL.len()]);

impl Quotas {
    /// The maximum.
    pub fn maximum(&self, name: Name) -> Option<i64> {
        self.0[name as usize]
    }
}

#[derive(Default)]
struct Known {
    /// The table of quotas. A change of it invalidates the cache.
    table: Oid,
    quotas: HashMap<i32, Quotas>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Clears the cache when the table of quotas has changed.
pub fn on_change(change: &Change) {
    let Change::Stale(stale) = change else { return };
    KNOWN.with_borrow_mut(|known| {
        if stale.has(known.table) {
            known.quotas.clear();
            session_state::forget();
        }
    });
}

/// The quotas of a project.
pub fn of_project(project: i32) -> Quotas {
    // The cache may lack a quota that is newer than the snapshot of the transaction that read it.
    if snapshot::is_fixed() {
        return load(project).map(|(_, quotas)| quotas).unwrap_or_default();
    }
    if let Some(known) = KNOWN.with_borrow(|known| known.quotas.get(&project).copied()) {
        return known;
    }
    let before = invalidation::count();
    // A database that is not migrated has no quotas.
    let Some((table, quotas)) = load(project) else { return Quotas::default() };
    if invalidation::count() == before {
        KNOWN.with_borrow_mut(|known| {
            known.table = table;
            known.quotas.insert(project, quotas);
        });
    }
    quotas
}

fn load(project: i32) -> Option<(Oid, Quotas)> {
    let table = catalog::table_oid("keyed_state", "quota")?;
    invalidation::watch(table);
    let mut quotas = Quotas::default();
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_newest(
                "select q.name, q.maximum from keyed_state.quota q where q.project_id = $1",
                &params![project],
            );
            for row in 0..rows.len() {
                let name = rows.get::<Option<String>>(row, 0).and_then(|name| Name::parse(&name));
                if let Some(name) = name {
                    quotas.0[name as usize] = rows.get::<Option<i64>>(row, 1);
                }
            }
        });
    });
    Some((table, quotas))
}
