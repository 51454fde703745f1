//! API keys for projects of several shards. One shard issues the key, and the others register it, with the same id and secret.
//!
//! A shard that does not respond misses the key, and the response says so. Sending the request again with the key completes it:
//! registering a key twice has no effect.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::Response;
use keyed_errors::Code;
use keyed_service::statement::statement;
use serde_json::{Map, Value as Json};
use tokio_postgres::Row;

use super::address::home_of_key;
use super::choice::Lead;
use super::merge::name_unavailable;
use super::set::{Node, Shards};
use super::spread::{Question, Replies, Value};
use crate::conditional::Conditions;
use crate::database::Effect::Write;
use crate::problem::{Problem, named};
use crate::query;
use crate::response;
use crate::shard::Shard;

/// A request for a key, without its projects and its key.
struct Request {
    /// None for all projects.
    projects: Option<Vec<String>>,
    /// A key that was issued before.
    key: Option<String>,
    others: Map<String, Json>,
}

impl Request {
    /// None if the members cannot be read: the database rejects them.
    fn parse(body: &str) -> Option<Request> {
        let mut others: Map<String, Json> = serde_json::from_str(body).ok()?;
        let projects = match others.remove("projects") {
            None | Some(Json::Null) => None,
            Some(projects) => Some(serde_json::from_value(projects).ok()?),
        };
        let key = match others.remove("key") {
            None | Some(Json::Null) => None,
            Some(key) => Some(serde_json::from_value(key).ok()?),
        };
        Some(Request { projects, key, others })
    }

    /// The body for a shard with these projects.
    fn body(&self, projects: Option<&Vec<String>>, key: Option<&str>) -> String {
        let mut body = self.others.clone();
        if let Some(projects) = projects {
            body.insert("projects".to_owned(), projects.clone().into());
        }
        if let Some(key) = key {
            body.insert("key".to_owned(), key.into());
        }
        Json::Object(body).to_string()
    }
}

/// The projects of a key by shard; none for all projects of the shard.
type Division = BTreeMap<Shard, Option<Vec<String>>>;

fn create(body: String) -> Question {
    Question { effect: Write, statement: statement!("create_api_key($4::text)"), value: Value::Text(body) }
}

fn register(body: String) -> Question {
    Question { effect: Write, statement: statement!("register_api_key($4::text)"), value: Value::Text(body) }
}

fn revoke(id: String) -> Question {
    Question { effect: Write, statement: statement!("revoke_api_key($4::text)"), value: Value::Text(id) }
}

