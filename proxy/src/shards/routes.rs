//! The routes of a service with shards: those of one database, on the shard of each request, and those for all shards.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn;
use axum::response::Response;
use axum::routing::{any, delete, get, post};
use futures_util::future::join_all;
use keyed_errors::Code;
use keyed_service::statement::statement;
use serde_json::{Map, Value as Json, json};
use tokio::time::timeout;
use tower::ServiceExt;

use super::address::{Named, project_of_target};
use super::choice::{Lead, is_slug};
use super::directory::Place;
use super::merge::{self, Answer, name_unavailable};
use super::set::{Node, Shards};
use super::spread::{Question, Replies, Value};
use crate::caller::credentials;
use crate::database::Effect::Read;
use crate::envelope;
use crate::problem::{Problem, listed};
use crate::query::{self, Segments};
use crate::readiness::VERSION;
use crate::response;
use crate::router::PREFIXES;
use crate::routes::health::{replicas, require_serving};
use crate::shard::Shard;

/// All that is served.
pub(super) fn router(shards: &Arc<Shards>) -> Router {
    let wrapped = from_fn(envelope::wrap);
    // The routes of a shard have an envelope of their own, so what is sent there has none here.
    let mut router = Router::new().route("/readyz", get(ready).layer(wrapped.clone()).fallback(dispatch));
    for prefix in PREFIXES {
        let route = |path: &str| format!("{prefix}{path}");
        router = router
            .route(&route("/me"), get(me).layer(wrapped.clone()).fallback(dispatch))
            .route(
                &route("/projects"),
                get(projects).layer(wrapped.clone()).post(create_project).fallback(dispatch),
            )
            .route(&route("/api-keys"), post(create_key).layer(wrapped.clone()).fallback(dispatch))
            .route(&route("/api-keys/{id}"), delete(revoke_key).layer(wrapped.clone()).fallback(dispatch))
            .route(&route("/grants"), any(dispatch).put(grant))
            .route(&route("/doctor"), get(examine).layer(wrapped.clone()).fallback(dispatch));
    }
    let router = router.fallback(dispatch);
    let router = match shards.cors.clone() {
        Some(cors) => router.layer(cors),
        None => router,
    };
    router.with_state(Arc::clone(shards))
}

/// Sends a request to its shard.
async fn dispatch(State(shards): State<Arc<Shards>>, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let node = shards.choose(&mut parts).await;
    send(node, parts, body).await
}

