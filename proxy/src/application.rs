//! The web application: the files that the build made of `proxy/ui`, served at `/`.
//!
//! Its pages are one document, at whatever address of a page a reader opens. The files beside it have a hash of their
//! content in their names, so browsers keep them; the document is asked for each time.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use memory_serve::{CacheControl, MemoryServe};
use tower::ServiceExt;

use crate::problem::Problem;
use crate::state::App;

/// Nothing from elsewhere, nothing inline, in nobody's frame. What users wrote can become neither script nor style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static FILES: LazyLock<Router> = LazyLock::new(|| {
    embedded()
        .index_file(Some("/index.html"))
        .html_cache_control(CacheControl::NoCache)
        .cache_control(CacheControl::Long)
        .into_router()
        .layer(map_response(protect))
});

#[expect(unused_qualifications, reason = "the build writes the list of files, with whole paths")]
fn embedded() -> MemoryServe {
    memory_serve::load!()
}

/// The addresses of the application's own pages and files.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(serve_page))
        .route("/p/{*page}", get(serve_page))
        .route("/assets/{file}", get(serve_file))
}

/// GET of any page.
pub(crate) async fn serve_page(State(_): State<Arc<App>>, mut request: Request) -> Response {
    *request.uri_mut() = Uri::from_static("/");
    serve_file(request).await
}

async fn serve_file(request: Request) -> Response {
    let response = FILES.clone().oneshot(request).await.into_response();
    if response.status() == StatusCode::NOT_FOUND {
        Problem::no_such_route().into_response()
    } else {
        response
    }
}

async fn protect(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    if headers.get(header::CONTENT_TYPE).is_some_and(|it| it == "text/html") {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};

    use super::*;

    async fn ask(address: &str, header: (&str, &str)) -> (StatusCode, axum::http::HeaderMap, String) {
        let request = Request::builder().uri(address).header(header.0, header.1).body(Body::empty());
        let response = serve_file(request.expect("a request")).await;
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 1 << 24).await.expect("a body");
        (parts.status, parts.headers, String::from_utf8_lossy(&body).into_owned())
    }

    const PLAIN: (&str, &str) = ("accept-encoding", "identity");

    /// The script that the document names.
    async fn script() -> String {
        let (_, _, document) = ask("/", PLAIN).await;
        let (_, rest) = document.split_once("src=\"").expect("a script");
        rest.split_once('"').expect("its address").0.to_owned()
    }

    #[tokio::test]
    async fn a_page_runs_only_what_the_service_itself_serves() {
        let (status, headers, document) = ask("/", PLAIN).await;
        assert_eq!(status, 200);
        assert_eq!(headers[header::CONTENT_SECURITY_POLICY], POLICY);
        assert!(!POLICY.contains("unsafe"));
        assert!(!document.contains("<style") && !document.contains("<script>"), "{document}");
        assert!(!document.contains("//"), "an address of elsewhere: {document}");
    }

    #[tokio::test]
    async fn a_browser_keeps_files_for_good_and_asks_for_the_page_again() {
        let (_, headers, _) = ask("/", PLAIN).await;
        assert_eq!(headers[header::CACHE_CONTROL], "no-cache");
        let tag = headers[header::ETAG].to_str().expect("a tag").to_owned();
        assert_eq!(ask("/", ("if-none-match", &tag)).await.0, StatusCode::NOT_MODIFIED);
        let (status, headers, _) = ask(&script().await, PLAIN).await;
        assert_eq!(status, 200);
        assert!(headers[header::CACHE_CONTROL].to_str().is_ok_and(|it| it.contains("immutable")));
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_is_a_problem() {
        let (status, _, _) = ask("/assets/none.js", PLAIN).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
    }
}
