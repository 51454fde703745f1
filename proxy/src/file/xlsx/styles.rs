//! The number formats of a workbook, which determine which numbers are dates or times.

use std::collections::HashMap;

use quick_xml::events::Event;

use super::error::PartError;
use super::xml::{Xml, attribute};

/// The meaning of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    Number,
    /// A date, with or without a time.
    Date,
    /// A time of day. The number may contain a date that is not displayed.
    Time,
    /// A duration.
    Duration,
}

/// The meaning of numbers for each style.
pub(super) struct Styles(Vec<NumberKind>);

/// A workbook without styles has one style, in which numbers are plain numbers.
impl Default for Styles {
    fn default() -> Styles {
        Styles(vec![NumberKind::Number])
    }
}

impl Styles {
    pub(super) fn read(mut xml: Xml<'_>) -> Result<Styles, PartError> {
        let (mut formats, mut styles) = (HashMap::new(), Vec::new());
        let mut is_of_cells = false;
        loop {
            match xml.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "numFmt" => {
                        let id = attribute(&element, "numFmtId")?.unwrap_or_default();
                        let code = attribute(&element, "formatCode")?.unwrap_or_default();
                        formats.insert(id.parse::<u32>().map_err(|_| PartError::Form)?, of_code(&code));
                    }
                    "cellXfs" => is_of_cells = true,
                    "xf" if is_of_cells => {
                        let id = attribute(&element, "numFmtId")?.and_then(|id| id.parse().ok()).unwrap_or(0);
                        styles.push(formats.get(&id).copied().unwrap_or_else(|| built_in(id)));
                    }
                    _ => {}
                },
                Event::End(element) if element.local_name().as_ref() == "cellXfs" => is_of_cells = false,
                Event::Eof if styles.is_empty() => return Ok(Styles::default()),
                Event::Eof => return Ok(Styles(styles)),
                _ => {}
            }
        }
    }

    /// The meaning of a number in a cell with this style; `None` if the style does not exist.
    pub(super) fn number_kind(&self, style: usize) -> Option<NumberKind> {
        self.0.get(style).copied()
    }
}

/// The built-in formats (ECMA-376, 18.8.30).
fn built_in(id: u32) -> NumberKind {
    match id {
        14..=17 | 22 | 27..=31 | 34..=36 | 50..=58 => NumberKind::Date,
        18..=21 | 32 | 33 | 45 | 47 => NumberKind::Time,
        46 => NumberKind::Duration,
        _ => NumberKind::Number,
    }
}

/// Parses a format code such as `dd.mm.yyyy`. The section for positive numbers decides.
fn of_code(code: &str) -> NumberKind {
    let (mut has_day, mut has_month, mut has_time) = (false, false, false);
    let mut characters = code.chars();
    while let Some(character) = characters.next() {
        match character.to_ascii_lowercase() {
            '"' => drop(characters.by_ref().find(|it| *it == '"')),
            // The next character is a literal, a width or a fill character.
            '\\' | '_' | '*' => drop(characters.next()),
            '[' => {
                let inner: String = characters.by_ref().take_while(|it| *it != ']').collect();
                let is_unit = |unit: char| inner.chars().all(|it| it.eq_ignore_ascii_case(&unit));
                if !inner.is_empty() && ['h', 'm', 's'].into_iter().any(is_unit) {
                    return NumberKind::Duration;
                }
            }
            ';' => break,
            'y' | 'd' => has_day = true,
            'm' => has_month = true,
            'h' | 's' => has_time = true,
            _ => {}
        }
    }
    match (has_day, has_time, has_month) {
        (true, ..) | (_, false, true) => NumberKind::Date,
        (_, true, _) => NumberKind::Time,
        _ => NumberKind::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_format_determines_the_type() {
        for (code, number_kind) in [
            ("General", NumberKind::Number),
            ("0.00E+00", NumberKind::Number),
            ("#,##0.00\\ [$CHF-807]", NumberKind::Number),
            ("0.0\" days\"", NumberKind::Number),
            ("_(* #,##0_);_(* (#,##0);_(@_)", NumberKind::Number),
            ("[Red]0;yyyy", NumberKind::Number),
            ("0\\d", NumberKind::Number),
            ("@", NumberKind::Number),
            ("", NumberKind::Number),
            ("dd.mm.yyyy", NumberKind::Date),
            ("[$-407]D. MMMM YYYY;@", NumberKind::Date),
            ("mmm", NumberKind::Date),
            ("yyyy\\-mm\\-dd\\ hh:mm:ss", NumberKind::Date),
            ("h:mm AM/PM", NumberKind::Time),
            ("mm:ss.0", NumberKind::Time),
            ("[h]:mm:ss", NumberKind::Duration),
            ("[MM]:ss", NumberKind::Duration),
        ] {
            assert_eq!(of_code(code), number_kind, "{code}");
        }
        assert_eq!(
            [0, 14, 20, 46, 49].map(built_in),
            [
                NumberKind::Number,
                NumberKind::Date,
                NumberKind::Time,
                NumberKind::Duration,
                NumberKind::Number
            ]
        );
    }
}
