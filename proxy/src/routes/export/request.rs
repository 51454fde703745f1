//! An export request, and its chunks from the database.

use axum::http::{HeaderName, HeaderValue, header};

use crate::admission::FilePermit;
use crate::caller::Caller;
use crate::database::transaction::Transaction;
use crate::file::form::FileForm;
use crate::file::format::Format;
use crate::problem::Problem;
use crate::state::App;
use keyed_service::statement::{Argument, Statement, statement, text};

pub(super) const OPEN: Statement = statement!("export_open($4::text, $5::text, $6::text, $7::text)");
pub(super) const NEXT: Statement = statement!("export_next()");

/// The byte order mark, with which spreadsheet programs detect UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// An export request.
pub(super) struct ExportRequest {
    pub(super) template: String,
    pub(super) form: FileForm,
    /// The search, if any.
    pub(super) body: Option<String>,
    /// The saved view, if any.
    pub(super) view: Option<String>,
}

impl ExportRequest {
    pub(super) fn headers(&self) -> [(HeaderName, HeaderValue); 2] {
        let (format, media_type) = match self.form.format {
            Format::Ndjson => (Format::Ndjson, Format::Ndjson.media_type()),
            Format::Csv => (Format::Csv, "text/csv; charset=utf-8; header=present"),
            Format::Xlsx => (Format::Xlsx, Format::Xlsx.media_type()),
        };
        let name = format!("attachment; filename=\"{}.{}\"", file_name(&self.template), format.name());
        [
            (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
            (
                header::CONTENT_DISPOSITION,
                HeaderValue::try_from(name).unwrap_or(HeaderValue::from_static("attachment")),
            ),
        ]
    }

    pub(super) fn arguments(&self) -> [Argument<'_>; 4] {
        [text(&self.template), text(&self.form.options), text(&self.body), text(&self.view)]
    }
}

/// The file name for a template. It is a safe name for any path parameter.
pub(super) fn file_name(template: &str) -> String {
    template
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || *character == '_')
        .take(63)
        .collect()
}

/// Starts the export, and returns its first chunk.
pub(super) async fn open<'a>(
    app: &'a App,
    caller: &'a Caller,
    request: &ExportRequest,
) -> Result<(Option<FilePermit<'a>>, Transaction<'a>, String), Problem> {
    let permit = caller.file().await?;
    // One snapshot for all chunks. The timeout is for the case that the proxy dies.
    let begin = format!(
        "begin isolation level repeatable read read only; set local idle_in_transaction_session_timeout = {}",
        app.file_timeout.as_millis()
    );
    let mut transaction = app.database.begin(caller, &begin).await?;
    let row = transaction.call(OPEN, &request.arguments()).await?;
    let mark = if request.form.has_mark { BYTE_ORDER_MARK } else { "" };
    Ok((permit, transaction, mark.to_owned() + &chunk(&row)?.unwrap_or_default()))
}

pub(super) fn chunk(row: &tokio_postgres::Row) -> Result<Option<String>, Problem> {
    row.try_get(0).map_err(|error| Problem::internal(format!("not the result of an export: {error}")))
}
