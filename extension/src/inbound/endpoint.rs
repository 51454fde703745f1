//! Endpoints: the rows of `keyed_state.inbound_endpoint`.

use super::definition::{Mapping, Sources};
use crate::access::credential::Credential;
use crate::access::{Caller, binding};
use crate::error::{Code, Error};
use crate::json_write::to_json;
use crate::postgres::guard::{as_owner, owner};
use crate::postgres::parameter::{Parameter, params};
use crate::postgres::role;
use crate::postgres::spi::{Connection, Rows, Snapshot, connected};
use crate::template::{Template, catalog};
use crate::value::quote::literal;
use crate::value::time;
use pgrx::pg_sys::Oid;
use serde::Serialize;
use std::rc::Rc;

/// A stored endpoint.
pub struct Endpoint {
    /// Its id.
    pub id: i32,
    /// Its name within its project.
    pub slug: String,
    /// The template of its records.
    pub template: Rc<Template>,
    /// Its role; `InvalidOid` if the role was dropped.
    pub role: Oid,
    /// The mapping of items to records.
    pub mapping: Mapping,
    /// The secret of signatures; `None` if deliveries are unsigned.
    pub secret: Option<Vec<u8>>,
    /// Whether it accepts deliveries.
    pub enabled: bool,
    created_at: i64,
    updated_at: i64,
}

/// Secrets that are shown only once.
#[derive(Default)]
pub struct Secrets {
    /// The token in the URL of deliveries.
    pub token: Option<String>,
    /// The secret in text form.
    pub secret: Option<String>,
}

fn read(rows: &Rows) -> Vec<Endpoint> {
    let endpoint = |row| {
        let text = |column| rows.get::<Option<String>>(row, column);
        let moment = |column| rows.get::<Option<i64>>(row, column).unwrap_or_default();
        Some(Endpoint {
            id: rows.get(row, 0),
            slug: text(1)?,
            template: catalog::by_id(rows.get::<Option<i32>>(row, 2)?)?,
            role: rows.get(row, 3),
            mapping: Mapping {
                items: text(4)?,
                external_key: text(5)?,
                key_prefix: text(6)?,
                sources: Mapping::read_sources(&text(7)?),
            },
            secret: rows.get(row, 8),
            enabled: rows.get::<Option<bool>>(row, 9).unwrap_or_default(),
            created_at: moment(10),
            updated_at: moment(11),
        })
    };
    (0..rows.len()).filter_map(endpoint).collect()
}

/// Whether the state has the table of endpoints.
pub fn table_exists() -> bool {
    catalog::table_oid("keyed_state", "inbound_endpoint").is_some()
}

pub(super) fn require_state() -> Result<(), Error> {
    if table_exists() {
        return binding::require_state();
    }
    Err(Error::new(Code::Internal, "this database needs a migration: endpoints are not available")
        .hint("Run SELECT keyed.migrate()."))
}

/// Rejects a role whose privileges the caller does not have. Otherwise the caller could write through the endpoint what
/// it cannot write itself.
pub(super) fn require_power_over(caller: &Caller, role: Oid) -> Result<(), Error> {
    let is_mighty = role::is_superuser(role) || role::is_member(role, owner());
    let has_power = if is_mighty {
        role::is_superuser(caller.role())
    } else {
        caller.is_admin() || role::has_privileges_of(caller.role(), role)
    };
    if has_power {
        return Ok(());
    }
    let name = role::name(role).unwrap_or_default();
    Err(Error::new(Code::Forbidden, format!("you cannot use the role {name:?} for an endpoint")).hint(
        "Do this as a member of that role or of keyed_admin. For the role of a superuser, do it as \
         a superuser.",
    ))
}

/// The endpoints that meet a condition on `e`.
pub fn find(spi: &Connection, condition: &str, arguments: &[Parameter]) -> Vec<Endpoint> {
    let sql = format!(
        "select e.id, e.slug, e.template_id, {}, e.items, e.external_key, e.key_prefix, e.mapping::text, e.secret, \
         e.enabled, e.created_at, e.updated_at \
         from keyed_state.inbound_endpoint e where {condition} order by e.slug, e.id",
        binding::role_sql("e")
    );
    read(&spi.run_once(&sql, Snapshot::Latest, arguments))
}

