//! Runs an import, from the first byte to the report.

use std::borrow::Cow;
use std::time::Instant;

use keyed_write_order::record_filter::RecordFilter;
use serde_json::value::RawValue;

use super::answer::Answer as Shape;
use super::deletion::Step as DeletionStep;
use super::faults::refusal;
use super::portion_sizer::PortionSizer;
use super::preview::Preview;
use super::request::{OnError, PortionKind, Request};
use super::source::Source;
use super::tally::{Answer, Refusal, Tally};
use super::target::{self, Target};
use super::waiting::{Waiting, WaitingRow};
use crate::caller::Caller;
use crate::file::cells::cells;
use crate::file::format::Format;
use crate::file::portion::{Fault, Portion, Unsendable};
use crate::file::xlsx::csv_line;
use crate::metrics::{Metrics, Running};
use crate::problem::Problem;
use crate::state::App;
use keyed_service::shutdown::Step;

/// How often waiting rows are sent before the records that they still reference count as missing. Once is enough, unless
/// rows reference each other in a cycle that is too long for a portion.
const MAX_RETRIES: usize = 4;

/// The SQLSTATE of an invalid value, which is answered with 422.
const INVALID: &str = "22023";

/// Events of a running import.
pub(crate) trait Listener {
    /// A row was refused. `row` is its text in the file. An error ends the import.
    async fn refused(&mut self, row: &str, refusals: &[Refusal]) -> Result<(), Problem>;
    /// A portion is done, and this many bytes of the file are read.
    async fn progress(&mut self, tally: &Tally, bytes: u64);
}

/// No listener.
pub(crate) struct Nobody;

impl Listener for Nobody {
    async fn refused(&mut self, _: &str, _: &[Refusal]) -> Result<(), Problem> {
        Ok(())
    }
    async fn progress(&mut self, _: &Tally, _: u64) {}
}

/// A file on its way into a template.
pub(crate) struct Import<'a> {
    request: &'a Request,
    source: Source,
    target: Target<'a>,
    pub(crate) tally: Tally,
    metrics: &'a Metrics,
    running: Running,
}

/// How often the rows of a portion have been sent to the database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sending {
    /// They come from the file.
    First,
    /// They have waited for others.
    Retry,
    /// The records that they reference must exist.
    Last,
}

/// Why a file was not imported as a whole.
pub(crate) enum Stopped {
    /// A row was refused, which aborts the import.
    Refused,
    /// Something else went wrong.
    Failed(Problem),
    /// The end of the service came first.
    Interrupted,
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Stopped {
        Stopped::Failed(problem)
    }
}

impl<'a> Import<'a> {
    /// Starts: reads the header and lets the database check it before anything is written. While another import holds the
    /// template, a client that follows the progress learns of it at once.
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
        let first = if request.answer == Shape::Progress { PortionKind::Attempt } else { PortionKind::Some };
        let [first, waiting] =
            [first, PortionKind::Some].map(|kind| options(request, &source, &RecordFilter::default(), kind));
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

    /// The names of the columns, of CSV.
    pub(crate) fn header(&self) -> &[String] {
        &self.source.header
    }

    /// The byte between two cells, of CSV.
    pub(crate) fn delimiter(&self) -> u8 {
        self.source.delimiter
    }

