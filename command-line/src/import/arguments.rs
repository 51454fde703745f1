//! The arguments of an import.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::format::{FormatArgument, format_argument, format_of, given};
use crate::outcome::Failure;
use crate::service::Service;
use keyed_proxy::file::format::Format;

#[derive(Args)]
pub(crate) struct Import {
    /// The file to import; - for standard input. It may be compressed with gzip.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    #[command(flatten)]
    pub(super) service: Service,

    /// The format of the file: csv, ndjson or xlsx. Default: by the file extension (.ndjson, .jsonl, .json, .xlsx),
    /// otherwise CSV. A JSON file may also be one array. Or, as JSON, the format of values: {"decimal": ",", "date":
    /// "DD.MM.YYYY"}.
    #[arg(long, value_name = "FORMAT", value_parser = format_argument)]
    pub(super) format: Vec<FormatArgument>,

    /// The column of the external key. Default: external_key.
    #[arg(long, value_name = "COLUMN")]
    pub(super) key_column: Option<String>,

    /// A prefix for every key of the file, such as erp:
    #[arg(long, value_name = "TEXT")]
    pub(super) key_prefix: Option<String>,

    /// The attributes of the columns, as JSON: {"Column": "slug"}; null ignores a column.
    #[arg(long, value_name = "JSON")]
    pub(super) mapping: Option<String>,

    /// Find the targets of a reference by this string attribute instead of their external keys: artist=name. May be repeated.
    #[arg(long = "match", value_name = "REFERENCE=ATTRIBUTE", value_parser = reference_and_attribute)]
    pub(super) matching: Vec<(String, String)>,

    /// upsert: rows create or update records. update: rows without a record are rejected. mirror: like upsert, and
    /// records that are not in the file are deleted.
    #[arg(long, default_value = "upsert")]
    pub(super) mode: Mode,

    /// The records that --mode mirror compares with the file, as JSON: {"filters": [{"field": "source", "operator": "eq",
    /// "value": "erp"}]}. Default: all records of the template.
    #[arg(long, value_name = "JSON")]
    pub(super) filter: Option<String>,

    /// The largest share of these records that --mode mirror may delete, from 0 to 1; otherwise nothing is imported.
    /// Required unless it is a dry run.
    #[arg(long, value_name = "SHARE")]
    pub(super) max_deleted_share: Option<String>,

    /// The delimiter of CSV: a character, or the word tab. Default: detected from the header.
    #[arg(long, value_name = "CHARACTER")]
    pub(super) delimiter: Option<String>,

    /// The name of the sheet of a spreadsheet. Default: the first sheet.
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,

    /// The encoding, such as windows-1252. Default: detected from the file.
    #[arg(long, value_name = "NAME")]
    pub(super) encoding: Option<String>,

    /// Check all rules and write nothing.
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Examine the file first, ask for its format on the terminal if it needs one, then import it. Prints the command
    /// line for the next import.
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) interactive: bool,

    /// The action if rows are rejected: import nothing (abort), or import all other rows (skip).
    #[arg(long, default_value = "abort")]
    pub(super) on_error: OnError,

    /// A file for the rejected rows. In CSV, each row has the reason. Correct it and import it again. An existing file
    /// is overwritten only if rows are rejected.
    #[arg(long, value_name = "FILE")]
    pub(super) failed: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OnError {
    Abort,
    Skip,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Mode {
    Upsert,
    Update,
    Mirror,
}

impl Mode {
    /// The name of the mode; `None` for the default.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Mode::Upsert => None,
            Mode::Update => Some("update"),
            Mode::Mirror => Some("mirror"),
        }
    }
}

/// Parses `artist=name`.
fn reference_and_attribute(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((reference, attribute)) if !reference.is_empty() && !attribute.is_empty() => {
            Ok((reference.to_owned(), attribute.to_owned()))
        }
        _ => Err("write REFERENCE=ATTRIBUTE, such as artist=name".to_owned()),
    }
}

impl Import {
    /// Rejects options with which only a part of a file would be mirrored, before the file is sent.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.mode != Mode::Mirror {
            return Ok(());
        }
        let message = if self.failed.is_some() {
            "--failed cannot be combined with --mode mirror: importing the rejected rows as a separate file would delete all other records."
        } else if self.max_deleted_share.is_none() && !self.dry_run {
            "--mode mirror needs --max-deleted-share, the largest share of the records that it may delete. Run with --dry-run to see what it would delete."
        } else {
            return Ok(());
        };
        Err(Failure::Usage { message: message.to_owned(), help: "import" })
    }

    /// The format of the file.
    pub(super) fn format(&self) -> Format {
        format_of(given(&self.format).0, &self.file)
    }
}
