//! Privileges are given and taken: written down, and made into policies of PostgreSQL.

use super::binding;
use super::enforcement::{create_policy, drop_policy, forget_dropped_roles, restore_privileges, role_sql};
use super::granted::{COLUMNS, Grant, read_all};
use super::rights::Privilege;
use super::{Caller, scope};
use crate::error::{Code, Error};
use crate::postgres::guard::as_owner_defining;
use crate::postgres::spi::{Access, Connection, connected};
use crate::postgres::table_lock::lock_exclusively;
use crate::postgres::{datum, invalidation, role};
use crate::quote::identifier;
use crate::template::catalog::{self, Project};
use crate::template::{Template, setup};
use crate::view::upkeep;
use pgrx::pg_sys::{self, Datum, Oid};
use std::rc::Rc;

/// What a grant is about.
enum Target {
    /// All templates of a project, those to come included.
    Project(Project),
    /// One template.
    Template(Rc<Template>),
}

impl Target {
    /// Reads `project` or `project.template`.
    fn find(name: &str) -> Result<Target, Error> {
        catalog::refresh();
        let unknown = || {
            Error::at(Code::InvalidValue, "/target", format!("there is no project or template {name:?}"))
                .hint("a target is 'project' or 'project.template'")
        };
        let (project, template) =
            name.split_once('.').map_or((name, None), |(project, slug)| (project, Some(slug)));
        let project = catalog::project_by_name_or_id(project).ok_or_else(unknown)?;
        match template {
            None => Ok(Target::Project(project)),
            Some(slug) => catalog::by_slug(project.id, slug).map(Target::Template).ok_or_else(unknown),
        }
    }

    fn project(&self) -> i32 {
        match self {
            Target::Project(project) => project.id,
            Target::Template(template) => template.project_id,
        }
    }

    fn template(&self) -> Option<i32> {
        match self {
            Target::Project(_) => None,
            Target::Template(template) => Some(template.id),
        }
    }

    /// The templates on which policies stand for it.
    fn templates(&self, spi: &Connection) -> Vec<Rc<Template>> {
        match self {
            Target::Project(project) => catalog::of_project(spi, project.id),
            Target::Template(template) => vec![Rc::clone(template)],
        }
    }
}

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
            "define is about templates: it has no scope of records",
        )
        .hint("grant it by itself, without a scope"));
    }
    setup::lock_definitions();
    let target = Target::find(target)?;
    as_owner_defining(|| {
        connected(|spi| {
            forget_dropped_roles(spi);
            let templates = target.templates(spi);
            check(&target, &templates, scope)?;
            lock_exclusively(&tables_of(&templates));
            for privilege in privileges {
                let (grant, before) = write(spi, role, &target, privilege, scope);
                for template in &templates {
                    if let Some(before) = &before {
                        drop_policy(spi, before, template);
                    }
                    create_policy(spi, &grant, template)?;
                }
            }
            templates.iter().for_each(|template| upkeep::follow_grants(spi, template));
            let schema = identifier(&project_slug(&target));
            spi.script(&format!("grant usage on schema {schema} to {}", role_sql(role)));
            templates.iter().for_each(|template| invalidation::announce(template.table));
            Ok(())
        })
    })
}

/// Takes back all that was granted to a role on a target. Returns how many privileges that were.
pub fn revoke(role_name: &str, target: &str) -> Result<i32, Error> {
    Caller::current().require_admin("revoke access")?;
    let role = find_role(role_name)?;
    setup::lock_definitions();
    let target = Target::find(target)?;
    Ok(as_owner_defining(|| {
        connected(|spi| {
            let templates = target.templates(spi);
            lock_exclusively(&tables_of(&templates));
            let rows = spi.run_once(
                &format!(
                    "delete from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
                     and g.template_id is not distinct from $3 returning {COLUMNS}"
                ),
                Access::Latest,
                &place(role, &target),
            );
            let grants = read_all(&rows);
            for template in &templates {
                grants.iter().for_each(|grant| drop_policy(spi, grant, template));
                restore_privileges(spi, role, template);
                upkeep::follow_grants(spi, template);
                invalidation::announce(template.table);
            }
            if !needs_schema(spi, role, &target) {
                let schema = identifier(&project_slug(&target));
                spi.script(&format!("revoke usage on schema {schema} from {}", role_sql(role)));
            }
            grants.len() as i32
        })
    }))
}

/// Whether a role was granted something else in the project, or was given something in its schema by hand.
fn needs_schema(spi: &Connection, role: Oid, target: &Target) -> bool {
    let [role, project, _] = place(role, target);
    let schema = (pg_sys::TEXTOID, datum::text(&identifier(&project_slug(target))));
    let sql = "with acls (acl) as ( \
                 select c.relacl from pg_catalog.pg_class c where c.relnamespace = pg_catalog.to_regnamespace($3) \
                 union all select a.attacl from pg_catalog.pg_attribute a \
                   join pg_catalog.pg_class c on c.oid = a.attrelid \
                   where c.relnamespace = pg_catalog.to_regnamespace($3) \
                 union all select p.proacl from pg_catalog.pg_proc p where p.pronamespace = pg_catalog.to_regnamespace($3) \
                 union all select t.typacl from pg_catalog.pg_type t where t.typnamespace = pg_catalog.to_regnamespace($3)) \
               select from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
                 and keyed.is_bound(g.role::oid, g.role_name, g.bound_in, g.tableoid) \
               union all select from acls, pg_catalog.aclexplode(acls.acl) given where given.grantee = $1::oid \
               limit 1";
    !spi.run_once(sql, Access::Latest, &[role, project, schema]).is_empty()
}