impl Shards {
    /// Issues a key on the first shard of its projects, and registers it on the others. With a key in the request, only registers
    /// it.
    pub(super) async fn create_key(&self, parts: &Parts, body: Body) -> Result<Response, Problem> {
        require_plain(parts)?;
        let body = self.read_body(parts, body).await?;
        let home = self.home(&parts.headers);
        let Some(request) = Request::parse(&body) else {
            let mut replies = self.ask([home], parts, |_| create(body.clone())).await?;
            replies.require_rows()?;
            return Err(Problem::internal(
                "the database accepts a body that the proxy cannot read".to_owned(),
            ));
        };
        let division = self.divide(parts, request.projects.as_deref(), home).await?;
        let (issued, issuer) = match &request.key {
            None => {
                let Some((issuer, projects)) = division.first_key_value() else {
                    return Err(Problem::internal("no shard for a key".to_owned()));
                };
                let nodes = self.nodes.iter().filter(|node| node.shard == *issuer);
                let mut replies =
                    self.ask(nodes, parts, |_| create(request.body(projects.as_ref(), None))).await?;
                if *issuer != home.shard {
                    require_known(&replies.strangers)?;
                }
                replies.require_rows()?;
                let Some((_, row)) = replies.rows.pop() else { return Err(Problem::invalid_key()) };
                // The key of a repeated request with an Idempotency-Key is not stored.
                if row.try_get(1).unwrap_or(false) {
                    return response::written(&row, None);
                }
                (Some(members(&row)?), *issuer)
            }
            Some(key) => {
                let issuer = home_of_key(key.as_bytes()).filter(|_| !key.is_empty());
                let issuer = issuer.ok_or_else(|| {
                    Problem::invalid_member("/key", "is not an API key that this service issued".to_owned())
                })?;
                if division.keys().all(|shard| *shard == issuer) {
                    let reason = "needs no completion: its projects are on the shard that issued it";
                    return Err(Problem::invalid_member("/key", reason.to_owned()));
                }
                (None, issuer)
            }
        };
        let is_new = issued.is_some();
        let key = match &issued {
            Some(issued) => issued.get("key").and_then(Json::as_str).map(str::to_owned),
            None => request.key.clone(),
        };
        let Some(key) = key else { return Err(Problem::internal("a new key is missing".to_owned())) };
        let replies = self.register_key(parts, &request, &key, &division, issuer).await;
        let replies = match replies {
            Ok(replies) => replies,
            Err(problem) if is_new => {
                // Nobody has seen it.
                let id = key.split('_').nth(1).unwrap_or_default().to_owned();
                let _ = self.ask(&self.nodes, &without_idempotency(parts), |_| revoke(id.clone())).await;
                return Err(problem);
            }
            Err(problem) => return Err(problem),
        };
        let mut response = match issued {
            Some(issued) => issued,
            None => {
                let mut registered = match replies.rows.first() {
                    Some((_, row)) => members(row)?,
                    None => {
                        return Err(Problem::unavailable_shards(
                            replies.unavailable,
                            "no shard responded".to_owned(),
                        ));
                    }
                };
                registered.insert("key".to_owned(), key.into());
                registered
            }
        };
        let projects = request.projects.map_or(Json::Null, Json::from);
        response.insert("projects".to_owned(), projects);
        name_unavailable(&mut response, &replies.unavailable);
        let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
        Ok(response::json(status, Json::Object(response).to_string()))
    }

    /// Registers a key on the shards of its projects other than the one that issued it.
    async fn register_key(
        &self,
        parts: &Parts,
        request: &Request,
        key: &str,
        division: &Division,
        issuer: Shard,
    ) -> Result<Replies, Problem> {
        let nodes =
            self.nodes.iter().filter(|node| node.shard != issuer && division.contains_key(&node.shard));
        let question = |shard: Shard| {
            let projects = division.get(&shard).and_then(Option::as_ref);
            register(request.body(projects, Some(key)))
        };
        let mut replies = self.ask(nodes, &without_idempotency(parts), question).await?;
        if let Some((shard, problem)) = replies.rejections.pop() {
            return Err(problem.with_further_hint(&format!("Shard {shard} rejects the key.")));
        }
        require_known(&replies.strangers)?;
        Ok(replies)
    }

    /// The shards of projects.
    async fn divide(
        &self,
        parts: &Parts,
        projects: Option<&[String]>,
        home: &Node,
    ) -> Result<Division, Problem> {
        let Some(projects) = projects else {
            return Ok(self.nodes.iter().map(|node| (node.shard, None)).collect());
        };
        let mut division = Division::new();
        for (position, project) in projects.iter().enumerate() {
            let shard = match self.lead_of_project(project).await {
                Lead::To(node) => node.shard,
                Lead::Nowhere => return Err(self.unknown_project(parts, home, position).await?),
                Lead::Stop(problem) => return Err(problem),
            };
            division.entry(shard).or_default().get_or_insert_default().push(project.clone());
        }
        if division.is_empty() {
            division.insert(home.shard, Some(Vec::new()));
        }
        Ok(division)
    }

    /// The rejection of a project that no shard has. Only an administrator learns that.
    async fn unknown_project(&self, parts: &Parts, home: &Node, position: usize) -> Result<Problem, Problem> {
        let impossible = r#"{"role": "keyed_admin", "projects": [""]}"#;
        let parts = without_idempotency(parts);
        let mut replies = self.ask([home], &parts, |_| create(impossible.to_owned())).await?;
        match replies.require_rows() {
            Err(problem) if problem.status() == StatusCode::UNPROCESSABLE_ENTITY => {
                let reason = "no shard has this project".to_owned();
                Ok(Problem::invalid_member(&format!("/projects/{position}"), reason))
            }
            Err(problem) => Err(problem),
            Ok(()) => Err(Problem::internal("the database accepts a project without a name".to_owned())),
        }
    }

