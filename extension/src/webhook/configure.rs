//! Creates and changes webhook endpoints.

use super::definition::{From, Given};
use super::endpoint::{self, Endpoint, by_id, lock};
use crate::access::{Caller, binding, scope};
use crate::change::page;
use crate::change::position::FeedPosition;
use crate::error::{Code, Error};
use crate::inbound::configure::find_role;
use crate::inbound::signature;
use crate::postgres::caught::Caught;
use crate::postgres::guard::{as_owner, subtransaction};
use crate::postgres::parameter::{Jsonb, RegRole, params};
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::{random, snapshot};
use crate::template::catalog::{self, Project};
use crate::value::member::missing;
use pgrx::prelude::PgSqlErrorCode;

/// The number of random bytes of a secret.
const RANDOM_BYTES: usize = 32;

fn new_secret(given: Option<&str>) -> Result<Vec<u8>, Error> {
    if let Some(given) = given {
        return signature::decode_secret(given, "/secret");
    }
    let mut bytes = [0; RANDOM_BYTES];
    random::fill(&mut bytes);
    Ok(bytes.to_vec())
}

/// The checked selection of changes.
struct Selected {
    templates: Option<Vec<i32>>,
    operations: Option<Vec<String>>,
    filter: Option<String>,
}

/// The selection of a request. Omitted members keep their values.
fn select(given: &Given, project: i32, before: Option<&Endpoint>) -> Result<Selected, Error> {
    let templates = match &given.templates {
        None => before.and_then(|it| it.templates.clone()),
        Some(None) => None,
        Some(Some(names)) => Some(find_templates(project, names)?),
    };
    let operations = match &given.operations {
        None => before.and_then(|it| it.operations.clone()),
        Some(operations) => operations.clone(),
    };
    let filter = match given.filter {
        None => before.and_then(|it| it.filter.clone()),
        Some(filter) => filter.map(|filter| filter.get().to_owned()),
    };
    if let Some(filter) = &filter {
        let only = match templates.as_deref() {
            Some([only]) => catalog::by_id(*only),
            _ => None,
        };
        let template = only.ok_or_else(|| {
            Error::at(Code::InvalidValue, "/filter", "a filter needs exactly one template")
                .hint("Name one template in templates, or create an endpoint for each.")
        })?;
        scope::compile(&template, filter).map_err(|error| error.below("/filter"))?;
    }
    Ok(Selected { templates, operations, filter })
}

fn find_templates(project: i32, names: &[String]) -> Result<Vec<i32>, Error> {
    let mut ids = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let found = match name.parse() {
            Ok(id) => catalog::by_id(id),
            Err(_) => catalog::by_slug(project, name),
        };
        let found = found.filter(|template| template.project_id == project).ok_or_else(|| {
            let message = format!("the project has no template {name:?}");
            Error::at(Code::InvalidValue, format!("/templates/{index}"), message)
                .hint("Use slugs of templates of the endpoint's project.")
        })?;
        ids.push(found.id);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

fn place_of(spi: &Connection, from: From) -> Result<FeedPosition, Error> {
    match from {
        From::Now => page::end(spi),
        From::Start => Ok(FeedPosition::START),
    }
}

/// Creates an endpoint. Only this response contains its secret. Also returns its id.
pub fn create(caller: &Caller, project: &Project, body: &str) -> Result<(i32, String), Error> {
    endpoint::require(caller, "create webhook endpoints")?;
    let given = Given::parse(body)?;
    let slug = given.slug.clone().ok_or_else(|| missing("slug", ""))?;
    let url = given.url.clone().ok_or_else(|| missing("url", ""))?;
    let role = find_role(caller, given.role.as_deref())?;
    let selected = select(&given, project.id, None)?;
    let secret = new_secret(given.secret.as_deref())?;
    let from = given.from.unwrap_or(From::Now);
    let feed_position = as_owner(|| connected(|spi| place_of(spi, from)))?;
    let made = subtransaction(|| {
        as_owner(|| {
            connected(|spi| {
                let rows = spi.run_once(
                    "insert into keyed_state.webhook_endpoint as e (project_id, slug, url, templates, operations, filter, \
                     role, enabled, include_record, secret, place, created_by, role_name, bound_in) \
                     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
                     keyed.binding('keyed_state.webhook_endpoint'::regclass)) returning e.id",
                    Snapshot::Latest,
                    &params![
                        project.id,
                        &slug,
                        &url,
                        &selected.templates,
                        &selected.operations,
                        selected.filter.as_deref().map(Jsonb),
                        RegRole(role),
                        given.enabled.unwrap_or(true),
                        given.include_record.unwrap_or(false),
                        &secret[..],
                        &feed_position.to_string(),
                        Caller::actor(),
                        binding::name_argument(role),
                    ],
                );
                rows.get::<i32>(0, 0)
            })
        })
    });
    let id = made.catch(|caught| slug_taken_error(project.id, &slug, caught))?;
    shown(id, Some(&secret)).map(|json| (id, json))
}

