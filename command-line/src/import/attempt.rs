//! Sends a file once, either as a dry run or as an import.

use std::os::unix::fs::MetadataExt;

use anyhow::{Context, anyhow};
use axum::body::Body;
use axum::http::header;
use encoding_rs::Encoding;
use tokio_stream::wrappers::ReceiverStream;

use super::arguments::{Import, OnError};
use super::failed::FailedRows;
use super::progress::progress_bar;
use super::response::Counts;
use super::transfer::{beginning_of, chunks, open, send_and_report};
use crate::format::given;
use crate::outcome::{Failure, print};
use keyed_proxy::file::format::Format;
use keyed_proxy::file::gunzip::is_gzip;

/// The purpose of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Nothing is written.
    Dry,
    /// Nothing is written, and the response contains the columns and cells of the file. Rejected rows are not printed.
    Preview,
    /// Rows are written.
    Real,
}

impl Import {
    /// Sends the file and returns the report.
    pub(super) async fn send(&self, attempt: Attempt) -> Result<Counts, Failure> {
        let format = self.format();
        let matching = self.matching_json();
        let parameters = [
            ("format", given(&self.format).1),
            ("key_column", self.key_column.as_deref()),
            ("key_prefix", self.key_prefix.as_deref()),
            ("mapping", self.mapping.as_deref()),
            ("match", matching.as_deref()),
            ("mode", self.mode.name()),
            ("filter", self.filter.as_deref()),
            ("max_deleted_share", self.max_deleted_share.as_deref()),
            ("delimiter", self.delimiter.as_deref()),
            ("encoding", self.encoding.as_deref()),
            ("sheet", self.sheet.as_deref()),
            ("dry_run", (attempt != Attempt::Real).then_some("true")),
            ("preview", (attempt == Attempt::Preview && format != Format::Ndjson).then_some("true")),
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
        // The service rejects an unknown label.
        let declared = self.encoding.as_deref().and_then(|label| Encoding::for_label(label.as_bytes()));
        let failed = self.failed.as_deref().filter(|_| attempt != Attempt::Preview);
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
        let is_quiet = attempt == Attempt::Preview;
        let outcome = send_and_report(request, self.service.named(), &bar, failed, is_quiet).await;
        bar.finish_and_clear();
        Ok(outcome?)
    }

    /// The value of `--match` as the service expects it.
    fn matching_json(&self) -> Option<String> {
        let pairs =
            self.matching.iter().map(|(reference, attribute)| (reference.clone(), attribute.as_str().into()));
        let object: serde_json::Map<String, serde_json::Value> = pairs.collect();
        (!object.is_empty()).then(|| serde_json::Value::Object(object).to_string())
    }

    /// Prints the counts and the remarks of the report. Rejected rows are a failure.
    pub(super) fn report(&self, counts: &Counts, attempt: Attempt) -> Result<(), Failure> {
        let remarks = counts.remarks();
        let Counts { rows, created, updated, unchanged, failed, .. } = counts;
        let dry = if attempt == Attempt::Real { "" } else { " (dry run: nothing was written)" };
        print(&format!(
            "rows {}, created {created}, updated {updated}, unchanged {unchanged}, failed {failed}{}{dry}\n",
            rows.unwrap_or(0),
            counts.deleted_text()
        ))?;
        for remark in remarks {
            eprintln!("{remark}");
        }
        if *failed > 0 {
            let were = if *failed == 1 { "row was" } else { "rows were" };
            return Err(anyhow!("{failed} {were} rejected").into());
        }
        Ok(())
    }
}
