//! The format of numbers.

/// A format of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberFormat {
    /// The decimal separator.
    pub decimal: char,
    /// The thousands separator.
    pub thousands: Option<char>,
    /// Whether the minus sign can follow the digits.
    pub trailing_minus: bool,
}

impl Default for NumberFormat {
    fn default() -> NumberFormat {
        NumberFormat { decimal: '.', thousands: None, trailing_minus: false }
    }
}

/// Characters that look alike and that programs use interchangeably.
const SIMILAR: [&str; 2] = [" \u{a0}\u{202f}\u{2009}", "'\u{2019}"];

impl NumberFormat {
    /// Converts a number to its JSON form; `None` if the cell does not match.
    pub fn read(&self, cell: &str) -> Option<String> {
        let (unsigned, is_negative) = match (cell.strip_prefix('-'), cell.strip_suffix('-')) {
            (Some(rest), _) => (rest, true),
            (None, Some(rest)) if self.trailing_minus => (rest, true),
            _ => (cell, false),
        };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => unsigned.split_at(at),
            None => (unsigned, ""),
        };
        let (whole, fraction) = match mantissa.split_once(self.decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let mut number = String::with_capacity(cell.len() + 1);
        if is_negative {
            number.push('-');
        }
        for (position, group) in whole.split(|it| self.is_separator(it)).enumerate() {
            let is_first = position == 0;
            let is_alone = is_first && group.len() == whole.len();
            if !is_digits(group)
                || !is_alone && (is_first && group.len() > 3 || !is_first && group.len() != 3)
            {
                return None;
            }
            number.push_str(group);
        }
        if let Some(fraction) = fraction {
            if !is_digits(fraction) {
                return None;
            }
            number.push('.');
            number.push_str(fraction);
        }
        if let Some(digits) = exponent.strip_prefix(['e', 'E']) {
            is_digits(digits.strip_prefix(['+', '-']).unwrap_or(digits)).then_some(())?;
            number.push_str(exponent);
        }
        Some(number)
    }

    /// Whether a character is the thousands separator or looks like it.
    pub(super) fn is_separator(&self, character: char) -> bool {
        let Some(thousands) = self.thousands else { return false };
        let similar = SIMILAR.iter().find(|similar| similar.contains(thousands));
        similar.map_or(character == thousands, |similar| similar.contains(character))
    }

    /// Appends a JSON number in this format, without thousands separators, which no program requires.
    pub fn write(&self, out: &mut String, number: &str) {
        let (unsigned, is_negative) = number.strip_prefix('-').map_or((number, false), |rest| (rest, true));
        if is_negative && !self.trailing_minus {
            out.push('-');
        }
        out.extend(unsigned.chars().map(|it| if it == '.' { self.decimal } else { it }));
        if is_negative && self.trailing_minus {
            out.push('-');
        }
    }

    /// An example.
    pub fn example(&self) -> String {
        let thousands = self.thousands.map(String::from).unwrap_or_default();
        let minus = if self.trailing_minus { "-" } else { "" };
        format!("1{thousands}234{}50{minus}", self.decimal)
    }

    /// Whether a character can be a separator.
    pub fn is_mark(character: char) -> bool {
        !character.is_alphanumeric() && !character.is_control() && !"-+\"".contains(character)
    }
}
