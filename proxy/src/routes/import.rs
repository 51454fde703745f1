//! Import.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use keyed_errors::Code;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::admission::FilePermit;
use crate::caller::Caller;
use crate::file::rejected_rows::RejectedRows;
use crate::file::stream::{ChunkSender, chunks};
use crate::import::request::{OnError, Request};
use crate::import::response_format::ResponseFormat;
use crate::import::run::{Import, Listener, NoListener, Stopped};
use crate::import::source::Source;
use crate::import::tally::{RowError, Tally};
use crate::observation::Observation;
use crate::problem::{DatabaseDetails, Problem};
use crate::query::Segments;
use crate::response;
use crate::state::App;
use keyed_service::shutdown::Step;

/// The number of buffered chunks of a response.
const CHUNKS: usize = 64;

pub(crate) async fn run(
    State(app): State<Arc<App>>,
    mut caller: Caller,
    Segments([template]): Segments<1>,
    Extension(observation): Extension<Observation>,
    http: HttpRequest,
) -> Result<Response, Problem> {
    // An import runs many statements, so it cannot be idempotent as one request. It need not be, because rows with keys
    // are safe to send again.
    caller.idempotency = None;
    let (parts, body) = http.into_parts();
    let request = Request::parse(&parts.headers, &parts.uri)?;
    // If a rejected row aborts the import, it is the reason of an error, and not a file to correct.
    let is_rejection = request.on_error == OnError::Abort && !request.dry_run;
    if request.response_format == ResponseFormat::Report
        || request.response_format == ResponseFormat::RejectedRows && is_rejection
    {
        return report(&app, &caller, &template, &request, body).await;
    }
    let content_type = match request.response_format {
        ResponseFormat::RejectedRows => CSV,
        ResponseFormat::Report | ResponseFormat::Progress => "application/x-ndjson",
    };
    let (chunks, response) = chunks(CHUNKS, app.body_timeout);
    let (begun, has_begun) = oneshot::channel();
    tokio::spawn(async move {
        let left = chunks.clone();
        // The import stops if the client disconnects.
        tokio::select! {
            () = stream_report(app, caller, template, request, body, observation, chunks, begun) => {}
            () = left.closed() => {}
        }
    });
    match has_begun.await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => return Err(problem),
        Err(_) => return Err(Problem::internal("an import ended before it began".to_owned())),
    }
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))], response).into_response())
}

/// Everything that happens before the first row is written.
async fn open<'a>(
    app: &'a App,
    caller: &'a Caller,
    template: &'a str,
    request: &'a Request,
    body: Body,
    waits_for: impl AsyncFnOnce(&RawValue),
) -> Result<(Option<FilePermit<'a>>, Import<'a>), Problem> {
    let opened = async {
        let permit = caller.file().await?;
        let source = Source::open(request, body, app).await?;
        Ok((permit, Import::open(app, caller, template, request, source, waits_for).await?))
    };
    tokio::select! {
        opened = opened => opened,
        () = app.shutdown.reached(Step::Overdue) => Err(interrupted().with_hint(NOTHING)),
    }
}

/// Imports a file, and responds at the end.
async fn report(
    app: &App,
    caller: &Caller,
    template: &str,
    request: &Request,
    body: Body,
) -> Result<Response, Problem> {
    let (_permit, import) = open(app, caller, template, request, body, async |_| {}).await?;
    let none_rejected = rejected_rows(&import, request).header(import.header());
    let (tally, outcome) = import.run(&mut NoListener).await;
    match outcome {
        Ok(()) if request.response_format == ResponseFormat::RejectedRows => {
            Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(CSV))], none_rejected).into_response())
        }
        Ok(()) => Ok(response::json(StatusCode::OK, tally.to_json())),
        Err(stopped) => Err(problem(stopped, &tally, request)),
    }
}

/// Imports a file, and streams its progress.
#[allow(clippy::too_many_arguments, reason = "a task owns its arguments")]
async fn stream_report(
    app: Arc<App>,
    caller: Caller,
    template: String,
    request: Request,
    body: Body,
    observation: Observation,
    chunks: ChunkSender,
    begun: oneshot::Sender<Result<(), Problem>>,
) {
    let mut begun = Some(begun);
    let waits_for = async |importer: &RawValue| {
        if let Some(begun) = begun.take() {
            let _ = begun.send(Ok(()));
        }
        let _ = chunks.send(format!("{{\"waits_for\":{importer}}}\n")).await;
    };
    let opened = open(&app, &caller, &template, &request, body, waits_for).await;
    let (_permit, import) = match (opened, begun) {
        (Ok(opened), begun) => {
            begun.map(|begun| begun.send(Ok(())));
            opened
        }
        (Err(problem), Some(begun)) => {
            let _ = begun.send(Err(problem));
            return;
        }
        // The response has started with the line above.
        (Err(problem), None) => {
            let _ = chunks.send(problem_line(&problem, &observation)).await;
            chunks.finish();
            return;
        }
    };
    if request.response_format == ResponseFormat::RejectedRows {
        let rows = rejected_rows(&import, &request);
        let _ = chunks.send(rows.header(import.header())).await;
        let mut listener = Rejected { chunks: chunks.clone(), rows };
        match import.run(&mut listener).await.1 {
            Ok(()) => chunks.finish(),
            // The response has started with 200: only aborting it can signal an error.
            Err(stopped) => {
                if let Stopped::Failed(problem) = stopped {
                    let cause = problem.cause().unwrap_or(problem.detail());
                    tracing::warn!(request_id = observation.id().as_str(), cause, "import failed");
                }
            }
        }
        return;
    }
    let file = json!({"file": {"header": import.header(), "delimiter": char::from(import.delimiter())}});
    let _ = chunks.send(format!("{file}\n")).await;
    let (tally, outcome) = import.run(&mut Lines { chunks: chunks.clone() }).await;
    let last = match outcome {
        Ok(()) => tally.to_json() + "\n",
        Err(stopped) => problem_line(&problem(stopped, &tally, &request), &observation),
    };
    if chunks.send(last).await.is_ok() {
        chunks.finish();
    }
}