async fn send(node: &Node, parts: Parts, body: Body) -> Response {
    match node.router.clone().oneshot(Request::from_parts(parts, body)).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

/// Sends a request with a body that was read.
async fn send_text(node: &Node, mut parts: Parts, body: String) -> Response {
    parts.headers.remove(header::TRANSFER_ENCODING);
    parts.headers.insert(header::CONTENT_LENGTH, body.len().into());
    send(node, parts, Body::from(body)).await
}

/// At least one shard can be used.
async fn ready(State(shards): State<Arc<Shards>>) -> Result<Response, Problem> {
    require_serving(&shards.nodes[0].app.shutdown)?;
    let looks =
        shards.nodes.iter().map(async |node| (node.shard, node.app.readiness.extension_version().await));
    let (mut versions, mut unavailable, mut failed) = (Vec::new(), Vec::new(), None);
    for (shard, look) in join_all(looks).await {
        match look {
            Ok(version) => versions.push(version),
            Err(problem) => {
                unavailable.push(shard);
                failed.get_or_insert(problem);
            }
        }
    }
    match (versions.into_iter().next(), failed) {
        (Some(version), _) => {
            let mut response = json!({"status": "ready", "version": VERSION, "extension_version": version});
            let replicas: Vec<Json> = shards.nodes.iter().flat_map(replicas_of).collect();
            if !replicas.is_empty() {
                response["replicas"] = replicas.into();
            }
            Ok(respond(response.as_object().cloned().unwrap_or_default(), &unavailable))
        }
        (None, Some(problem)) => {
            let cause = problem.cause().unwrap_or(problem.detail()).to_owned();
            Err(Problem::unavailable_shards(unavailable, cause))
        }
        (None, None) => Err(Problem::internal("there is no shard".to_owned())),
    }
}

/// The replicas of a shard, each with its shard.
fn replicas_of(node: &Node) -> Vec<Json> {
    let mut all = replicas(&node.app);
    for replica in &mut all {
        replica["shard"] = json!(node.shard);
    }
    all
}

fn respond(mut response: Map<String, Json>, unavailable: &[Shard]) -> Response {
    name_unavailable(&mut response, unavailable);
    response::json(StatusCode::OK, Json::Object(response).to_string())
}

/// Asks all shards for a text, and returns their answers.
async fn read_all(
    shards: &Shards,
    parts: &Parts,
    question: impl Fn(Shard) -> Question,
) -> Result<(Vec<Answer>, Replies), Problem> {
    let [] = query::parameters(&parts.uri, [])?;
    let mut replies = shards.ask(&shards.nodes, parts, question).await?;
    replies.require_rows()?;
    Ok((answers(&replies)?, replies))
}

fn answers(replies: &Replies) -> Result<Vec<Answer>, Problem> {
    let unexpected = |what: String| Problem::internal(format!("not the answer of a read: {what}"));
    let answer = |(shard, row): &(Shard, tokio_postgres::Row)| {
        let text: &str = row.try_get(0).map_err(|error| unexpected(error.to_string()))?;
        Ok((*shard, serde_json::from_str(text).map_err(|error| unexpected(error.to_string()))?))
    };
    replies.rows.iter().map(answer).collect()
}

async fn me(State(shards): State<Arc<Shards>>, parts: Parts) -> Result<Response, Problem> {
    let query_text = shards.nodes[0].app.embedder.is_some();
    let question =
        |_| Question { effect: Read, statement: statement!("me($4::bool)"), value: Value::Flag(query_text) };
    let (answers, Replies { project, unavailable, .. }) = read_all(&shards, &parts, question).await?;
    let directory = shards.listings.directory();
    Ok(respond(merge::me(answers, project, |shard| directory.slugs_of(shard)), &unavailable))
}

async fn projects(State(shards): State<Arc<Shards>>, parts: Parts) -> Result<Response, Problem> {
    let question =
        |_| Question { effect: Read, statement: statement!("list_projects()"), value: Value::None };
    let (answers, Replies { unavailable, .. }) = read_all(&shards, &parts, question).await?;
    Ok(respond(merge::projects(answers), &unavailable))
}

async fn examine(State(shards): State<Arc<Shards>>, parts: Parts) -> Result<Response, Problem> {
    let question = |_| Question { effect: Read, statement: statement!("examine()"), value: Value::None };
    let (answers, Replies { unavailable, .. }) = read_all(&shards, &parts, question).await?;
    let conflicts = shards.listings.directory().conflicts();
    Ok(respond(merge::examination(answers, &unavailable, &conflicts), &unavailable))
}

async fn create_key(State(shards): State<Arc<Shards>>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    shards.create_key(&parts, body).await
}

async fn revoke_key(State(shards): State<Arc<Shards>>, mut parts: Parts) -> Result<Response, Problem> {
    let Segments([id]) = Segments::from_request_parts(&mut parts, &()).await?;
    shards.revoke_key(&parts, id).await
}

async fn grant(State(shards): State<Arc<Shards>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    match sent_grant(&shards, &parts, body).await {
        Ok(response) => response,
        Err(problem) => envelope::reject(parts, problem).await,
    }
}

/// Sends a grant to the shard of its target.
async fn sent_grant(shards: &Shards, parts: &Parts, body: Body) -> Result<Response, Problem> {
    let body = shards.read_body(parts, body).await?;
    let mut own = parts.clone();
    let given: Option<Map<String, Json>> = serde_json::from_str(&body).ok();
    let target = given.as_ref().and_then(|given| given.get("target")?.as_str()).map(project_of_target);
    if let Some(Named::Project(project)) = target
        && let (Some((token, _)), home) = (credentials(&parts.headers), shards.home(&parts.headers))
    {
        match shards.lead_of_project(&project).await {
            Lead::To(node) if shards.accepts(node, home, parts, token).await => {
                return Ok(send_text(node, own, body).await);
            }
            Lead::Stop(problem) => return Err(problem),
            Lead::To(_) | Lead::Nowhere => {}
        }
    }
    let node = shards.choose(&mut own).await;
    Ok(send_text(node, own, body).await)
}

async fn create_project(State(shards): State<Arc<Shards>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    match created_project(&shards, &parts, body).await {
        Ok(response) => response,
        Err(problem) => envelope::reject(parts, problem).await,
    }
}

/// Creates a project on the shard that the body names, else on the one with the fewest projects.
async fn created_project(shards: &Shards, parts: &Parts, body: Body) -> Result<Response, Problem> {
    let body = shards.read_body(parts, body).await?;
    let home = shards.home(&parts.headers);
    let Ok(mut given) = serde_json::from_str::<Map<String, Json>>(&body) else {
        return Ok(send_text(home, parts.clone(), body).await);
    };
    let wanted = match given.remove("shard") {
        None | Some(Json::Null) => None,
        Some(number) => Some(shards.named_by(&number)?),
    };
    let slug = given.get("slug").and_then(Json::as_str).unwrap_or_default();
    let holder = shards.holder_of_slug(slug).await?;
    let Some((token, _)) = credentials(&parts.headers) else { return Err(Problem::no_token()) };
    let node = match holder.or(wanted) {
        Some(node) if shards.accepts(node, home, parts, token).await => node,
        Some(node) => {
            let detail = format!("your API key is not valid on shard {}", node.shard);
            return Err(Problem::new(Code::Forbidden, detail).with_hint("Register the key on that shard."));
        }
        None => shards.emptiest(home, parts, token).await?,
    };
    let response = send_text(node, parts.clone(), Json::Object(given).to_string()).await;
    if response.status() == StatusCode::CREATED {
        // The next request may name it. Other proxies ask when they meet an unknown project.
        let _ = timeout(shards.deadline, shards.listings.read(node.shard)).await;
    }
    Ok(response)
}

impl Shards {
    /// The shard of the project with this slug. It rejects another one, or repeats its response to an Idempotency-Key.
    async fn holder_of_slug(&self, slug: &str) -> Result<Option<&Node>, Problem> {
        if !is_slug(slug) {
            return Ok(None);
        }
        match self.lead_of_project(slug).await {
            Lead::To(node) => Ok(Some(node)),
            Lead::Nowhere => Ok(None),
            Lead::Stop(problem) => match self.listings.directory().of_project(slug) {
                // Either rejects it.
                Place::Several(shards) => Ok(shards.first().and_then(|shard| self.node(*shard))),
                // A shard that has not responded may have it.
                Place::Unknown | Place::One(_) => Err(problem),
            },
        }
    }

    /// The shard of the member `shard` of a body.
    fn named_by(&self, number: &Json) -> Result<&Node, Problem> {
        let node = number.as_u64().and_then(Shard::new).and_then(|shard| self.node(shard));
        node.ok_or_else(|| {
            let all: Vec<Shard> = self.nodes.iter().map(|node| node.shard).collect();
            Problem::invalid_member("/shard", format!("must be the number of a shard: {}", listed(&all)))
        })
    }

    /// The shard with the fewest projects, of those that respond and know the key.
    async fn emptiest(&self, home: &Node, parts: &Parts, token: &[u8]) -> Result<&Node, Problem> {
        let looks = self.nodes.iter().map(async |node| {
            node.app.readiness.extension_version().await.is_ok()
                && self.accepts(node, home, parts, token).await
        });
        let usable = join_all(looks).await;
        let usable = self.nodes.iter().zip(usable).filter(|(_, is_usable)| *is_usable);
        let usable: Vec<Shard> = usable.map(|(node, _)| node.shard).collect();
        let shard = self.listings.directory().emptiest(&usable);
        shard.and_then(|shard| self.node(shard)).ok_or_else(|| {
            let all = self.nodes.iter().map(|node| node.shard).collect();
            Problem::unavailable_shards(all, "no shard can take a project".to_owned())
        })
    }
}
