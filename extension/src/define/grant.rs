//! Grants privileges: stores them, and creates PostgreSQL's privileges and policies.

use super::dependents;
use super::reconcile;
use crate::access::privilege::Privilege;
use crate::access::privileges::role_sql;
use crate::access::stored_grant::{COLUMNS, Grant, read};
use crate::access::table_policies::delete_grants_to_dropped_roles;
use crate::access::target::{Table, Target};
use crate::access::{Caller, binding, definition_lock, privileges, scope};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner_defining;
use crate::postgres::parameter::{Parameter, RegRole, params};
use crate::postgres::role;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::table_lock::{self, lock_exclusively};
use crate::template::catalog;
use crate::value::quote::identifier;
use pgrx::notice;
use pgrx::pg_sys::Oid;

/// Grants privileges on a target to a role, with a scope or on all records. An existing grant of the same privilege gets
/// the new scope.
pub fn grant(role_name: &str, target: &str, privileges: &[String], scope: Option<&str>) -> Result<(), Error> {
    Caller::current().require_admin("grant access")?;
    let role = find_grantee(role_name)?;
    let privileges = parse_privileges(privileges)?;
    if scope.is_some() && privileges.contains(&Privilege::Define) {
        return Err(Error::at(Code::InvalidValue, "/privileges", "the privilege define cannot have a scope")
            .hint("Grant define separately, without a scope."));
    }
    definition_lock::one_at_a_time(Target::find(target)?.project.id, || {
        let target = Target::find(target)?;
        as_owner_defining(|| connected(|spi| grant_on(spi, role, &target, &privileges, scope)))
    })
}

fn grant_on(
    spi: &Connection,
    role: Oid,
    target: &Target,
    privileges: &[Privilege],
    scope: Option<&str>,
) -> Result<(), Error> {
    delete_grants_to_dropped_roles(spi);
    let tables = target.tables(spi);
    // The lookup of a template takes a weak lock on its table.
    let what = format!("a template of the project {} to which a scope refers", target.project.slug);
    table_lock::lock_with_retry(&what, || check(target, &tables, scope))?;
    let existing = existing_grants(spi, role, target);
    let narrows = privileges.iter().any(|privilege| narrows(&existing, *privilege, scope));
    // In a project with very many templates, the policies of the remaining tables follow later.
    let now = &tables[..tables.len().min(table_lock::max_tables())];
    // A narrowed privilege ends immediately and waits for no reader. New policies follow when the tables are free.
    if !narrows {
        lock_exclusively(&now.iter().map(|table| table.sql.clone()).collect::<Vec<_>>());
    }
    let project = &target.project;
    table_lock::lock_with_retry(&format!("the privileges of the project {}", project.slug), || {
        privileges::lock(project.id);
    });
    privileges::grant(spi, role, &tables, privileges)?;
    for privilege in privileges {
        let is_equal = |grant: &Grant| grant.privilege == *privilege && grant.scope.as_deref() == scope;
        if !existing.iter().any(is_equal) {
            store(spi, role, target, *privilege, scope);
        }
    }
    let done = if narrows {
        reconcile::enforce_on(spi, &tables)
    } else {
        // This also creates pending policies, whose scopes may refer to other templates.
        table_lock::lock_with_retry(&what, || {
            now.iter().for_each(|table| drop(reconcile::sync_locked(spi, project.id, table)));
        });
        now.len()
    };
    dependents::after_grants(spi, &tables.iter().map(|table| table.template).collect::<Vec<_>>());
    let schema = identifier(&project.slug);
    spi.script(&format!("grant usage on schema {schema} to {}", role_sql(role)));
    if done < tables.len() {
        notice!(
            "the policies of {} tables could not be updated because the tables are in use; functions and the service apply the grant immediately, plain SQL after the next run of keyed.enforce_grants(), which the service calls \
             every minute",
            tables.len() - done
        );
    }
    Ok(())
}

/// The grants of a role on exactly this target.
fn existing_grants(spi: &Connection, role: Oid, target: &Target) -> Vec<Grant> {
    let sql = format!(
        "select {COLUMNS} from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
         and g.template_id is not distinct from $3"
    );
    read(&spi.run_once(&sql, Snapshot::Latest, &role_and_target(role, target)))
}

