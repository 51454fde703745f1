//! Grants over HTTP, and the roles that there are.

use super::answer;
use super::report::{lines, slugs, utc};
use crate::access::target::Target;
use crate::access::{Caller, explain};
use crate::define::{grant, revocation};
use crate::error::Error;
use crate::json::{self, array_at, is_null, pointer_step};
use crate::postgres::datum;
use crate::postgres::parameter::params;
use crate::value::member::{missing, text_at, unknown_member};
use crate::value::written::Written;
use uuid::Uuid;

/// `{roles: [{name, login, admin, grantable, member_of}]}`: the roles for which an administrator may issue keys.
pub(super) fn roles() -> Result<String, Error> {
    Caller::current().require_admin("list roles")?;
    let query = "select r.rolname as name, r.rolcanlogin as login, pg_has_role(r.oid, a.oid, 'usage') as admin, \
                 r.oid <> a.oid as grantable, array(select g.rolname::text from pg_auth_members m \
                   join pg_roles g on g.oid = m.roleid where m.member = r.oid order by 1) as member_of \
                 from pg_roles r, pg_roles a where a.rolname = 'keyed_admin' and not r.rolsuper \
                 and r.rolname not in ('keyed_owner', 'keyed_proxy') and r.rolname !~ '^pg_' \
                 and not pg_has_role(r.oid, 'keyed_owner', 'member') order by r.rolname";
    Ok(format!("{{\"roles\":{}}}", lines(query, &[])))
}

/// `{grants: [{role, target, privileges, scope, granted_at, granted_by, orphaned}]}`: privileges with one scope are one
/// entry.
pub(super) fn list(role: Option<&str>, target: Option<&str>) -> Result<String, Error> {
    Caller::current().require_admin("list what was granted")?;
    Ok(listed(role, target))
}

fn listed(role: Option<&str>, target: Option<&str>) -> String {
    let projects = slugs(Caller::current().projects().as_deref());
    let query = format!(
        "with held as ( \
           select g.role, g.target, array_agg(g.privilege order by o.place) as privileges, g.scope, \
             max(g.granted_at) as granted_at, (array_agg(g.granted_by order by g.granted_at desc))[1] as granted_by, \
             g.orphaned, min(o.place) as place \
           from keyed.list_access() g, lateral (values (array_position( \
             array['read', 'create', 'update', 'delete', 'define'], g.privilege))) o (place) \
           where ($1 is null or g.role = $1) and ($2 is null or g.target = $2) \
             and ($3 is null or split_part(g.target, '.', 1) = any ($3)) \
           group by g.role, g.target, g.scope, g.orphaned) \
         select h.role, h.target, h.privileges, h.scope, {}, h.granted_by, h.orphaned from held h \
         order by h.role, h.target, h.place, h.privileges",
        utc("h.granted_at")
    );
    format!("{{\"grants\":{}}}", lines(&query, &params![role, target, projects]))
}

/// Grants privileges. Answers what the role now has on the target.
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
            // As it is stored, so that the same scope is known to be the same.
            "scope" if !is_null(value) => scope = datum::jsonb(value.get()).map(datum::read_jsonb),
            "scope" => scope = None,
            _ => {
                let error = unknown_member(&name, &here);
                return Err(error.hint("the members here are role, target, privileges, scope"));
            }
        }
    }
    let role = role.ok_or_else(|| missing("role", ""))?;
    let target = target.ok_or_else(|| missing("target", ""))?;
    let privileges = privileges.ok_or_else(|| missing("privileges", ""))?;
    grant::grant(&role, &target, &privileges, scope.as_deref())?;
    Ok(answer(200, listed(Some(&role), Some(&canonical(&target)?))))
}

/// A target by its slugs: a project may be named by its number.
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

/// Why a role sees a record or not.
pub(super) fn explain(id: &str, role: &str) -> Result<String, Error> {
    Caller::current().require_admin("explain the access of other roles")?;
    explain::explain(Uuid::try_parse(id).map_err(|_| Error::not_found())?, role)
}
