//! The options of an import, which the proxy sends with every chunk. Pure.

use crate::error::{Code, Error};
use crate::format;
use crate::json;
use crate::record::mode::Mode;
use crate::value::file_format::FileFormat;
use crate::value::key;
use crate::value::member::unknown_member;
use keyed_write_order::record_filter::RecordFilter;

/// The format of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Rows of cells after a header.
    Csv {
        /// The names in the header.
        header: Vec<String>,
        /// The delimiter.
        delimiter: u8,
    },
    /// A JSON object on each line.
    #[default]
    Ndjson,
}

/// The interpretation of a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The format of the file.
    pub format: Format,
    /// The format of CSV cells, if it differs from that of keyed's exports.
    pub cells: Option<format::Format>,
    /// Whether rows are arrays of typed cells, as in a spreadsheet.
    pub is_typed: bool,
    /// Whether to suggest formats for the cells of CSV.
    pub suggests: bool,
    /// Whether to return the columns, with example cells for the suggested formats.
    pub previews: bool,
    /// Column → attribute, `external_key`, or null for a column to skip.
    pub mapping: Vec<(String, Option<String>)>,
    /// Reference → string attribute of its target that identifies it in the file.
    pub matching: Vec<(String, String)>,
    /// The column that holds the external key.
    pub key_column: Option<String>,
    /// The prefix of every external key of the file.
    pub key_prefix: String,
    /// Whether rows without an existing record create one or are rejected.
    pub mode: Mode,
    /// The options for deleting missing records; `None` to delete none.
    pub mirror: Option<MirrorOptions>,
    /// Whether one transaction writes all chunks of the file.
    pub is_whole: bool,
    /// Whether to wait for another import into the template, or to return that import.
    pub waits: bool,
    /// The records of waiting rows: later rows of these records wait too.
    pub held: RecordFilter,
    /// Whether this is the end of the file: then the records that rows reference must exist.
    pub is_last: bool,
}

/// The options for deleting the records that are missing from the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MirrorOptions {
    /// The filter for the records that are compared with the file, as JSON; `None` for all records
    /// of the template.
    pub filter: Option<String>,
    /// The key prefix of the file. Records with other keys are not compared.
    pub key_prefix: String,
    /// The maximum share of these records that may be deleted. Optional in a dry run only.
    pub max_deleted_share: Option<f64>,
    /// Whether a larger share is reported instead of raising an error.
    pub is_dry_run: bool,
    /// The number of rows of the file, in the call after the last row. That call deletes the
    /// missing records.
    pub ends_after: Option<u64>,
}

impl MirrorOptions {
    /// Whether both are options of the same import.
    pub fn is_same_import(&self, other: &MirrorOptions) -> bool {
        let without_end = |it: &MirrorOptions| MirrorOptions { ends_after: None, ..it.clone() };
        without_end(self) == without_end(other)
    }
}

