//! Creates and changes endpoints.

use super::definition::Given;
use super::endpoint::{Endpoint, Secrets, by_id, require_power_over, require_state};
use super::signature;
use crate::access::credential::Credential;
use crate::access::lookup::template_by_name;
use crate::access::{Caller, binding};
use crate::error::{Code, Error};
use crate::postgres::caught::Caught;
use crate::postgres::guard::{as_owner, subtransaction};
use crate::postgres::parameter::{Jsonb, RegRole, params};
use crate::postgres::role;
use crate::postgres::snapshot;
use crate::postgres::spi::{Snapshot, connected};
use crate::template::Template;
use crate::value::member::missing;
use crate::value::quote::identifier;
use pgrx::pg_sys::Oid;
use pgrx::prelude::PgSqlErrorCode;
use std::rc::Rc;

/// The number of random bytes of a token and of a secret.
const RANDOM_BYTES: usize = 32;

/// The role for an endpoint, which the caller must be allowed to use.
pub fn find_role(caller: &Caller, name: Option<&str>) -> Result<Oid, Error> {
    let role = match name {
        // A superuser's endpoint gets keyed_admin, which has the same privileges on records.
        None if role::is_superuser(caller.role()) => role::find(role::ADMIN).unwrap_or_else(|| caller.role()),
        None => caller.role(),
        Some(name) if role::is_reserved(name) => {
            return Err(Error::at(
                Code::InvalidValue,
                "/role",
                format!("an endpoint cannot have the role {name}"),
            )
            .hint("Create a separate role, for example CREATE ROLE shop."));
        }
        Some(name) => role::find_by_name(name).ok_or_else(|| {
            Error::at(Code::InvalidValue, "/role", format!("role {name:?} does not exist"))
                .hint(format!("Create it first: CREATE ROLE {}.", identifier(name)))
        })?,
    };
    require_power_over(caller, role)?;
    Ok(role)
}

fn random() -> [u8; RANDOM_BYTES] {
    let mut bytes = [0; RANDOM_BYTES];
    crate::postgres::random::fill(&mut bytes);
    bytes
}

/// The token of an endpoint. It contains the endpoint's id, so that a router finds the shard of the endpoint.
fn new_token(endpoint: i32) -> String {
    format!("in_{endpoint}_{}", bs58::encode(random()).into_string())
}

fn next_id() -> i32 {
    let sql = "select pg_catalog.nextval(pg_catalog.pg_get_serial_sequence('keyed_state.inbound_endpoint', 'id'))::integer";
    let id = as_owner(|| {
        connected(|spi| spi.run_once(sql, Snapshot::Latest, &[]).value::<Option<i32>>().flatten())
    });
    id.unwrap_or_default()
}

/// The given secret, or a new one.
fn new_secret(given: Option<&str>) -> Result<Vec<u8>, Error> {
    given.map_or_else(|| Ok(random().to_vec()), |text| signature::decode_secret(text, "/secret"))
}

/// The members of a new endpoint.
const NEW: [&str; 10] = [
    "slug",
    "template",
    "role",
    "items",
    "external_key",
    "key_prefix",
    "mapping",
    "signed",
    "enabled",
    "secret",
];

/// The members of a change.
const CHANGES: [&str; 12] = [
    "slug",
    "template",
    "role",
    "items",
    "external_key",
    "key_prefix",
    "mapping",
    "signed",
    "enabled",
    "secret",
    "rotate_secret",
    "rotate_token",
];

/// Creates an endpoint. Only this response contains its token and secret.
pub fn create(caller: &Caller, body: &str, template: Option<Rc<Template>>) -> Result<String, Error> {
    require_state()?;
    let given = Given::parse(body, &NEW)?;
    let template = match (template, &given.template) {
        (Some(template), _) => template,
        (None, Some(name)) => template_by_name(caller, name)?,
        (None, None) => return Err(missing("template", "")),
    };
    caller.require_define(&template)?;
    let slug = given.slug.clone().ok_or_else(|| missing("slug", ""))?;
    let role = find_role(caller, given.role.as_deref())?;
    let mapping = given.mapping(&template, None)?;
    let is_signed = given.signed.unwrap_or(true);
    if !is_signed && given.secret.is_some() {
        return Err(Error::at(Code::InvalidValue, "/secret", "an endpoint without signature has no secret"));
    }
    let secret = is_signed.then(|| new_secret(given.secret.as_deref())).transpose()?;
    let id = next_id();
    let token = new_token(id);
    let made = subtransaction(|| {
        as_owner(|| {
            connected(|spi| {
                spi.run_once(
                    "insert into keyed_state.inbound_endpoint as e (id, project_id, template_id, slug, role, items, external_key, \
                     key_prefix, mapping, secret, enabled, token_hash, created_by, role_name, bound_in) \
                     overriding system value values ($14, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
                     keyed.binding('keyed_state.inbound_endpoint'::regclass))",
                    Snapshot::Latest,
                    &params![
                        template.project_id,
                        template.id,
                        &slug,
                        RegRole(role),
                        &mapping.items,
                        &mapping.external_key,
                        &mapping.key_prefix,
                        Jsonb(&mapping.sources_json()),
                        secret.as_deref(),
                        given.enabled.unwrap_or(true),
                        &Credential::InboundToken.of_secret(&token),
                        Caller::actor(),
                        binding::name_argument(role),
                        id,
                    ],
                );
            });
        });
    });
    made.catch(|caught| slug_taken_error(template.project_id, &slug, caught))?;
    let secrets = Secrets { token: Some(token), secret: secret.as_deref().map(signature::encode_secret) };
    by_id(id)?.map(|endpoint| endpoint.to_json(&secrets)).ok_or_else(Error::not_found)
}

