//! Reads the cells of a sheet in order.

use quick_xml::events::Event;
use serde_json::json;

use super::date::date;
use super::error::{PartError, Unreadable};
use super::shared_strings::SharedStrings;
use super::styles::{NumberKind, Styles};
use super::xml::{Xml, attribute, unescaped};

/// The maximum number of rows and columns of a sheet.
const MAX_ROWS: u32 = 1 << 20;
const MAX_COLUMNS: u32 = 1 << 14;

/// The cells of a sheet.
pub(super) struct Cells<'a> {
    pub(super) xml: Xml<'a>,
    pub(super) styles: Styles,
    pub(super) shared_strings: SharedStrings,
    pub(super) is_1904: bool,
    /// The row and column of the next cell without an address, counted from 0.
    pub(super) row: u32,
    pub(super) column: u32,
    /// Whether the row has a number.
    pub(super) is_row_named: bool,
    /// The text of the last cell.
    pub(super) text: String,
}

/// A cell with a value, as JSON.
pub(super) struct Cell {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) json: String,
}

impl Cells<'_> {
    pub(super) fn next(&mut self) -> Result<Option<Cell>, Unreadable> {
        loop {
            let (style, kind) = match self.xml.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "row" => {
                        if let Some(number) = attribute(&element, "r")? {
                            self.row = require_ascending(self.row, index(&number, MAX_ROWS)?)?;
                            self.is_row_named = true;
                        } else {
                            self.is_row_named = false;
                        }
                        self.column = 0;
                        continue;
                    }
                    "c" => {
                        if let Some(address) = attribute(&element, "r")? {
                            let (row, column) = coordinates(&address)?;
                            if !self.is_row_named && self.column == 0 {
                                self.row = require_ascending(self.row, row)?;
                            }
                            if row != self.row || column < self.column {
                                return Err(Unreadable::Corrupt);
                            }
                            self.column = column;
                        }
                        if self.row >= MAX_ROWS || self.column >= MAX_COLUMNS {
                            return Err(Unreadable::Corrupt);
                        }
                        let style = attribute(&element, "s")?.and_then(|style| style.parse().ok());
                        (style.unwrap_or(0), Kind::of(attribute(&element, "t")?.as_deref())?)
                    }
                    _ => continue,
                },
                Event::End(element) => match element.local_name().as_ref() {
                    "row" => {
                        self.row += 1;
                        continue;
                    }
                    "sheetData" => return Ok(None),
                    _ => continue,
                },
                Event::Eof => return Ok(None),
                _ => continue,
            };
            let is_without_result = self.read_text(kind)?;
            let (row, column) = (self.row, self.column);
            self.column += 1;
            if is_without_result {
                // Programs without a calculation engine write formulas without results. Reading them as empty cells
                // would clear values.
                let json = json!({"failure": "no result", "at": address(row, column)}).to_string();
                return Ok(Some(Cell { row, column, json }));
            }
            if let Some(json) = self.json(kind, style)? {
                return Ok(Some(Cell { row, column, json }));
            }
        }
    }

    /// Reads the content of the current cell. Returns whether it is a formula without a result.
    fn read_text(&mut self, kind: Kind) -> Result<bool, PartError> {
        self.text.clear();
        let outside = self.xml.depth() - 1;
        let (mut has_formula, mut has_value) = (false, false);
        loop {
            let (is_value, is_text, is_other) = match self.xml.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "v" if kind != Kind::Inline => (true, false, false),
                    "is" => (false, true, false),
                    // The formula, or an extension of a newer version.
                    name => {
                        has_formula |= name == "f";
                        (false, false, true)
                    }
                },
                _ => (false, false, false),
            };
            has_value |= is_value || is_text;
            if is_value {
                self.xml.text(&mut self.text)?;
            } else if is_text {
                self.xml.rich_text(&mut self.text)?;
            } else if is_other {
                self.xml.skip()?;
            } else if self.xml.depth() == outside {
                return Ok(has_formula && !has_value);
            }
        }
    }

    /// The cell as JSON; `None` if it is empty.
    fn json(&self, kind: Kind, style: usize) -> Result<Option<String>, Unreadable> {
        let text = self.text.as_str();
        if text.is_empty() {
            return Ok(None);
        }
        let string = |text: &str| (!text.is_empty()).then(|| json!(text).to_string());
        Ok(match kind {
            Kind::Shared => {
                let number = text.trim().parse().map_err(|_| Unreadable::Corrupt)?;
                string(self.shared_strings.get(number).ok_or(Unreadable::Corrupt)?)
            }
            Kind::Inline => string(text),
            Kind::Formula => string(&unescaped(text)),
            Kind::Boolean => match text.trim() {
                "1" | "true" => Some("true".to_owned()),
                "0" | "false" => Some("false".to_owned()),
                _ => return Err(Unreadable::Corrupt),
            },
            Kind::Failure => {
                Some(json!({"failure": text, "at": address(self.row, self.column - 1)}).to_string())
            }
            Kind::Date => match (is_date(text), text.len()) {
                (true, 10) => Some(json!({"date": format!("{text}T00:00:00")}).to_string()),
                (true, _) => Some(json!({"date": text}).to_string()),
                (false, _) => string(text),
            },
            Kind::Number => match text.trim().parse::<f64>() {
                Ok(number) => Some(self.number(text.trim(), number, style).ok_or(Unreadable::Corrupt)?),
                Err(_) => string(text),
            },
        })
    }

    /// A number, or a date if its style displays one. A duration or a time without a date is a number. `None` if the
    /// style does not exist.
    fn number(&self, text: &str, number: f64, style: usize) -> Option<String> {
        let is_date = match self.styles.number_kind(style)? {
            NumberKind::Date => true,
            NumberKind::Time => number >= 1.0,
            NumberKind::Duration | NumberKind::Number => false,
        };
        Some(match date(number, self.is_1904).filter(|_| is_date) {
            Some(date) => json!({"date": date}).to_string(),
            None if keeps_digits(text) => text.to_owned(),
            // The shortest decimal representation of the float, without a decimal point for an integer.
            None if number.is_finite() => number.to_string(),
            None => json!(number.to_string()).to_string(),
        })
    }
}

