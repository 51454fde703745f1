//! The web application: the files built from `proxy/ui`, served at `/`.
//!
//! All its pages are one document, served at the URL of every page. The names of the other files contain a hash of
//! their content, so browsers cache them; the document is revalidated each time.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::compression::{Accepted, Constant};
use crate::conditional::{has_tag, mark_compressed, set_tag};
use crate::problem::Problem;
use crate::state::App;

/// No content from other origins, no inline content, no framing. Text from users can become neither script nor style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The document of all pages.
const PAGE: &str = "/index.html";

/// The embedded files: path, type and content.
const EMBEDDED: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/application.rs"));

/// A file of the application.
struct File {
    kind: HeaderValue,
    /// Its entity tag, without quotes.
    tag: String,
    content: Constant,
}

static FILES: LazyLock<HashMap<&str, File>> = LazyLock::new(|| {
    let file = |&(path, kind, content): &(&'static str, &'static str, &'static [u8])| {
        let kind = HeaderValue::from_static(kind);
        (path, File { kind, tag: tag_of(content), content: Constant::new(content) })
    };
    EMBEDDED.iter().map(file).collect()
});

fn tag_of(content: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(content))
}

/// The routes of the pages and files of the application.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(serve_page))
        .route("/p/{*page}", get(serve_page))
        .route("/assets/{file}", get(serve_asset))
}

/// GET of any page.
pub(crate) async fn serve_page(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    serve_document(&app.sign_in_hint, &headers).await
}

async fn serve_document(hint: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    if hint.is_empty() {
        return serve(PAGE, headers).await;
    }
    let file = FILES.get(PAGE).ok_or_else(Problem::no_such_route)?;
    let document = with_hint(&String::from_utf8_lossy(file.content.plain()), hint);
    let tag = tag_of(document.as_bytes());
    let response = match has_tag(headers, &tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        // Not compressed, because each request would compress it again, and it has only two kilobytes.
        false => document.into_response(),
    };
    complete(response, &tag, &file.kind, "no-cache")
}

/// Adds the hint for the sign-in page to the document, where `SignIn.tsx` reads it. A separate request would show it late.
fn with_hint(document: &str, hint: &str) -> String {
    let mut escaped = String::with_capacity(hint.len());
    for character in hint.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    let element = format!("<meta name=\"keyed-sign-in-hint\" content=\"{escaped}\" />\n  </head>");
    document.replacen("</head>", &element, 1)
}

async fn serve_asset(address: Uri, headers: HeaderMap) -> Result<Response, Problem> {
    serve(address.path(), &headers).await
}

async fn serve(path: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let file = FILES.get(path).ok_or_else(Problem::no_such_route)?;
    let response = match has_tag(headers, &file.tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => file.content.response(&Accepted::of(headers)).await,
    };
    let kept = if path == PAGE { "no-cache" } else { "max-age=31536000, immutable" };
    complete(response, &file.tag, &file.kind, kept)
}

/// Adds the headers that every file has.
fn complete(
    mut response: Response,
    tag: &str,
    kind: &HeaderValue,
    kept: &'static str,
) -> Result<Response, Problem> {
    set_tag(&mut response, tag)?;
    mark_compressed(&mut response);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, kept),
        (header::VARY, "accept-encoding"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, kind.clone());
    Ok(response)
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;

    use super::*;

    async fn ask(address: &str, header: (&str, &str)) -> (StatusCode, HeaderMap, String) {
        let path = if address == "/" { PAGE } else { address };
        let value = HeaderValue::try_from(header.1).expect("a value");
        let headers = HeaderMap::from_iter([(header.0.parse().expect("a name"), value)]);
        let response = serve(path, &headers).await.into_response();
        let (parts, body) = response.into_parts();
        let body = to_bytes(body, 1 << 24).await.expect("a body");
        (parts.status, parts.headers, String::from_utf8_lossy(&body).into_owned())
    }

    const PLAIN: (&str, &str) = ("accept-encoding", "identity");

    /// The script in the document.
    async fn script() -> String {
        let (_, _, document) = ask("/", PLAIN).await;
        let (_, rest) = document.split_once("src=\"").expect("a script");
        rest.split_once('"').expect("its address").0.to_owned()
    }

    #[tokio::test]
    async fn page_loads_only_files_of_the_service() {
        let (status, headers, document) = ask("/", PLAIN).await;
        assert_eq!(status, 200);
        assert_eq!(headers[header::CONTENT_SECURITY_POLICY], POLICY);
        assert!(!POLICY.contains("unsafe"));
        assert!(!document.contains("<style") && !document.contains("<script>"), "{document}");
        assert!(!document.contains("//"), "a URL of another origin: {document}");
    }

    #[tokio::test]
    async fn browser_caches_files_forever_and_revalidates_the_page() {
        let (_, headers, _) = ask("/", PLAIN).await;
        assert_eq!(headers[header::CACHE_CONTROL], "no-cache");
        let tag = headers[header::ETAG].to_str().expect("a tag").to_owned();
        assert_eq!(ask("/", ("if-none-match", &tag)).await.0, StatusCode::NOT_MODIFIED);
        let (status, headers, _) = ask(&script().await, PLAIN).await;
        assert_eq!(status, 200);
        assert!(headers[header::CACHE_CONTROL].to_str().is_ok_and(|it| it.contains("immutable")));
    }

    #[tokio::test]
    async fn sign_in_hint_is_escaped_and_changes_the_entity_tag() {
        let hint = "Key: <run> & \"ask\"";
        let response = serve_document(hint, &HeaderMap::new()).await.into_response();
        let tag = response.headers()[header::ETAG].clone();
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert_eq!(response.headers()[header::CONTENT_SECURITY_POLICY], POLICY);
        let body = to_bytes(response.into_body(), 1 << 20).await.expect("a body");
        let element =
            "<meta name=\"keyed-sign-in-hint\" content=\"Key: &lt;run&gt; &amp; &quot;ask&quot;\" />";
        assert_eq!(String::from_utf8_lossy(&body).matches(element).count(), 1);
        let again = HeaderMap::from_iter([(header::IF_NONE_MATCH, tag.clone())]);
        let status = |hint: &'static str| {
            let again = again.clone();
            async move { serve_document(hint, &again).await.into_response().status() }
        };
        assert_eq!(status(hint).await, StatusCode::NOT_MODIFIED);
        assert_eq!([status("another").await, status("").await], [StatusCode::OK; 2]);
    }

    #[tokio::test]
    async fn compressed_script_has_its_own_entity_tag() {
        let script = script().await;
        let (_, plain, text) = ask(&script, PLAIN).await;
        let (status, packed, _) = ask(&script, ("accept-encoding", "gzip, br")).await;
        assert_eq!(status, 200);
        assert_eq!(packed[header::CONTENT_ENCODING], "br");
        assert_eq!(packed[header::CONTENT_TYPE], "text/javascript");
        assert_ne!(packed[header::ETAG], plain[header::ETAG]);
        assert_eq!([&packed[header::VARY], &plain[header::VARY]], ["accept-encoding"; 2]);
        assert!(text.contains("import"), "{text}");
    }

    #[tokio::test]
    async fn missing_file_is_not_found() {
        let (status, _, _) = ask("/assets/none.js", PLAIN).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
    }
}
