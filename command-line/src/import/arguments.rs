//! The arguments of an import.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::format::{FormatArgument, format_argument, format_of, given};
use crate::outcome::Failure;
use crate::service::Service;
use keyed_proxy::file::format::Format;

#[derive(Args)]
pub(crate) struct Import {
    /// The file to import; - for standard input. It may be packed with gzip.
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    #[command(flatten)]
    pub(super) service: Service,

    /// The format of the file: csv, ndjson or xlsx. Default: by the end of its name (.ndjson, .jsonl, .json, .xlsx), otherwise CSV.
    /// NDJSON may be one array. Or, as JSON, how the file writes values: {"decimal": ",", "date": "DD.MM.YYYY"}.
    #[arg(long, value_name = "FORMAT", value_parser = format_argument)]
    pub(super) format: Vec<FormatArgument>,

    /// The column of the external key; default: external_key.
    #[arg(long, value_name = "COLUMN")]
    pub(super) key_column: Option<String>,

    /// A prefix for every key of the file, such as erp:
    #[arg(long, value_name = "TEXT")]
    pub(super) key_prefix: Option<String>,

    /// The attributes of the columns, as JSON: {"Column": "slug"}; null ignores a column.
    #[arg(long, value_name = "JSON")]
    pub(super) mapping: Option<String>,

    /// An attribute of type string by which a reference names its target, in place of the external key: artist=name. May be repeated.
    #[arg(long = "match", value_name = "REFERENCE=ATTRIBUTE", value_parser = reference_and_attribute)]
    pub(super) matching: Vec<(String, String)>,

    /// Whether rows whose record does not exist create it (upsert), or are rejected (update), or whether the records that the
    /// file does not have are deleted too (mirror).
    #[arg(long, default_value = "upsert")]
    pub(super) mode: Mode,

    /// The records that --mode mirror compares with the file, as JSON: {"filters": [{"field": "source", "operator": "eq",
    /// "value": "erp"}]}. Default: all records of the template.
    #[arg(long, value_name = "JSON")]
    pub(super) filter: Option<String>,

    /// The largest share of these records that --mode mirror may delete, from 0 to 1; otherwise nothing is imported.
    /// Only a dry run can leave it out.
    #[arg(long, value_name = "SHARE")]
    pub(super) max_deleted_share: Option<String>,

    /// The character between cells, or the word tab; default: detected from the header.
    #[arg(long, value_name = "CHARACTER")]
    pub(super) delimiter: Option<String>,

    /// The name of the sheet of a spreadsheet; default: the first.
    #[arg(long, value_name = "NAME")]
    pub(super) sheet: Option<String>,

    /// The encoding, such as windows-1252; default: detected from the file.
    #[arg(long, value_name = "NAME")]
    pub(super) encoding: Option<String>,

    /// Apply all rules and write nothing.
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Examine the file first, ask for its format on the terminal if it needs one, then import it, and print the
    /// command line for the next time.
    #[arg(long, conflicts_with = "dry_run")]
    pub(super) interactive: bool,

    /// What to do if rows are rejected: import nothing (abort), or all other rows (skip).
    #[arg(long, default_value = "abort")]
    pub(super) on_error: OnError,

    /// A file for the rejected rows, in CSV each with the reason. Correct it and import it again. An existing file is
    /// overwritten only if rows are rejected.
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
    /// The name, unless it is the default.
    pub(super) fn name(self) -> Option<&'static str> {
        match self {
            Mode::Upsert => None,
            Mode::Update => Some("update"),
            Mode::Mirror => Some("mirror"),
        }
    }
}

/// Reads `artist=name`.
fn reference_and_attribute(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((reference, attribute)) if !reference.is_empty() && !attribute.is_empty() => {
            Ok((reference.to_owned(), attribute.to_owned()))
        }
        _ => Err("write REFERENCE=ATTRIBUTE, such as artist=name".to_owned()),
    }
}

impl Import {
    /// Rejects what would mirror a part of a file, before anything is sent or asked.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.mode != Mode::Mirror {
            return Ok(());
        }
        let message = if self.failed.is_some() {
            "--failed is not for --mode mirror: as a file of its own, the rejected rows would delete all other records."
        } else if self.max_deleted_share.is_none() && !self.dry_run {
            "--mode mirror needs --max-deleted-share, the largest share of the records that it may delete. See with --dry-run \
             what it would delete."
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