    /// Revokes a key on all shards that have it. Fails if one of them does not know the key of the caller.
    pub(super) async fn revoke_key(&self, parts: &Parts, id: String) -> Result<Response, Problem> {
        require_plain(parts)?;
        // Another proxy may have registered the key a moment ago.
        self.listings.refresh().await;
        let holders = id.parse().map(|id| self.listings.directory().of_key(id)).unwrap_or_default();
        let mut replies = self.ask(&self.nodes, parts, |_| revoke(id.clone())).await?;
        let unknown = replies.rejections.extract_if(.., |(_, problem)| problem.is_not_found()).next();
        if !replies.unavailable.is_empty() && replies.rejections.is_empty() {
            let cause = "the revocation is incomplete".to_owned();
            return Err(Problem::unavailable_shards(replies.unavailable, cause).with_hint(
                "The key may still be valid on these shards. Send the request again when they respond.",
            ));
        }
        let mut remaining = replies.strangers.clone();
        remaining.retain(|shard| holders.contains(shard));
        if !replies.rows.is_empty() && !remaining.is_empty() {
            let detail = format!(
                "the API key may still be valid on {}, because your own key is not valid there",
                named(&remaining)
            );
            return Err(Problem::new(Code::Forbidden, detail).with_hint(
                "On the other shards, it is revoked. Revoke it with a key that is valid on these shards.",
            ));
        }
        match (replies.rows.first(), unknown) {
            (None, Some((_, problem))) if replies.rejections.is_empty() => Err(problem),
            _ => {
                replies.require_rows()?;
                let Some((_, row)) = replies.rows.first() else { return Err(Problem::not_found()) };
                response::written(row, None)
            }
        }
    }
}

/// Rejects the request if these shards do not know the caller's key.
fn require_known(strangers: &[Shard]) -> Result<(), Problem> {
    if strangers.is_empty() {
        return Ok(());
    }
    let detail = format!("your API key is not valid on {}", named(strangers));
    Err(Problem::new(Code::Forbidden, detail).with_hint(
        "Use a key that is registered on all shards of the new key, or limit the new key to projects.",
    ))
}

/// Rejects query parameters and conditions, as the routes of one database do.
fn require_plain(parts: &Parts) -> Result<(), Problem> {
    let [] = query::parameters(&parts.uri, [])?;
    if Conditions::of(&parts.headers)?.is_empty() {
        return Ok(());
    }
    Err(Problem::malformed(
        "this route does not accept If-Match and If-None-Match, which apply to requests for one record",
    ))
}

/// The head of the request for a part of it, which is repeatable by itself.
fn without_idempotency(parts: &Parts) -> Parts {
    let mut parts = parts.clone();
    parts.headers.remove("idempotency-key");
    parts
}

/// The body of a write.
fn members(row: &Row) -> Result<Map<String, Json>, Problem> {
    let unexpected = |what: String| Problem::internal(format!("not the answer of a write: {what}"));
    let columns: Vec<Option<&str>> = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
    let body = columns.get(2).copied().flatten().unwrap_or_default();
    serde_json::from_str(body).map_err(|error| unexpected(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn body_of_a_shard_has_its_projects_only() {
        let request =
            Request::parse(r#"{"role": "erp", "label": null, "projects": ["crm", "art"], "key": null}"#);
        let request = request.expect("a request");
        assert_eq!(request.projects, Some(vec!["crm".to_owned(), "art".to_owned()]));
        let body: Json =
            serde_json::from_str(&request.body(Some(&vec!["crm".to_owned()]), Some("k"))).expect("JSON");
        assert_eq!(body, serde_json::json!({"role": "erp", "label": null, "projects": ["crm"], "key": "k"}));
        assert_eq!(request.body(None, None), r#"{"label":null,"role":"erp"}"#);
    }

    #[test]
    fn unreadable_request_is_left_to_the_database() {
        for body in ["", "[]", r#"{"projects": "crm"}"#, r#"{"projects": [1]}"#, r#"{"key": 1}"#] {
            assert!(Request::parse(body).is_none(), "{body}");
        }
    }
}
