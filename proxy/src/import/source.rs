//! Body → chunks. The body is decoded and split as a stream, so memory does not grow with the file.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use tokio::time::{Instant, timeout_at};

use super::errors::{not_decompressed, require_text, too_long, unreadable, zero_in_header};
use super::request::Request;
use super::sheet::{Sheet, Spool};
use crate::admission::min_rate::TransferTimer;
use crate::file::cells::cells;
use crate::file::chunk::Chunk;
use crate::file::decode::{Decode, Undecodable};
use crate::file::format::Format;
use crate::file::gunzip::{Gunzip, Step};
use crate::file::rows::{Form, Rows};
use crate::file::sniff;
use crate::problem::Problem;
use crate::state::App;

/// The number of bytes in which the delimiter is detected.
const SNIFFED: usize = 64 << 10;

/// The file that is being read.
pub(crate) struct Source {
    body: Body,
    /// The timeout of each read.
    patience: Duration,
    timer: TransferTimer,
    /// The deadline of a file that is written in one transaction.
    deadline: Option<Instant>,
    gunzip: Option<Gunzip>,
    is_text: bool,
    decode: Decode,
    rows: Rows,
    /// The rows of a spreadsheet.
    sheet: Option<Sheet>,
    /// The names of the columns, for CSV and spreadsheets.
    pub(crate) header: Vec<String>,
    /// The delimiter, for CSV.
    pub(crate) delimiter: u8,
    is_end: bool,
    /// The number of bytes received.
    pub(crate) bytes: u64,
}

impl Source {
    /// Opens the file, and for CSV, reads the header.
    pub(crate) async fn open(request: &Request, body: Body, app: &App) -> Result<Source, Problem> {
        let now = Instant::now();
        let mut source = Source {
            body,
            patience: app.body_timeout,
            timer: TransferTimer::new(app.minimum_rate),
            deadline: Some(now + app.minimum_rate.stall),
            gunzip: request.is_gzip.then(Gunzip::new),
            is_text: request.format != Format::Xlsx,
            decode: Decode::new(request.encoding),
            rows: Rows::new(Form::Json),
            sheet: None,
            header: Vec::new(),
            delimiter: b',',
            is_end: false,
            bytes: 0,
        };
        match request.format {
            Format::Csv => source.read_header(request.delimiter).await?,
            Format::Ndjson => {}
            Format::Xlsx => {
                // The ZIP directory is at the end of the file, so the whole file must be received first.
                source.deadline = Some(now + app.file_timeout);
                let mut spool = Spool::new()?;
                while !source.is_end {
                    let bytes = source.read().await?;
                    spool = spool.push(bytes).await?;
                }
                let end = now + app.file_timeout;
                let (sheet, header) = Sheet::open(spool, request.sheet.clone(), end).await?;
                (source.sheet, source.header) = (Some(sheet), header);
            }
        }
        source.deadline = request.is_whole().then_some(now + app.file_timeout);
        Ok(source)
    }

    async fn read_header(&mut self, delimiter: Option<u8>) -> Result<(), Problem> {
        let mut beginning = String::new();
        // Only new bytes are scanned, so a file that arrives byte by byte is not slower to scan.
        let (mut searched, mut is_blank) = (0, true);
        let mut is_enough = |text: &str| {
            let new = &text[searched..];
            let line = if is_blank { new.trim_start() } else { new };
            is_blank = line.is_empty() && is_blank;
            searched = text.len();
            text.len() >= SNIFFED || line.contains(['\n', '\r'])
        };
        while !self.is_end && !is_enough(&beginning) {
            let chunk = self.read().await?;
            let decoded = self.decode.push(&chunk, self.is_end, &mut beginning);
            let lines = || beginning.bytes().filter(|byte| *byte == b'\n').count() as u64;
            decoded.map_err(|Undecodable| self.undecodable(1 + lines()))?;
        }
        self.delimiter = delimiter.unwrap_or_else(|| sniff::delimiter(&beginning));
        self.rows = Rows::new(Form::Csv(self.delimiter));
        let Ok(()) = self.rows.extend(|text| {
            text.push_str(&beginning);
            Ok::<_, std::convert::Infallible>(())
        });
        drop(beginning);
        let mut header = self.first_row().await?;
        if sniff::named(&header).is_some() {
            header = self.first_row().await?;
        }
        if header.contains('\0') {
            return Err(zero_in_header());
        }
        self.header =
            cells(&header, self.delimiter).iter().map(|name| name.trim_matches(' ').to_owned()).collect();
        Ok(())
    }

