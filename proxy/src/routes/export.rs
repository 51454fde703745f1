//! Export.

/// Shared by all export formats.
mod request;
/// Exports as a spreadsheet.
mod workbook;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};
use tokio::sync::oneshot;

use self::request::{ExportRequest, NEXT, OPEN, chunk, open};
use crate::admission::Admitted;
use crate::admission::min_rate::TransferTimer;
use crate::body::OptionalJsonText;
use crate::caller::Caller;
use crate::compression::Accepted;
use crate::database::Effect;
use crate::file::form::FileForm;
use crate::file::format::Format;
use crate::file::stream::{ChunkSender, chunks};
use crate::metrics::Running;
use crate::observation::Observation;
use crate::problem::Problem;
use crate::query::{Segments, parameters};
use crate::state::App;

/// The number of chunks that are read ahead.
const AHEAD: usize = 2;

/// All records of a template, or of a saved view.
pub(crate) async fn saved(
    State(app): State<Arc<App>>,
    mut caller: Caller,
    Segments([template]): Segments<1>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let [format, delimiter, bom, versions, view] =
        parameters(&uri, ["format", "delimiter", "bom", "versions", "view"])?;
    let form = FileForm::parse(&headers, format.as_deref(), delimiter.as_deref(), bom, versions)?;
    let request = ExportRequest { template, form, body: None, view: view.map(Into::into) };
    if method == Method::HEAD {
        // For HEAD: whether the export is possible, without a permit and without an open transaction.
        caller.idempotency = None;
        app.database.call(Effect::PrimaryRead, &caller, OPEN, &request.arguments()).await?;
        return Ok((request.headers(), Body::empty()).into_response());
    }
    export(app, caller, request, Accepted::of(&headers)).await
}

/// The records that a search finds.
pub(crate) async fn search(
    State(app): State<Arc<App>>,
    caller: Caller,
    Segments([template]): Segments<1>,
    uri: Uri,
    headers: HeaderMap,
    OptionalJsonText(body): OptionalJsonText,
) -> Result<Response, Problem> {
    let [format, delimiter, bom, versions] = parameters(&uri, ["format", "delimiter", "bom", "versions"])?;
    let form = FileForm::parse(&headers, format.as_deref(), delimiter.as_deref(), bom, versions)?;
    export(app, caller, ExportRequest { template, form, body, view: None }, Accepted::of(&headers)).await
}

async fn export(
    app: Arc<App>,
    mut caller: Caller,
    request: ExportRequest,
    accepted: Accepted,
) -> Result<Response, Problem> {
    // A read is safe to repeat.
    caller.idempotency = None;
    let (headers, numbers) = (request.headers(), caller.numbers);
    let observation = caller.admitted.as_ref().and_then(Admitted::observation);
    let name = observation.and_then(Observation::caller);
    // A spreadsheet is already compressed.
    let is_compressed = request.form.format == Format::Xlsx;
    let (chunks, response) = chunks(AHEAD, app.body_timeout);
    let (begun, has_begun) = oneshot::channel();
    tokio::spawn(async move {
        let left = chunks.clone();
        // If the client disconnects, the transaction and its query end.
        let send = async {
            match request.form.format {
                Format::Csv | Format::Ndjson => send(&app, &caller, &request, chunks, begun).await,
                Format::Xlsx => workbook::send(&app, &caller, &request, chunks, begun).await,
            }
        };
        tokio::select! {
            () = send => {}
            () = left.closed() => {}
        }
    });
    match has_begun.await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => return Err(problem),
        Err(_) => return Err(Problem::internal("an export ended before it began".to_owned())),
    }
    let response = numbers.write((headers, response).into_response()).await;
    Ok(if is_compressed { response } else { accepted.compress_stream(response, name).await })
}

async fn send(
    app: &App,
    caller: &Caller,
    request: &ExportRequest,
    chunks: ChunkSender,
    begun: oneshot::Sender<Result<(), Problem>>,
) {
    let (_permit, mut transaction, first) = match open(app, caller, request).await {
        Ok(open) => {
            let _ = begun.send(Ok(()));
            open
        }
        Err(problem) => {
            let _ = begun.send(Err(problem));
            return;
        }
    };
    let mut running = Running::export(&app.metrics);
    let mut next = Some(first);
    let (mut timer, end) = (TransferTimer::new(app.minimum_rate), Instant::now() + app.file_timeout);
    loop {
        match next {
            Some(chunk) if chunk.is_empty() => {}
            Some(chunk) => {
                let (bytes, waiting) = (chunk.len(), Instant::now());
                let patience = timer.timeout_for(bytes).min(end.saturating_duration_since(waiting));
                if let Err(problem) = chunks.send_within(chunk, patience).await {
                    tracing::warn!(cause = problem.detail(), "export aborted");
                    return transaction.roll_back().await;
                }
                timer.record(bytes, waiting.elapsed());
                app.metrics.export_bytes.inc_by(bytes as u64);
            }
            None => break,
        }
        next = match transaction.call(NEXT, &[]).await.and_then(|row| chunk(&row)) {
            Ok(chunk) => chunk,
            Err(problem) => {
                // The response has started with 200: only aborting it can signal an error.
                tracing::warn!(cause = problem.cause(), "export failed");
                return;
            }
        };
    }
    chunks.finish();
    running.ends("complete");
    transaction.roll_back().await;
}
