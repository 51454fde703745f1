//! The SQL functions of keys and grants.

use super::{grant, reconcile, revocation};
use crate::access::{Caller, api_key, explain, overview, stored_grant};
use crate::error::{Code, Error};
use crate::postgres::function::{Call, ReturnValue, cached_function, must_not_be_null, sql_functions};
use crate::postgres::{activity, datum, role};
use crate::template::{catalog, shard};
use crate::value::shard::of_integer;
use pgrx::pg_sys::Datum;

sql_functions! {
    /// `keyed.authenticate(key_hash bytea, project text, source text) returns boolean`.
    keyed_authenticate => |call| {
        let hash = call.bytes(0).unwrap_or_default();
        let source = call.text(2).unwrap_or_else(|| "api".to_owned());
        // The source may be followed by a space, the form of numbers and the request id. Additional arguments would make it
        // a new function, without the grants of existing databases.
        let (source, request) = source.split_once(' ').unwrap_or((&source, ""));
        let (numbers_as_strings, request_id) = match request.strip_prefix("numbers=string ") {
            Some(request_id) => (true, request_id),
            None => (false, request),
        };
        if !["api", "app", "csv", "inbound"].contains(&source) {
            return Err(Error::at(Code::InvalidValue, "/source", format!("invalid source {source:?}"))
                .hint("Use api, app, csv or inbound."));
        }
        activity::show_request(request_id);
        api_key::authenticate(&hash, call.text(1).as_deref(), source, numbers_as_strings)?;
        Ok(ReturnValue::Datum(Datum::from(true)))
    };

    /// `keyed_http.key_owner() returns text[]`.
    keyed_http_key_owner => |_| {
        let Some(owner) = api_key::current_owner() else { return Ok(ReturnValue::Null) };
        let project = owner.project.and_then(catalog::project_by_id).map(|project| project.slug);
        Ok(ReturnValue::Texts(vec![Some(owner.id.to_string()), owner.role, project]))
    };

    /// `keyed_http.name_request(request_id text) returns boolean`.
    keyed_http_name_request => |call| {
        require_proxy("set the request id")?;
        activity::show_request(&call.text(0).unwrap_or_default());
        Ok(ReturnValue::Datum(Datum::from(true)))
    };

    /// `keyed.issue_api_key(role name, projects text[], label text, expires_at timestamptz) returns text`.
    keyed_issue_api_key => |call| {
        let role = call.datum(0).map(datum::read_name).unwrap_or_default();
        let projects = call.texts(1, "projects")?;
        api_key::issue(&role, projects.as_deref(), call.text(2).as_deref(), call.datum(3)).map(ReturnValue::Text)
    };

    /// `keyed.register_api_key(key text, role name, projects text[], label text, expires_at timestamptz) returns integer`.
    keyed_register_api_key => |call| {
        let key = call.required_text(0, "key")?;
        let role = call.datum(1).map(datum::read_name).unwrap_or_default();
        let projects = call.texts(2, "projects")?;
        let id = register_api_key(&key, &role, projects.as_deref(), call.text(3).as_deref(), call.datum(4))?;
        Ok(ReturnValue::Datum(Datum::from(id)))
    };

    /// `keyed.revoke_api_key(id integer) returns boolean`.
    keyed_revoke_api_key => |call| {
        api_key::revoke(call.integer(0).unwrap_or(0)).map(|revoked| ReturnValue::Datum(Datum::from(revoked)))
    };

    /// `keyed.grant_access(role name, target text, privileges text[], scope jsonb) returns void`.
    keyed_grant_access => |call| {
        let target = call.required_text(1, "target")?;
        let privileges = call.texts(2, "privileges")?.ok_or_else(|| must_not_be_null("privileges"))?;
        let scope = call.json(3).filter(|scope| scope != "null");
        grant::grant(&role_argument(call)?, &target, &privileges, scope.as_deref()).map(|()| ReturnValue::Void)
    };

    /// `keyed.revoke_access(role name, target text) returns integer`.
    keyed_revoke_access => |call| {
        let target = call.required_text(1, "target")?;
        revocation::revoke(&role_argument(call)?, &target).map(|count| ReturnValue::Datum(Datum::from(count)))
    };

    /// `keyed.enforce_grants(max_tables integer) returns integer`.
    keyed_enforce_grants => |call| {
        Caller::current().require_maintenance("enforce grants")?;
        let maximum = call.integer(0).map(|maximum| usize::try_from(maximum).unwrap_or(0));
        let remaining = reconcile::enforce(maximum);
        Ok(ReturnValue::Datum(Datum::from(remaining as i32)))
    };

    /// `keyed.require_admin(purpose text) returns void`.
    keyed_require_admin => |call| {
        Caller::current().require_admin(&call.required_text(0, "purpose")?).map(|()| ReturnValue::Void)
    };

    /// `keyed.me() returns jsonb`.
    keyed_me => |_| Ok(ReturnValue::Json(overview::me(&Caller::current(), None)));

    /// `keyed_http.me(query_text boolean) returns text`.
    keyed_http_me => |call| Ok(ReturnValue::Text(overview::me(&Caller::current(), Some(call.flag(0)))));

    /// `keyed_http.list_projects() returns text`.
    keyed_http_list_projects => |_| Ok(ReturnValue::Text(overview::projects(&Caller::current())));

    /// `keyed.explain_access(id uuid, role name) returns jsonb`.
    keyed_explain_access => |call| {
        let id = call.uuid(0).ok_or_else(|| must_not_be_null("id"))?;
        let role = call.datum(1).map(datum::read_name).ok_or_else(|| must_not_be_null("role"))?;
        explain::explain(id, &role).map(ReturnValue::Json)
    };
}

cached_function! {
    /// `keyed.is_granted(number integer) returns boolean`.
    keyed_is_granted => stored_grant::exists
}

/// Rejects logins other than the proxy's. A check instead of a GRANT also works in databases of earlier versions.
pub(super) fn require_proxy(purpose: &str) -> Result<(), Error> {
    let login = role::session();
    let is_proxy = role::find(role::PROXY).is_some_and(|proxy| role::has_privileges_of(login, proxy));
    if is_proxy || role::is_superuser(login) {
        return Ok(());
    }
    Err(Error::new(Code::Forbidden, format!("only keyed_proxy and superusers may {purpose}")))
}

/// Registers an API key of another shard.
pub fn register_api_key(
    key: &str,
    role: &str,
    projects: Option<&[String]>,
    label: Option<&str>,
    expires_at: Option<Datum>,
) -> Result<i32, Error> {
    Caller::current().require_admin("register API keys")?;
    let shard = shard::current().ok_or_else(|| {
        Error::new(Code::InvalidValue, "this database is not sharded")
            .hint("Make it a shard first: SELECT keyed.init(shard => 1).")
    })?;
    let is_issued_here = |id| of_integer(id) == shard;
    api_key::register(key, role, projects, label, expires_at, is_issued_here)
}

fn role_argument(call: &Call) -> Result<String, Error> {
    call.datum(0).map(datum::read_name).ok_or_else(|| must_not_be_null("role"))
}
