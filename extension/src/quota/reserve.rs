//! Locks a nearly exhausted quota before records, to avoid deadlocks.
//!
//! Near its maximum, a quota is exact because writers lock it exclusively until their transaction ends. A writer that waits
//! for it while holding row locks could deadlock. So the writing functions check first: if little headroom is left, they
//! lock the quota before any record.

use super::{Name, counter, of_project, slots};
use crate::postgres::advisory_lock::Mode;
use crate::template::Template;
use std::cell::Cell;

/// Before a record is created or restored.
pub fn for_creation(template: &Template) {
    take(template.project_id, 1, 1, || true);
}

/// Before an upsert; `is_held` returns whether a live record has the key. Returns true if headroom is low and the
/// record exists: the upsert then only updates, and must reserve again if it has to create the record after all.
pub fn for_upsert(template: &Template, is_held: impl FnOnce() -> bool) -> bool {
    let found = Cell::new(false);
    take(template.project_id, 1, 1, || {
        found.set(is_held());
        !found.get()
    });
    found.get()
}

/// Before a change of a record, or its deletion.
pub fn for_change(template: &Template) {
    take(template.project_id, 0, 1, || false);
}

/// Before many writes to records of a project, of which at most `creations` create records. Any of them may: the record
/// that has a key now may be deleted before the write reaches it, when other records are already locked.
pub fn for_many(project: i32, creations: usize, writes: usize) {
    take(project, creations, writes, || true);
}

/// Locks the quotas of a project that have too little headroom for this, until the transaction ends. Whether records are
/// created is checked only if it matters.
fn take(project: i32, creations: usize, writes: usize, creates: impl FnOnce() -> bool) {
    let quotas = of_project(project);
    let is_scarce = |name, count: usize| {
        count > 0 && quotas.maximum(name).is_some() && counter::is_scarce(project, name, count as i64)
    };
    let takes_records = is_scarce(Name::LiveRecords, creations) && creates();
    let takes_writes = is_scarce(Name::WritesPerDay, writes);
    if takes_records {
        slots::take(project, Name::LiveRecords, Mode::Exclusive);
    } else if takes_writes && quotas.maximum(Name::LiveRecords).is_some() {
        // All writers lock this quota first.
        slots::take(project, Name::LiveRecords, Mode::Shared);
    }
    if takes_writes {
        slots::take(project, Name::WritesPerDay, Mode::Exclusive);
    }
}
