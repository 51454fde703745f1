//! Waiting for a quota before anything else is waited for.
//!
//! Near its edge a quota is exact because those who use it come one at a time, each until its transaction ends. Whoever
//! waits for that with records locked may be one whom the other waits for. So the functions that write look ahead: where
//! little room is left they take the quota first, and lock records then.

use super::{Name, of_project, slots};
use crate::postgres::advisory_lock::Mode;
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Snapshot, connected};
use crate::template::Template;
use pgrx::pg_sys;
use std::cell::Cell;

/// Before a new record, or one that comes back.
pub fn for_creation(template: &Template) {
    take(template.project_id, 1, 1, || 1);
}

/// Before an upsert; `is_held` says whether a live record holds the key. Answers whether it is to update alone, and to ask for a place before it makes the record should that
/// be gone by then: there is little room, and a live record holds the key.
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

/// Before many writes to records of a template, of which some may be made: those with these keys, and those without.
pub fn for_many<'k>(template: &Template, keys: &[Option<&'k str>], writes: usize) {
    take(template.project_id, keys.len(), writes, || {
        let named: Vec<Option<&'k str>> = keys.iter().copied().filter(Option::is_some).collect();
        keys.len() - named.len() + free(template, named)
    });
}

/// Takes those quotas of a project in which there is little room for what is to come, until this transaction ends. How
/// many records will be made is only counted where it matters.
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
        // Everybody takes this one first.
        slots::take(project, Name::LiveRecords, Mode::Shared);
    }
    if takes_writes {
        slots::take(project, Name::WritesPerDay, Mode::Exclusive);
    }
}

/// How many of these keys are held by no live record.
fn free(template: &Template, keys: Vec<Option<&str>>) -> usize {
    let sql = format!(
        "select count(*) from unnest($1) k (name) where not exists \
         (select from {} t where t.external_key = k.name and t.deleted_at is null)",
        template.table_sql()
    );
    as_owner(|| {
        let plan = template.plan(&sql, || vec![pg_sys::TEXTARRAYOID]);
        connected(|spi| {
            let rows = spi.run(&plan, Snapshot::Latest, &[datum::text_array(keys.into_iter())]);
            rows.get(0, 0).map_or(0, datum::read_i64) as usize
        })
    })
}