/// The endpoint of a token, given its SHA-256.
pub fn by_token(presented: &[u8]) -> Result<Option<Endpoint>, Error> {
    require_state()?;
    let argument = params![&Credential::InboundToken.stored(presented)];
    Ok(as_owner(|| connected(|spi| find(spi, "e.token_hash = $1", &argument).pop())))
}

/// The endpoint with this id, without checking the caller.
pub fn by_id(id: i32) -> Result<Option<Endpoint>, Error> {
    require_state()?;
    let argument = params![id];
    Ok(as_owner(|| connected(|spi| find(spi, "e.id = $1", &argument).pop())))
}

/// The endpoint with this slug in the request's project, or with this number. The caller must be allowed to configure it.
pub fn by_name(caller: &Caller, name: &str) -> Result<Endpoint, Error> {
    require_state()?;
    let endpoint = if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.parse().ok().map(by_id).transpose()?.flatten()
    } else {
        let project = caller.project().ok_or_else(|| {
            Error::new(Code::ProjectRequired, "the request does not specify a project")
                .hint("Send the header X-Service-Project-Id, or identify the endpoint by id.")
        })?;
        let arguments = params![project, name];
        as_owner(|| connected(|spi| find(spi, "e.project_id = $1 and e.slug = $2", &arguments).pop()))
    };
    let endpoint = endpoint.filter(|it| caller.can_view(&it.template)).ok_or_else(Error::not_found)?;
    endpoint.require_configurer(caller)?;
    Ok(endpoint)
}

/// The endpoints that the caller can configure, as `{endpoints: […]}`.
pub fn list(caller: &Caller) -> Result<String, Error> {
    require_state()?;
    let all = as_owner(|| connected(|spi| find(spi, "true", &[])));
    let own = all.iter().filter(|endpoint| endpoint.require_configurer(caller).is_ok());
    let own: Vec<String> = own.map(|endpoint| endpoint.to_json(&Secrets::default())).collect();
    Ok(format!("{{\"endpoints\":[{}]}}", own.join(",")))
}

impl Endpoint {
    /// Rejects a caller that cannot configure the endpoint or read its deliveries. This requires `define` on the template
    /// and the privileges of the endpoint's role.
    pub fn require_configurer(&self, caller: &Caller) -> Result<(), Error> {
        caller.require_define(&self.template)?;
        // A dropped role has no privileges, so the endpoint can get another one.
        if role::name(self.role).is_some() { require_power_over(caller, self.role) } else { Ok(()) }
    }

    /// `{id, slug, template, project, role, items, external_key, key_prefix, mapping, signed, enabled, created_at,
    /// updated_at, token?, secret?}`.
    pub fn to_json(&self, secrets: &Secrets) -> String {
        #[derive(Serialize)]
        struct Rendered<'a> {
            id: String,
            slug: &'a str,
            template: &'a str,
            project: &'a str,
            role: Option<String>,
            items: &'a str,
            external_key: &'a str,
            key_prefix: &'a str,
            mapping: Sources<'a>,
            signed: bool,
            enabled: bool,
            created_at: String,
            updated_at: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            token: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            secret: Option<&'a str>,
        }
        let Mapping { items, external_key, key_prefix, sources } = &self.mapping;
        to_json(&Rendered {
            id: self.id.to_string(),
            slug: &self.slug,
            template: &self.template.slug,
            project: &self.template.project_slug,
            role: role::name(self.role),
            items,
            external_key,
            key_prefix,
            mapping: Sources(sources),
            signed: self.secret.is_some(),
            enabled: self.enabled,
            created_at: time::datetime(self.created_at),
            updated_at: time::datetime(self.updated_at),
            token: secrets.token.as_deref(),
            secret: secrets.secret.as_deref(),
        })
    }

    /// The error for a delivery whose endpoint has a dropped role.
    pub fn role_is_gone(&self) -> Error {
        Error::new(Code::Forbidden, format!("the role of the endpoint {:?} was dropped", self.slug)).hint(
            format!(
                "Set another role: SELECT keyed.alter_inbound_endpoint({}, {}).",
                self.id,
                literal("{\"role\": \"…\"}")
            ),
        )
    }
}
