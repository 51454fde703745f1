//! Sends a file in chunks, and reads the response while the file is being sent.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::{Context, anyhow};
use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use indicatif::ProgressBar;
use tokio::sync::mpsc;

use super::failed::FailedRows;
use super::progress::message;
use super::response::{Counts, Line};
use crate::service::{problem_text, send};
use keyed_proxy::file::format::Format;

/// The size of a chunk.
const CHUNK_SIZE: usize = 64 << 10;
/// The maximum number of rejected rows on the terminal if --failed collects all of them.
const MAX_REPORTED: u64 = 20;

/// Reads the response line by line while the file is being sent.
pub(super) async fn send_and_report(
    request: axum::http::Request<Body>,
    template: &str,
    bar: &ProgressBar,
    mut failed: Option<FailedRows>,
    is_quiet: bool,
) -> anyhow::Result<Counts> {
    let mut response = send(request, template).await?.into_body();
    let (mut held, mut reported) = (Vec::new(), 0);
    // A file of rejected NDJSON rows has no reasons, so all reasons are printed.
    let max_reported = match &failed {
        _ if is_quiet => 0,
        Some(failed) if failed.format == Format::Ndjson => u64::MAX,
        _ => MAX_REPORTED,
    };
    loop {
        let frame = response
            .frame()
            .await
            .transpose()
            .context("the connection was closed before the end of the response")?;
        let is_end = frame.is_none();
        if let Some(data) = frame.and_then(|frame| frame.into_data().ok()) {
            held.extend_from_slice(&data);
        }
        while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = held.drain(..=end).collect();
            let line: Line = serde_json::from_slice(&line).context("the response is not an import report")?;
            if let (Some(header), Some(failed)) = (&line.file, &mut failed) {
                failed.begin(header)?;
            }
            if let Some(counts) = &line.progress {
                bar.set_position(counts.bytes);
                bar.set_message(message(counts));
            }
            if let Some(importer) = &line.waits_for
                && !is_quiet
            {
                bar.suspend(|| eprintln!("{}", importer.to_text()));
            }
            if let Some(rejected) = &line.rejected {
                reported += 1;
                if reported <= max_reported {
                    bar.suspend(|| eprintln!("{}", rejected.reason()));
                }
                if let Some(failed) = &mut failed {
                    failed.add(rejected)?;
                }
            }
            if line.problem.is_none() && line.report.rows.is_none() {
                continue;
            }
            if reported > max_reported && !is_quiet {
                bar.suspend(|| eprintln!("and {} more", reported - max_reported));
            }
            if let Some(failed) = failed {
                failed.finish()?;
            }
            return match &line.problem {
                Some(problem) => Err(anyhow!("{}", problem_text(problem))),
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

pub(super) fn open(file: &Path) -> anyhow::Result<File> {
    if file == Path::new("-") {
        let input = io::stdin().as_fd().try_clone_to_owned().context("cannot read standard input")?;
        return Ok(File::from(input));
    }
    let opened = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    if opened.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(anyhow!("{} is a directory: specify the file in it", file.display()));
    }
    Ok(opened)
}

/// Reads the first bytes of the file, which show whether it is compressed.
pub(super) fn beginning_of(input: &mut File) -> io::Result<Bytes> {
    let mut beginning = Vec::new();
    input.take(4).read_to_end(&mut beginning)?;
    Ok(Bytes::from(beginning))
}

/// Reads the file in chunks on a separate thread.
pub(super) fn chunks(beginning: Bytes, mut input: File) -> mpsc::Receiver<io::Result<Bytes>> {
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
