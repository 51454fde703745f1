//! Body → portions: read, decoded and split as it arrives, so that memory does not grow with the file.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use keyed_errors::Code;
use tokio::time::{Instant, timeout_at};

use super::request::Request;
use crate::admission::min_rate::TransferTimer;
use crate::file::cells::cells;
use crate::file::decode::{Decode, Undecodable};
use crate::file::format::Format;
use crate::file::gunzip::{self, Gunzip, Step, is_gzip};
use crate::file::portion::{Fault, Portion};
use crate::file::rows::{Form, MOST_ROW_BYTES, Rows, Unreadable};
use crate::file::sniff;
use crate::problem::Problem;
use crate::state::App;

/// The amount of text used to detect the delimiter.
const SNIFFED: usize = 64 << 10;

/// A file that is being read.
pub(crate) struct Source {
    body: Body,
    /// The timeout of a chunk.
    patience: Duration,
    timer: TransferTimer,
    /// When a file that is written by one transaction must have ended.
    deadline: Option<Instant>,
    gunzip: Option<Gunzip>,
    decode: Decode,
    rows: Rows,
    /// The names of the columns, of CSV.
    pub(crate) header: Vec<String>,
    /// The delimiter of CSV.
    pub(crate) delimiter: u8,
    is_end: bool,
    /// The number of bytes received.
    pub(crate) bytes: u64,
}

impl Source {
    /// Reads the beginning of the file, of CSV up to its header.
    pub(crate) async fn open(request: &Request, body: Body, app: &App) -> Result<Source, Problem> {
        let now = Instant::now();
        let mut source = Source {
            body,
            patience: app.body_timeout,
            timer: TransferTimer::new(app.least_rate),
            deadline: Some(now + app.least_rate.stall),
            gunzip: request.is_gzip.then(Gunzip::new),
            decode: Decode::new(request.encoding),
            rows: Rows::new(Form::Json),
            header: Vec::new(),
            delimiter: b',',
            is_end: false,
            bytes: 0,
        };
        if request.format == Format::Csv {
            source.read_header(request.delimiter).await?;
        }
        source.deadline = request.is_whole().then_some(now + app.file_timeout);
        Ok(source)
    }

    async fn read_header(&mut self, delimiter: Option<u8>) -> Result<(), Problem> {
        let mut beginning = String::new();
        // Only what is new is looked at: bytes that arrive one by one cost no more than others.
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
            return Err(Problem::malformed("the header contains the character U+0000"));
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

    /// The encoding, in a word.
    pub(crate) fn encoding(&self) -> String {
        self.decode.name()
    }

    /// The next rows, about this many; `None` at the end.
    pub(crate) async fn next(&mut self, most: usize) -> Result<Option<Portion>, Problem> {
        self.rows.set_most(most);
        loop {
            if let Some(portion) = self.rows.take(self.is_end).map_err(unreadable)? {
                return Ok(Some(portion));
            }
            if self.is_end {
                return Ok(None);
            }
            self.advance().await?;
        }
    }

    /// Reads a chunk and lets it join the rows.
    async fn advance(&mut self) -> Result<(), Problem> {
        let chunk = self.read().await?;
        let (decode, is_end) = (&mut self.decode, self.is_end);
        let decoded = self.rows.extend(|text| decode.push(&chunk, is_end, text));
        decoded.map_err(|Undecodable| self.undecodable(self.rows.line()))
    }

    /// The next bytes of the file, unpacked; none at its end, which `is_end` tells.
    async fn read(&mut self) -> Result<Bytes, Problem> {
        loop {
            let Some(gunzip) = &mut self.gunzip else {
                let is_first = self.bytes == 0;
                let received = self.receive().await?;
                self.is_end = received.is_none();
                let bytes = received.unwrap_or_default();
                return if is_first { require_text(&bytes).map(|()| bytes) } else { Ok(bytes) };
            };
            match gunzip.step().map_err(not_unpacked)? {
                Step::Bytes(bytes) => {
                    // A few bytes may be a thousand times as many here: others get their turn in between.
                    tokio::task::yield_now().await;
                    return Ok(bytes);
                }
                Step::End => {
                    self.is_end = true;
                    return Ok(Bytes::new());
                }
                Step::Wanting => {
                    let received = self.receive().await?;
                    if let Some(gunzip) = &mut self.gunzip {
                        gunzip.push(received);
                    }
                }
            }
        }
    }

    /// The next bytes of the body; none at its end.
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
                Some(Err(_)) => return Err(Problem::malformed("the body broke off")),
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
            .with_hint("set the encoding of the file, for example encoding=windows-1252")
    }
}