fn slug_taken_error(project: i32, slug: &str, caught: &Caught) -> Option<Error> {
    let error = Error::at(Code::Conflict, "/slug", format!("the project already has an endpoint {slug:?}"))
        .hint("Choose another slug.");
    let row = "select from keyed_state.inbound_endpoint where project_id = $1 and slug = $2";
    let is_taken = caught.state == PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION;
    is_taken.then(|| snapshot::newer_row_error(error, row, &params![project, slug]))
}

impl Endpoint {
    /// Changes an endpoint. Returns the response, and whether it contains a new secret.
    pub fn alter(&self, caller: &Caller, body: &str) -> Result<(String, bool), Error> {
        let given = Given::parse(body, &CHANGES)?;
        let is_own = |name: &str| name == self.template.slug || name == self.template.id_text;
        if given.template.as_deref().is_some_and(|name| !is_own(name)) {
            return Err(Error::at(
                Code::InvalidValue,
                "/template",
                "the template of an endpoint cannot change",
            )
            .hint("Create another endpoint for the other template."));
        }
        let mapping = given.mapping(&self.template, Some(&self.mapping))?;
        let role = match &given.role {
            Some(name) => find_role(caller, Some(name))?,
            None => self.role,
        };
        let is_signed = given.signed.unwrap_or(self.secret.is_some());
        if !is_signed && (given.secret.is_some() || given.rotate_secret) {
            return Err(Error::at(
                Code::InvalidValue,
                "/signed",
                "an endpoint without signature has no secret",
            ));
        }
        let is_new_secret =
            is_signed && (self.secret.is_none() || given.rotate_secret || given.secret.is_some());
        let secret = match is_new_secret {
            true => Some(new_secret(given.secret.as_deref())?),
            false => self.secret.clone().filter(|_| is_signed),
        };
        let token = given.rotate_token.then(|| new_token(self.id));
        let slug = given.slug.as_deref().unwrap_or(&self.slug);
        let changed = subtransaction(|| {
            as_owner(|| {
                connected(|spi| {
                    spi.run_once(
                        "update keyed_state.inbound_endpoint e set slug = $2, role = $3, items = $4, external_key = $5, \
                         key_prefix = $6, mapping = $7, secret = $8, enabled = $9, \
                         token_hash = coalesce($10, e.token_hash), updated_at = now(), role_name = $11, \
                         bound_in = keyed.binding(e.tableoid) where e.id = $1",
                        Snapshot::Latest,
                        &params![
                            self.id,
                            slug,
                            RegRole(role),
                            &mapping.items,
                            &mapping.external_key,
                            &mapping.key_prefix,
                            Jsonb(&mapping.sources_json()),
                            secret.as_deref(),
                            given.enabled.unwrap_or(self.enabled),
                            token.as_deref().map(|it| Credential::InboundToken.of_secret(it)),
                            binding::name_argument(role),
                        ],
                    );
                });
            });
        });
        changed.catch(|caught| slug_taken_error(self.template.project_id, slug, caught))?;
        let shown = secret.as_deref().filter(|_| is_new_secret);
        let secrets = Secrets { token, secret: shown.map(signature::encode_secret) };
        let has_secret = secrets.token.is_some() || secrets.secret.is_some();
        by_id(self.id)?.map(|endpoint| (endpoint.to_json(&secrets), has_secret)).ok_or_else(Error::not_found)
    }

    /// Drops the endpoint and its delivery log.
    pub fn drop(&self) {
        as_owner(|| {
            connected(|spi| {
                let id = params![self.id];
                spi.run_once("delete from keyed_state.inbound_endpoint where id = $1", Snapshot::Latest, &id);
            });
        });
    }
}
