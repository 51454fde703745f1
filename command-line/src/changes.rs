//! `changes`: prints the change feed of a running proxy, and stores the cursor after the printed changes in a file.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use clap::Args;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{sleep, timeout};

use super::connection::runtime;
use super::outcome::Failure;
use super::output::Output;
use super::service::{Access, ErrorResponse, exchange};
use keyed_service::http_client::{HttpClient, http_client};

const HELP: &str = "changes";

/// The cursor of the whole feed.
const START: &str = "start";

/// How long one request waits for changes, in seconds.
const WAIT: &str = "30";

/// The timeout of a response.
const PATIENCE: Duration = Duration::from_secs(120);

/// The minimum and maximum pause before a retry.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

#[derive(Args)]
pub(crate) struct Changes {
    #[command(flatten)]
    access: Access,

    /// The template, as project.template, for example crm.customers; only its slug if the key is limited to one
    /// project. Default: all templates of the project that the key can read.
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<String>,

    /// The project of these templates. Not needed if the key is limited to one project.
    #[arg(long, value_name = "PROJECT", conflicts_with = "template")]
    project: Option<String>,

    /// Wait for more changes at the end of the feed. Otherwise, the command exits there.
    #[arg(long)]
    follow: bool,

    /// Include the current state of each record.
    #[arg(long)]
    include_record: bool,

    /// Begin with the first change, even if the cursor file contains a cursor. Default: begin after that cursor, or
    /// without one, with new changes.
    #[arg(long)]
    from_start: bool,

    /// Store the cursor in this file. The file is replaced after the lines of a page are written. If the command is
    /// interrupted, no change is lost, and at most one page is printed twice.
    #[arg(long, value_name = "FILE")]
    cursor_file: Option<PathBuf>,
}

pub(crate) fn run(changes: Changes) -> Result<(), Failure> {
    runtime()?.block_on(changes.run())
}

/// A page of the feed.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    changes: Vec<&'a RawValue>,
    next_cursor: String,
    has_more: bool,
}

/// Why a page could not be read.
enum NoPage {
    /// Temporary: the request can be retried, after this pause if the proxy sent one.
    Temporary(anyhow::Error, Option<Duration>),
    Final(Failure),
}

impl Changes {
    async fn run(self) -> Result<(), Failure> {
        let mut cursor = match &self.cursor_file {
            _ if self.from_start => Some(START.to_owned()),
            Some(file) => read_cursor(file)?,
            None => None,
        };
        let client = http_client::<Body>(Some(Duration::from_secs(10)))?;
        let (mut is_reached, mut pause) = (false, PAUSES[0]);
        loop {
            let body = match self.page(&client, cursor.as_deref()).await {
                Ok(body) => body,
                // A wrong address or key is reported immediately.
                Err(NoPage::Temporary(error, retry_after)) if self.follow && is_reached => {
                    let wait = retry_after.unwrap_or(pause);
                    eprintln!("keyed-proxy: {error:#}\nTrying again in {} seconds.", wait.as_secs());
                    sleep(wait).await;
                    pause = (pause * 2).min(PAUSES[1]);
                    continue;
                }
                Err(NoPage::Temporary(error, _)) => return Err(error.into()),
                Err(NoPage::Final(failure)) => return Err(failure),
            };
            (is_reached, pause) = (true, PAUSES[0]);
            let page: Page<'_> =
                serde_json::from_slice(&body).context("the response is not a page of changes")?;
            print_lines(&page.changes).context("cannot write the changes")?;
            if let Some(file) = &self.cursor_file
                && cursor.as_ref() != Some(&page.next_cursor)
            {
                write_cursor(file, &page.next_cursor)?;
            }
            cursor = Some(page.next_cursor);
            if !page.has_more && !self.follow {
                return Ok(());
            }
        }
    }

