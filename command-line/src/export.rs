//! `export`: streams an export of a running proxy into a file, which appears only when it is complete.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use axum::body::Body;
use axum::http::header;
use clap::Args;
use http_body_util::BodyExt;
use indicatif::{ProgressBar, ProgressStyle};

use super::connection::runtime;
use super::format::{FormatArgument, format_argument, format_of, given};
use super::outcome::Failure;
use super::output::Output;
use super::service::{Service, send};
use keyed_proxy::file::format::Format;

#[derive(Args)]
pub(crate) struct Export {
    #[command(flatten)]
    service: Service,

    /// The format of the file: csv, ndjson or xlsx. Default: by the file extension (.ndjson, .jsonl, .json, .xlsx),
    /// otherwise CSV. Or, as JSON, the format of values: {"decimal": ",", "date": "DD.MM.YYYY"}.
    #[arg(long, value_name = "FORMAT", value_parser = format_argument)]
    format: Vec<FormatArgument>,

    /// The delimiter of CSV: a character, or the word tab. Default: a comma.
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<String>,

    /// Begin CSV with a byte order mark, so that Excel detects UTF-8.
    #[arg(long)]
    bom: bool,

    /// Export only the records of this saved view.
    #[arg(long, value_name = "SLUG")]
    view: Option<String>,

    /// Export only the results of this search, as JSON: {"filters": […], "global_search": …, "sort": …, "fields": […]}.
    #[arg(long, value_name = "JSON", conflicts_with = "view")]
    search: Option<String>,

    /// The file to write. Default, or with -: standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(export: Export) -> Result<(), Failure> {
    runtime()?.block_on(export.run())
}

impl Export {
    async fn run(self) -> Result<(), Failure> {
        let output = self.output.as_deref().filter(|output| *output != Path::new("-"));
        let (format, cells) = given(&self.format);
        let format = format_of(format, output.unwrap_or(Path::new("-")));
        if cells.is_some() && format == Format::Ndjson {
            let message = "--format with JSON is for CSV and XLSX: add --format csv.".to_owned();
            return Err(Failure::Usage { message, help: "export" });
        }
        let parameters = [
            ("format", Some(cells.unwrap_or(format.name()))),
            ("delimiter", self.delimiter.as_deref()),
            ("bom", self.bom.then_some("true")),
        ];
        let request = self.service.request("export", &parameters, "export")?;
        let body = match (&self.search, &self.view) {
            (Some(search), _) => search.clone(),
            (None, Some(view)) => serde_json::json!({"view": view}).to_string(),
            (None, None) => "{}".to_owned(),
        };
        let request = request
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, if format == Format::Xlsx { format.media_type() } else { "*/*" })
            .body(Body::from(body))
            .context("the proxy cannot be reached")?;
        let mut response = send(request, self.service.named()).await?.into_body();
        let mut sink = Sink::to(output)?;
        let style = ProgressStyle::with_template("{spinner} {bytes} {bytes_per_sec}");
        let bar =
            ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        while let Some(frame) =
            response.frame().await.transpose().context("the export was interrupted and is incomplete")?
        {
            if let Ok(data) = frame.into_data() {
                sink.write(&data)?;
                bar.inc(data.len() as u64);
            }
        }
        bar.finish_and_clear();
        Ok(sink.finish()?)
    }
}

/// The destination of an export.
enum Sink {
    Standard(io::Stdout),
    File(Output),
}

impl Sink {
    fn to(output: Option<&Path>) -> anyhow::Result<Sink> {
        Ok(match output {
            Some(output) => Sink::File(Output::create(output)?),
            None => Sink::Standard(io::stdout()),
        })
    }

    fn write(&mut self, data: &[u8]) -> anyhow::Result<()> {
        let written = match self {
            Sink::Standard(out) => out.write_all(data),
            Sink::File(file) => file.write_all(data),
        };
        written.context("cannot write the records")
    }

    fn finish(self) -> anyhow::Result<()> {
        match self {
            Sink::Standard(mut out) => out.flush().context("cannot write the records"),
            Sink::File(file) => file.keep(),
        }
    }
}
