//! Projects and their quotas over HTTP.

use super::response;
use crate::access::{Caller, overview};
use crate::define::project;
use crate::error::{Code, Error};
use crate::json::{self, is_null, pointer_step};
use crate::quota::{Name, define, usage};
use crate::template::catalog;
use crate::value::member::{missing, parse_label, text_at, unknown_member};
use crate::value::written::Written;
use serde_json::value::RawValue;

/// Creates a project.
pub(super) fn create(body: &str) -> Result<Written, Error> {
    let caller = Caller::current();
    caller.require_admin("create projects")?;
    let (mut slug, mut project_name, mut time_zone) = (None, None, None);
    for (name, value) in json::object(body)?.0 {
        let here = format!("/{}", pointer_step(&name));
        match name.as_ref() {
            "slug" => slug = Some(text_at(value, &here)?),
            "name" => project_name = parse_label(value, &here)?,
            "time_zone" if is_null(value) => time_zone = None,
            "time_zone" => time_zone = Some(text_at(value, &here)?),
            _ => return Err(unknown_member(&name, &here).hint("Use the members slug, name and time_zone.")),
        }
    }
    let slug = slug.ok_or_else(|| missing("slug", ""))?;
    let id = project::create(&slug, project_name.as_deref(), time_zone.as_deref())?;
    let made = overview::project(&caller, id).ok_or_else(Error::not_found)?;
    Ok(response(201, made).created(Some(id)))
}

/// `{project, quotas: [{name, maximum, used, resets_at}]}` of the request's project.
pub(super) fn quotas() -> Result<String, Error> {
    let caller = Caller::current();
    caller.require_admin("see quotas")?;
    let project = chosen(&caller)?;
    let slug = catalog::project_by_name_or_id(&project).ok_or_else(Error::not_found)?.slug;
    Ok(format!("{{\"project\":\"{slug}\",\"quotas\":{}}}", usage::report(&project)?))
}

/// Sets a quota of the request's project.
pub(super) fn set_quota(name: &str, body: &str) -> Result<Written, Error> {
    let caller = Caller::current();
    caller.require_admin("set quotas")?;
    let project = chosen(&caller)?;
    let mut maximum = None;
    for (member, value) in json::object(body)?.0 {
        let here = format!("/{}", pointer_step(&member));
        match member.as_ref() {
            "maximum" => maximum = Some(number_or_null(value, &here)?),
            _ => return Err(unknown_member(&member, &here).hint("Use the member maximum.")),
        }
    }
    define::set(&project, name, maximum.ok_or_else(|| missing("maximum", ""))?)?;
    // The quota was just set, so its name is valid.
    let name = Name::parse(name).ok_or_else(Error::not_found)?;
    Ok(response(200, usage::report_one(&project, name)?))
}

fn number_or_null(value: &RawValue, pointer: &str) -> Result<Option<i64>, Error> {
    if is_null(value) {
        return Ok(None);
    }
    let refuse = |_| {
        Error::at(Code::InvalidValue, pointer, "must be a whole number, or null")
            .hint("Use null to remove the quota.")
    };
    value.get().parse().map(Some).map_err(refuse)
}

/// The project of the request.
fn chosen(caller: &Caller) -> Result<String, Error> {
    caller.project().map(|project| project.to_string()).ok_or_else(|| {
        Error::new(Code::ProjectRequired, "the request does not specify a project")
            .hint("Send the header X-Service-Project-Id.")
    })
}
