//! Why a file or a sheet cannot be read.

/// Why an archive or a part of it cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is larger than what is read.
    Size,
    /// It is not a ZIP archive, not XML, or was damaged.
    Form,
    /// The caller does not wait for it any more.
    Unwanted,
}

/// Why a sheet cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It is not a spreadsheet, or was damaged.
    Damaged,
    /// It is encrypted.
    Password,
    /// It is a document of the formats before XLSX.
    Older,
    /// It unpacks to more than is read.
    TooLarge,
    /// It has no such sheet, but these.
    NoSheet(Vec<String>),
    /// The sheet has no cells.
    Empty,
    /// This row is longer than one may be.
    LongRow(u64),
    /// The caller does not wait for its rows any more.
    Unwanted,
}

impl From<Fault> for Unreadable {
    fn from(fault: Fault) -> Unreadable {
        match fault {
            Fault::Size => Unreadable::TooLarge,
            Fault::Form => Unreadable::Damaged,
            Fault::Unwanted => Unreadable::Unwanted,
        }
    }
}
