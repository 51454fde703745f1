//! Grants and roles over HTTP.

use super::page::Page;
use super::report::{slugs, utc};
use super::response;
use crate::access::target::Target;
use crate::access::{Caller, explain};
use crate::define::{grant, revocation};
use crate::error::{Code, Error};
use crate::json::{self, array_at, is_null, pointer_step};
use crate::postgres::caught::Class;
use crate::postgres::datum;
use crate::postgres::guard::subtransaction;
use crate::postgres::parameter::params;
use crate::value::member::{missing, text_at, unknown_member};
use crate::value::written::Written;
use serde_json::value::RawValue;
use uuid::Uuid;

/// `{roles: [{name, login, admin, grantable, member_of}], next_cursor}`: the roles for which an administrator may issue
/// keys.
pub(super) fn roles(limit: Option<i32>, cursor: Option<&str>) -> Result<String, Error> {
    Caller::current().require_admin("list roles")?;
    let page = Page::<1>::parse(limit, cursor)?;
    let query = "select r.rolname as name, r.rolcanlogin as login, pg_has_role(r.oid, a.oid, 'usage') as admin, \
                 r.oid <> a.oid as grantable, array(select distinct g.rolname::text from pg_auth_members m \
                   join pg_roles g on g.oid = m.roleid where m.member = r.oid order by 1) as member_of, \
                 array[r.rolname::text] as after from pg_roles r, pg_roles a where a.rolname = 'keyed_admin' and not r.rolsuper \
                 and r.rolname not in ('keyed_owner', 'keyed_proxy') and r.rolname !~ '^pg_' \
                 and not pg_has_role(r.oid, 'keyed_owner', 'member') and ($1 is null or r.rolname > $1::name) \
                 order by r.rolname limit $2";
    Ok(page.write("roles", query, &params![page.after(0), page.read()]))
}

/// `{grants: [{role, target, privileges, scope, granted_at, granted_by, orphaned}], next_cursor}`. Privileges with the same
/// scope form one entry.
pub(super) fn list(
    role: Option<&str>,
    target: Option<&str>,
    limit: Option<i32>,
    cursor: Option<&str>,
) -> Result<String, Error> {
    Caller::current().require_admin("list grants")?;
    Ok(listed(role, target, &Page::parse(limit, cursor)?))
}

/// The query of the list. Entries are sorted by role, target, first privilege, and scope, which distinguishes entries of
/// dropped roles with the same name.
fn listed(role: Option<&str>, target: Option<&str>, page: &Page<3>) -> String {
    let projects = slugs(Caller::current().projects().as_deref());
    let query = format!(
        "with held as ( \
           select g.role, g.target, array_agg(g.privilege order by o.place) as privileges, g.scope, \
             max(g.granted_at) as granted_at, (array_agg(g.granted_by order by g.granted_at desc))[1] as granted_by, \
             g.orphaned, concat(min(o.place), g.orphaned, md5(g.scope::text)) as place \
           from keyed.list_access() g, lateral (values (array_position( \
             array['read', 'create', 'update', 'delete', 'define'], g.privilege))) o (place) \
           where ($1 is null or g.role = $1) and ($2 is null or g.target = $2) \
             and ($3 is null or split_part(g.target, '.', 1) = any ($3)) \
           group by g.role, g.target, g.scope, g.orphaned) \
         select h.role, h.target, h.privileges, h.scope, {}, h.granted_by, h.orphaned, \
           array[h.role, h.target, h.place] as after from held h \
         where $4 is null or (h.role, h.target, h.place) > ($4, $5, $6) \
         order by h.role, h.target, h.place limit $7",
        utc("h.granted_at")
    );
    let [after_role, after_target, after_place] = [0, 1, 2].map(|place| page.after(place));
    let arguments = params![role, target, projects, after_role, after_target, after_place, page.read()];
    page.write("grants", &query, &arguments)
}

/// Grants privileges. Returns the role's privileges on the target.
pub(super) fn put(body: &str) -> Result<Written, Error> {
    Caller::current().require_admin("grant access")?;
    let (mut role, mut target, mut privileges, mut scope) = (None, None, None, None);
    for (name, value) in json::object(body)?.0 {
        let here = format!("/{}", pointer_step(&name));
        match name.as_ref() {
            "role" => role = Some(text_at(value, &here)?),
            "target" => target = Some(text_at(value, &here)?),
            "privileges" => {
                let names = array_at(value, &here)?.into_iter().enumerate();
                let name = |(position, name)| text_at(name, &format!("{here}/{position}"));
                privileges = Some(names.map(name).collect::<Result<Vec<_>, _>>()?);
            }
            "scope" if !is_null(value) => scope = Some(stored_scope(value, &here)?),
            "scope" => scope = None,
            _ => {
                let error = unknown_member(&name, &here);
                return Err(error.hint("Use the members role, target, privileges and scope."));
            }
        }
    }
    let role = role.ok_or_else(|| missing("role", ""))?;
    let target = target.ok_or_else(|| missing("target", ""))?;
    let privileges = privileges.ok_or_else(|| missing("privileges", ""))?;
    grant::grant(&role, &target, &privileges, scope.as_deref())?;
    let all = Page::parse(None, None)?;
    Ok(response(200, listed(Some(&role), Some(&canonical(&target)?), &all)))
}

/// The stored form of a scope, so that equal scopes compare as equal.
fn stored_scope(value: &RawValue, pointer: &str) -> Result<String, Error> {
    let stored = subtransaction(|| datum::jsonb(value.get()).map(datum::read_jsonb).unwrap_or_default());
    stored.catch(|caught| {
        let error = Error::at(Code::InvalidValue, pointer, format!("cannot be stored: {}", caught.message));
        (caught.class() == Class::Data)
            .then(|| error.hint("Remove U+0000, and numbers with more digits than PostgreSQL's numeric has."))
    })
}

/// A target with slugs instead of numbers.
fn canonical(target: &str) -> Result<String, Error> {
    let project = Target::find(target)?.project.slug;
    Ok(match target.split_once('.') {
        Some((_, template)) => format!("{project}.{template}"),
        None => project,
    })
}

/// Revokes all privileges of a role on a target.
pub(super) fn revoke(role: &str, target: &str) -> Result<Written, Error> {
    match revocation::revoke(role, target)? {
        0 => Err(Error::not_found()),
        _ => Ok(Written::no_content()),
    }
}

/// Explains why a record is visible to a role or not.
pub(super) fn explain(id: &str, role: &str) -> Result<String, Error> {
    Caller::current().require_admin("explain the access of other roles")?;
    explain::explain(Uuid::try_parse(id).map_err(|_| Error::not_found())?, role)
}