    async fn page(&self, client: &HttpClient<Body>, after: Option<&str>) -> Result<Vec<u8>, NoPage> {
        let (project, template) = match self.template.as_deref() {
            Some(named) => match named.split_once('.') {
                Some((project, template)) => (Some(project), Some(template)),
                None => (None, Some(named)),
            },
            None => (self.project.as_deref(), None),
        };
        let parameters = [
            ("template", template),
            ("after", after),
            ("limit", Some("1000")),
            ("include", self.include_record.then_some("record")),
            ("wait", (self.follow && after.is_some()).then_some(WAIT)),
        ];
        let request =
            self.access.request(Method::GET, "changes", &parameters, project, HELP).map_err(NoPage::Final)?;
        let request = request
            .header(header::ACCEPT, "application/json")
            .body(Body::empty())
            .map_err(|error| NoPage::Final(anyhow!(error).context("the proxy cannot be reached").into()))?;
        let temporary = |error: anyhow::Error| NoPage::Temporary(error, None);
        let late = || temporary(anyhow!("the proxy did not respond in time"));
        let response =
            timeout(PATIENCE, exchange(client, request)).await.map_err(|_| late())?.map_err(temporary)?;
        if response.status() == StatusCode::OK {
            let body = timeout(PATIENCE, response.into_body().collect()).await.map_err(|_| late())?;
            return Ok(body.context("the response broke off").map_err(temporary)?.to_bytes().to_vec());
        }
        let retry_after =
            response.headers().get(header::RETRY_AFTER).and_then(|it| it.to_str().ok()?.parse().ok());
        let response =
            timeout(PATIENCE, ErrorResponse::of(response)).await.map_err(|_| late())?.map_err(temporary)?;
        Err(self.rejection(response, retry_after.map(Duration::from_secs)))
    }

    fn rejection(&self, response: ErrorResponse, retry_after: Option<Duration>) -> NoPage {
        if response.status == StatusCode::GONE {
            let detail =
                response.problem["detail"].as_str().unwrap_or("the cursor is no longer valid").to_owned();
            return NoPage::Final(Failure::Resync(format!(
                "{detail}\nHint: Empty your copy, and start again with --from-start."
            )));
        }
        // A gateway in front of the proxy responds without a problem document.
        let is_passing = response.problem["retryable"].as_bool().unwrap_or(response.status.is_server_error());
        let error = response.into_error(self.template.as_deref().unwrap_or("of this name"));
        if is_passing { NoPage::Temporary(error, retry_after) } else { NoPage::Final(error.into()) }
    }
}

/// Prints one entry per line, byte for byte, so that numbers keep every digit.
fn print_lines(entries: &[&RawValue]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for entry in entries {
        // JSON may have line breaks between values.
        for piece in entry.get().split(['\n', '\r']) {
            out.write_all(piece.as_bytes())?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// The cursor in a file; `None` if the file does not exist.
fn read_cursor(file: &Path) -> Result<Option<String>, Failure> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let error = anyhow!(error).context(format!("cannot read {}", file.display()));
            return Err(error.into());
        }
    };
    match text.trim() {
        "" => Err(Failure::Usage {
            message: format!("{} is empty. Start again with --from-start.", file.display()),
            help: HELP,
        }),
        cursor => Ok(Some(cursor.to_owned())),
    }
}

fn write_cursor(file: &Path, cursor: &str) -> anyhow::Result<()> {
    let mut output = Output::create(file)?;
    writeln!(output, "{cursor}").with_context(|| format!("cannot write {}", file.display()))?;
    output.keep_on_disk()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("cursor");
        assert!(matches!(read_cursor(&file), Ok(None)));
        for cursor in ["AQ", "A-_longer"] {
            write_cursor(&file, cursor).expect("written");
            assert!(matches!(read_cursor(&file), Ok(Some(read)) if read == cursor));
        }
        std::fs::write(&file, "\n").expect("written");
        assert!(matches!(read_cursor(&file), Err(Failure::Usage { .. })));
    }
}
