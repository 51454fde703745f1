//! Errors for files and rows that cannot be read.

use keyed_errors::Code;

use crate::file::chunk::Defect;
use crate::file::format::XLSX;
use crate::file::gunzip::{GunzipError, is_gzip};
use crate::file::rows::{MAX_ROW_BYTES, Unreadable};
use crate::problem::Problem;

/// Rejects files whose first bytes show that they are not text.
pub(super) fn require_text(beginning: &[u8]) -> Result<(), Problem> {
    if is_gzip(beginning) {
        return Err(Problem::malformed("the file is compressed with gzip")
            .with_hint("Send the header Content-Encoding: gzip, or decompress the file."));
    }
    if beginning.starts_with(b"PK\x03\x04") {
        return Err(Problem::malformed("the file is a ZIP archive or a spreadsheet, such as XLSX")
            .with_hint(&format!("Send a spreadsheet with Content-Type: {XLSX}. Extract an archive first.")));
    }
    if beginning.starts_with(&COMPOUND) {
        return Err(Problem::malformed("the file is in an older format than XLSX, such as XLS")
            .with_hint("Save it as XLSX."));
    }
    Ok(())
}

/// The magic number of older spreadsheet formats.
const COMPOUND: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

pub(super) fn not_decompressed(error: GunzipError) -> Problem {
    match error {
        GunzipError::Corrupt => Problem::malformed("the file is not compressed with gzip, or it is corrupt")
            .with_hint(
                "Check it with gzip --test. If it is not compressed, send it without Content-Encoding.",
            ),
        GunzipError::Truncated => Problem::malformed("the file ends before the end of its gzip data")
            .with_hint("The file is truncated: compress it again."),
    }
}

pub(super) fn zero_in_header() -> Problem {
    Problem::malformed("the header contains the character U+0000")
}

pub(super) fn too_long() -> Problem {
    Problem::body_too_slow().with_hint(
        "Send the file faster or in several files, or import it with on_error=skip: an import in one \
         transaction, and the header of any file, must arrive within a time limit.",
    )
}

pub(super) fn unreadable(unreadable: Unreadable) -> Problem {
    match unreadable {
        Unreadable::TooLong(line) => Problem::new(
            Code::PayloadTooLarge,
            format!("the row that begins in line {line} has more than {MAX_ROW_BYTES} bytes"),
        )
        .with_hint("Split the row, or write the record with a request of its own."),
        Unreadable::Header(line, defect) => {
            let (code, message) = describe(defect);
            Problem::new(code, format!("the header, in line {line}, cannot be read: {message}"))
        }
        Unreadable::Spread(line) => {
            Problem::malformed(format!("the JSON object that begins in line {line} does not end there"))
                .with_hint("Write each object in one line, or all in one array: [{…}, {…}].")
        }
        Unreadable::AfterArray(line) => {
            Problem::malformed(format!("text follows the JSON array in line {line}"))
                .with_hint("Send one array, or one object in each line.")
        }
        Unreadable::OpenArray(line) => {
            Problem::malformed(format!("the file ends in line {line}, before the end of its JSON array"))
        }
    }
}

/// The code and the message for a row that cannot be read.
pub(super) fn describe(defect: Defect) -> (Code, &'static str) {
    match defect {
        Defect::AfterQuote => (
            Code::InvalidCsv,
            "text follows a closing quote; write a quote within a quoted cell as two: \"Say \"\"hi\"\" now\"",
        ),
        Defect::Unclosed => (
            Code::InvalidCsv,
            "a quoted cell begins in this line and is not closed, or text follows its closing quote; write a quote within a \
            quoted cell as two: \"Say \"\"hi\"\" now\"",
        ),
        Defect::Zero => (Code::InvalidValue, "must not contain the character U+0000; remove it"),
        Defect::Missing => (Code::MalformedRequest, "the array has no element here; remove the comma"),
        Defect::LineBreak => {
            (Code::MalformedRequest, "a string contains a line break; write it as \\n within the string")
        }
    }
}
