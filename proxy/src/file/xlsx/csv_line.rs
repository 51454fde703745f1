//! A row → a line of CSV, for files of refused rows.

use csv::WriterBuilder;
use serde_json::Value;
use serde_json::value::RawValue;

/// The cells of a row, at least so many, with a comma between them and no line end.
pub(crate) fn csv_line(row: &str, width: usize) -> String {
    let cells: Vec<&RawValue> = serde_json::from_str(row).unwrap_or_default();
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    // Nothing can fail in memory.
    let mut texts: Vec<String> = cells.iter().map(|cell| csv_text(cell.get())).collect();
    texts.resize(texts.len().max(width), String::new());
    let _ = writer.write_record(texts);
    let line = String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default();
    line.trim_end_matches('\n').to_owned()
}

/// A cell of JSON as a cell of CSV.
pub(super) fn csv_text(cell: &str) -> String {
    match serde_json::from_str(cell) {
        // As it is written: a float might drop digits.
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
