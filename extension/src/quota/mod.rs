//! Quotas: the maximum of records, templates, attributes and writes of a project.
//!
//! Templates and attributes are counted when they are defined, one definition at a time. Records and writes are
//! counted where the history is written, for every client; `slots` explains how this is exact without making writers
//! wait for each other.

/// Counts new records at the end of statements.
pub mod count;
/// Setting a quota.
pub mod define;
/// The SQL functions.
pub mod functions;
/// Distributes a quota among its slots, under an exclusive lock.
mod rebalance;
/// Waiting for a quota before anything else is waited for.
pub mod reserve;
/// What a session remembers of its own slot.
mod session_state;
/// Counting without waiting for each other.
mod slots;
/// Gathering room where one slot has not enough.
mod transfer;
/// Telling what is used.
pub mod usage;

use crate::access::Caller;
use crate::access::principal::Principal;
pub use crate::error::quota::{Name, Reached};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner;
use crate::postgres::spi::connected;
use crate::postgres::{datum, invalidation, role, snapshot_is_fixed};
use crate::template::catalog::{self, Change};
use pgrx::pg_sys::{self, Datum, Oid};
use std::cell::RefCell;
use std::collections::HashMap;

impl Reached {
    /// The refusal of what would go beyond it.
    pub fn refusal(self, project: &str) -> Error {
        let Reached { name, maximum, used, wanted } = self;
        let plural = if maximum == 1 { "" } else { "s" };
        let (name, what) = match name {
            Name::LiveRecords => (name.text(), format!("live record{plural}")),
            Name::Templates => (name.text(), format!("template{plural}")),
            Name::AttributesPerTemplate => (name.text(), format!("attribute{plural} in each template")),
            Name::WritesPerDay => (name.text(), format!("write{plural} a day")),
        };
        // How much there is in all is not for those who may see a part of it. While we write we are the owner, so it is
        // asked who began.
        let used = used.filter(|_| {
            let role = Principal::current().map_or_else(role::session, |it| Oid::from(it.role));
            Caller::of_role(role).is_admin()
        });
        let more = if wanted > 1 { format!("; {wanted} more were requested") } else { String::new() };
        let has = used.map(|used| format!(" and has {used}{more}")).unwrap_or_default();
        let message =
            format!("the project {project:?} may have {maximum} {what}{has}: quota {name} is reached");
        let hint = format!("an administrator can raise it: SELECT keyed.set_quota('{project}', '{name}', …)");
        Error { quota: Some(Box::new(Reached { used, ..self })), ..Error::new(Code::QuotaExceeded, message) }
            .hint(hint)
    }
}

/// The quotas of a project; `None` where there is no bound.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quotas([Option<i64>; Name::ALL.len()]);

impl Quotas {
    /// The most there may be.
    pub fn maximum(&self, name: Name) -> Option<i64> {
        self.0[name as usize]
    }
}

#[derive(Default)]
struct Known {
    /// The table of quotas: when it changes, what is known of them is forgotten.
    table: Oid,
    quotas: HashMap<i32, Quotas>,
}

thread_local! {
    static KNOWN: RefCell<Known> = RefCell::default();
}

/// Forgets what this session knows, when the table of quotas has changed.
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
    // A transaction whose snapshot is older than a quota would not know it, and one that remembers may be it.
    if snapshot_is_fixed() {
        return load(project).map(|(_, quotas)| quotas).unwrap_or_default();
    }
    if let Some(known) = KNOWN.with_borrow(|known| known.quotas.get(&project).copied()) {
        return known;
    }
    let before = invalidation::count();
    // A state that is not migrated yet has no quotas.
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
                &[(pg_sys::INT4OID, Some(Datum::from(project)))],
            );
            for row in 0..rows.len() {
                let name = rows.get(row, 0).map(datum::read_text).and_then(|name| Name::parse(&name));
                if let Some(name) = name {
                    quotas.0[name as usize] = rows.get(row, 1).map(datum::read_i64);
                }
            }
        });
    });
    Some((table, quotas))
}

/// Refuses one more template in a project. Definitions come one at a time.
pub fn check_templates(project: &catalog::Project) -> Result<(), Error> {
    let Some(maximum) = of_project(project.id).maximum(Name::Templates) else { return Ok(()) };
    let used = usage::templates(project.id);
    if used < maximum {
        return Ok(());
    }
    Err(Reached { name: Name::Templates, maximum, used: Some(used), wanted: 1 }.refusal(&project.slug))
}

/// Refuses a template with more attributes than the quota.
pub fn check_attributes(project: &catalog::Project, before: usize, after: usize) -> Result<(), Error> {
    let Some(maximum) = of_project(project.id).maximum(Name::AttributesPerTemplate) else { return Ok(()) };
    if after <= before || after as i64 <= maximum {
        return Ok(());
    }
    let wanted = (after - before) as i64;
    Err(Reached { name: Name::AttributesPerTemplate, maximum, used: Some(before as i64), wanted }
        .refusal(&project.slug))
}
