//! Waiting for a quota before anything else is waited for.
//!
//! Near its edge a quota is exact because those who use it come one at a time, each until its transaction ends. Whoever
//! waits for that with records locked may be one whom the other waits for. So the functions that write look ahead: where
//! little room is left they take the quota first, and lock records then.

use super::{Name, of_project, slots};
use crate::postgres::datum;
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Access, connected};
use crate::record::read;
use crate::template::Template;
use pgrx::pg_sys;

/// Before a new record, or one that comes back.
pub fn of_creation(template: &Template) {
    take(template.project_id, 1, 1, || true);
}

/// Before an upsert: nothing is made where a live record holds the key.
pub fn of_upsert(template: &Template, key: &str) {
    take(template.project_id, 1, 1, || as_owner(|| read::id_by_key(template, key)).is_none());
}

/// Before a change of a record, or its deletion.
pub fn of_change(template: &Template) {
    take(template.project_id, 0, 1, || false);
}

/// Before many writes to records of a template, of which some may be made: those with these keys, and those without.
pub fn of_many<'k>(template: &Template, keys: &[Option<&'k str>], writes: usize) {
    take(template.project_id, keys.len(), writes, || {
        let named: Vec<Option<&'k str>> = keys.iter().copied().filter(Option::is_some).collect();
        named.len() < keys.len() || is_any_free(template, named)
    });
}

/// Takes the quotas of a project for this transaction alone when there is little room in one that it is about to use.
/// Whether any record will be made is only asked where it matters.
fn take(project: i32, creations: usize, writes: usize, makes_any: impl FnOnce() -> bool) {
    let quotas = of_project(project);
    let is_scarce = |name, count: usize| {
        count > 0 && quotas.maximum(name).is_some() && slots::is_scarce(project, name, count as i64)
    };
    if is_scarce(Name::LiveRecords, creations) && makes_any() || is_scarce(Name::WritesPerDay, writes) {
        for name in [Name::LiveRecords, Name::WritesPerDay] {
            if quotas.maximum(name).is_some() {
                slots::take_alone(project, name);
            }
        }
    }
}

/// Whether one of these keys is held by no live record.
fn is_any_free(template: &Template, keys: Vec<Option<&str>>) -> bool {
    let sql = format!(
        "select 1 from unnest($1) k (name) where not exists \
         (select from {} t where t.external_key = k.name and t.deleted_at is null) limit 1",
        template.table_sql()
    );
    as_owner(|| {
        let plan = template.plan(&sql, || vec![pg_sys::TEXTARRAYOID]);
        connected(|spi| !spi.run(&plan, Access::Latest, &[datum::text_array(keys.into_iter())]).is_empty())
    })
}
