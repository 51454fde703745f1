//! Spreadsheet → chunks. The file is stored on disk, because its ZIP directory is at the end. A thread reads rows ahead
//! while others are being written.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::ops::ControlFlow;

use keyed_errors::Code;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};

use super::errors::{too_long, zero_in_header};
use crate::file::chunk::{Chunk, Defect};
use crate::file::rows::{CHUNK_BYTES, MAX_ROW_BYTES};
use crate::file::xlsx::{Event, Unreadable, read};
use crate::problem::Problem;

/// The maximum size of a file.
const MAX_BYTES: u64 = 256 << 20;
/// The maximum size of a batch from the thread, and the number of batches that are read ahead.
const BATCH_ROWS: usize = 200;
const BATCH_BYTES: usize = 256 << 10;
const AHEAD: usize = 2;

/// The maximum number of sheets in an error.
const MAX_NAMED: usize = 20;

/// The received file.
pub(super) struct Spool {
    file: File,
    bytes: u64,
}

impl Spool {
    pub(super) fn new() -> Result<Spool, Problem> {
        Ok(Spool { file: tempfile::tempfile().map_err(no_room)?, bytes: 0 })
    }

    /// Appends received bytes.
    pub(super) async fn push(self, bytes: axum::body::Bytes) -> Result<Spool, Problem> {
        let Spool { mut file, bytes: before } = self;
        let count = before + bytes.len() as u64;
        if count > MAX_BYTES {
            let message = format!("a spreadsheet has at most {} MiB", MAX_BYTES >> 20);
            return Err(Problem::new(Code::PayloadTooLarge, message).with_hint("Save the sheet as CSV."));
        }
        let written = spawn_blocking(move || file.write_all(&bytes).map(|()| file)).await;
        let file = written.map_err(|error| no_room(error.into()))?.map_err(no_room)?;
        Ok(Spool { file, bytes: count })
    }
}

/// A message from the thread.
enum Batch {
    Header(Vec<String>),
    Rows(Chunk),
    Failed(Unreadable),
}

/// A sheet that is being read.
pub(super) struct Sheet {
    batches: mpsc::Receiver<Batch>,
}

impl Sheet {
    /// Starts reading a file, and returns the names of the columns.
    pub(super) async fn open(
        spool: Spool,
        name: Option<String>,
        deadline: Instant,
    ) -> Result<(Sheet, Vec<String>), Problem> {
        let (sender, batches) = mpsc::channel(AHEAD);
        spawn_blocking(move || {
            let Spool { mut file, .. } = spool;
            let outcome = match file.seek(SeekFrom::Start(0)) {
                Ok(_) => send(&file, name.as_deref(), &sender),
                Err(_) => Err(Unreadable::Corrupt),
            };
            if let Err(error) = outcome {
                let _ = sender.blocking_send(Batch::Failed(error));
            }
        });
        let mut sheet = Sheet { batches };
        match sheet.batch(Some(deadline)).await? {
            Some(Batch::Header(header)) if header.iter().any(|name| name.contains('\0')) => {
                Err(zero_in_header())
            }
            Some(Batch::Header(header)) => Ok((sheet, header)),
            Some(Batch::Failed(error)) => Err(unreadable(error)),
            Some(Batch::Rows(_)) | None => Err(unreadable(Unreadable::Corrupt)),
        }
    }

    async fn batch(&mut self, deadline: Option<Instant>) -> Result<Option<Batch>, Problem> {
        match deadline {
            Some(deadline) => timeout_at(deadline, self.batches.recv()).await.map_err(|_| too_long()),
            None => Ok(self.batches.recv().await),
        }
    }

    /// Returns the next rows, at least `max_rows` except at the end; `None` at the end.
    pub(super) async fn next(
        &mut self,
        max_rows: usize,
        deadline: Option<Instant>,
    ) -> Result<Option<Chunk>, Problem> {
        let mut chunk = Chunk::default();
        while chunk.rows.len() < max_rows && chunk.text.len() < CHUNK_BYTES {
            match self.batch(deadline).await? {
                Some(Batch::Rows(rows)) => {
                    for (position, row) in rows.rows.iter().enumerate() {
                        chunk.push_with(row.line, rows.row(position), row.defect);
                    }
                }
                Some(Batch::Failed(error)) => return Err(unreadable(error)),
                Some(Batch::Header(_)) | None => break,
            }
        }
        Ok((!chunk.rows.is_empty()).then_some(chunk))
    }
}

/// Sends rows until the receiver is dropped.
fn send(file: &File, sheet: Option<&str>, sender: &mpsc::Sender<Batch>) -> Result<(), Unreadable> {
    let mut rows = Chunk::default();
    let send = |batch| match sender.blocking_send(batch) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let should_continue = || !sender.is_closed();
    read(file, sheet, &should_continue, |event| match event {
        Event::Header(header) => send(Batch::Header(header)),
        Event::Row(number, cells) => {
            rows.push_with(number, &cells, has_zero(&cells).then_some(Defect::Zero));
            if rows.rows.len() < BATCH_ROWS && rows.text.len() < BATCH_BYTES {
                return ControlFlow::Continue(());
            }
            send(Batch::Rows(std::mem::take(&mut rows)))
        }
    })?;
    if !rows.rows.is_empty() {
        let _ = send(Batch::Rows(rows));
    }
    Ok(())
}

/// Whether a string in these JSON cells contains U+0000, which PostgreSQL's text cannot contain.
fn has_zero(cells: &str) -> bool {
    let mut found = memchr::memmem::find_iter(cells.as_bytes(), br"\u0000");
    found.any(|at| {
        let before = cells.as_bytes()[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        before % 2 == 0
    })
}

fn unreadable(error: Unreadable) -> Problem {
    match error {
        Unreadable::Corrupt => {
            Problem::malformed("the file is not a spreadsheet in the format XLSX, or it is corrupt")
                .with_hint("Save it as XLSX, or as CSV and send it as text/csv.")
        }
        Unreadable::Password => Problem::malformed("the spreadsheet is encrypted with a password")
            .with_hint("Save it without a password."),
        Unreadable::Older => Problem::malformed("the file is in an older format than XLSX, such as XLS")
            .with_hint("Save it as XLSX."),
        Unreadable::TooLarge => {
            Problem::new(Code::PayloadTooLarge, "the decompressed size of the spreadsheet exceeds the limit")
                .with_hint("Save the sheet as CSV.")
        }
        Unreadable::NoSheet(names) => {
            let more = names.len().saturating_sub(MAX_NAMED);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            let names = names[..names.len().min(MAX_NAMED)].join(", ");
            Problem::invalid_value("the spreadsheet has no such sheet")
                .with_hint(&format!("Its sheets are: {names}{more}."))
        }
        Unreadable::Empty => Problem::malformed("the sheet is empty: its first row must name the columns"),
        Unreadable::Cancelled => {
            Problem::internal("a sheet that a request waits for was abandoned".to_owned())
        }
        Unreadable::LongRow(row) => {
            Problem::new(Code::PayloadTooLarge, format!("row {row} has more than {MAX_ROW_BYTES} bytes"))
        }
    }
}

fn no_room(error: std::io::Error) -> Problem {
    Problem::unavailable("there is no space for the spreadsheet", error.to_string())
}
