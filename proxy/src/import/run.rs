//! Runs an import.

use std::borrow::Cow;
use std::time::Instant;

use keyed_write_order::record_filter::RecordFilter;
use serde_json::value::RawValue;

use super::chunk_sizer::ChunkSizer;
use super::deferred::{DeferredRow, DeferredRows};
use super::deletion::Step as DeletionStep;
use super::errors::describe;
use super::preview::Preview;
use super::request::{ChunkKind, OnError, Request};
use super::response_format::ResponseFormat;
use super::source::Source;
use super::tally::{ChunkResult, RowError, Tally};
use super::target::{self, Target};
use crate::caller::Caller;
use crate::file::cells::cells;
use crate::file::chunk::{Chunk, Defect, Unsendable};
use crate::file::format::Format;
use crate::file::xlsx::csv_line;
use crate::metrics::{Metrics, Running};
use crate::problem::Problem;
use crate::state::App;
use keyed_service::shutdown::Step;

/// The maximum number of retries of deferred rows before the records that they reference count as missing. One is
/// enough unless rows reference each other in a cycle that is too long for a chunk.
const MAX_RETRIES: usize = 4;

/// The SQLSTATE of an invalid value, which is reported with 422.
const INVALID: &str = "22023";

/// Events of a running import.
pub(crate) trait Listener {
    /// A row was rejected. `row` is its text in the file. An error ends the import.
    async fn rejected(&mut self, row: &str, row_errors: &[RowError]) -> Result<(), Problem>;
    /// A chunk was processed, and `bytes` bytes of the file have been read.
    async fn progress(&mut self, tally: &Tally, bytes: u64);
}

/// No listener.
pub(crate) struct NoListener;

impl Listener for NoListener {
    async fn rejected(&mut self, _: &str, _: &[RowError]) -> Result<(), Problem> {
        Ok(())
    }
    async fn progress(&mut self, _: &Tally, _: u64) {}
}

/// A running import.
pub(crate) struct Import<'a> {
    request: &'a Request,
    source: Source,
    target: Target<'a>,
    pub(crate) tally: Tally,
    metrics: &'a Metrics,
    running: Running,
}

/// The phase in which a chunk is sent to the database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    /// The rows come from the file.
    First,
    /// The rows were deferred.
    Retry,
    /// The rows were deferred, and the records that they reference must exist now.
    Last,
}

/// Why a file was not imported completely.
pub(crate) enum Stopped {
    /// A row was rejected, which aborts the import.
    Rejected,
    /// Another error occurred.
    Failed(Problem),
    /// The service stopped.
    Interrupted,
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Stopped {
        Stopped::Failed(problem)
    }
}

