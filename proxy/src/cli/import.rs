//! `import`: sends a file to a running proxy in chunks and shows the progress.

/// The response of the service.
mod answer;
/// The file of refused rows.
mod failed;
/// The progress on the terminal.
mod progress;

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use axum::body::{Body, Bytes};
use axum::http::header;
use clap::{Args, ValueEnum};
use encoding_rs::Encoding;
use http_body_util::BodyExt;
use indicatif::ProgressBar;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use self::answer::{Counts, Line};
use self::failed::FailedRows;
use self::progress::{message, progress_bar};
use super::connection::runtime;
use super::format::{FormatArgument, format_argument, format_of, given};
use super::outcome::{Failure, print};
use super::service::{Service, in_words, send};
use crate::file::format::Format;
use crate::file::gunzip::is_gzip;

/// The size of a chunk.
const CHUNK_SIZE: usize = 64 << 10;
/// The maximum number of refused rows on the terminal, if --failed has all of them.
const MOST_TOLD: u64 = 20;

#[derive(Args)]
pub(crate) struct Import {
    /// The file to import; - for standard input. It may be packed with gzip.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    service: Service,

    /// The format of the file: csv, ndjson or xlsx. Default: by the end of its name (.ndjson, .jsonl, .json, .xlsx), otherwise CSV.
    /// NDJSON may be one array. Or, as JSON, how the file writes values: {"decimal": ",", "date": "DD.MM.YYYY"}.
    #[arg(long, value_name = "FORMAT", value_parser = format_argument)]
    format: Vec<FormatArgument>,

    /// The column of the external key; default: external_key.
    #[arg(long, value_name = "COLUMN")]
    key_column: Option<String>,

    /// A prefix for every key of the file, such as erp:
    #[arg(long, value_name = "TEXT")]
    key_prefix: Option<String>,

    /// The attributes of the columns, as JSON: {"Column": "slug"}; null ignores a column.
    #[arg(long, value_name = "JSON")]
    mapping: Option<String>,

    /// The character between cells, or the word tab; default: detected from the header.
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<String>,

    /// The name of the sheet of a spreadsheet; default: the first.
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,

    /// The encoding, such as windows-1252; default: detected from the file.
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,

    /// Apply all rules and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// What to do if rows are refused: import nothing (abort), or all other rows (skip).
    #[arg(long, default_value = "abort")]
    on_error: OnError,