impl Options {
    /// The mode, if it rejects rows without a key or an id.
    pub fn mode_that_requires_identifiers(&self) -> Option<&'static str> {
        match &self.mirror {
            Some(_) => Some(MIRROR),
            None => (self.mode == Mode::Update).then_some("update"),
        }
    }

    /// The key of a row, with the prefix of the file.
    pub fn key(&self, text: &str) -> Result<String, Error> {
        // A prefix must not turn an empty key into a valid one.
        let own = key::normalize(text)?;
        if self.key_prefix.is_empty() {
            return Ok(own.to_owned());
        }
        key::normalize(&format!("{}{own}", self.key_prefix)).map(str::to_owned)
    }

    /// Reads them: `{format, header?, delimiter?, mapping?, match?, key_column?, key_prefix?, mode?, filter?,
    /// max_deleted_share?, dry_run?, ends_after?, is_typed?, suggests?, previews?, is_whole?, waits?, held?, is_last?}`. An
    /// object as `format` is the cell format of CSV.
    pub fn parse(text: &str) -> Result<Options, Error> {
        let mut options = Options { waits: true, ..Options::default() };
        let (mut header, mut delimiter, mut format) = (Vec::new(), b',', FileFormat::Ndjson);
        let (mut mirror, mut is_mirror) = (MirrorOptions::default(), false);
        for (name, value) in json::object(text)?.0 {
            let here = format!("/{}", json::pointer_step(&name));
            if json::is_null(value) {
                continue;
            }
            match name.as_ref() {
                "format" if value.get().starts_with('{') => {
                    format = FileFormat::Csv;
                    options.cells = Some(format::Format::parse(value, &here)?);
                }
                "format" => format = FileFormat::parse(&json::text_at(value, &here)?)?,
                "header" => {
                    for (index, name) in json::array_at(value, &here)?.into_iter().enumerate() {
                        header.push(json::text_at(name, &format!("{here}/{index}"))?.into_owned());
                    }
                }
                "delimiter" => match json::text_at(value, &here)?.as_bytes() {
                    [byte] => delimiter = *byte,
                    _ => return Err(Error::at(Code::InvalidValue, here, "a delimiter is one character")),
                },
                "mapping" => {
                    for (column, target) in json::object_at(value, &here)?.0 {
                        let there = format!("{here}/{}", json::pointer_step(&column));
                        let target = match json::is_null(target) {
                            true => None,
                            false => Some(json::text_at(target, &there)?.into_owned()),
                        };
                        options.mapping.push((column.into_owned(), target));
                    }
                }
                "match" => {
                    for (reference, matched) in json::object_at(value, &here)?.0 {
                        let there = format!("{here}/{}", json::pointer_step(&reference));
                        let matched = json::text_at(matched, &there)?.into_owned();
                        options.matching.push((reference.into_owned(), matched));
                    }
                }
                "key_column" => options.key_column = Some(json::text_at(value, &here)?.into_owned()),
                "key_prefix" => options.key_prefix = json::text_at(value, &here)?.into_owned(),
                "mode" => {
                    let mode = json::text_at(value, &here)?;
                    is_mirror = mode == MIRROR;
                    if !is_mirror {
                        options.mode = parse_mode(&mode)?;
                    }
                }
                "filter" => mirror.filter = Some(value.get().to_owned()),
                "max_deleted_share" => mirror.max_deleted_share = Some(parse_share(value.get())?),
                "dry_run" => mirror.is_dry_run = json::boolean_at(value, &here)?,
                "ends_after" => mirror.ends_after = Some(parse_count(value.get(), &here)?),
                "is_typed" => options.is_typed = json::boolean_at(value, &here)?,
                "suggests" => options.suggests = json::boolean_at(value, &here)?,
                "previews" => options.previews = json::boolean_at(value, &here)?,
                "is_whole" => options.is_whole = json::boolean_at(value, &here)?,
                "waits" => options.waits = json::boolean_at(value, &here)?,
                "held" => {
                    options.held = RecordFilter::parse(&json::text_at(value, &here)?).ok_or_else(|| {
                        Error::at(Code::InvalidValue, here, "held is a set of bits in base64")
                    })?;
                }
                "is_last" => options.is_last = json::boolean_at(value, &here)?,
                _ => return Err(unknown_member(&name, &here)),
            }
        }
        // A key is stored without the spaces around it.
        mirror.key_prefix = options.key_prefix.trim_start_matches(' ').to_owned();
        options.mirror = checked(mirror, is_mirror, options.is_whole)?;
        if format == FileFormat::Csv {
            options.format = Format::Csv { header, delimiter };
        } else if !options.mapping.is_empty() || options.key_column.is_some() {
            return Err(Error::new(Code::InvalidValue, "mapping and key_column apply to CSV only"));
        }
        Ok(options)
    }
}

/// Parses a mode. There is no mode for creation only.
fn parse_mode(name: &str) -> Result<Mode, Error> {
    match name {
        "upsert" => Ok(Mode::Upsert),
        "update" => Ok(Mode::Update),
        other => Err(Error::at(Code::InvalidValue, "/mode", format!("{other:?} is not an import mode"))
            .hint("Use one of the modes upsert, update and mirror.")),
    }
}