impl<'a> Import<'a> {
    /// Starts an import: reads the header and has the database validate it before anything is written. If another
    /// import has locked the template, this is reported immediately to a client that receives progress.
    pub(crate) async fn open(
        app: &'a App,
        caller: &'a Caller,
        template: &'a str,
        request: &'a Request,
        source: Source,
        waits_for: impl AsyncFnOnce(&RawValue),
    ) -> Result<Import<'a>, Problem> {
        let running = Running::import(&app.metrics);
        let mut target = Target::open(app, caller, template, request.is_whole()).await?;
        let first = if request.response_format == ResponseFormat::Progress {
            ChunkKind::Check
        } else {
            ChunkKind::Rows
        };
        let [first, waiting] =
            [first, ChunkKind::Rows].map(|kind| options(request, &source, &RecordFilter::default(), kind));
        let mut checked = target.check(&first).await?;
        if let Some(holder) = target::holder(&checked) {
            waits_for(holder).await;
            checked = target.check(&waiting).await?;
        }
        let tally = Tally {
            dry_run: request.dry_run,
            preview: request.has_preview.then(|| Preview::of(&source.header, &checked)).transpose()?,
            delimiter: (request.format == Format::Csv).then(|| char::from(source.delimiter)),
            ..Tally::default()
        };
        Ok(Import { request, source, target, tally, metrics: &app.metrics, running })
    }

    /// The names of the columns, for CSV.
    pub(crate) fn header(&self) -> &[String] {
        &self.source.header
    }

    /// The delimiter, for CSV.
    pub(crate) fn delimiter(&self) -> u8 {
        self.source.delimiter
    }

    /// Writes all rows. The report contains the counts even if the import stopped.
    pub(crate) async fn run(mut self, listener: &mut impl Listener) -> (Tally, Result<(), Stopped>) {
        let shutdown = self.target.shutdown();
        // A commit is always awaited, so that a completed import is not reported as interrupted.
        let outcome = tokio::select! {
            biased;
            outcome = self.write_all(listener) => outcome,
            () = shutdown.reached(Step::Overdue) => Err(Stopped::Interrupted),
        };
        if self.request.format != Format::Xlsx {
            self.tally.encoding = self.source.encoding();
        }
        let Import { request, target, mut tally, metrics, mut running, .. } = self;
        let outcome = match outcome {
            Ok(()) if request.dry_run => {
                target.undo().await;
                Ok(())
            }
            Ok(()) => target.keep().await.map_err(Stopped::from),
            // The last statement may still be running. The connection is reset afterwards.
            Err(Stopped::Interrupted) => {
                drop(target);
                Err(Stopped::Interrupted)
            }
            Err(stopped) => {
                target.undo().await;
                Err(stopped)
            }
        };
        running.ends(match outcome {
            Ok(()) => "complete",
            Err(Stopped::Rejected) => "rejected",
            Err(Stopped::Failed(_) | Stopped::Interrupted) => "failed",
        });
        for (outcome, rows) in [
            ("created", tally.created),
            ("updated", tally.updated),
            ("unchanged", tally.unchanged),
            ("failed", tally.failed),
        ] {
            metrics.import_rows.with_label_values(&[outcome]).inc_by(rows);
        }
        if outcome.is_err() && request.is_whole() {
            tally.without_effect();
        }
        tally.sort();
        tally.warn();
        (tally, outcome)
    }

    async fn write_all(&mut self, listener: &mut impl Listener) -> Result<(), Stopped> {
        let mut waiting = DeferredRows::default();
        let mut sizer = ChunkSizer::new();
        let mut counted = 0;
        while let Some(chunk) = self.source.next(sizer.rows()).await? {
            self.metrics.import_bytes.inc_by(self.source.bytes - counted);
            counted = self.source.bytes;
            let (began, rows) = (Instant::now(), chunk.rows.len());
            self.tally.rows += chunk.rows.len() as u64;
            let (chunk, rejected) = chunk.sendable();
            for row in rejected {
                let row_error = unsendable(&row, &self.source, self.request.format);
                self.tally.add_rejected(&row_error);
                let row = self.rejected_text(&row.text);
                listener.rejected(&row, std::slice::from_ref(&row_error)).await?;
            }
            self.write(chunk, &mut waiting, Sending::First, listener).await?;
            sizer.record(rows, began.elapsed());
        }
        self.metrics.import_bytes.inc_by(self.source.bytes - counted);
        self.write_waiting(waiting, sizer, listener).await?;
        if self.request.is_mirror() && self.tally.failed == 0 {
            self.delete_missing(listener).await
        } else {
            Ok(())
        }
    }

    /// Deletes the records that are not in the file. Each call compares or deletes some of them.
    async fn delete_missing(&mut self, listener: &mut impl Listener) -> Result<(), Stopped> {
        let end = ChunkKind::End(self.tally.rows);
        let options = options(self.request, &self.source, &RecordFilter::default(), end);
        loop {
            let step = DeletionStep::of(&self.target.write(&options, "").await?)?;
            let is_complete = step.is_complete;
            self.tally.add_deleted(step);
            listener.progress(&self.tally, self.source.bytes).await;
            if is_complete {
                return Ok(());
            }
        }
    }

    /// Sends the deferred rows again, each after the rows that it references. Rows that remain reference rejected rows
    /// or records that no row creates; they are sent last, and the database reports them.
    async fn write_waiting(
        &mut self,
        mut waiting: DeferredRows,
        mut sizer: ChunkSizer,
        listener: &mut impl Listener,
    ) -> Result<(), Stopped> {
        let mut is_last = false;
        for retries in 1.. {
            if waiting.count() == 0 {
                break;
            }
            let before = waiting.count();
            let sending = if is_last { Sending::Last } else { Sending::Retry };
            let mut chunks = waiting.into_chunks().await?;
            waiting = DeferredRows::default();
            while let Some(chunk) = chunks.next(sizer.rows()).await? {
                let (began, rows) = (Instant::now(), chunk.rows.len());
                self.write(chunk, &mut waiting, sending, listener).await?;
                sizer.record(rows, began.elapsed());
            }
            let has_progress = waiting.count() < before;
            if is_last && !has_progress {
                let cause = format!("no progress with {before} deferred rows of an import");
                return Err(Problem::internal(cause).into());
            }
            is_last = is_last || !has_progress || retries >= MAX_RETRIES;
        }
        Ok(())
    }

    /// The text of a rejected row. Rows of a spreadsheet are rendered as CSV.
    fn rejected_text<'t>(&self, row: &'t str) -> Cow<'t, str> {
        match self.request.format {
            Format::Xlsx => Cow::Owned(csv_line(row, self.source.header.len(), self.request.cells())),
            Format::Csv | Format::Ndjson => Cow::Borrowed(row),
        }
    }

    async fn write(
        &mut self,
        chunk: Chunk,
        waiting: &mut DeferredRows,
        sending: Sending,
        listener: &mut impl Listener,
    ) -> Result<(), Stopped> {
        if !chunk.rows.is_empty() {
            let kind = if sending == Sending::Last { ChunkKind::Last } else { ChunkKind::Rows };
            let options = options(self.request, &self.source, waiting.held(), kind);
            let result = self.target.write(&options, &chunk.text).await?;
            let result: ChunkResult<'_> = serde_json::from_str(&result)
                .map_err(|error| Problem::internal(format!("not the result of an import: {error}")))?;
            let waits = result.waiting.iter().map(|(row, record, texts, targets)| DeferredRow {
                line: chunk.rows.get(*row).map_or(0, |row| row.line),
                row: chunk.row(*row),
                record: *record,
                texts,
                targets,
            });
            waiting.extend(waits).await?;
            for (row, row_errors) in self.tally.add(&chunk, result, sending != Sending::First) {
                let row = self.rejected_text(chunk.row(row));
                listener.rejected(&row, &row_errors).await?;
            }
        }
        listener.progress(&self.tally, self.source.bytes).await;
        // A dry run reports all errors.
        if self.tally.failed > 0 && self.request.on_error == OnError::Abort && !self.request.dry_run {
            return Err(Stopped::Rejected);
        }
        Ok(())
    }
}

fn options(request: &Request, source: &Source, held: &RecordFilter, chunk: ChunkKind) -> String {
    let header = (request.format != Format::Ndjson).then_some((source.header.as_slice(), source.delimiter));
    request.options(header, held, chunk)
}

/// The error of a row that is not sent to the database.
fn unsendable(row: &Unsendable, source: &Source, format: Format) -> RowError {
    let has_column = row.defect == Defect::Zero && format == Format::Csv;
    let column = has_column.then(|| {
        let position = cells(&row.text, source.delimiter).iter().position(|cell| cell.contains('\0'))?;
        source.header.get(position).cloned()
    });
    let (code, message) = describe(row.defect);
    RowError {
        line: row.line,
        column: column.flatten(),
        code: code.name().to_owned(),
        // The proxy's own codes have no SQLSTATE, so one with the same status is used.
        sqlstate: code.sqlstate().unwrap_or(INVALID).to_owned(),
        message: message.to_owned(),
    }
}