    /// Writes all rows. Afterwards the report has the counts, even if the import stopped.
    pub(crate) async fn run(mut self, listener: &mut impl Listener) -> (Tally, Result<(), Stopped>) {
        let shutdown = self.target.shutdown();
        // A commit that was sent is waited for, and what has ended is not called interrupted.
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
            // Its last statement may be running: the connection is cleared afterwards.
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
            Err(Stopped::Refused) => "rejected",
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
        let mut waiting = Waiting::default();
        let mut sizer = PortionSizer::new();
        let mut counted = 0;
        while let Some(portion) = self.source.next(sizer.rows()).await? {
            self.metrics.import_bytes.inc_by(self.source.bytes - counted);
            counted = self.source.bytes;
            let (began, rows) = (Instant::now(), portion.rows.len());
            self.tally.rows += portion.rows.len() as u64;
            let (portion, refused) = portion.sendable();
            for row in refused {
                let refusal = unsendable(&row, &self.source, self.request.format);
                self.tally.add_refused(&refusal);
                let row = self.refused_text(&row.text);
                listener.refused(&row, std::slice::from_ref(&refusal)).await?;
            }
            self.write(portion, &mut waiting, Sending::First, listener).await?;
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

    /// Deletes the records that the file does not have. Each call compares or deletes some of them.
    async fn delete_missing(&mut self, listener: &mut impl Listener) -> Result<(), Stopped> {
        let end = PortionKind::End(self.tally.rows);
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

    /// Sends the waiting rows again, each after those that it references. Rows that still wait reference records that no
    /// row creates, or rejected rows; when they are sent last, the database reports them.
    async fn write_waiting(
        &mut self,
        mut waiting: Waiting,
        mut sizer: PortionSizer,
        listener: &mut impl Listener,
    ) -> Result<(), Stopped> {
        let mut is_last = false;
        for retries in 1.. {
            if waiting.count() == 0 {
                break;
            }
            let before = waiting.count();
            let sending = if is_last { Sending::Last } else { Sending::Retry };
            let mut portions = waiting.into_portions().await?;
            waiting = Waiting::default();
            while let Some(portion) = portions.next(sizer.rows()).await? {
                let (began, rows) = (Instant::now(), portion.rows.len());
                self.write(portion, &mut waiting, sending, listener).await?;
                sizer.record(rows, began.elapsed());
            }
            let has_progress = waiting.count() < before;
            if is_last && !has_progress {
                let cause = format!("{before} rows of an import wait, and there are no others");
                return Err(Problem::internal(cause).into());
            }
            is_last = is_last || !has_progress || retries >= MAX_RETRIES;
        }
        Ok(())
    }

    /// The text of a refused row. Those of a spreadsheet are written as CSV.
    fn refused_text<'t>(&self, row: &'t str) -> Cow<'t, str> {
        match self.request.format {
            Format::Xlsx => Cow::Owned(csv_line(row, self.source.header.len(), self.request.cells())),
            Format::Csv | Format::Ndjson => Cow::Borrowed(row),
        }
    }

    async fn write(
        &mut self,
        portion: Portion,
        waiting: &mut Waiting,
        sending: Sending,
        listener: &mut impl Listener,
    ) -> Result<(), Stopped> {
        if !portion.rows.is_empty() {
            let kind = if sending == Sending::Last { PortionKind::Last } else { PortionKind::Some };
            let options = options(self.request, &self.source, waiting.held(), kind);
            let answer = self.target.write(&options, &portion.text).await?;
            let answer: Answer<'_> = serde_json::from_str(&answer)
                .map_err(|error| Problem::internal(format!("not the answer of an import: {error}")))?;
            let waits = answer.waiting.iter().map(|(row, record, texts, targets)| WaitingRow {
                line: portion.rows.get(*row).map_or(0, |row| row.line),
                row: portion.row(*row),
                record: *record,
                texts,
                targets,
            });
            waiting.extend(waits).await?;
            for (row, refusals) in self.tally.add(&portion, answer, sending != Sending::First) {
                let row = self.refused_text(portion.row(row));
                listener.refused(&row, &refusals).await?;
            }
        }
        listener.progress(&self.tally, self.source.bytes).await;
        // A dry run looks for all that is wrong.
        if self.tally.failed > 0 && self.request.on_error == OnError::Abort && !self.request.dry_run {
            return Err(Stopped::Refused);
        }
        Ok(())
    }
}

fn options(request: &Request, source: &Source, held: &RecordFilter, portion: PortionKind) -> String {
    let header = (request.format != Format::Ndjson).then_some((source.header.as_slice(), source.delimiter));
    request.options(header, held, portion)
}

/// The refusal of a row that the database does not get.
fn unsendable(row: &Unsendable, source: &Source, format: Format) -> Refusal {
    let has_column = row.fault == Fault::Zero && format == Format::Csv;
    let column = has_column.then(|| {
        let position = cells(&row.text, source.delimiter).iter().position(|cell| cell.contains('\0'))?;
        source.header.get(position).cloned()
    });
    let (code, message) = refusal(row.fault);
    Refusal {
        line: row.line,
        column: column.flatten(),
        code: code.name().to_owned(),
        // The proxy's own codes have none: this one stands for their status.
        sqlstate: code.sqlstate().unwrap_or(INVALID).to_owned(),
        message: message.to_owned(),
    }
}