/// The type of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Boolean,
    /// The index of a shared string.
    Shared,
    /// A string in the cell.
    Inline,
    /// The string result of a formula.
    Formula,
    /// The error of a formula.
    Failure,
    /// A date in ISO 8601 format.
    Date,
}

impl Kind {
    fn of(name: Option<&str>) -> Result<Kind, Unreadable> {
        Ok(match name {
            None | Some("n") => Kind::Number,
            Some("b") => Kind::Boolean,
            Some("s") => Kind::Shared,
            Some("inlineStr") => Kind::Inline,
            Some("str") => Kind::Formula,
            Some("e") => Kind::Failure,
            Some("d") => Kind::Date,
            Some(_) => return Err(Unreadable::Corrupt),
        })
    }
}

/// Whether a number keeps its digits. Spreadsheet programs write floats with at most 17 digits (1.1000000000000001). A
/// longer number, or an integer, comes from a program that writes exact decimals.
fn keeps_digits(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let is_plain = |digits: &str| !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    let is_json = is_plain(whole) && is_plain(fraction) && (whole == "0" || !whole.starts_with('0'));
    let digits = (whole.len() + fraction.len()) - unsigned.bytes().take_while(|it| *it == b'0').count();
    is_json && (!unsigned.contains('.') || digits > 17)
}

/// Whether a text is a date, or a date and a time without a zone: `2024-02-29T13:45:00`.
fn is_date(text: &str) -> bool {
    let shape: String = text.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect();
    shape.strip_prefix("0000-00-00").is_some_and(|time| {
        let seconds = time.strip_prefix("T00:00:00");
        time.is_empty()
            || seconds.is_some_and(|rest| {
                rest.strip_prefix('.').map_or(rest.is_empty(), |fraction| {
                    (1..=6).contains(&fraction.len()) && fraction.bytes().all(|it| it == b'0')
                })
            })
    })
}

/// The standard requires ascending rows. A repeated row would be imported twice.
fn require_ascending(expected: u32, row: u32) -> Result<u32, Unreadable> {
    if row < expected { Err(Unreadable::Corrupt) } else { Ok(row) }
}

/// Parses a number counted from 1, and returns it counted from 0.
fn index(number: &str, max: u32) -> Result<u32, Unreadable> {
    let number: u32 = number.parse().map_err(|_| Unreadable::Corrupt)?;
    if (1..=max).contains(&number) { Ok(number - 1) } else { Err(Unreadable::Corrupt) }
}

/// The row and the column of an address such as `B7`.
fn coordinates(address: &str) -> Result<(u32, u32), Unreadable> {
    let digits = address.find(|it: char| it.is_ascii_digit()).ok_or(Unreadable::Corrupt)?;
    let (letters, number) = address.split_at(digits);
    let mut column = 0_u32;
    for letter in letters.bytes() {
        if !letter.is_ascii_alphabetic() || column > MAX_COLUMNS {
            return Err(Unreadable::Corrupt);
        }
        column = column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1;
    }
    Ok((index(number, MAX_ROWS)?, column.checked_sub(1).ok_or(Unreadable::Corrupt)?))
}

/// The address of a cell, such as `B7`.
fn address(row: u32, column: u32) -> String {
    let (mut letters, mut rest) = (String::new(), column + 1);
    while rest > 0 {
        letters.insert(0, char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    format!("{letters}{}", u64::from(row) + 1)
}