/// The last line of a streamed response.
fn problem_line(problem: &Problem, observation: &Observation) -> String {
    if let Some(cause) = problem.cause() {
        tracing::warn!(request_id = observation.id().as_str(), cause, "import failed");
    }
    format!("{{\"problem\":{}}}\n", problem.render(observation.instance()))
}

fn rejected_rows(import: &Import<'_>, request: &Request) -> RejectedRows {
    RejectedRows::new(import.header(), import.delimiter(), request.encoding)
}

/// The hint if nothing was imported.
const NOTHING: &str = "Nothing was imported: import the file again.";

/// The hint if rows were written.
const PART: &str = "Written rows remain, and the report counts those that are known. Send only rows with \
     a key or an id again: others would be created again, and points of metrics and $inc added again.";

/// The error if the service stopped.
fn interrupted() -> Problem {
    let detail = "the service stopped before the end of the file";
    Problem::unavailable(detail, "KEYED_SHUTDOWN_TIMEOUT is over".to_owned())
}

/// The error if the file was not imported, or only partially.
fn problem(stopped: Stopped, tally: &Tally, request: &Request) -> Problem {
    match stopped {
        Stopped::Interrupted if request.is_whole() => interrupted().with_hint(NOTHING),
        // The last chunk may have been committed.
        Stopped::Interrupted => {
            interrupted().with_hint(PART).with_partial_outcome().with_report(tally.to_json())
        }
        Stopped::Failed(problem) if request.is_whole() => {
            let is_rejected = request.is_mirror() && problem.status().is_client_error();
            let hint = if is_rejected { "Nothing was imported." } else { NOTHING };
            problem.with_further_hint(hint).with_report(tally.to_json())
        }
        Stopped::Failed(problem) if tally.created + tally.updated == 0 => {
            problem.with_report(tally.to_json())
        }
        Stopped::Failed(problem) => {
            problem.with_further_hint(PART).with_partial_outcome().with_report(tally.to_json())
        }
        Stopped::Rejected => {
            let first = tally.errors.first();
            let detail = first.map_or_else(String::new, |first| {
                let column =
                    first.column.as_ref().map(|column| format!(", column {column}")).unwrap_or_default();
                format!("line {}{column}: {}", first.line, first.message)
            });
            let particulars =
                DatabaseDetails { code: first.map(|first| first.code.clone()), ..DatabaseDetails::default() };
            let code = first.map_or(Code::InvalidValue, |first| Code::of_sqlstate(&first.sqlstate));
            let rejected = match tally.failed {
                1 => "1 row was rejected".to_owned(),
                failed => format!("{failed} rows were rejected"),
            };
            Problem::new(code, format!("nothing was imported because {rejected}: {detail}"))
                .with_database_details(particulars)
                .with_hint(match request.is_mirror() {
                    true => "Correct the rows, and import the whole file again.",
                    false => "Correct the rows, or import the others with on_error=skip.",
                })
                .with_report(tally.to_json())
        }
    }
}

/// Sends a JSON line for each chunk and each rejected row.
struct Lines {
    chunks: ChunkSender,
}

impl Listener for Lines {
    async fn rejected(&mut self, row: &str, row_errors: &[RowError]) -> Result<(), Problem> {
        let line = row_errors.first().map(|row_error| row_error.line);
        let rejected = json!({"refused": {"line": line, "row": row, "errors": row_errors}});
        self.chunks.send(format!("{rejected}\n")).await
    }

    async fn progress(&mut self, tally: &Tally, bytes: u64) {
        // A slow reader misses progress lines, but not the result.
        self.chunks.offer(tally.progress(bytes));
    }
}

/// Returns the rejected rows.
struct Rejected {
    chunks: ChunkSender,
    rows: RejectedRows,
}

const CSV: &str = "text/csv; charset=utf-8";

impl Listener for Rejected {
    async fn rejected(&mut self, row: &str, row_errors: &[RowError]) -> Result<(), Problem> {
        let reasons: Vec<String> = row_errors
            .iter()
            .map(|row_error| match &row_error.column {
                Some(column) => format!("line {}, {column}: {}", row_error.line, row_error.message),
                None => format!("line {}: {}", row_error.line, row_error.message),
            })
            .collect();
        self.chunks.send(self.rows.row(row, &reasons.join("; "))).await
    }

    async fn progress(&mut self, _: &Tally, _: u64) {}
}