fn shown(id: i32, secret: Option<&[u8]>) -> Result<String, Error> {
    let secret = secret.map(signature::encode_secret);
    let endpoint = by_id(id).ok_or_else(Error::not_found)?;
    Ok(as_owner(|| connected(|spi| endpoint.to_json(spi, secret.as_deref()))))
}

fn slug_taken_error(project: i32, slug: &str, caught: &Caught) -> Option<Error> {
    let error =
        Error::at(Code::Conflict, "/slug", format!("the project already has a webhook endpoint {slug:?}"))
            .hint("Choose another slug.");
    let row = "select from keyed_state.webhook_endpoint where project_id = $1 and slug = $2";
    let is_taken = caught.state == PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION;
    is_taken.then(|| snapshot::newer_row_error(error, row, &params![project, slug]))
}

impl Endpoint {
    /// The endpoint as JSON, without its secret.
    pub fn shown(&self) -> Result<String, Error> {
        shown(self.id, None)
    }

    /// Changes an endpoint. Returns the response, and whether it contains a new secret.
    pub fn alter(&self, caller: &Caller, body: &str) -> Result<(String, bool), Error> {
        // Locks the endpoint, so that a concurrent change is not overwritten with earlier members.
        lock(self.id).ok_or_else(Error::not_found)?.alter_locked(caller, body)
    }

    fn alter_locked(&self, caller: &Caller, body: &str) -> Result<(String, bool), Error> {
        let given = Given::parse(body)?;
        let role = match &given.role {
            Some(name) => find_role(caller, Some(name))?,
            None => self.role,
        };
        let selected = select(&given, self.project, Some(self))?;
        let is_new_secret = given.rotate_secret || given.secret.is_some();
        let secret = is_new_secret.then(|| new_secret(given.secret.as_deref())).transpose()?;
        let slug = given.slug.as_deref().unwrap_or(&self.slug);
        let url = given.url.as_deref().unwrap_or(&self.url);
        let enabled = given.enabled.unwrap_or(self.enabled);
        let changed = subtransaction(|| {
            as_owner(|| {
                connected(|spi| {
                    spi.run_once(
                        "update keyed_state.webhook_endpoint e set slug = $2, url = $3, templates = $4, operations = $5, \
                         filter = $6, role = case when $11 = '' then e.role else $7 end, enabled = $8, include_record = $9, \
                         previous_secret = case when $10 is null then e.previous_secret else e.secret end, \
                         previous_secret_until = case when $10 is null then e.previous_secret_until \
                           else now() + interval '24 hours' end, secret = coalesce($10, e.secret), \
                         updated_at = now(), role_name = case when $11 = '' then e.role_name else $11 end, \
                         bound_in = case when $11 = '' then e.bound_in else keyed.binding(e.tableoid) end, \
                         disabled_at = case when $8 then null else e.disabled_at end, \
                         disabled_reason = case when $8 then null else e.disabled_reason end, \
                         failing_since = case when $8 and not e.enabled then null else e.failing_since end \
                         where e.id = $1",
                        Snapshot::Latest,
                        &params![
                            self.id,
                            slug,
                            url,
                            &selected.templates,
                            &selected.operations,
                            selected.filter.as_deref().map(Jsonb),
                            RegRole(role),
                            enabled,
                            given.include_record.unwrap_or(self.include_record),
                            secret.as_deref(),
                            binding::name_argument(role),
                        ],
                    );
                    if enabled && !self.enabled {
                        resume(spi, self.id);
                    }
                    given.from.map_or(Ok(()), |from| self.restart(spi, from))
                })
            })
        });
        changed.catch(|caught| slug_taken_error(self.project, slug, caught))??;
        shown(self.id, secret.as_deref()).map(|json| (json, is_new_secret))
    }

    /// Discards pending deliveries, and moves the position.
    fn restart(&self, spi: &Connection, from: From) -> Result<(), Error> {
        let feed_position = place_of(spi, from)?.to_string();
        let delete =
            "delete from keyed_state.webhook_delivery d where d.endpoint_id = $1 and d.state = 'pending'";
        spi.run_once(delete, Snapshot::Latest, &params![self.id]);
        let sql = "update keyed_state.webhook_endpoint e set place = $2 where e.id = $1";
        spi.run_once(sql, Snapshot::Latest, &params![self.id, &feed_position]);
        Ok(())
    }

    /// Drops the endpoint and its deliveries.
    pub fn drop(&self) {
        as_owner(|| {
            connected(|spi| {
                let id = params![self.id];
                spi.run_once("delete from keyed_state.webhook_endpoint where id = $1", Snapshot::Latest, &id);
            });
        });
    }
}

/// Makes deliveries due that wait for their next attempt.
fn resume(spi: &Connection, endpoint: i32) {
    let sql = "update keyed_state.webhook_delivery d set due_at = now() \
               where d.endpoint_id = $1 and d.state = 'pending' and d.due_at > now()";
    spi.run_once(sql, Snapshot::Latest, &params![endpoint]);
}
