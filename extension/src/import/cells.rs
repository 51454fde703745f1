//! Cells of a file in their source format.

use super::options::Options;
use crate::attribute_type::{AttributeType, Rules};
use crate::error::{Code, Error};
use crate::format::Format;
use crate::json;
use crate::postgres::clock::TimeZone;
use crate::search::query::time_zone;
use crate::value::change::{Change, Value};
use crate::value::file_format::unguarded;
use crate::value::time;
use crate::value::zone::{Utc, Zone};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A cell of a file. CSV cells are text; spreadsheet cells have types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// An empty cell of a spreadsheet.
    Empty,
    /// A string.
    Text(Cow<'a, str>),
    /// The digits of a number.
    Number(&'a str),
    /// A date and a time of day without a zone, `YYYY-MM-DDThh:mm:ss[.fff]`.
    Date(Cow<'a, str>),
    /// True or false.
    Boolean(bool),
    /// The error of a formula, and the address of the cell.
    Failure(Cow<'a, str>, Cow<'a, str>),
}

/// The maximum number of significant digits that spreadsheets preserve.
const EXACT_DIGITS: usize = 15;

impl<'a> Cell<'a> {
    /// The text, if the cell is one.
    pub fn text(&self) -> Option<&str> {
        if let Cell::Text(text) = self { Some(text) } else { None }
    }

    /// Parses a spreadsheet cell: null, a string, a number, true, false, `{"date": "…"}` or `{"failure": "#N/A", "at":
    /// "B7"}`.
    pub fn parse(raw: &'a RawValue) -> Result<Cell<'a>, Error> {
        let text = raw.get();
        match text.as_bytes().first() {
            _ if json::is_null(raw) => Ok(Cell::Empty),
            Some(b'"') => json::text_at(raw, "").map(Cell::Text),
            Some(b't' | b'f') => json::boolean_at(raw, "").map(Cell::Boolean),
            Some(b'{') => {
                let (mut date, mut failure, mut at) = (None, None, Cow::Borrowed(""));
                for (name, value) in json::object_at(raw, "")?.0 {
                    let value = json::text_at(value, "")?;
                    match name.as_ref() {
                        "date" => date = Some(value),
                        "failure" => failure = Some(value),
                        _ => at = value,
                    }
                }
                match (date, failure) {
                    (Some(date), None) => Ok(Cell::Date(date)),
                    (None, Some(failure)) => Ok(Cell::Failure(failure, at)),
                    _ => Err(Error::new(Code::MalformedRequest, "a cell must have either date or failure")),
                }
            }
            Some(b'-' | b'0'..=b'9') => Ok(Cell::Number(text)),
            _ => Err(Error::new(Code::MalformedRequest, "a cell must not be an array")),
        }
    }

    /// Whether the cell is empty.
    pub fn is_empty(&self) -> bool {
        matches!(self, Cell::Empty) || matches!(self, Cell::Text(text) if text.is_empty())
    }

    /// Whether the cell is a number with more digits than spreadsheets preserve.
    pub fn is_rounded(&self) -> bool {
        matches!(self, Cell::Number(number) if number.bytes().filter(u8::is_ascii_digit).count() > EXACT_DIGITS)
    }

    /// The cell, for a message.
    pub fn shown(&self) -> String {
        match self {
            Cell::Empty => "an empty cell".to_owned(),
            Cell::Text(text) => format!("{text:?}"),
            Cell::Number(number) => format!("the number {number}"),
            Cell::Date(date) => format!("the date {}", short_date(date)),
            Cell::Boolean(value) => format!("the value {value}"),
            Cell::Failure(failure, at) => format!("{failure} in {at}"),
        }
    }
}

/// A date without its time of day, if that is midnight.
fn short_date(date: &str) -> &str {
    date.strip_suffix("T00:00:00").unwrap_or(date)
}

/// The interpretation of cells.
pub struct Cells<'o> {
    format: Option<&'o Format>,
    zone: Box<dyn Zone>,
}

impl<'o> Cells<'o> {
    /// The format and time zone of a file with these options.
    pub fn new(options: &'o Options) -> Result<Cells<'o>, Error> {
        let format = options.cells.as_ref();
        Ok(Cells { format, zone: zone_of(format)? })
    }

    /// The change of an attribute by a cell.
    pub fn change<'c>(
        &self,
        kind: AttributeType,
        cell: &'c Cell,
        rules: &Rules,
    ) -> Result<Change<'c>, Error> {
        let owned = |text: String| kind.parse_cell(&text, rules).map(Change::into_owned);
        let unfit = |hint: &str| {
            let message = format!("{} is not a value of the type {}", cell.shown(), kind.name());
            Err(Error::at(Code::InvalidValue, rules.pointer, message).hint(hint))
        };
        let is_text = matches!(kind, AttributeType::String | AttributeType::List);
        match cell {
            Cell::Empty => Ok(Change::Set(Value::Null)),
            Cell::Text(text) => self.text(kind, text, rules),
            Cell::Number(number) => match kind {
                AttributeType::Number | AttributeType::Metric => kind.parse_cell(number, rules),
                AttributeType::Date | AttributeType::DateTime => {
                    unfit("Format the cells of the column as dates.")
                }
                _ => self.text(kind, number, rules),
            },
            Cell::Date(date) => match kind {
                AttributeType::Date if short_date(date).len() == 10 => owned(short_date(date).to_owned()),
                AttributeType::Date => unfit("The date has a time of day: remove it."),
                AttributeType::DateTime => match self.format.filter(|format| format.time_zone.is_some()) {
                    Some(format) => {
                        let local = time::parse_datetime(&format!("{date}Z"), rules.pointer)?;
                        owned(format.instant(local, date, &*self.zone, rules.pointer)?)
                    }
                    None => unfit(
                        "Spreadsheets store times without a time zone: add format={\"time_zone\": \"Europe/Zurich\"}.",
                    ),
                },
                _ if is_text => owned(short_date(date).to_owned()),
                _ => unfit("Use another cell format for the column."),
            },
            Cell::Boolean(value) if is_text || kind == AttributeType::Boolean => owned(value.to_string()),
            Cell::Boolean(_) => unfit("Write another value."),
            Cell::Failure(text, _)
                if self.format.is_some_and(|format| format.null.is_some() && format.is_null(text)) =>
            {
                Ok(Change::Set(Value::Null))
            }
            Cell::Failure(failure, at) => {
                let message = format!("the formula of cell {at} failed with {failure}");
                Err(Error::at(Code::InvalidValue, rules.pointer, message).hint(format!(
                    "Correct it, or add format={{\"null\": [\"\", \"{failure}\"]}} to read it as no value."
                )))
            }
        }
    }

    fn text<'c>(&self, kind: AttributeType, cell: &'c str, rules: &Rules) -> Result<Change<'c>, Error> {
        let Some(format) = self.format else { return kind.parse_cell(cell, rules) };
        match format.read(kind, cell, &*self.zone, rules.pointer)? {
            Cow::Borrowed(cell) => kind.parse_cell(cell, rules),
            Cow::Owned(cell) => kind.parse_cell(&cell, rules).map(Change::into_owned),
        }
    }

    /// Whether a key or id cell is empty.
    pub fn is_null(&self, cell: &Cell) -> bool {
        match cell {
            Cell::Text(text) => text.is_empty() || self.format.is_some_and(|format| format.is_null(text)),
            cell => cell.is_empty(),
        }
    }

    /// The text of a key or an id. A number is converted to its digits.
    pub fn key<'c>(&self, cell: &'c Cell, pointer: &str) -> Result<&'c str, Error> {
        match cell {
            Cell::Text(text) => {
                Ok(self.format.and_then(|format| format.unguarded_null(text)).unwrap_or(unguarded(text)))
            }
            Cell::Number(number) => Ok(number),
            cell => {
                let message = format!("{} is neither text nor a number", cell.shown());
                Err(Error::at(Code::InvalidExternalKey, pointer, message)
                    .hint("Format the column as text, and enter the key again."))
            }
        }
    }
}

/// The time zone of the format; the default is UTC.
pub fn zone_of(format: Option<&Format>) -> Result<Box<dyn Zone>, Error> {
    let Some(name) = format.and_then(|format| format.time_zone.as_deref()) else { return Ok(Box::new(Utc)) };
    let name = time_zone::check(name).map_err(|error| error.below("/format"))?;
    Ok(TimeZone::named(&name).map_or_else(|| Box::new(Utc) as Box<dyn Zone>, |zone| Box::new(zone)))
}
