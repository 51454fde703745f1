//! Privileges are taken back. What closes every door waits for nobody who reads: the row of the grant goes, which the
//! functions and every policy ask for, and the privileges of PostgreSQL. The policies themselves are dropped when their
//! table is free.

use super::enforcement::role_sql;
use super::grant::{find_role, place};
use super::granted::{COLUMNS, read_all};
use super::target::Target;
use super::{Caller, privileges, reconcile};
use crate::error::Error;
use crate::postgres::guard::{as_owner_defining, subtransaction, with_settings};
use crate::postgres::invalidation;
use crate::postgres::spi::{Access, Connection, connected};
use crate::quote::identifier;
use crate::view::upkeep;
use pgrx::pg_sys::Oid;

/// Takes back all that was granted to a role on a target. Returns how many privileges that were.
pub fn revoke(role_name: &str, target: &str) -> Result<i32, Error> {
    Caller::current().require_admin("revoke access")?;
    let role = find_role(role_name)?;
    let target = Target::find(target)?;
    Ok(as_owner_defining(|| {
        connected(|spi| {
            let count = delete_grants(spi, role, &target);
            let tables = target.tables(spi);
            let templates: Vec<i32> = tables.iter().map(|table| table.template).collect();
            // Who changes the definition of such a table keeps its privileges from being changed. Then they stay until its
            // policies are dropped, and give nobody anything.
            let taken = subtransaction(|| {
                with_settings(&[(c"lock_timeout", c"300ms")], || {
                    privileges::lock(target.project.id);
                    privileges::restore(spi, role, target.project.id, &tables);
                    upkeep::follow_grants(spi, &templates);
                    if !privileges::needs_schema(spi, role, target.project.id, &target.project.slug) {
                        let schema = identifier(&target.project.slug);
                        spi.script(&format!("revoke usage on schema {schema} from {}", role_sql(role)));
                    }
                });
            });
            if let Err(caught) = taken
                && !reconcile::is_busy(&caught)
            {
                caught.rethrow();
            }
            tables.iter().for_each(|table| invalidation::announce(table.oid));
            reconcile::enforce_on(spi, &templates);
            reconcile::drop_unbound(spi, &templates);
            count
        })
    }))
}

/// Deletes the rows of a role's grants on a target. Who grants anew puts a row in place of another: a statement that has
/// waited for that sees neither, so it is asked again until none is left.
fn delete_grants(spi: &Connection, role: Oid, target: &Target) -> i32 {
    let sql = format!(
        "delete from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
         and g.template_id is not distinct from $3 returning {COLUMNS}"
    );
    let mut count = 0;
    for time in 1.. {
        pgrx::check_for_interrupts!();
        let deleted = read_all(&spi.run_once(&sql, Access::Latest, &place(role, target))).len();
        count += deleted as i32;
        if deleted == 0 && time > 1 {
            break;
        }
    }
    count
}
