//! Revokes privileges without waiting for readers: it deletes the row of the grant, which functions and policies check,
//! and revokes PostgreSQL's privileges. The policies are dropped later, when their table is free.

use super::dependents;
use super::grant::{find_role, role_and_target};
use super::reconcile;
use crate::access::stored_grant::{COLUMNS, Grant, read_all};
use crate::access::target::{Table, Target};
use crate::access::{Caller, privileges};
use crate::error::Error;
use crate::postgres::guard::{as_owner_defining, subtransaction, with_settings};
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock;
use pgrx::pg_sys::Oid;

/// Revokes all privileges of a role on a target. Returns their number.
pub fn revoke(role_name: &str, target: &str) -> Result<i32, Error> {
    Caller::current().require_admin("revoke access")?;
    let role = find_role(role_name)?;
    let target = Target::find(target)?;
    Ok(as_owner_defining(|| {
        connected(|spi| {
            let deleted = delete_grants(spi, role, &target);
            let tables = target.tables(spi);
            let with_policies = reconcile::tables_with_policies_of(spi, &deleted);
            // In a very large project, most table privileges are revoked later, together with the policies. A privilege
            // without a policy allows no row. Each REVOKE sends an invalidation message to every session, and too many
            // immediately would clear their caches.
            let limit = table_lock::max_tables();
            let is_later = |position: usize, table: &Table| {
                position >= limit && (deleted.is_empty() || with_policies.contains_key(&table.oid))
            };
            let (mut now, mut later) = (Vec::new(), Vec::new());
            for (position, table) in tables.iter().enumerate() {
                (if is_later(position, table) { &mut later } else { &mut now }).push(table);
            }
            revoke_privileges(spi, role, &target, &now, &later);
            reconcile::enforce_on(spi, &tables);
            let is_unchecked = |table: &&Table| with_policies.get(&table.oid) == Some(&false);
            let unchecked: Vec<&Table> = tables.iter().filter(is_unchecked).collect();
            reconcile::drop_unchecked(spi, target.project.id, &unchecked);
            deleted.len() as i32
        })
    }))
}

/// Revokes PostgreSQL's privileges on tables, and on the schema if none remain. If a concurrent change of a definition
/// blocks this, the privileges remain without effect until the policies are dropped.
fn revoke_privileges(spi: &Connection, role: Oid, target: &Target, now: &[&Table], later: &[&Table]) {
    let templates: Vec<i32> = now.iter().map(|table| table.template).collect();
    let revoked = subtransaction(|| {
        with_settings(&[(c"lock_timeout", c"300ms")], || {
            privileges::lock(target.project.id);
            privileges::revoke_unused(spi, role, target.project.id, now);
            dependents::after_grants(spi, &templates);
            privileges::revoke_schema(spi, role, &target.project, later);
        });
    });
    reconcile::unless_busy(revoked);
}

/// Deletes a role's grants on a target. A concurrent grant deletes and inserts a row; a statement that waits for it finds
/// neither version. So this repeats until no row is left.
fn delete_grants(spi: &Connection, role: Oid, target: &Target) -> Vec<Grant> {
    let sql = format!(
        "delete from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
         and g.template_id is not distinct from $3 returning {COLUMNS}"
    );
    let mut all = Vec::new();
    for attempt in 1.. {
        pgrx::check_for_interrupts!();
        let deleted = read_all(&spi.run_once(&sql, Snapshot::Latest, &role_and_target(role, target)));
        if deleted.is_empty() && attempt > 1 {
            break;
        }
        all.extend(deleted);
    }
    all
}
