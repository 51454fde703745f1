//! Shared by commands that call a running proxy: its URL and API key.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use axum::body::Body;
use axum::http::request::Builder;
use axum::http::{HeaderValue, Method, Request, Response, StatusCode, header};
use clap::Args;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use keyed_errors::Code;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::outcome::Failure;
use keyed_service::http_client::{HttpClient, http_client};

/// The default URL: a proxy on this machine.
const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// The URL and the API key.
#[derive(Args)]
pub(crate) struct Access {
    /// The URL of the proxy.
    #[arg(long, env = "KEYED_URL", default_value = DEFAULT_URL, value_name = "URL")]
    url: String,

    /// The API key.
    #[arg(long, env = "KEYED_API_KEY", hide_env_values = true, value_name = "KEY")]
    api_key: Option<String>,

    /// A file that contains the API key, to keep it out of the process list.
    #[arg(long, env = "KEYED_API_KEY_FILE", value_name = "FILE", conflicts_with = "api_key")]
    api_key_file: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Service {
    #[command(flatten)]
    access: Access,

    /// The template, as project.template, for example crm.customers; only its slug if the key is limited to one project.
    #[arg(long, value_name = "TEMPLATE")]
    template: String,
}

impl Service {
    /// The name of the template without its project.
    pub(crate) fn template(&self) -> &str {
        self.template.split_once('.').map_or(&self.template, |(_, template)| template)
    }

    /// The template as given.
    pub(crate) fn named(&self) -> &str {
        &self.template
    }

    /// The given options, for another call in the same environment. The API key is not included.
    pub(crate) fn options(&self) -> Vec<(&'static str, String)> {
        let is_set = |name: &str, value: &str| std::env::var(name).is_ok_and(|own| own == value);
        let mut options = Vec::new();
        let Access { url, api_key_file, .. } = &self.access;
        if url != DEFAULT_URL && !is_set("KEYED_URL", url) {
            options.push(("--url", url.clone()));
        }
        if let Some(file) = api_key_file.as_ref().map(|file| file.to_string_lossy())
            && !is_set("KEYED_API_KEY_FILE", &file)
        {
            options.push(("--api-key-file", file.into_owned()));
        }
        options.push(("--template", self.template.clone()));
        options
    }

    /// Builds a request for the template. `action` is the last segment of its path, followed by the parameters.
    pub(crate) fn request(
        &self,
        action: &str,
        parameters: &[(&str, Option<&str>)],
        help: &'static str,
    ) -> Result<Builder, Failure> {
        let path = format!("entities/template/{}/{action}", encode(self.template()));
        let project = self.template.split_once('.').map(|(project, _)| project);
        self.access.request(Method::POST, &path, parameters, project, help)
    }
}

impl Access {
    /// Builds a request with a path and parameters. Errors refer to the help of the command `help`.
    pub(crate) fn request(
        &self,
        method: Method,
        path: &str,
        parameters: &[(&str, Option<&str>)],
        project: Option<&str>,
        help: &'static str,
    ) -> Result<Builder, Failure> {
        let usage = |message: String| Failure::Usage { message, help };
        let key = match (&self.api_key, &self.api_key_file) {
            (Some(key), _) => key.clone(),
            (None, Some(file)) => std::fs::read_to_string(file).map_err(|error| {
                usage(format!("the API key cannot be read from {}: {error}", file.display()))
            })?,
            (None, None) => {
                return Err(usage("KEYED_API_KEY is not set. This command needs an API key.".to_owned()));
            }
        };
        if !["http://", "https://"].iter().any(|scheme| self.url.starts_with(scheme)) {
            let message =
                format!("--url (KEYED_URL) is {:?}: it must begin with http:// or https://", self.url);
            return Err(usage(message));
        }
        let given =
            parameters.iter().filter_map(|(name, value)| Some(format!("{name}={}", encode((*value)?))));
        let query = given.collect::<Vec<_>>().join("&");
        let address = format!("{}/v1/{path}?{query}", self.url.trim_end_matches('/'));
        let mut token = HeaderValue::try_from(format!("Bearer {}", key.trim()))
            .map_err(|_| usage("the API key contains characters that are not allowed in a key".to_owned()))?;
        token.set_sensitive(true);
        let mut request = Request::builder().method(method).uri(address).header(header::AUTHORIZATION, token);
        if let Some(project) = project {
            request = request.header("x-service-project-id", project);
        }
        Ok(request)
    }
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Sends a request for a template, and turns an error response into an error message.
pub(crate) async fn send(request: Request<Body>, template: &str) -> anyhow::Result<Response<Incoming>> {
    let response = exchange(&http_client::<Body>(None)?, request).await?;
    if response.status() == StatusCode::OK {
        return Ok(response);
    }
    Err(ErrorResponse::of(response).await?.into_error(template))
}

/// Sends a request.
pub(crate) async fn exchange(
    client: &HttpClient<Body>,
    request: Request<Body>,
) -> anyhow::Result<Response<Incoming>> {
    let address = request.uri().clone();
    client.request(request).await.with_context(|| {
        let host = address.authority().map_or("the proxy", |authority| authority.as_str());
        let scheme = address.scheme_str().unwrap_or("http");
        format!("cannot reach {scheme}://{host}, the address of --url (KEYED_URL)")
    })
}

/// An error response.
pub(crate) struct ErrorResponse {
    pub(crate) status: StatusCode,
    /// Null if the body is not a problem document.
    pub(crate) problem: serde_json::Value,
}

impl ErrorResponse {
    pub(crate) async fn of(response: Response<Incoming>) -> anyhow::Result<ErrorResponse> {
        let status = response.status();
        let body = response
            .into_body()
            .collect()
            .await
            .context("the connection was closed before the end of the response")?
            .to_bytes();
        Ok(ErrorResponse { status, problem: serde_json::from_slice(&body).unwrap_or_default() })
    }