    async fn first_row(&mut self) -> Result<String, Problem> {
        loop {
            match self.rows.take_first(self.is_end).map_err(unreadable)? {
                Some(row) => return Ok(row),
                None if self.is_end => {
                    return Err(Problem::malformed(
                        "the file is empty: CSV needs a header line with the names of its columns",
                    ));
                }
                None => self.advance().await?,
            }
        }
    }

    /// The name of the encoding.
    pub(crate) fn encoding(&self) -> String {
        self.decode.name()
    }

    /// Returns about `max_rows` of the next rows; `None` at the end.
    pub(crate) async fn next(&mut self, max_rows: usize) -> Result<Option<Chunk>, Problem> {
        if let Some(sheet) = &mut self.sheet {
            return sheet.next(max_rows, self.deadline).await;
        }
        self.rows.set_max_rows(max_rows);
        loop {
            if let Some(chunk) = self.rows.take(self.is_end).map_err(unreadable)? {
                return Ok(Some(chunk));
            }
            if self.is_end {
                return Ok(None);
            }
            self.advance().await?;
        }
    }

    /// Reads the next bytes and adds their text to the rows.
    async fn advance(&mut self) -> Result<(), Problem> {
        let chunk = self.read().await?;
        let (decode, is_end) = (&mut self.decode, self.is_end);
        let decoded = self.rows.extend(|text| decode.push(&chunk, is_end, text));
        decoded.map_err(|Undecodable| self.undecodable(self.rows.line()))
    }

    /// The next decompressed bytes of the file; empty at the end, which `is_end` reports.
    async fn read(&mut self) -> Result<Bytes, Problem> {
        loop {
            let Some(gunzip) = &mut self.gunzip else {
                let is_first = self.bytes == 0;
                let received = self.receive().await?;
                self.is_end = received.is_none();
                let bytes = received.unwrap_or_default();
                let is_text = self.is_text;
                return if is_first && is_text { require_text(&bytes).map(|()| bytes) } else { Ok(bytes) };
            };
            match gunzip.step().map_err(not_decompressed)? {
                Step::Bytes(bytes) => {
                    // Yields, because a few bytes can decompress to a thousand times as many.
                    tokio::task::yield_now().await;
                    return Ok(bytes);
                }
                Step::End => {
                    self.is_end = true;
                    return Ok(Bytes::new());
                }
                Step::NeedsInput => {
                    let received = self.receive().await?;
                    if let Some(gunzip) = &mut self.gunzip {
                        gunzip.push(received);
                    }
                }
            }
        }
    }

    /// The next bytes of the body; `None` at the end.
    async fn receive(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            let waiting = Instant::now();
            let patience = self.patience.min(self.timer.timeout());
            let end = self.deadline.map_or(waiting + patience, |deadline| deadline.min(waiting + patience));
            let Ok(frame) = timeout_at(end, self.body.frame()).await else {
                return Err(if Some(end) == self.deadline { too_long() } else { Problem::body_too_slow() });
            };
            match frame {
                None => return Ok(None),
                Some(Err(_)) => {
                    return Err(Problem::malformed("the connection was closed before the end of the body"));
                }
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.timer.record(bytes.len(), waiting.elapsed());
                        self.bytes += bytes.len() as u64;
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    fn undecodable(&self, line: u64) -> Problem {
        let name = self.decode.name();
        Problem::malformed(format!("line {line} has bytes that are not valid {name}"))
            .with_hint("Set the encoding of the file, for example encoding=windows-1252.")
    }
}
