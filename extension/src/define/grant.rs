//! Grants privileges: stores them, and creates privileges and policies of PostgreSQL.

use super::dependents;
use super::reconcile;
use crate::access::privilege::Privilege;
use crate::access::privileges::role_sql;
use crate::access::stored_grant::{COLUMNS, Grant, read};
use crate::access::table_policies::forget_dropped_roles;
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

/// Grants privileges on a target to a role, on the records in the scope or on all. A privilege that the role has there
/// already gets the new scope.
pub fn grant(role_name: &str, target: &str, privileges: &[String], scope: Option<&str>) -> Result<(), Error> {
    Caller::current().require_admin("grant access")?;
    let role = find_grantee(role_name)?;
    let privileges = parse_privileges(privileges)?;
    if scope.is_some() && privileges.contains(&Privilege::Define) {
        return Err(Error::at(
            Code::InvalidValue,
            "/privileges",
            "define applies to templates and has no scope of records",
        )
        .hint("Grant define alone, without a scope."));
    }
    definition_lock::one_at_a_time(Target::find(target)?.project.id, || {
        let target = Target::find(target)?;
        as_owner_defining(|| connected(|spi| make(spi, role, &target, &privileges, scope)))
    })
}

fn make(
    spi: &Connection,
    role: Oid,
    target: &Target,
    privileges: &[Privilege],
    scope: Option<&str>,
) -> Result<(), Error> {
    forget_dropped_roles(spi);
    let tables = target.tables(spi);
    // Looking up a template takes a weak lock on its table.
    let what = format!("a template of the project {} that a scope is about", target.project.slug);
    table_lock::lock_with_retry(&what, || check(target, &tables, scope))?;
    let held = held(spi, role, target);
    let narrows = privileges.iter().any(|privilege| narrows(&held, *privilege, scope));
    // In a project of very many templates plain SQL follows table by table.
    let now = &tables[..tables.len().min(table_lock::most_tables())];
    // A revoked privilege ends at once, without waiting for readers; the new policies follow when the tables are
    // free.
    if !narrows {
        lock_exclusively(&now.iter().map(|table| table.sql.clone()).collect::<Vec<_>>());
    }
    let project = &target.project;
    table_lock::lock_with_retry(&format!("the privileges of the project {}", project.slug), || {
        privileges::lock(project.id);
    });
    privileges::give(spi, role, &tables, privileges)?;
    for privilege in privileges {
        let is_held = |grant: &Grant| grant.privilege == *privilege && grant.scope.as_deref() == scope;
        if !held.iter().any(is_held) {
            write(spi, role, target, *privilege, scope);
        }
    }
    let done = if narrows {
        reconcile::enforce_on(spi, &tables)
    } else {
        // Policies that wait are made along, and their scopes may be about other templates.
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
            "functions and the service apply this at once. In plain SQL, templates that still wait for their table \
             to be free: {}. The service tries again every minute; to do so now, SELECT keyed.enforce_grants()",
            tables.len() - done
        );
    }
    Ok(())
}

/// What a role holds on this very target.
fn held(spi: &Connection, role: Oid, target: &Target) -> Vec<Grant> {
    let sql = format!(
        "select {COLUMNS} from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
         and g.template_id is not distinct from $3"
    );
    read(&spi.run_once(&sql, Snapshot::Latest, &place(role, target)))
}

/// Whether the scope may take something away from what is held. Two scopes are not compared: another one counts as narrower,
/// unless it is all records.
fn narrows(held: &[Grant], privilege: Privilege, scope: Option<&str>) -> bool {
    let differs = |grant: &Grant| grant.privilege == privilege && grant.scope.as_deref() != scope;
    scope.is_some() && held.iter().any(differs)
}

/// Refuses a scope that a template does not understand. One for a whole project is about fields that all have.
fn check(target: &Target, tables: &[Table], scope: Option<&str>) -> Result<(), Error> {
    let Some(scope) = scope else { return Ok(()) };
    let Some(template) = tables.first().and_then(|table| catalog::by_id(table.template)) else {
        return Err(Error::at(
            Code::InvalidValue,
            "/scope",
            "the project has no template to check the scope against",
        )
        .hint("Create a template first."));
    };
    let filter = scope::compile(&template, scope).map_err(|error| error.below("/scope"))?;
    match target.template {
        None => scope::require_standard_fields(&filter),
        Some(_) => Ok(()),
    }
}

/// Writes a grant down, in place of one with another scope. It has a number of its own: the policies of the other show and
/// allow nothing any more.
fn write(spi: &Connection, role: Oid, target: &Target, privilege: Privilege, scope: Option<&str>) {
    let [role_argument, project, template] = place(role, target);
    spi.run_once(
        "delete from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
         and g.template_id is not distinct from $3 and g.privilege = $4",
        Snapshot::Latest,
        &params![role_argument, project, template, privilege.name()],
    );
    let granted_by = Caller::actor();
    // There is a conflict only with a row that a fixed snapshot does not show, and then PostgreSQL raises 40001.
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

pub(crate) fn place(role: Oid, target: &Target) -> [Parameter; 3] {
    params![RegRole(role), target.project.id, target.template]
}

pub(crate) fn find_role(name: &str) -> Result<Oid, Error> {
    role::find_by_name(name).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/role", format!("role {name:?} does not exist"))
            .hint(format!("Check the spelling, or create the role first: CREATE ROLE {}.", identifier(name)))
    })
}

/// A role that may be granted something. What one has that became a superuser since can still be revoked.
fn find_grantee(name: &str) -> Result<Oid, Error> {
    let role = find_role(name)?;
    let is_ours = [role::OWNER, role::ADMIN].into_iter().any(|ours| role::find(ours) == Some(role));
    if is_ours || role::is_reserved(name) {
        return Err(Error::at(
            Code::InvalidValue,
            "/role",
            format!("privileges cannot be granted to {name}"),
        )
        .hint("Grant to a role of your own: CREATE ROLE sales."));
    }
    if role::is_superuser(role) {
        return Err(Error::at(
            Code::InvalidValue,
            "/role",
            format!("{name} is a superuser, to which scopes do not apply"),
        )
        .hint("Grant to a role of your own: CREATE ROLE sales."));
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
        return Err(Error::at(Code::InvalidValue, "/privileges", "name at least one privilege")
            .hint("Use the privileges read, create, update, delete and define."));
    }
    Ok(privileges)
}