/// The mode that deletes missing records.
const MIRROR: &str = "mirror";

/// The options of a mirror, which other modes do not accept.
fn checked(options: MirrorOptions, is_mirror: bool, is_whole: bool) -> Result<Option<MirrorOptions>, Error> {
    let invalid = |pointer: &str, message: &str| Err(Error::at(Code::InvalidValue, pointer, message));
    if !is_mirror {
        return match options {
            MirrorOptions { filter: Some(_), .. } => invalid("/filter", "filter requires mode=mirror"),
            MirrorOptions { max_deleted_share: Some(_), .. } => {
                invalid("/max_deleted_share", "max_deleted_share requires mode=mirror")
            }
            MirrorOptions { ends_after: Some(_), .. } => {
                invalid("/ends_after", "ends_after requires mode=mirror")
            }
            _ => Ok(None),
        };
    }
    if !is_whole {
        return invalid(
            "/mode",
            "mode=mirror requires on_error=abort, because it imports a file in one transaction",
        );
    }
    if options.max_deleted_share.is_none() && !options.is_dry_run {
        let message = "mode=mirror needs max_deleted_share, the largest share of the records that the import may delete";
        let error = Error::at(Code::InvalidValue, "/max_deleted_share", message);
        return Err(
            error.hint(
                "Run with dry_run=true to see what would be deleted, then set max_deleted_share to a fraction such \
                 as 0.1.",
            ),
        );
    }
    Ok(Some(options))
}

fn parse_share(text: &str) -> Result<f64, Error> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| {
        Error::at(Code::InvalidValue, "/max_deleted_share", "must be a share from 0 to 1")
            .hint("Write 0.1 for a tenth of the records.")
    })
}

fn parse_count(text: &str, pointer: &str) -> Result<u64, Error> {
    text.parse().map_err(|_| Error::at(Code::InvalidValue, pointer, "must be a number of rows"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::{object_of, points_into};
    use proptest::prelude::*;

    const NAMES: [&str; 19] = [
        "format",
        "header",
        "delimiter",
        "mapping",
        "match",
        "key_column",
        "key_prefix",
        "mode",
        "filter",
        "max_deleted_share",
        "dry_run",
        "ends_after",
        "is_typed",
        "suggests",
        "previews",
        "is_whole",
        "held",
        "waits",
        "is_last",
    ];

    proptest! {
        #[test]
        fn prefix_does_not_replace_a_key(prefix in "[a: ]{0,4}", text in "[ b\t]{0,6}") {
            let options = Options { key_prefix: prefix, ..Options::default() };
            match options.key(&text) {
                Ok(found) => {
                    prop_assert_eq!(key::normalize(&found).ok(), Some(found.as_str()));
                    prop_assert!(found.ends_with(text.trim_matches(' ')));
                }
                Err(error) => {
                    prop_assert_eq!(error.code, Code::InvalidExternalKey);
                    prop_assert!(text.trim_matches(' ').is_empty() || text.contains('\t'));
                }
            }
        }

        #[test]
        fn any_object_is_options_or_rejected_with_a_pointer(text in object_of(&NAMES)) {
            if let Err(error) = Options::parse(&text) {
                prop_assert!(points_into(&text, &error), "{:?}", error.violations);
            }
        }

        #[test]
        fn csv_options_are_parsed(
            header in prop::collection::vec(any::<String>().prop_map(|it| it.replace('\0', "")), 0..4),
            delimiter in "[,;\t|]",
            held in "|[A-Za-z0-9+/]{10}[AEIMQUYcgkosw048]=",
            is_last in any::<bool>(),
        ) {
            let text = serde_json::json!({
                "format": "csv", "header": header, "delimiter": delimiter, "held": held, "is_last": is_last
            });
            let options = Options::parse(&text.to_string()).expect("options");
            prop_assert_eq!(options.format, Format::Csv { header, delimiter: delimiter.as_bytes()[0] });
            prop_assert_eq!((options.held, options.is_last), (RecordFilter::parse(&held).expect("eight bytes"), is_last));
        }
    }
}
