//! Export.

/// What all forms of exports share.
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

use self::request::{ExportRequest, NEXT, OPEN, open, portion};
use crate::admission::Admitted;
use crate::admission::min_rate::TransferTimer;
use crate::body::OptionalJsonText;
use crate::caller::Caller;
use crate::compression::Accepted;
use crate::database::Effect;
use crate::file::chunks::{ChunkSender, chunks};
use crate::file::form::FileForm;
use crate::file::format::Format;
use crate::metrics::Running;
use crate::observation::Observation;
use crate::problem::Problem;
use crate::query::{Segments, parameters};
use crate::state::App;

/// The number of portions that are read ahead.
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
    let wanted = ExportRequest { template, form, body: None, view: view.map(Into::into) };
    if method == Method::HEAD {
        // HEAD: whether the export is possible, without taking a slot or keeping a transaction open.
        caller.idempotency = None;
        app.database.call(Effect::PrimaryRead, &caller, OPEN, &wanted.arguments()).await?;
        return Ok((wanted.headers(), Body::empty()).into_response());
    }
    export(app, caller, wanted, Accepted::of(&headers)).await
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
    wanted: ExportRequest,
    accepted: Accepted,
) -> Result<Response, Problem> {
    // It writes nothing that could be done twice.
    caller.idempotency = None;
    let (headers, numbers) = (wanted.headers(), caller.numbers);
    let observation = caller.admitted.as_ref().and_then(Admitted::observation);
    let name = observation.and_then(Observation::caller);
    // A spreadsheet is packed already.
    let is_packed = wanted.form.format == Format::Xlsx;
    let (chunks, answer) = chunks(AHEAD, app.body_timeout);
    let (begun, has_begun) = oneshot::channel();
    tokio::spawn(async move {
        let left = chunks.clone();
        // If the client disconnects, the transaction ends and with it the query.
        let send = async {
            match wanted.form.format {
                Format::Csv | Format::Ndjson => send(&app, &caller, &wanted, chunks, begun).await,
                Format::Xlsx => workbook::send(&app, &caller, &wanted, chunks, begun).await,
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
    let response = numbers.write((headers, answer).into_response()).await;
    Ok(if is_packed { response } else { accepted.pack_stream(response, name).await })
}

async fn send(
    app: &App,
    caller: &Caller,
    wanted: &ExportRequest,
    chunks: ChunkSender,
    begun: oneshot::Sender<Result<(), Problem>>,
) {
    let (_permit, mut transaction, first) = match open(app, caller, wanted).await {
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
            Some(portion) if portion.is_empty() => {}
            Some(portion) => {
                let (bytes, waiting) = (portion.len(), Instant::now());
                let patience = timer.timeout_for(bytes).min(end.saturating_duration_since(waiting));
                if let Err(problem) = chunks.send_within(portion, patience).await {
                    tracing::warn!(cause = problem.detail(), "export aborted");
                    return transaction.roll_back().await;
                }
                timer.record(bytes, waiting.elapsed());
                app.metrics.export_bytes.inc_by(bytes as u64);
            }
            None => break,
        }
        next = match transaction.call(NEXT, &[]).await.and_then(|row| portion(&row)) {
            Ok(portion) => portion,
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
