//! Creates PostgreSQL's policies and privileges for grants on a template.

use super::policy_sql::{self, Policy, SCHEMA};
use super::privileges::role_sql;
use super::stored_grant::{COLUMNS, Grant, read};
use super::target::Table;
use super::{binding, privileges, scope};
use crate::error::Error;
use crate::filter::Filter;
use crate::postgres::guard::with_settings;
use crate::postgres::parameter::params;
use crate::postgres::raise::Raise;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::Template;

/// Creates the policies of project-wide grants for a new template.
pub fn grant_on_new_template(spi: &Connection, template: &Template) -> Result<(), Error> {
    delete_grants_to_dropped_roles(spi);
    let sql = format!(
        "select {COLUMNS} from keyed_state.access_grant g where g.project_id = $1 and g.template_id is null"
    );
    let project = params![template.project_id];
    let grants = read(&spi.run_once(&sql, Snapshot::Latest, &project));
    let table = Table { template: template.id, oid: template.table, sql: template.table_sql() };
    grants.iter().try_for_each(|grant| {
        privileges::grant(spi, grant.role, std::slice::from_ref(&table), &[grant.privilege])?;
        create_policy(spi, grant, template)
    })
}

/// Updates the policies of deletion for the column of released keys. It does not grant again a privilege that was revoked
/// directly.
pub fn alter_deletion_policies(spi: &Connection, template: &Template) -> Result<(), Error> {
    let sql = format!(
        "select {COLUMNS} from keyed_state.access_grant g where g.privilege = 'delete' and g.scope is not null \
         and (g.template_id = $1 or g.template_id is null and g.project_id = $2) \
         and exists (select from pg_catalog.pg_policy y where y.polrelid = $3 and y.polname = 'keyed_delete_' || g.id)"
    );
    let arguments = params![template.id, template.project_id, template.table];
    for grant in read(&spi.run_once(&sql, Snapshot::Latest, &arguments)) {
        let scope = grant.scope.as_deref().map(|scope| scope::compile(template, scope)).transpose()?;
        let statement = with_policy(&grant, template, scope.as_ref(), |policy| policy.alter_deletion());
        spi.script(&statement);
    }
    Ok(())
}

/// Deletes grants to dropped roles; PostgreSQL has dropped their policies and privileges.
pub fn delete_grants_to_dropped_roles(spi: &Connection) {
    if let Err(error) = binding::require_state() {
        error.raise();
    }
    binding::renew(spi);
    let rows = spi.run_once(
        "delete from keyed_state.access_grant g \
         where not exists (select from pg_catalog.pg_roles r where r.oid = g.role::oid) returning g.id",
        Snapshot::Latest,
        &[],
    );
    let ids: Vec<i32> = rows.column::<i32>().collect();
    for function in ids.iter().flat_map(|id| functions(spi, &format!("^grant_{id}_"))) {
        spi.script(&format!("drop function {function}()"));
    }
}

/// Drops the functions of the policies of a dropped table.
pub fn drop_functions_of(spi: &Connection, template: i32) {
    for function in functions(spi, &format!("^grant_[0-9]+_{template}_")) {
        spi.script(&format!("drop function {function}()"));
    }
}

/// Creates the policies of a grant on a table.
pub fn create_policy(spi: &Connection, grant: &Grant, template: &Template) -> Result<(), Error> {
    let scope = grant.scope.as_deref().map(|scope| scope::compile(template, scope)).transpose()?;
    let statements = with_policy(grant, template, scope.as_ref(), |policy| policy.create());
    if !statements.is_empty() {
        spi.script(&statements);
    }
    Ok(())
}

/// The SQL condition that selects the policies of grants from `pg_policy` under this alias. Names with a suffix belong to
/// additional policies of the same grant.
pub fn is_policy_sql(alias: &str) -> String {
    format!("{alias}.polname ~ '^keyed_(read|create|update|delete)_[0-9]{{1,9}}$'")
}

/// Drops the policy with this name, of a grant that may no longer exist, and its functions.
pub fn drop_named(spi: &Connection, name: &str, grant: i32, template: i32, table: &str) {
    let functions = functions(spi, &format!("^{}", policy_sql::function_prefix(grant, template)));
    let statements = policy_sql::drop(name, table, &functions);
    // Suppresses notices about objects that no longer exist.
    with_settings(&[(c"client_min_messages", c"warning")], || spi.script(&statements));
}

fn with_policy<R>(
    grant: &Grant,
    template: &Template,
    scope: Option<&Filter>,
    use_it: impl FnOnce(&Policy) -> R,
) -> R {
    use_it(&Policy {
        grant: grant.id,
        role: &role_sql(grant.role),
        privilege: grant.privilege,
        template: template.id,
        slug: &template.slug,
        table: &template.table_sql(),
        scope,
    })
}

/// The functions of policies whose names match a pattern, as qualified SQL names.
fn functions(spi: &Connection, pattern: &str) -> Vec<String> {
    let rows = spi.run_once(
        "select p.proname::text from pg_catalog.pg_proc p \
         where p.pronamespace = pg_catalog.to_regnamespace($1) and p.proname ~ $2",
        Snapshot::Latest,
        &params![SCHEMA, pattern],
    );
    let name = |row| rows.get::<Option<String>>(row, 0);
    (0..rows.len()).filter_map(name).map(|name| format!("{SCHEMA}.{name}")).collect()
}
