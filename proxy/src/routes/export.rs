//! Export.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::sync::oneshot;

use crate::admission::min_rate::TransferTimer;
use crate::body::OptionalJsonText;
use crate::caller::Caller;
use crate::compression::Accepted;
use crate::database::Effect;
use crate::file::chunks::{ChunkSender, chunks};
use crate::file::form::FileForm;
use crate::file::format::Format;
use crate::metrics::Running;
use crate::problem::Problem;
use crate::query::{Segments, parameters};
use crate::state::App;
use crate::statement::{Argument, Statement, statement, text};

const OPEN: Statement = statement!("export_open($4::text, $5::text, $6::text, $7::text)");
const NEXT: Statement = statement!("export_next()");

/// The number of portions that are read ahead.
const AHEAD: usize = 2;

/// What a program of spreadsheets tells UTF-8 by.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The request of an export.
struct ExportRequest {
    template: String,
    form: FileForm,
    /// A search.
    body: Option<String>,
    /// The saved view that the address names.
    view: Option<String>,
}

impl ExportRequest {
    fn headers(&self) -> [(HeaderName, HeaderValue); 2] {
        let (format, media_type) = match self.form.format {
            Format::Ndjson => (Format::Ndjson, Format::Ndjson.media_type()),
            Format::Csv => (Format::Csv, "text/csv; charset=utf-8; header=present"),
        };
        let name = format!("attachment; filename=\"{}.{}\"", file_name(&self.template), format.name());
        [
            (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
            (
                header::CONTENT_DISPOSITION,
                HeaderValue::try_from(name).unwrap_or(HeaderValue::from_static("attachment")),
            ),
        ]
    }

    fn arguments(&self) -> [Argument<'_>; 4] {
        [text(&self.template), text(&self.form.options), text(&self.body), text(&self.view)]
    }
}

/// All records of a template, or of a saved view.
pub(crate) async fn saved(
    State(app): State<Arc<App>>,
    mut caller: Caller,
    Segments([template]): Segments<1>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let [format, delimiter, bom, view] = parameters(&uri, ["format", "delimiter", "bom", "view"])?;
    let form = FileForm::parse(format.as_deref(), delimiter.as_deref(), bom)?;
    let wanted = ExportRequest { template, form, body: None, view: view.map(Into::into) };
    if method == Method::HEAD {
        // HEAD: whether the export is possible, without taking a slot or keeping a transaction open.
        caller.idempotency = None;
        app.database.call(Effect::Read, &caller, OPEN, &wanted.arguments()).await?;
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
    let [format, delimiter, bom] = parameters(&uri, ["format", "delimiter", "bom"])?;
    let form = FileForm::parse(format.as_deref(), delimiter.as_deref(), bom)?;
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
    let (chunks, answer) = chunks(AHEAD, app.body_timeout);
    let (begun, has_begun) = oneshot::channel();
    tokio::spawn(async move {
        let left = chunks.clone();
        // If the client disconnects, the transaction ends and with it the query.
        tokio::select! {
            () = send(&app, &caller, &wanted, chunks, begun) => {}
            () = left.closed() => {}
        }
    });
    match has_begun.await {
        Ok(Ok(())) => {}
        Ok(Err(problem)) => return Err(problem),
        Err(_) => return Err(Problem::internal("an export ended before it began".to_owned())),
    }
    let response = numbers.write((headers, answer).into_response()).await;
    Ok(accepted.pack_stream(response).await)
}

/// The file name of a template, which is safe for any path parameter.
fn file_name(template: &str) -> String {
    template
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || *character == '_')
        .take(63)
        .collect()
}

async fn send(
    app: &App,
    caller: &Caller,
    wanted: &ExportRequest,
    chunks: ChunkSender,
    begun: oneshot::Sender<Result<(), Problem>>,
) {
    let open = async {
        let permit = caller.file().await?;
        // One snapshot for all portions. The timeout applies if the proxy dies.
        let begin = format!(
            "begin isolation level repeatable read read only; \
             set local idle_in_transaction_session_timeout = {}",
            app.file_timeout.as_millis()
        );
        let mut transaction = app.database.begin(caller, &begin).await?;
        let row = transaction.call(OPEN, &wanted.arguments()).await?;
        let mark = if wanted.form.has_mark { BYTE_ORDER_MARK } else { "" };
        Ok((permit, transaction, mark.to_owned() + &portion(&row)?.unwrap_or_default()))
    };
    let (_permit, mut transaction, first) = match open.await {
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
    let (mut timer, end) = (TransferTimer::new(app.least_rate), Instant::now() + app.file_timeout);
    loop {
        match next {
            Some(portion) if portion.is_empty() => {}
            Some(portion) => {
                let (bytes, waiting) = (portion.len(), Instant::now());
                let patience = timer.timeout_for(bytes).min(end.saturating_duration_since(waiting));
                if let Err(problem) = chunks.send_within(portion, patience).await {
                    tracing::warn!(cause = problem.detail(), "export given up");
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

fn portion(row: &tokio_postgres::Row) -> Result<Option<String>, Problem> {
    row.try_get(0).map_err(|error| Problem::internal(format!("not the answer of an export: {error}")))
}
