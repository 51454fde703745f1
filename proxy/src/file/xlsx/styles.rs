//! The number formats of a workbook, which determine which numbers are dates or times.

use std::collections::HashMap;

use quick_xml::events::Event;

use super::fault::Fault;
use super::xml::{Xml, attribute};

/// The meaning of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Number,
    /// A date, with or without a time.
    Date,
    /// A time of day. The number may contain a date that is not displayed.
    Time,
    /// A duration.
    Duration,
}

/// The meaning of numbers for each style.
pub(super) struct Styles(Vec<Shown>);

/// A workbook without styles has one style, in which numbers are plain numbers.
impl Default for Styles {
    fn default() -> Styles {
        Styles(vec![Shown::Number])
    }
}

impl Styles {
    pub(super) fn read(mut xml: Xml<'_>) -> Result<Styles, Fault> {
        let (mut formats, mut styles) = (HashMap::new(), Vec::new());
        let mut is_of_cells = false;
        loop {
            match xml.next()? {
                Event::Start(element) => match element.local_name().as_ref() {
                    "numFmt" => {
                        let id = attribute(&element, "numFmtId")?.unwrap_or_default();
                        let code = attribute(&element, "formatCode")?.unwrap_or_default();
                        formats.insert(id.parse::<u32>().map_err(|_| Fault::Form)?, of_code(&code));
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
    pub(super) fn shown(&self, style: usize) -> Option<Shown> {
        self.0.get(style).copied()
    }
}

/// The built-in formats (ECMA-376, 18.8.30).
fn built_in(id: u32) -> Shown {
    match id {
        14..=17 | 22 | 27..=31 | 34..=36 | 50..=58 => Shown::Date,
        18..=21 | 32 | 33 | 45 | 47 => Shown::Time,
        46 => Shown::Duration,
        _ => Shown::Number,
    }
}

/// Parses a format code such as `dd.mm.yyyy`. The section for positive numbers decides.
fn of_code(code: &str) -> Shown {
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
                    return Shown::Duration;
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
        (true, ..) | (_, false, true) => Shown::Date,
        (_, true, _) => Shown::Time,
        _ => Shown::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_format_determines_the_type() {
        for (code, shown) in [
            ("General", Shown::Number),
            ("0.00E+00", Shown::Number),
            ("#,##0.00\\ [$CHF-807]", Shown::Number),
            ("0.0\" days\"", Shown::Number),
            ("_(* #,##0_);_(* (#,##0);_(@_)", Shown::Number),
            ("[Red]0;yyyy", Shown::Number),
            ("0\\d", Shown::Number),
            ("@", Shown::Number),
            ("", Shown::Number),
            ("dd.mm.yyyy", Shown::Date),
            ("[$-407]D. MMMM YYYY;@", Shown::Date),
            ("mmm", Shown::Date),
            ("yyyy\\-mm\\-dd\\ hh:mm:ss", Shown::Date),
            ("h:mm AM/PM", Shown::Time),
            ("mm:ss.0", Shown::Time),
            ("[h]:mm:ss", Shown::Duration),
            ("[MM]:ss", Shown::Duration),
        ] {
            assert_eq!(of_code(code), shown, "{code}");
        }
        assert_eq!(
            [0, 14, 20, 46, 49].map(built_in),
            [Shown::Number, Shown::Date, Shown::Time, Shown::Duration, Shown::Number]
        );
    }
}
