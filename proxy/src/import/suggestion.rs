//! The format that a file may be in: the database says of each portion which formats fit the cells of each column; those that fit
//! all portions and all columns are left here.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

/// What the database says of a column.
#[derive(Deserialize)]
pub(crate) struct Forms {
    column: String,
    /// Columns of one kind share a format.
    kind: String,
    /// Texts in place of no value.
    nulls: Vec<String>,
    /// The formats that fit, the first of which is to be preferred, each with a hash of the values that it reads.
    fits: Vec<(Value, u64)>,
}

/// The format without members, in which the file was read.
const PLAIN: &str = "{}";

/// A format, and what stands for the values that it reads from the column.
type Fit = (String, Vec<u64>);

/// A column.
struct Column {
    kind: String,
    fits: Vec<Fit>,
}

impl Column {
    fn is_plain(&self) -> bool {
        self.fits.iter().any(|(format, _)| format == PLAIN)
    }
}

/// What was found so far.
#[derive(Default)]
pub(crate) struct Suggestion {
    columns: BTreeMap<String, Column>,
    /// Texts in place of no value.
    nulls: BTreeSet<String>,
    /// The same texts where they are values: the columns of each.
    texts: BTreeMap<String, BTreeSet<String>>,
}

/// What comes of it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Suggested {
    /// The format.
    pub(crate) format: Option<Value>,
    /// What the cells do not show.
    pub(crate) doubts: Vec<String>,
}

impl Suggestion {
    /// Adds what was found in a portion.
    pub(crate) fn add(&mut self, forms: Vec<Forms>) {
        for Forms { column, kind, nulls, fits } in forms {
            if kind == "text" {
                for text in nulls {
                    self.texts.entry(text).or_default().insert(column.clone());
                }
                continue;
            }
            self.nulls.extend(nulls);
            let fits = fits.into_iter().map(|(format, hash)| (format.to_string(), hash));
            match self.columns.get_mut(&column) {
                None => {
                    let fits = fits.map(|(format, hash)| (format, vec![hash])).collect();
                    self.columns.insert(column, Column { kind, fits });
                }
                Some(known) => {
                    let new: BTreeMap<String, u64> = fits.collect();
                    known.fits.retain_mut(|(format, hashes)| match new.get(format) {
                        Some(hash) => {
                            // The values of all portions in one number: only equality counts.
                            let before = hashes[0];
                            hashes[0] = before.rotate_left(5).wrapping_mul(0x517c_c1b7_2722_0a95) ^ hash;
                            true
                        }
                        None => false,
                    });
                }
            }
        }
    }

