//! Why a file or a sheet cannot be read.

/// Why an archive or a part of it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartError {
    /// The size limit is exceeded.
    Size,
    /// It is not a ZIP archive or not XML, or it is corrupt.
    Form,
    /// The caller is gone.
    Cancelled,
}

/// Why a sheet cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It is not a spreadsheet, or it is corrupt.
    Corrupt,
    /// It is encrypted.
    Password,
    /// It is a document in an older format than XLSX.
    Older,
    /// Its decompressed size exceeds the limit.
    TooLarge,
    /// It does not have the requested sheet, but these.
    NoSheet(Vec<String>),
    /// The sheet has no cells.
    Empty,
    /// This row is too long.
    LongRow(u64),
    /// The caller is gone.
    Cancelled,
}

impl From<PartError> for Unreadable {
    fn from(error: PartError) -> Unreadable {
        match error {
            PartError::Size => Unreadable::TooLarge,
            PartError::Form => Unreadable::Corrupt,
            PartError::Cancelled => Unreadable::Cancelled,
        }
    }
}