    /// The error message for a request for a template.
    pub(crate) fn into_error(self, template: &str) -> anyhow::Error {
        match self.problem {
            serde_json::Value::Null => anyhow!("the proxy returned {}", self.status),
            problem if is_unknown(&problem) => {
                anyhow!("template {template} does not exist, or the role of this API key has no access to it")
            }
            problem => anyhow!("{}", problem_text(&problem)),
        }
    }
}

/// Whether this is the generic 404 for a missing or invisible object.
fn is_unknown(problem: &serde_json::Value) -> bool {
    problem["code"] == Code::NotFound.name() && problem["detail"] == keyed_errors::NOT_FOUND
}

/// Translates the names in problems of the service to the flags of the command line.
const FLAGS: [(&str, &str); 13] = [
    ("on_error=", "--on-error "),
    ("key_column=", "--key-column "),
    ("key_prefix=", "--key-prefix "),
    ("mapping=", "--mapping "),
    ("delimiter=", "--delimiter "),
    ("encoding=", "--encoding "),
    ("format=", "--format "),
    ("Content-Type: application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "--format xlsx"),
    ("mode=mirror", "--mode mirror"),
    ("max_deleted_share=", "--max-deleted-share "),
    ("dry_run=true", "--dry-run"),
    (
        "Send the header X-Service-Project-Id, or use the id of the template.",
        "Name its project as well, for example --template crm.customers.",
    ),
    ("send the header Authorization: Bearer <key>", "set KEYED_API_KEY, or give --api-key-file"),
];

fn with_flag_names(text: &str) -> String {
    FLAGS.iter().fold(text.to_owned(), |text, (parameter, flag)| text.replace(parameter, flag))
}

/// A problem as text: the error, its location, and the hint.
pub(crate) fn problem_text(problem: &serde_json::Value) -> String {
    let mut words = problem["detail"].as_str().unwrap_or("the proxy returned no reason").to_owned();
    let errors = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    for error in errors.iter().skip(1) {
        words += &format!("\n{}", error["detail"].as_str().unwrap_or_default());
    }
    if let Some(done) = written_rows(&problem["report"]) {
        words += &format!("\nBefore the error: {done}");
    }
    if let Some(hint) = problem["hint"].as_str() {
        words += &format!("\nHint: {hint}");
    }
    with_flag_names(&words)
}

/// The rows that an interrupted import has written; `None` if it has written none.
fn written_rows(report: &serde_json::Value) -> Option<String> {
    let [rows, created, updated, unchanged, failed] =
        ["rows", "created", "updated", "unchanged", "failed"].map(|name| report[name].as_u64().unwrap_or(0));
    (created + updated + unchanged > 0).then(|| {
        format!(
            "rows {rows}, created {created}, updated {updated}, unchanged {unchanged}, failed {failed}. \
             Written rows remain; you can import the file again."
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hint_names_flags() {
        let problem = json!({"detail": "no", "hint": "import the others with on_error=skip, the key with key_column=No"});
        let words = problem_text(&problem);
        assert!(
            words.ends_with("import the others with --on-error skip, the key with --key-column No"),
            "{words}"
        );
    }

    #[test]
    fn problem_reports_the_written_rows() {
        let report = |created| {
            json!({"detail": "line 9 has bytes that are not valid utf-8", "hint": "say which encoding",
                "report": {"rows": 3, "created": created, "updated": 0, "unchanged": 0, "failed": 1}})
        };
        let words = problem_text(&report(2));
        assert!(
            words.contains("\nBefore the error: rows 3, created 2, updated 0, unchanged 0, failed 1."),
            "{words}"
        );
        assert!(words.ends_with("\nHint: say which encoding"), "{words}");
        assert!(!problem_text(&report(0)).contains("Before the error"));
    }
}
