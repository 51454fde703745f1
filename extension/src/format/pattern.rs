//! Patterns of dates and times, such as `DD.MM.YYYY HH:mm`.

use std::fmt::Write as _;

/// The fields of patterns, for messages.
pub const TOKENS: &str =
    "YYYY, MM or M, DD or D, HH or H, hh or h with A for AM and PM, mm, ss and S to SSSSSS";

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Year,
    Month(Width),
    Day(Width),
    /// From 0 to 23.
    Hour(Width),
    /// From 1 to 12.
    HalfHour(Width),
    Minute,
    Second,
    /// A fraction of a second with this number of digits.
    Fraction(usize),
    /// AM or PM.
    Half,
    Literal(char),
}

/// The minimum number of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    One,
    Two,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    parts: Vec<Part>,
}

/// The fields of a date and a time of day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// The year.
    pub year: u32,
    /// The month.
    pub month: u32,
    /// The day.
    pub day: u32,
    /// The hour, from 0 to 23.
    pub hour: u32,
    /// The minute.
    pub minute: u32,
    /// The second.
    pub second: u32,
    /// The microsecond.
    pub microsecond: u32,
}

impl Pattern {
    /// Parses a pattern of dates, or with `has_time` of times. The error is a message for the caller.
    pub fn parse(text: &str, has_time: bool) -> Result<Pattern, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = rest.len() - rest.trim_start_matches(first).len();
            let run = &rest[..length];
            let (part, used) = match (run, first) {
                ("YYYY", _) => (Part::Year, length),
                ("MM", _) => (Part::Month(Width::Two), length),
                ("M", _) => (Part::Month(Width::One), length),
                ("DD", _) => (Part::Day(Width::Two), length),
                ("D", _) => (Part::Day(Width::One), length),
                ("HH", _) => (Part::Hour(Width::Two), length),
                ("H", _) => (Part::Hour(Width::One), length),
                ("hh", _) => (Part::HalfHour(Width::Two), length),
                ("h", _) => (Part::HalfHour(Width::One), length),
                ("mm", _) => (Part::Minute, length),
                ("ss", _) => (Part::Second, length),
                ("A", _) => (Part::Half, length),
                (_, 'S') if length <= 6 => (Part::Fraction(length), length),
                (_, 'T') if has_time && length == 1 => (Part::Literal('T'), length),
                _ if !first.is_alphanumeric() && !first.is_control() && !"\"'+".contains(first) => {
                    (Part::Literal(first), first.len_utf8())
                }
                _ => return Err(format!("{run:?} is not a pattern field")),
            };
            parts.push(part);
            rest = &rest[used..];
        }
        let pattern = Pattern { text: text.to_owned(), parts };
        pattern.check(has_time).map(|()| pattern)
    }

    /// The source text.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn check(&self, has_time: bool) -> Result<(), String> {
        let count = |requested: fn(&Part) -> bool| self.parts.iter().filter(|part| requested(part)).count();
        let once = [
            ("a year", count(|it| matches!(it, Part::Year)), true),
            ("a month", count(|it| matches!(it, Part::Month(_))), true),
            ("a day", count(|it| matches!(it, Part::Day(_))), true),
            ("an hour", count(|it| matches!(it, Part::Hour(_) | Part::HalfHour(_))), has_time),
            ("a minute", count(|it| matches!(it, Part::Minute)), has_time),
        ];
        let optional = [
            ("seconds", count(|it| matches!(it, Part::Second))),
            ("a fraction", count(|it| matches!(it, Part::Fraction(_)))),
            ("AM and PM", count(|it| matches!(it, Part::Half))),
        ];
        for (name, count, is_requested) in once {
            match (count, is_requested) {
                (0, true) => return Err(format!("the pattern lacks {name}")),
                (1, true) | (0, false) => {}
                (1, false) => return Err(format!("a date pattern cannot contain {name}")),
                _ => return Err(format!("the pattern has {name} more than once")),
            }
        }
        for (name, count) in optional {
            if count > 1 {
                return Err(format!("the pattern has {name} more than once"));
            }
            if count == 1 && !has_time {
                return Err(format!("a date pattern cannot contain {name}"));
            }
        }
        let has_half = optional[2].1 == 1;
        if has_half != (count(|it| matches!(it, Part::HalfHour(_))) == 1) {
            return Err("hh and A belong together".to_owned());
        }
        for pair in self.parts.windows(2) {
            let is_open = matches!(
                pair[0],
                Part::Month(Width::One)
                    | Part::Day(Width::One)
                    | Part::Hour(Width::One)
                    | Part::HalfHour(Width::One)
            );
            if is_open && !matches!(pair[1], Part::Literal(_) | Part::Half) {
                return Err("M, D, H and h have one or two digits, so a separator must follow".to_owned());
            }
        }
        let is_after_seconds =
            |at: usize| matches!(self.parts[..at], [.., Part::Second] | [.., Part::Second, Part::Literal(_)]);
        match self.parts.iter().position(|it| matches!(it, Part::Fraction(_))) {
            Some(at) if !is_after_seconds(at) => Err("a fraction must follow the seconds".to_owned()),
            _ => Ok(()),
        }
    }

    /// Parses a string. The result can be an invalid date or time.
    pub fn read(&self, text: &str) -> Option<Fields> {
        let mut rest = text;
        let mut fields = Fields::default();
        let mut is_afternoon = None;
        let digits = |rest: &mut &str, min: usize, max: usize| {
            let count = rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
            let (number, additional) = rest.split_at(count);
            *rest = additional;
            (count >= min).then(|| number.parse::<u32>().ok())?
        };
        let min = |width: Width| if width == Width::Two { 2 } else { 1 };
        for part in &self.parts {
            match *part {
                Part::Year => fields.year = digits(&mut rest, 4, 4)?,
                Part::Month(width) => fields.month = digits(&mut rest, min(width), 2)?,
                Part::Day(width) => fields.day = digits(&mut rest, min(width), 2)?,
                Part::Hour(width) => fields.hour = digits(&mut rest, min(width), 2)?,
                Part::HalfHour(width) => {
                    let hour = digits(&mut rest, min(width), 2)?;
                    fields.hour = (1..=12).contains(&hour).then_some(hour % 12)?;
                }
                Part::Minute => fields.minute = digits(&mut rest, 2, 2)?,
                Part::Second => fields.second = digits(&mut rest, 2, 2)?,
                Part::Fraction(count) => {
                    fields.microsecond = digits(&mut rest, count, count)? * 10_u32.pow(6 - count as u32);
                }
                Part::Half => {
                    let (half, additional) = rest.split_at_checked(2)?;
                    is_afternoon = match half.to_ascii_uppercase().as_str() {
                        "AM" => Some(false),
                        "PM" => Some(true),
                        _ => return None,
                    };
                    rest = additional;
                }
                Part::Literal(literal) => rest = rest.strip_prefix(literal)?,
            }
        }
        if is_afternoon == Some(true) {
            fields.hour += 12;
        }
        rest.is_empty().then_some(fields)
    }

    /// Appends the fields that the pattern contains.
    pub fn write(&self, out: &mut String, fields: Fields) {
        let two = |out: &mut String, number: u32, width: Width| match width {
            Width::Two => write!(out, "{number:02}"),
            Width::One => write!(out, "{number}"),
        };
        for part in &self.parts {
            // Writing to a String cannot fail.
            let _ = match *part {
                Part::Year => write!(out, "{:04}", fields.year),
                Part::Month(width) => two(out, fields.month, width),
                Part::Day(width) => two(out, fields.day, width),
                Part::Hour(width) => two(out, fields.hour, width),
                Part::HalfHour(width) => two(out, (fields.hour + 11) % 12 + 1, width),
                Part::Minute => two(out, fields.minute, Width::Two),
                Part::Second => two(out, fields.second, Width::Two),
                Part::Fraction(count) => {
                    write!(out, "{:0count$}", fields.microsecond / 10_u32.pow(6 - count as u32))
                }
                Part::Half => write!(out, "{}", if fields.hour < 12 { "AM" } else { "PM" }),
                Part::Literal(literal) => write!(out, "{literal}"),
            };
        }
    }
}