    /// The format in which all columns are read, if there is one and some are not read without.
    pub(crate) fn end(self) -> Suggested {
        let mut suggested = Suggested::default();
        let mut members = Map::new();
        let kinds: BTreeSet<&str> = self.columns.values().map(|column| column.kind.as_str()).collect();
        for kind in kinds {
            let of_kind: Vec<(&String, &Column)> =
                self.columns.iter().filter(|(_, column)| column.kind == kind).collect();
            if of_kind.iter().all(|(_, column)| column.is_plain()) {
                continue;
            }
            // Words for true and false of several columns do not exclude each other, nor do those of no format.
            let has_plain = of_kind.iter().any(|(_, column)| column.is_plain());
            let groups: Vec<Vec<(&String, &Column)>> = match kind {
                "boolean" => {
                    of_kind.into_iter().filter(|(_, it)| !it.is_plain()).map(|it| vec![it]).collect()
                }
                _ => vec![of_kind],
            };
            for group in groups {
                match choices(&group).as_slice() {
                    [] => {}
                    [only] => merge(&mut members, only),
                    several => suggested.doubts.push(doubt(&group, several)),
                }
            }
            if kind == "boolean" && has_plain && members.contains_key("true") {
                merge(&mut members, r#"{"true": ["true"], "false": ["false"]}"#);
            }
        }
        if members.contains_key("datetime") && !members.contains_key("time_zone") {
            suggested.doubts.push(
                "the times name no time zone: add it to the format, such as \"time_zone\": \"Europe/Zurich\""
                    .to_owned(),
            );
        }
        let mut nulls = self.nulls;
        nulls.retain(|text| match self.texts.get(text) {
            None => true,
            Some(columns) => {
                suggested.doubts.push(text_or_null(text, columns));
                false
            }
        });
        if !nulls.is_empty() {
            let texts = std::iter::once(String::new()).chain(nulls);
            members.insert("null".to_owned(), texts.map(Value::from).collect());
        }
        suggested.format = (!members.is_empty()).then_some(Value::Object(members));
        suggested
    }
}

/// The formats that fit all columns: of those that read the same values, the first.
fn choices(columns: &[(&String, &Column)]) -> Vec<String> {
    let mut found: Vec<Fit> = Vec::new();
    let Some(((_, first), others)) = columns.split_first() else { return Vec::new() };
    for (format, hashes) in &first.fits {
        let further = others.iter().map(|(_, column)| column.fits.iter().find(|(it, _)| it == format));
        let Some(further) = further.collect::<Option<Vec<&Fit>>>() else { continue };
        let values: Vec<u64> =
            hashes.iter().chain(further.iter().flat_map(|(_, hashes)| hashes)).copied().collect();
        if !found.iter().any(|(_, known)| *known == values) {
            found.push((format.clone(), values));
        }
    }
    found.into_iter().map(|(format, _)| format).collect()
}

/// Adds the members of a format; texts of the same member come together.
fn merge(members: &mut Map<String, Value>, format: &str) {
    let Ok(Value::Object(format)) = serde_json::from_str(format) else { return };
    for (name, value) in format {
        match (members.get_mut(&name), value) {
            (Some(Value::Array(known)), Value::Array(new)) => {
                for text in new {
                    if !known.contains(&text) {
                        known.push(text);
                    }
                }
            }
            (_, value) => {
                members.insert(name, value);
            }
        }
    }
}

fn doubt(columns: &[(&String, &Column)], formats: &[String]) -> String {
    let names: Vec<&str> =
        columns.iter().filter(|(_, it)| !it.is_plain()).map(|(name, _)| name.as_str()).collect();
    let columns = if names.len() == 1 { "column" } else { "columns" };
    format!(
        "the cells of {columns} {} fit several formats, which read other values from them: {}; say which it is",
        names.join(", "),
        formats.join(" or ")
    )
}

fn text_or_null(text: &str, columns: &BTreeSet<String>) -> String {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    format!(
        "{text:?} stands where no value can be meant, and is a text in {}: the format has one null for all columns; write a ' \
         before the text, or an empty cell for no value",
        columns.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn suggested(portions: &[Value]) -> Suggested {
        let mut all = Suggestion::default();
        for portion in portions {
            all.add(serde_json::from_value(portion.clone()).expect("forms"));
        }
        all.end()
    }

    fn column(name: &str, kind: &str, fits: &Value) -> Value {
        json!({"column": name, "kind": kind, "nulls": [], "fits": fits})
    }

    #[test]
    fn format_fits_all_portions_of_a_column() {
        let day_first = json!([{"date": "D.M.YYYY"}, 1]);
        let month_first = json!([{"date": "M.D.YYYY"}, 2]);
        let both = json!([column("born", "date", &json!([day_first, month_first]))]);
        let one = json!([column("born", "date", &json!([day_first]))]);
        for portions in [[both.clone(), one.clone()], [one, both.clone()]] {
            assert_eq!(suggested(&portions).format, Some(json!({"date": "D.M.YYYY"})));
        }
        let doubtful = suggested(&[both.clone(), both]);
        assert_eq!(doubtful.format, None);
        assert!(doubtful.doubts[0].contains("column born fit several"), "{doubtful:?}");
        assert!(doubtful.doubts[0].contains(r#"{"date":"D.M.YYYY"} or {"date":"M.D.YYYY"}"#), "{doubtful:?}");
    }

    #[test]
    fn another_column_decides_between_formats() {
        let day_first = json!([{"date": "D.M.YYYY"}, 1]);
        let month_first = json!([{"date": "M.D.YYYY"}, 2]);
        let file = json!([
            column("born", "date", &json!([day_first, month_first])),
            column("died", "date", &json!([month_first])),
        ]);
        assert_eq!(suggested(&[file]).format, Some(json!({"date": "M.D.YYYY"})));
    }

    #[test]
    fn no_format_is_needed_where_all_cells_are_read_without() {
        let number = json!([[{}, 1], [{"decimal": "."}, 1]]);
        assert_eq!(suggested(&[json!([column("a", "number", &number)])]), Suggested::default());
        // One column writes a point and another a comma: no format fits both.
        let comma = json!([[{"decimal": ","}, 3]]);
        let file = json!([column("a", "number", &number), column("b", "number", &comma)]);
        assert_eq!(suggested(&[file]).format, None);
    }

    #[test]
    fn members_of_all_kinds_come_together() {
        let words = |yes: &str, no: &str| json!([[{"true": [yes], "false": [no]}, 1]]);
        let mut number = column(
            "price",
            "number",
            &json!([[{"decimal": ","}, 3], [{"decimal": ",", "thousands": "."}, 3]]),
        );
        number["nulls"] = json!(["n/a"]);
        let file = json!([
            column("a", "boolean", &words("ja", "nein")),
            column("b", "boolean", &words("yes", "no")),
            column("c", "boolean", &json!([[{}, 1]])),
            column("at", "datetime", &json!([[{"datetime": "D.M.YYYY H:mm"}, 4]])),
            number,
        ]);
        let found = suggested(&[file]);
        assert_eq!(
            found.format,
            Some(
                json!({"true": ["ja", "yes", "true"], "false": ["nein", "no", "false"], "datetime": "D.M.YYYY H:mm", "decimal": ",",
                "null": ["", "n/a"]})
            )
        );
        assert!(found.doubts.len() == 1 && found.doubts[0].contains("no time zone"), "{found:?}");
    }

    #[test]
    fn text_of_another_column_is_not_suggested_as_null() {
        let mut visits = column("visits", "number", &json!([[{}, 1]]));
        visits["nulls"] = json!(["-", "NA"]);
        let country = json!({"column": "country", "kind": "text", "nulls": ["NA"], "fits": []});
        for file in [json!([visits.clone(), country.clone()]), json!([country, visits])] {
            let found = suggested(&[file]);
            assert_eq!(found.format, Some(json!({"null": ["", "-"]})));
            assert!(found.doubts.len() == 1 && found.doubts[0].contains("\"NA\""), "{found:?}");
            assert!(found.doubts[0].contains("is a text in country"), "{found:?}");
        }
    }
}
