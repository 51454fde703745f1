//! The router, which can be called without a socket.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, map_response};
use axum::response::Response;
use axum::routing::{MethodRouter, delete, get, post, put};

#[cfg(feature = "ui")]
use crate::application;
use crate::envelope;
use crate::metrics::Routes;
use crate::openapi;
use crate::problem::Problem;
use crate::routes::{
    access, administration, background, batch, by_key, changes, entities, export, health, import, import_end,
    inbound, search, series, templates, views, webhooks,
};
use crate::shard::Shard;
use crate::state::App;

/// The path prefix, and an alternative prefix that older documents use.
pub(crate) const PREFIXES: [&str; 2] = ["/v1", "/api/v1"];

#[rustfmt::skip]
fn api() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    vec![
        ("/entities/template/{template}", post(entities::create)),
        ("/entities/template/{template}/by-key", put(by_key::upsert).get(by_key::read).delete(by_key::delete)),
        ("/entities/template/{template}/by-keys", post(by_key::read_many)),
        ("/entities/template/{template}/by-key/history", get(changes::key_history)),
        ("/entities/template/{template}/export", get(export::saved).post(export::search)),
        ("/entities/template/{template}/import", post(import::run).delete(import_end::run)),
        ("/entities/{id}", get(entities::read).patch(entities::patch).put(entities::replace).delete(entities::delete)),
        ("/entities/{id}/restore", post(entities::restore)),
        ("/entities/{id}/embedding", put(entities::set_embedding).delete(entities::delete_embedding)),
        ("/entities/{id}/history", get(entities::history)),
        ("/entities/{id}/metrics/{slug}", get(series::read).put(series::replace).delete(series::delete)),
        ("/entities/batch", post(batch::run)),
        ("/entities/search/{template}", post(search::run)),
        ("/entities/search/{template}/suggest", post(search::suggest)),
        ("/changes", get(changes::read)),
        ("/inbound/{token}", post(inbound::deliver)),
        ("/inbound-endpoints", get(inbound::list).post(inbound::create)),
        ("/inbound-endpoints/{endpoint}", get(inbound::read).patch(inbound::alter).delete(inbound::drop)),
        ("/inbound-endpoints/{endpoint}/dry-run", post(inbound::dry_run)),
        ("/inbound-endpoints/{endpoint}/deliveries", get(inbound::deliveries)),
        ("/inbound-endpoints/{endpoint}/deliveries/replay", post(inbound::replay_failed)),
        ("/inbound-endpoints/{endpoint}/deliveries/{id}", get(inbound::delivery)),
        ("/inbound-endpoints/{endpoint}/deliveries/{id}/replay", post(inbound::replay)),
        ("/webhook-endpoints", get(webhooks::list).post(webhooks::create)),
        ("/webhook-endpoints/{endpoint}", get(webhooks::read).patch(webhooks::alter).delete(webhooks::drop)),
        ("/webhook-endpoints/{endpoint}/test", post(webhooks::test)),
        ("/webhook-endpoints/{endpoint}/deliveries", get(webhooks::deliveries)),
        ("/webhook-endpoints/{endpoint}/deliveries/{id}", get(webhooks::delivery)),
        ("/webhook-endpoints/{endpoint}/deliveries/{id}/replay", post(webhooks::replay)),
        ("/entities/semantic-search", post(search::semantic)),
        ("/me", get(access::me)),
        ("/projects", get(access::projects).post(administration::create_project)),
        ("/api-keys", get(administration::list_keys).post(administration::create_key)),
        ("/api-keys/{id}", delete(administration::revoke_key)),
        ("/roles", get(administration::roles)),
        ("/grants", get(administration::grants).put(administration::grant).delete(administration::revoke)),
        ("/entities/{id}/access", get(administration::explain)),
        ("/quotas", get(administration::quotas)),
        ("/quotas/{name}", put(administration::set_quota)),
        ("/jobs", get(background::jobs)),
        ("/jobs/retry", post(background::retry_jobs)),
        ("/doctor", get(background::examine)),
        ("/embeddings/status", get(background::embedding_status)),
        ("/embeddings/failures", get(background::embedding_failures)),
        ("/embeddings/retry", post(background::retry_embeddings)),
        ("/templates", get(templates::list).post(templates::create)),
        ("/templates/{template}", get(templates::read).patch(templates::alter).delete(templates::drop)),
        ("/templates/{template}/index-suggestions", get(background::suggest_indexes)),
        ("/templates/{template}/views", get(views::list).post(views::create)),
        ("/templates/{template}/views/{slug}", get(views::read).put(views::save).delete(views::drop)),
    ]
}