/// Rejects files that are known by their first bytes not to be text.
fn require_text(beginning: &[u8]) -> Result<(), Problem> {
    if is_gzip(beginning) {
        return Err(Problem::malformed("the file is packed with gzip")
            .with_hint("Send the header Content-Encoding: gzip, or unpack the file."));
    }
    if beginning.starts_with(b"PK\x03\x04") {
        return Err(Problem::malformed("the file is a ZIP archive or a spreadsheet, such as XLSX")
            .with_hint("Save the sheet as CSV, or unpack the archive."));
    }
    Ok(())
}

fn not_unpacked(fault: gunzip::Fault) -> Problem {
    match fault {
        gunzip::Fault::Damaged => Problem::malformed("the file is not packed with gzip, or was damaged")
            .with_hint("Check it with gzip --test, or send it without Content-Encoding."),
        gunzip::Fault::Short => Problem::malformed("the file ends before the end of its gzip data")
            .with_hint("Pack it again: part of it is missing."),
    }
}

fn too_long() -> Problem {
    Problem::body_too_slow().with_hint(
        "an import in one transaction, and the header of any file, must arrive within a time limit: send the file \
        faster or in parts, or import it with on_error=skip",
    )
}

fn unreadable(unreadable: Unreadable) -> Problem {
    match unreadable {
        Unreadable::TooLong(line) => Problem::new(
            Code::PayloadTooLarge,
            format!("the row that begins in line {line} has more than {MOST_ROW_BYTES} bytes"),
        )
        .with_hint("split the row, or write the record by a request of its own"),
        Unreadable::Header(line, fault) => {
            let (code, message) = refusal(fault);
            Problem::new(code, format!("the header, in line {line}, cannot be read: {message}"))
        }
        Unreadable::Spread(line) => {
            Problem::malformed(format!("the JSON object that begins in line {line} does not end there"))
                .with_hint("write each object in one line, or all in one array: [{…}, {…}]")
        }
        Unreadable::AfterArray(line) => {
            Problem::malformed(format!("text follows the JSON array in line {line}"))
                .with_hint("a file is one array, or has an object in each line")
        }
        Unreadable::OpenArray(line) => {
            Problem::malformed(format!("the file ends in line {line}, before the end of its JSON array"))
        }
    }
}

/// The code and the message of a row that cannot be read.
pub(super) fn refusal(fault: Fault) -> (Code, &'static str) {
    match fault {
        Fault::AfterQuote => (
            Code::InvalidCsv,
            "text follows a closing quote; write a quote within a quoted cell as two: \"Say \"\"hi\"\" now\"",
        ),
        Fault::Unclosed => (
            Code::InvalidCsv,
            "a quoted cell begins in this line and is not closed, or text follows its closing quote; write a quote within a \
            quoted cell as two: \"Say \"\"hi\"\" now\"",
        ),
        Fault::Zero => (Code::InvalidValue, "must not contain the character U+0000; remove it"),
        Fault::Missing => (Code::MalformedRequest, "the array has no element here; remove the comma"),
        Fault::LineBreak => {
            (Code::MalformedRequest, "a string contains a line break; write it as \\n within the string")
        }
    }
}
