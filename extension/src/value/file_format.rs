//! The formats of files that are imported and exported: pure.

use crate::error::{Code, Error};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// CSV with a header.
    Csv,
    /// A JSON object on each line.
    Ndjson,
}

impl FileFormat {
    /// The format of this name.
    pub fn parse(name: &str) -> Result<FileFormat, Error> {
        match name {
            "csv" => Ok(FileFormat::Csv),
            "ndjson" => Ok(FileFormat::Ndjson),
            _ => Err(Error::at(Code::InvalidValue, "/format", format!("{name:?} is not a format"))
                .hint("Use one of the formats csv and ndjson.")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_one_of_two_names() {
        assert_eq!(FileFormat::parse("csv"), Ok(FileFormat::Csv));
        assert_eq!(FileFormat::parse("ndjson"), Ok(FileFormat::Ndjson));
        for name in ["", "CSV", "json", "csv "] {
            assert_eq!(FileFormat::parse(name).expect_err(name).faults[0].pointer, "/format");
        }
    }
}