/// Health routes.
fn probes() -> [(&'static str, MethodRouter<Arc<App>>); 2] {
    [("/healthz", get(health::alive)), ("/readyz", get(health::ready))]
}

/// Public routes without a prefix, whose responses are large.
fn public() -> [(&'static str, MethodRouter<Arc<App>>); 2] {
    #[cfg(feature = "ui")]
    let page = get(application::serve_page);
    #[cfg(not(feature = "ui"))]
    let page = get(openapi::serve_page);
    [("/openapi.json", get(openapi::serve)), ("/docs", page)]
}

/// The routes for metrics. Both prefixes have the same labels.
pub fn routes() -> Routes {
    let own = probes().into_iter().chain(public()).map(|(path, _)| (path.to_owned(), path.to_owned()));
    let paths: Vec<&str> = api().into_iter().map(|(path, _)| path).collect();
    let prefixed = PREFIXES.iter().flat_map(|prefix| {
        paths.iter().map(move |path| (format!("{prefix}{path}"), format!("{}{path}", PREFIXES[0])))
    });
    Routes::new(own.chain(prefixed))
}

/// Rejects requests from an address that sends too many without a key.
async fn limit_public_requests(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Result<Response, Problem> {
    app.admission.count_public_request(request.extensions(), request.headers())?;
    Ok(next.run(request).await)
}

/// Names the shard in a problem of its database.
fn of_shard(shard: Shard, mut response: Response) -> Response {
    let extensions = response.extensions_mut();
    if let Some(problem) = extensions.remove::<Problem>() {
        extensions.insert(problem.of_shard(shard));
    }
    response
}

/// The complete router of one database.
pub fn router(app: Arc<App>) -> Router {
    let mut unauthenticated = Router::new();
    for (path, methods) in public() {
        unauthenticated = unauthenticated.route(path, methods);
    }
    #[cfg(feature = "ui")]
    let unauthenticated = unauthenticated.merge(application::router());
    let limited = axum::middleware::from_fn_with_state(Arc::clone(&app), limit_public_requests);
    let mut router = unauthenticated.route_layer(limited);
    for (path, methods) in probes() {
        router = router.route(path, methods);
    }
    for prefix in PREFIXES {
        for (path, methods) in api() {
            router = router.route(&format!("{prefix}{path}"), methods);
        }
    }
    let router = router
        .method_not_allowed_fallback(async || Problem::method_not_allowed())
        .fallback(async || Problem::no_such_route());
    let router = match app.shard {
        Some(shard) => router.layer(map_response(move |response| async move { of_shard(shard, response) })),
        None => router,
    };
    let router = router.layer(axum::middleware::from_fn(envelope::wrap));
    // Outermost, so that pages can also read errors.
    let router = match app.cors.clone() {
        Some(cors) => router.layer(cors),
        None => router,
    };
    router.with_state(app)
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::http::{Request, header};
    use tower::ServiceExt;

    use super::*;
    use crate::metrics::Metrics;
    use crate::settings::Settings;

    /// Sends a request line and headers, one per line, to a service without a database.
    async fn ask(request: &str) -> (u16, axum::http::HeaderMap, String) {
        let settings = Settings::of_arguments(&["--database-url", "host=/nonexistent dbname=none user=none"]);
        let app = App::new(&settings, Metrics::new(routes())).expect("no connection is opened yet");
        let mut lines = request.lines().map(str::trim);
        let (method, uri) = lines.next().and_then(|line| line.split_once(' ')).expect("a request line");
        let request = lines
            .filter_map(|line| line.split_once(": "))
            .fold(Request::builder().method(method).uri(uri), |request, (name, value)| {
                request.header(name, value)
            });
        let response = router(Arc::new(app)).oneshot(request.body(Body::empty()).expect("a request")).await;
        let (parts, body) = response.expect("the router answers everything").into_parts();
        let body = to_bytes(body, 1 << 20).await.expect("a body");
        (parts.status.as_u16(), parts.headers, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn process_without_a_database_is_alive_and_not_ready() {
        assert_eq!(ask("GET /healthz").await.0, 200);
        let (status, headers, body) = ask("GET /readyz").await;
        assert_eq!(status, 503);
        let pause = headers[header::RETRY_AFTER].to_str().ok().and_then(|text| text.parse().ok());
        assert!(pause.is_some_and(|seconds: u32| (1..=3).contains(&seconds)), "{pause:?}");
        assert_eq!(headers[header::CACHE_CONTROL], "no-store");
        assert!(body.contains(r#""code":"unavailable""#), "{body}");
    }

    #[tokio::test]
    async fn unknown_path_is_a_problem_with_the_request_id() {
        for address in ["/nothing", "/v1", "/v1/templates/", "/v2/templates", "/v1/entities/a/b/c"] {
            let id = "0192f0c1-2222-7abc-8def-0123456789ab";
            let (status, headers, body) = ask(&format!("GET {address}\nx-request-id: {id}")).await;
            assert_eq!(status, 404, "{address}");
            assert_eq!(headers[header::CONTENT_TYPE], "application/problem+json");
            assert_eq!(headers["x-request-id"], id);
            assert!(body.contains(&format!(r#""instance":"urn:uuid:{id}""#)), "{body}");
        }
    }

    #[tokio::test]
    async fn status_405_lists_the_allowed_methods() {
        for (address, allowed) in [
            ("/v1/entities/batch", "POST"),
            ("/api/v1/templates", "GET,HEAD,POST"),
            ("/v1/entities/template/crm/by-key", "PUT,GET,HEAD,DELETE"),
        ] {
            let (status, headers, body) = ask(&format!("TRACE {address}")).await;
            assert_eq!(status, 405, "{address}");
            assert_eq!(headers[header::ALLOW], allowed);
            assert!(body.contains(r#""code":"method_not_allowed""#), "{body}");
        }
    }

    /// The methods of a path, except HEAD, which is implied by GET.
    async fn methods_of(path: &str) -> Vec<String> {
        let (status, headers, _) = ask(&format!("TRACE {}", path.replace(['{', '}'], ""))).await;
        if status == 404 {
            return Vec::new();
        }
        let allowed = headers[header::ALLOW].to_str().expect("names of methods").split(',');
        let mut methods: Vec<String> =
            allowed.filter(|method| *method != "HEAD").map(str::to_ascii_lowercase).collect();
        methods.sort();
        methods
    }

    #[tokio::test]
    async fn document_describes_exactly_the_routes() {
        let document: serde_json::Value = serde_json::from_str(openapi::text()).expect("JSON");
        let described = |path: &str| -> Vec<String> {
            let methods = document["paths"][path].as_object().into_iter().flatten();
            let mut methods: Vec<String> = methods.map(|(method, _)| method.clone()).collect();
            methods.sort();
            methods
        };
        let served = api().into_iter().map(|(path, _)| format!("{}{path}", PREFIXES[0]));
        let served: Vec<String> =
            served.chain(probes().into_iter().chain(public()).map(|(path, _)| path.to_owned())).collect();
        for path in &served {
            assert_eq!(described(path), methods_of(path).await, "{path}");
        }
        for path in document["paths"].as_object().expect("paths").keys() {
            assert!(served.contains(path), "{path} is documented but not served");
        }
    }

    #[tokio::test]
    async fn every_route_checks_the_token_first() {
        for prefix in PREFIXES {
            for (path, _) in api() {
                let (status, headers, _) =
                    ask(&format!("DELETE {prefix}{path}?unknown=1").replace(['{', '}'], "")).await;
                match status {
                    401 => assert_eq!(headers[header::WWW_AUTHENTICATE], r#"Bearer realm="keyed""#),
                    status => assert_eq!(status, 405, "{path}"),
                }
            }
        }
    }
}