    /// A file for the refused rows, in CSV each with the reason. Correct it and import it again. An existing file is
    /// overwritten only if rows are refused.
    #[arg(long, value_name = "FILE")]
    failed: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum OnError {
    Abort,
    Skip,
}

pub(crate) fn run(import: Import) -> Result<(), Failure> {
    runtime()?.block_on(import.run())
}

impl Import {
    async fn run(self) -> Result<(), Failure> {
        let (format, cells) = given(&self.format);
        let format = format_of(format, &self.file);
        let parameters = [
            ("format", cells),
            ("key_column", self.key_column.as_deref()),
            ("key_prefix", self.key_prefix.as_deref()),
            ("mapping", self.mapping.as_deref()),
            ("delimiter", self.delimiter.as_deref()),
            ("encoding", self.encoding.as_deref()),
            ("sheet", self.sheet.as_deref()),
            ("dry_run", self.dry_run.then_some("true")),
            (
                "on_error",
                Some(match self.on_error {
                    OnError::Abort => "abort",
                    OnError::Skip => "skip",
                }),
            ),
        ];
        let request = self.service.request("import", &parameters, "import")?;
        let mut input = open(&self.file)?;
        let metadata = input.metadata().ok().filter(std::fs::Metadata::is_file);
        if let (Some(failed), Some(input)) = (&self.failed, &metadata)
            && std::fs::metadata(failed).is_ok_and(|it| (it.dev(), it.ino()) == (input.dev(), input.ino()))
        {
            let message = format!("--failed {} is the imported file itself.", failed.display());
            return Err(Failure::Usage { message, help: "import" });
        }
        // A label that the service does not know is refused there.
        let declared = self.encoding.as_deref().and_then(|label| Encoding::for_label(label.as_bytes()));
        let failed = self.failed.as_deref();
        let failed = failed.map(|file| FailedRows::create(file, format, declared)).transpose()?;
        let beginning =
            beginning_of(&mut input).with_context(|| format!("cannot read {}", self.file.display()))?;
        let request = match is_gzip(&beginning) {
            true => request.header(header::CONTENT_ENCODING, "gzip"),
            false => request,
        };
        let bar = progress_bar(metadata.map(|metadata| metadata.len()));
        let body = Body::from_stream(ReceiverStream::new(chunks(beginning, input)));
        let request = request
            .header(header::CONTENT_TYPE, format.media_type())
            .header(header::ACCEPT, "application/x-ndjson")
            .body(body)
            .context("the proxy cannot be reached")?;
        let outcome = send_and_report(request, self.service.named(), &bar, failed).await;
        bar.finish_and_clear();
        let counts = outcome?;
        let remarks = counts.remarks();
        let Counts { rows, created, updated, unchanged, failed, .. } = counts;
        let dry = if self.dry_run { " (dry run: nothing was written)" } else { "" };
        print(&format!(
            "rows {}, created {created}, updated {updated}, unchanged {unchanged}, failed {failed}{dry}\n",
            rows.unwrap_or(0)
        ))?;
        for remark in remarks {
            eprintln!("{remark}");
        }
        if failed > 0 {
            let were = if failed == 1 { "row was" } else { "rows were" };
            return Err(anyhow!("{failed} {were} refused").into());
        }
        Ok(())
    }
}

/// Reads the answer line by line while the file is still being sent.
async fn send_and_report(
    request: axum::http::Request<Body>,
    template: &str,
    bar: &ProgressBar,
    mut failed: Option<FailedRows>,
) -> anyhow::Result<Counts> {
    let mut answer = send(request, template).await?.into_body();
    let (mut held, mut told) = (Vec::new(), 0);
    // NDJSON lines have no place for a reason, so all are printed.
    let most_told = match &failed {
        Some(failed) if failed.format == Format::Ndjson => u64::MAX,
        _ => MOST_TOLD,
    };
    loop {
        let frame = answer.frame().await.transpose().context("the answer broke off")?;
        let is_end = frame.is_none();
        if let Some(data) = frame.and_then(|frame| frame.into_data().ok()) {
            held.extend_from_slice(&data);
        }
        while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = held.drain(..=end).collect();
            let line: Line =
                serde_json::from_slice(&line).context("the response is not that of an import")?;
            if let (Some(header), Some(failed)) = (&line.file, &mut failed) {
                failed.begin(header)?;
            }
            if let Some(counts) = &line.progress {
                bar.set_position(counts.bytes);
                bar.set_message(message(counts));
            }
            if let Some(refused) = &line.refused {
                told += 1;
                if told <= most_told {
                    bar.suspend(|| eprintln!("{}", refused.reason()));
                }
                if let Some(failed) = &mut failed {
                    failed.add(refused)?;
                }
            }
            if line.problem.is_none() && line.report.rows.is_none() {
                continue;
            }
            if told > most_told {
                bar.suspend(|| eprintln!("and {} more", told - most_told));
            }
            if let Some(failed) = failed {
                failed.finish()?;
            }
            return match &line.problem {
                Some(problem) => Err(anyhow!("{}", in_words(problem))),
                None => Ok(line.report),
            };
        }
        if is_end {
            return Err(anyhow!(
                "the response ended before its report: rows may or may not have been imported"
            ));
        }
    }
}

fn open(file: &Path) -> anyhow::Result<File> {
    if file == Path::new("-") {
        let input = io::stdin().as_fd().try_clone_to_owned().context("cannot read standard input")?;
        return Ok(File::from(input));
    }
    let opened = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(anyhow!("{} is a directory: name the file in it", file.display()));
    }
    Ok(opened)
}

/// The first bytes of the file, by which a packed one is known.
fn beginning_of(input: &mut File) -> io::Result<Bytes> {
    let mut beginning = Vec::new();
    input.take(4).read_to_end(&mut beginning)?;
    Ok(Bytes::from(beginning))
}

/// The file, chunk by chunk, read on a thread of its own.
fn chunks(beginning: Bytes, mut input: File) -> mpsc::Receiver<io::Result<Bytes>> {
    let (chunks, received) = mpsc::channel(4);
    std::thread::spawn(move || {
        if !beginning.is_empty() && chunks.blocking_send(Ok(beginning)).is_err() {
            return;
        }
        loop {
            let mut chunk = vec![0; CHUNK_SIZE];
            let read = match input.read(&mut chunk) {
                Ok(0) => return,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let _ = chunks.blocking_send(Err(error));
                    return;
                }
            };
            chunk.truncate(read);
            if chunks.blocking_send(Ok(Bytes::from(chunk))).is_err() {
                return;
            }
        }
    });
    received
}
