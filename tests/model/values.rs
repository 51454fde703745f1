//! Values: their types, random ones, and their forms in JSON.

use super::random::Random;
use super::time::{random_day, random_time, write_date, write_time};
use super::world::Template;
use serde_json::json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Double,
    List,
    Options,
    Day,
    Time,
    Flag,
    Reference(Template),
    Id,
    Key,
    TemplateSlug,
    TemplateId,
}

/// A value; a number is in units of 10⁻¹², which holds every digit of the model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(i128),
    Double(f64),
    List(Vec<String>),
    Day(i64),
    Time(i64),
    Flag(bool),
    Id(u128),
}

pub(crate) fn parse_id(text: &str) -> u128 {
    uuid::Uuid::parse_str(text).expect("an id").as_u128()
}

pub(crate) fn write_id(id: u128) -> String {
    uuid::Uuid::from_u128(id).to_string()
}

const STRINGS: [&str; 30] = [
    "",
    "",
    "a",
    "A",
    "ab",
    "AB",
    "a_b",
    "axb",
    "a%b",
    "%",
    "_",
    "\\",
    "a\\b",
    "\\%",
    "it's",
    "say \"x\"",
    "Zürich",
    "ZÜRICH",
    "zürich",
    "😀 x",
    "a,b",
    "[x]",
    "{\"a\": 1}",
    " a",
    "a ",
    "null",
    "$1",
    "É\n",
    "\u{7f}",
    "b",
];

/// Suffixes after a prefix as long as the one that an index stores.
const LONG: [(&str, usize, &[&str]); 2] = [("x", 199, &["", "x", "xa", "xb"]), ("é", 200, &["", "é", "a"])];

pub(crate) fn random_text(random: &mut Random) -> String {
    match LONG.get(random.below(12)) {
        Some((letter, times, ends)) => format!("{}{}", letter.repeat(*times), random.pick(ends)),
        None => (*random.pick(&STRINGS)).to_owned(),
    }
}

/// The elements of lists.
const ELEMENTS: [&str; 9] = ["red", "blue", "dark, blue", "27\" wheels", "", "a'b", "É", "\\x", "NULL"];
const OPTIONS: [&str; 3] = ["gold", "silver", "b,c"];

/// All text values and list elements of the model.
pub(crate) fn strings() -> Vec<String> {
    let long = LONG
        .iter()
        .flat_map(|(letter, times, ends)| ends.iter().map(|end| format!("{}{end}", letter.repeat(*times))));
    STRINGS.iter().chain(&ELEMENTS).chain(&OPTIONS).map(|text| (*text).to_owned()).chain(long).collect()
}

/// A random value that an attribute of this kind can have.
pub(crate) fn random_value(kind: Kind, random: &mut Random) -> Value {
    const ONE: i128 = 1_000_000_000_000;
    const NUMBERS: [i128; 15] = [
        0,
        1,
        -1,
        ONE,
        -ONE,
        ONE / 10,
        ONE / 10 + 1,
        5 * ONE / 2,
        10 * ONE,
        -10 * ONE,
        9_007_199_254_740_992 * ONE,
        9_007_199_254_740_993 * ONE,
        12_345_678_901_234_567_890_123 * ONE + 45 * ONE / 100,
        12_345_678_901_234_567_890_123 * ONE + 46 * ONE / 100,
        -12_345_678_901_234_567_890_123 * ONE,
    ];
    const DOUBLES: [f64; 12] =
        [0.0, -0.0, 1.0, -1.0, 0.1, 0.30000000000000004, 0.3, 1e-7, 1e10, -2.5, 1e16, 123456.789];
    let mut some = |from: &[&str]| {
        let count = random.below(4);
        let mut list: Vec<String> = (0..count).map(|_| (*random.pick(from)).to_owned()).collect();
        list.truncate(3);
        Value::List(list)
    };
    match kind {
        Kind::List => some(&ELEMENTS),
        Kind::Options => some(&OPTIONS),
        Kind::Number => Value::Number(*random.pick(&NUMBERS)),
        Kind::Double => Value::Double(*random.pick(&DOUBLES)),
        Kind::Day => Value::Day(random_day(random)),
        Kind::Time => Value::Time(random_time(random)),
        Kind::Flag => Value::Flag(random.one_in(2)),
        _ => Value::Text(random_text(random)),
    }
}

/// A value as JSON.
pub(crate) fn write(value: &Value, random: &mut Random) -> String {
    match value {
        Value::Text(text) => json!(text).to_string(),
        Value::Number(units) => write_number(*units, random),
        Value::Double(number) => format!("{number:?}"),
        Value::List(list) => json!(list).to_string(),
        Value::Day(day) => json!(write_date(*day)).to_string(),
        Value::Time(at) => json!(write_time(*at, random)).to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Id(id) => json!(write_id(*id)).to_string(),
    }
}

/// A number in one of its forms in JSON.
fn write_number(units: i128, random: &mut Random) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let digits = format!("{:013}", units.unsigned_abs());
    if random.one_in(5) {
        return format!(
            "{sign}{}e-12",
            digits.trim_start_matches('0').get(..).filter(|it| !it.is_empty()).unwrap_or("0")
        );
    }
    let (whole, fraction) = digits.split_at(digits.len() - 12);
    let fraction = if random.one_in(3) { fraction } else { fraction.trim_end_matches('0') };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}