fn check(target: &Target, templates: &[Rc<Template>], scope: Option<&str>) -> Result<(), Error> {
    let Some(scope) = scope else { return Ok(()) };
    for template in templates {
        let filter = scope::compile(template, scope).map_err(|error| error.below("/scope"))?;
        if matches!(target, Target::Project(_)) {
            scope::require_standard_fields(&filter)?;
        }
    }
    if templates.is_empty() {
        return Err(Error::at(
            Code::InvalidValue,
            "/scope",
            "the project has no template to check the scope against",
        )
        .hint("create a template first"));
    }
    Ok(())
}

/// Writes a grant down; also gives the one it replaces.
fn write(
    spi: &Connection,
    role: Oid,
    target: &Target,
    privilege: Privilege,
    scope: Option<&str>,
) -> (Grant, Option<Grant>) {
    let [role_argument, project, template] = place(role, target);
    let privilege_argument = (pg_sys::TEXTOID, datum::text(privilege.name()));
    let before = spi.run_once(
        &format!(
            "delete from keyed_state.access_grant g where g.role = $1 and g.project_id = $2 \
             and g.template_id is not distinct from $3 and g.privilege = $4 returning {COLUMNS}"
        ),
        Access::Latest,
        &[role_argument, project, template, privilege_argument],
    );
    let before = read_all(&before).pop();
    let granted_by = role::name(role::session()).unwrap_or_default();
    let rows = spi.run_once(
        &format!(
            "insert into keyed_state.access_grant as g \
             (role, project_id, template_id, privilege, scope, granted_by, role_name, bound_in) \
             values ($1, $2, $3, $4, $5::jsonb, $6, $7, keyed.binding('keyed_state.access_grant'::regclass)) \
             returning {COLUMNS}"
        ),
        Access::Latest,
        &[
            role_argument,
            project,
            template,
            privilege_argument,
            (pg_sys::TEXTOID, datum::optional_text(scope)),
            (pg_sys::TEXTOID, datum::text(&granted_by)),
            binding::name_argument(role),
        ],
    );
    match read_all(&rows).pop() {
        Some(grant) => (grant, before),
        None => Error::new(Code::Internal, "a grant was not written down").raise(),
    }
}

fn place(role: Oid, target: &Target) -> [(Oid, datum::Argument); 3] {
    [
        (pg_sys::REGROLEOID, Some(Datum::from(role))),
        (pg_sys::INT4OID, Some(Datum::from(target.project()))),
        (pg_sys::INT4OID, target.template().map(Datum::from)),
    ]
}

fn find_role(name: &str) -> Result<Oid, Error> {
    role::find_by_name(name).ok_or_else(|| {
        Error::at(Code::InvalidValue, "/role", format!("role {name:?} does not exist"))
            .hint(format!("create it first: CREATE ROLE {}", identifier(name)))
    })
}

/// A role that may be granted something. What one has that became a superuser since can still be revoked.
fn find_grantee(name: &str) -> Result<Oid, Error> {
    let role = find_role(name)?;
    let is_ours =
        [role::OWNER, role::ADMIN, role::PROXY].into_iter().any(|ours| role::find(ours) == Some(role));
    if is_ours {
        return Err(Error::at(Code::InvalidValue, "/role", format!("nothing is granted to {name}"))
            .hint("grant to a role of your own: CREATE ROLE sales"));
    }
    if role::is_superuser(role) {
        return Err(Error::at(
            Code::InvalidValue,
            "/role",
            format!("{name} is a superuser: no scope binds it"),
        )
        .hint("grant to a role of your own: CREATE ROLE sales"));
    }
    Ok(role)
}

fn parse_privileges(names: &[String]) -> Result<Vec<Privilege>, Error> {
    let parse = |(position, name): (usize, &String)| {
        Privilege::parse(name).ok_or_else(|| {
            Error::at(
                Code::InvalidValue,
                format!("/privileges/{position}"),
                format!("{name:?} is no privilege"),
            )
            .hint("the privileges are read, create, update, delete and define")
        })
    };
    let mut privileges: Vec<Privilege> = names.iter().enumerate().map(parse).collect::<Result<_, _>>()?;
    privileges.sort_unstable_by_key(|privilege| *privilege as u8);
    privileges.dedup();
    if privileges.is_empty() {
        return Err(Error::at(Code::InvalidValue, "/privileges", "name at least one privilege")
            .hint("the privileges are read, create, update, delete and define"));
    }
    Ok(privileges)
}

fn tables_of(templates: &[Rc<Template>]) -> Vec<String> {
    templates.iter().map(|template| template.table_sql()).collect()
}

fn project_slug(target: &Target) -> String {
    match target {
        Target::Project(project) => project.slug.clone(),
        Target::Template(template) => template.project_slug.clone(),
    }
}