/// Whether the scope may exclude records of an existing grant. Scopes are not compared: any other scope counts as
/// narrower, except all records.
fn narrows(existing: &[Grant], privilege: Privilege, scope: Option<&str>) -> bool {
    let differs = |grant: &Grant| grant.privilege == privilege && grant.scope.as_deref() != scope;
    scope.is_some() && existing.iter().any(differs)
}

/// Rejects a scope that does not compile. The scope of a project may use standard fields only.
fn check(target: &Target, tables: &[Table], scope: Option<&str>) -> Result<(), Error> {
    let Some(scope) = scope else { return Ok(()) };
    let Some(template) = tables.first().and_then(|table| catalog::by_id(table.template)) else {
        return Err(Error::at(
            Code::InvalidValue,
            "/scope",
            "a scope needs a template, and the project has none",
        )
        .hint("Create a template first."));
    };
    let filter = scope::compile(&template, scope).map_err(|error| error.below("/scope"))?;
    match target.template {
        None => scope::require_standard_fields(&filter),
        Some(_) => Ok(()),
    }
}

/// Stores a grant and deletes the one with another scope. The new grant has a new number, so the policies of the deleted
/// grant allow nothing.
fn store(spi: &Connection, role: Oid, target: &Target, privilege: Privilege, scope: Option<&str>) {
    let [role_argument, project, template] = role_and_target(role, target);
    spi.run_once(
        "delete from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
         and g.template_id is not distinct from $3 and g.privilege = $4",
        Snapshot::Latest,
        &params![role_argument, project, template, privilege.name()],
    );
    let granted_by = Caller::actor();
    // A conflict is possible only with a row that is not visible to a fixed snapshot; then PostgreSQL raises 40001.
    spi.run_once(
        "insert into keyed_state.access_grant \
         (role, project_id, template_id, privilege, scope, granted_by, role_name, bound_in) \
         values ($1, $2, $3, $4, $5::jsonb, $6, $7, keyed.binding('keyed_state.access_grant'::regclass)) \
         on conflict do nothing",
        Snapshot::Latest,
        &params![
            role_argument,
            project,
            template,
            privilege.name(),
            scope,
            &granted_by,
            binding::name_argument(role)
        ],
    );
}

/// The parameters of a statement on the grants of a role on a target.
pub(crate) fn role_and_target(role: Oid, target: &Target) -> [Parameter; 3] {
    params![RegRole(role), target.project.id, target.template]
}

pub(crate) fn find_role(name: &str) -> Result<Oid, Error> {
    role::find_by_name(name).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/role", format!("role {name:?} does not exist"))
            .hint(format!("Check the spelling, or create the role first: CREATE ROLE {}.", identifier(name)))
    })
}

/// A role that can be granted privileges. Revoking also accepts superusers, because a role may become one later.
fn find_grantee(name: &str) -> Result<Oid, Error> {
    let role = find_role(name)?;
    let is_reserved = [role::OWNER, role::ADMIN].into_iter().any(|name| role::find(name) == Some(role));
    if is_reserved || role::is_reserved(name) {
        return Err(Error::at(
            Code::InvalidValue,
            "/role",
            format!("privileges cannot be granted to {name}"),
        )
        .hint("Grant to a role that you created: CREATE ROLE sales."));
    }
    if role::is_superuser(role) {
        return Err(Error::at(
            Code::InvalidValue,
            "/role",
            format!("privileges cannot be granted to the superuser {name}"),
        )
        .hint("A superuser has all privileges. Grant to a role that you created: CREATE ROLE sales."));
    }
    Ok(role)
}

fn parse_privileges(names: &[String]) -> Result<Vec<Privilege>, Error> {
    let parse = |(position, name): (usize, &String)| {
        Privilege::parse(name).ok_or_else(|| {
            Error::at(
                Code::InvalidValue,
                format!("/privileges/{position}"),
                format!("{name:?} is not a privilege"),
            )
            .hint("Use the privileges read, create, update, delete and define.")
        })
    };
    let mut privileges: Vec<Privilege> = names.iter().enumerate().map(parse).collect::<Result<_, _>>()?;
    privileges.sort_unstable_by_key(|privilege| *privilege as u8);
    privileges.dedup();
    if privileges.is_empty() {
        return Err(Error::at(Code::InvalidValue, "/privileges", "the list of privileges is empty")
            .hint("Use the privileges read, create, update, delete and define."));
    }
    Ok(privileges)
}
