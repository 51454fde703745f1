//! Locks a scarce quota before records, to avoid deadlocks.
//!
//! Near its maximum, a quota is exact because writers take it exclusively, until their transaction ends. A writer
//! that waits for it while holding row locks could deadlock. So the writing functions check first: if little headroom
//! is left, they lock the quota before any record.

use super::{Name, of_project, slots};
use crate::postgres::advisory_lock::Mode;
use crate::postgres::guard::as_owner;
use crate::postgres::parameter::{array, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::template::Template;
use std::cell::Cell;

/// Before a record is created or restored.
pub fn for_creation(template: &Template) {
    take(template.project_id, 1, 1, || 1);
}

/// Before an upsert; `is_held` says whether a live record has the key. Returns true if headroom is low and the record
/// exists: the upsert then only updates, and must reserve again if it has to create the record after all.
pub fn for_upsert(template: &Template, is_held: impl FnOnce() -> bool) -> bool {
    let found = Cell::new(false);
    take(template.project_id, 1, 1, || {
        found.set(is_held());
        usize::from(!found.get())
    });
    found.get()
}

/// Before a change of a record, or its deletion.
pub fn for_change(template: &Template) {
    take(template.project_id, 0, 1, || 0);
}

/// Before many writes to records of a template, of which some may create records: those with these keys, and those
/// without a key.
pub fn for_many<'k>(template: &Template, keys: &[Option<&'k str>], writes: usize) {
    take(template.project_id, keys.len(), writes, || {
        let named: Vec<Option<&'k str>> = keys.iter().copied().filter(Option::is_some).collect();
        keys.len() - named.len() + free(template, named)
    });
}

/// Locks the quotas of a project that have too little headroom for this, until the transaction ends. New records are
/// counted only if it matters.
fn take(project: i32, most: usize, writes: usize, count: impl FnOnce() -> usize) {
    let quotas = of_project(project);
    let is_scarce = |name, count: usize| {
        count > 0 && quotas.maximum(name).is_some() && slots::is_scarce(project, name, count as i64)
    };
    let takes_records = is_scarce(Name::LiveRecords, most) && is_scarce(Name::LiveRecords, count());
    let takes_writes = is_scarce(Name::WritesPerDay, writes);
    if takes_records {
        slots::take(project, Name::LiveRecords, Mode::Exclusive);
    } else if takes_writes && quotas.maximum(Name::LiveRecords).is_some() {
        // All writers lock this one first.
        slots::take(project, Name::LiveRecords, Mode::Shared);
    }
    if takes_writes {
        slots::take(project, Name::WritesPerDay, Mode::Exclusive);
    }
}

/// How many of these keys no live record has.
fn free(template: &Template, keys: Vec<Option<&str>>) -> usize {
    let sql = format!(
        "select count(*) from unnest($1) k (name) where not exists \
         (select from {} t where t.external_key = k.name and t.deleted_at is null)",
        template.table_sql()
    );
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &params![array(keys.into_iter())]);
            rows.get::<Option<i64>>(0, 0).unwrap_or_default() as usize
        })
    })
}
