//! Exports as a spreadsheet. It is complete before its first byte is sent, because its ZIP directory is written last.
//! Until then, it is stored in unnamed temporary files.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Instant;

use keyed_errors::Code;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::request::{ExportRequest, NEXT, chunk, file_name, open};
use crate::admission::FilePermit;
use crate::admission::min_rate::TransferTimer;
use crate::caller::Caller;
use crate::file::stream::ChunkSender;
use crate::file::xlsx::{Unwritable, Writer};
use crate::metrics::Running;
use crate::problem::Problem;
use crate::state::App;

/// The size of the sent chunks.
const CHUNK: usize = 128 << 10;

/// Writes the spreadsheet, then sends it.
pub(super) async fn send(
    app: &App,
    caller: &Caller,
    request: &ExportRequest,
    chunks: ChunkSender,
    begun: oneshot::Sender<Result<(), Problem>>,
) {
    let mut running = Running::export(&app.metrics);
    let written = timeout(app.file_timeout, write(app, caller, request)).await.unwrap_or_else(|_| {
        let problem = Problem::new(Code::Timeout, "the spreadsheet was not complete in time");
        Err(problem.with_hint("Export fewer records, or use CSV, which is streamed."))
    });
    let (_permit, mut file) = match written {
        Ok(written) => {
            let _ = begun.send(Ok(()));
            written
        }
        Err(problem) => {
            let _ = begun.send(Err(problem));
            return;
        }
    };
    let (mut timer, end) = (TransferTimer::new(app.minimum_rate), Instant::now() + app.file_timeout);
    loop {
        let read = spawn_blocking(move || {
            let mut chunk = Vec::new();
            file.by_ref().take(CHUNK as u64).read_to_end(&mut chunk).map(|_| (file, chunk))
        });
        let Ok(Ok((rest, chunk))) = read.await else {
            tracing::warn!("export failed: the spreadsheet could not be read");
            return;
        };
        file = rest;
        if chunk.is_empty() {
            break;
        }
        let (bytes, waiting) = (chunk.len(), Instant::now());
        let patience = timer.timeout_for(bytes).min(end.saturating_duration_since(waiting));
        if let Err(problem) = chunks.send_within(chunk, patience).await {
            tracing::warn!(cause = problem.detail(), "export aborted");
            return;
        }
        timer.record(bytes, waiting.elapsed());
        app.metrics.export_bytes.inc_by(bytes as u64);
    }
    chunks.finish();
    running.ends("complete");
}

/// Writes the complete file, and rewinds it.
async fn write<'a>(
    app: &'a App,
    caller: &'a Caller,
    request: &ExportRequest,
) -> Result<(Option<FilePermit<'a>>, File), Problem> {
    let (permit, mut transaction, first) = open(app, caller, request).await?;
    let mut name = file_name(&request.template);
    if name.is_empty() {
        name.push_str("records");
    }
    let mut writer = blocking(move || Writer::new(&name)).await?;
    let mut next = Some(first);
    while let Some(rows) = next {
        writer = blocking(move || writer.write(&rows).map(|()| writer)).await?;
        next = chunk(&transaction.call(NEXT, &[]).await?)?;
    }
    transaction.roll_back().await;
    let file = blocking(move || {
        let failed = |error: std::io::Error| Unwritable::Failed(error.to_string());
        let mut file = tempfile::tempfile().map_err(failed)?;
        writer.finish(&mut file)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(file)
    });
    Ok((permit, file.await?))
}

/// Runs blocking file operations.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Unwritable> + Send + 'static,
) -> Result<T, Problem> {
    let done = spawn_blocking(work).await.map_err(|error| Problem::internal(error.to_string()))?;
    done.map_err(|unwritable| match unwritable {
        Unwritable::TooManyRows => Problem::invalid_value("a sheet has at most 1,048,575 records")
            .with_hint("Export fewer records, or as CSV."),
        Unwritable::LongText(row, column) => Problem::invalid_value(format!(
            "the text of {column} in row {row} is longer than a spreadsheet cell can hold"
        ))
        .with_hint("Use fields to omit the attribute, or export as CSV."),
        Unwritable::Failed(cause) => Problem::unavailable("the spreadsheet could not be written", cause),
    })
}
