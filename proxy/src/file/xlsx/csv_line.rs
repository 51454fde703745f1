//! A row → a line of CSV, for files of rejected rows, which can be imported with the same format.

use csv::WriterBuilder;
use serde_json::Value;
use serde_json::value::RawValue;

/// Characters with which spreadsheet programs begin a formula. An import removes the `'` before them.
const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n'];

/// The cells of a row, separated by commas and padded to `width`, without a line break. `format` is the format of the import.
pub(crate) fn csv_line(row: &str, width: usize, format: Option<&RawValue>) -> String {
    let format: Value = format.and_then(|format| serde_json::from_str(format.get()).ok()).unwrap_or_default();
    let cells: Vec<&RawValue> = serde_json::from_str(row).unwrap_or_default();
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    // Writing to memory cannot fail.
    let mut shared_strings: Vec<String> = cells.iter().map(|cell| formatted(cell.get(), &format)).collect();
    shared_strings.resize(shared_strings.len().max(width), String::new());
    let _ = writer.write_record(shared_strings);
    let line = String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default();
    line.trim_end_matches('\n').to_owned()
}

/// A JSON cell in the format of an import.
fn formatted(cell: &str, format: &Value) -> String {
    let plain = csv_text(cell);
    let word = |name: &str| match &format[name] {
        Value::String(word) => Some(word.clone()),
        words => words[0].as_str().map(str::to_owned),
    };
    match cell.as_bytes().first() {
        Some(b'-' | b'0'..=b'9') => match word("decimal") {
            Some(decimal) => plain.replace('.', &decimal),
            None => plain,
        },
        Some(b't') => word("true").unwrap_or(plain),
        Some(b'f') => word("false").unwrap_or(plain),
        Some(b'{') => {
            let pattern = word(if plain.len() > DAY { "datetime" } else { "date" });
            pattern.and_then(|pattern| by_pattern(&plain, &pattern)).unwrap_or(plain)
        }
        _ if plain.starts_with(FORMULA_STARTS) => format!("'{plain}"),
        _ => plain,
    }
}

/// The length of `YYYY-MM-DD`.
const DAY: usize = 10;

/// Formats a date, or a date and time (`2024-02-29T13:45:30.5`), with a pattern. `None` if the pattern has a 12-hour
/// clock or would lose a part.
fn by_pattern(date: &str, pattern: &str) -> Option<String> {
    let (day, time) = date.split_at_checked(DAY)?;
    let [year, month, day] = day.split('-').collect::<Vec<_>>().try_into().ok()?;
    let time = time.trim_start_matches('T');
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut clock = clock.split(':');
    let mut next = || clock.next().filter(|it| !it.is_empty()).unwrap_or("00");
    let (hour, minute, second) = (next(), next(), next());
    if pattern.contains(['h', 'A']) || second != "00" && !pattern.contains("ss") || !fraction.is_empty() {
        return None;
    }
    let short = |digits: &str| digits.trim_start_matches('0').to_owned();
    let hour_short = if hour == "00" { "0".to_owned() } else { short(hour) };
    let tokens = [
        ("YYYY", year.to_owned()),
        ("MM", month.to_owned()),
        ("M", short(month)),
        ("DD", day.to_owned()),
        ("D", short(day)),
        ("HH", hour.to_owned()),
        ("H", hour_short),
        ("mm", minute.to_owned()),
        ("ss", second.to_owned()),
    ];
    let (mut out, mut rest) = (String::new(), pattern);
    while let Some(first) = rest.chars().next() {
        let token = tokens.iter().find(|(token, _)| rest.starts_with(token));
        let length = token.map_or(first.len_utf8(), |(token, _)| token.len());
        out.push_str(token.map_or(&rest[..length], |(_, value)| value));
        rest = &rest[length..];
    }
    Some(out)
}

/// A JSON cell as a CSV cell.
pub(super) fn csv_text(cell: &str) -> String {
    match serde_json::from_str(cell) {
        // Copied, because a float could lose digits.
        Ok(Value::Number(_)) => cell.to_owned(),
        Ok(cell) => text(&cell),
        Err(_) => String::new(),
    }
}

fn text(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            let member = |name: &str| members.get(name).and_then(Value::as_str);
            let date = member("date").map(|date| date.strip_suffix("T00:00:00").unwrap_or(date));
            date.or(member("failure")).unwrap_or_default().to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_row_is_in_the_format_of_the_import() {
        let row =
            r#"["a",1.234,-5,true,{"date":"2024-02-09T00:00:00"},{"date":"2024-02-09T07:05:30"},"=x",null]"#;
        assert_eq!(csv_line(row, 9, None), "a,1.234,-5,true,2024-02-09,2024-02-09T07:05:30,'=x,,");
        let format = r#"{"decimal":",","thousands":".","true":["ja"],"false":["nein"],"date":"D.M.YYYY","datetime":"DD.MM.YYYY H:mm:ss"}"#;
        let format = serde_json::from_str(format).expect("JSON");
        let expected = r#"a,"1,234",-5,ja,9.2.2024,09.02.2024 7:05:30,'=x,,"#;
        assert_eq!(csv_line(row, 9, Some(format)), expected);
        assert_eq!(by_pattern("2024-02-09T07:05:30", "YYYY-MM-DD HH:mm"), None);
    }
}
