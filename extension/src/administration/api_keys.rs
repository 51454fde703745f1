//! API keys over HTTP.

use super::page::Page;
use super::report::{records, slugs, utc};
use super::response;
use crate::access::{Caller, api_key};
use crate::define::access_functions::register_api_key;
use crate::error::Error;
use crate::json::{self, array_at, is_null, pointer_step};
use crate::json_write::write_string;
use crate::postgres::parameter::params;
use crate::value::member::{missing, text_at, unknown_member};
use crate::value::time;
use crate::value::written::Written;
use pgrx::pg_sys::Datum;

/// `{api_keys: [{id, role, projects, label, created_at, expires_at, revoked_at, last_used_at, orphaned}], next_cursor}`: the
/// keys that the caller can administer.
pub(super) fn list(limit: Option<i32>, cursor: Option<&str>) -> Result<String, Error> {
    Caller::current().require_admin("list API keys")?;
    let page = Page::<1>::parse(limit, cursor)?;
    let after = page.number_after(0)?;
    let query = format!(
        "select {}, array[k.id::text] as after from keyed.list_api_keys() k where {} \
         and k.id > coalesce($2, 0) order by k.id limit $3",
        columns(),
        ADMINISTERED
    );
    Ok(page.write("api_keys", &query, &params![administered_projects(), after, page.read()]))
}

/// The condition for keys that a caller can administer. `$1` are the projects of its own key.
const ADMINISTERED: &str = "($1 is null or k.projects <@ $1 and k.projects <> '{}')";

fn administered_projects() -> Option<Vec<String>> {
    slugs(Caller::current().key_projects())
}

fn columns() -> String {
    let times = ["k.created_at", "k.expires_at", "k.revoked_at", "k.last_used_at"].map(utc).join(", ");
    format!("k.id, k.role, k.projects, k.label, {times}, k.orphaned")
}

/// A key as in the list; empty if the caller cannot administer it.
fn shown(id: Option<i32>) -> String {
    let query =
        format!("select {} from keyed.list_api_keys() k where {ADMINISTERED} and k.id = $2", columns());
    records(&query, &params![administered_projects(), id]).pop().unwrap_or_default()
}

/// Issues a key. Only this response contains it; the stored response has null instead.
pub(super) fn create(body: &str) -> Result<Written, Error> {
    Caller::current().require_admin("issue API keys")?;
    let given = Given::parse(body)?;
    if given.key.is_some() {
        return Err(
            unknown_member("key", "/key").hint("Use the members role, projects, label and expires_at.")
        );
    }
    let role = given.role.ok_or_else(|| missing("role", ""))?;
    let expires_at = given.expires_at.map(Datum::from);
    let key = api_key::issue(&role, given.projects.as_deref(), given.label.as_deref(), expires_at)?;
    let id: Option<i32> = key.split('_').nth(1).and_then(|id| id.parse().ok());
    let shown = shown(id);
    let members = shown.trim_start_matches('{');
    let mut quoted = String::new();
    write_string(&mut quoted, &key);
    let body = |key: &str| format!("{{\"key\":{key},{members}");
    Ok(response(201, body(&quoted)).created(id).stored_as(body("null")))
}

/// Registers a key that another shard issued: see [`register_api_key`].
pub(super) fn register(body: &str) -> Result<Written, Error> {
    Caller::current().require_admin("register API keys")?;
    let given = Given::parse(body)?;
    let key = given.key.ok_or_else(|| missing("key", ""))?;
    let role = given.role.ok_or_else(|| missing("role", ""))?;
    let expires_at = given.expires_at.map(Datum::from);
    let id = register_api_key(&key, &role, given.projects.as_deref(), given.label.as_deref(), expires_at)?;
    Ok(response(200, shown(Some(id))))
}

/// Revokes a key.
pub(super) fn revoke(id: &str) -> Result<Written, Error> {
    Caller::current().require_admin("revoke API keys")?;
    let id = id.parse().map_err(|_| Error::not_found())?;
    match api_key::revoke(id)? {
        true => Ok(Written::no_content()),
        false => Err(Error::not_found()),
    }
}

/// The members of a request.
#[derive(Default)]
struct Given {
    key: Option<String>,
    role: Option<String>,
    projects: Option<Vec<String>>,
    label: Option<String>,
    expires_at: Option<i64>,
}

impl Given {
    fn parse(body: &str) -> Result<Given, Error> {
        let mut given = Given::default();
        for (name, value) in json::object(body)?.0 {
            let here = format!("/{}", pointer_step(&name));
            match name.as_ref() {
                "projects" | "label" | "expires_at" if is_null(value) => {}
                "key" => given.key = Some(text_at(value, &here)?),
                "role" => given.role = Some(text_at(value, &here)?),
                "projects" => {
                    let slugs = array_at(value, &here)?.into_iter().enumerate();
                    let slug = |(position, slug)| text_at(slug, &format!("{here}/{position}"));
                    given.projects = Some(slugs.map(slug).collect::<Result<_, _>>()?);
                }
                "label" => given.label = Some(text_at(value, &here)?),
                "expires_at" => {
                    given.expires_at = Some(time::parse_datetime(&text_at(value, &here)?, &here)?);
                }
                _ => {
                    return Err(unknown_member(&name, &here)
                        .hint("Use the members role, projects, label and expires_at."));
                }
            }
        }
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn request_for_a_key_requires_a_role_and_known_members() {
        let body =
            r#"{"role": "erp", "projects": ["crm"], "label": null, "expires_at": "2026-01-31T12:00:00Z"}"#;
        let given = Given::parse(body).expect("a request");
        assert_eq!((given.role.as_deref(), given.label), (Some("erp"), None));
        assert_eq!(given.projects, Some(vec!["crm".to_owned()]));
        assert!(given.expires_at.is_some());
        for (body, code, pointer) in [
            (r#"{"role": null}"#, Code::InvalidValue, "/role"),
            (r#"{"projects": "crm"}"#, Code::InvalidValue, "/projects"),
            (r#"{"projects": [1]}"#, Code::InvalidValue, "/projects/0"),
            (r#"{"expires_at": "tomorrow"}"#, Code::InvalidValue, "/expires_at"),
            (r#"{"roles": "erp"}"#, Code::UnknownField, "/roles"),
        ] {
            let error = Given::parse(body).err().expect(body);
            assert_eq!((error.code, error.violations[0].pointer.as_str()), (code, pointer), "{body}");
        }
    }
}
