//! The suggested format of a file. For each chunk, the database returns the formats that match the cells of each
//! column. This module determines the formats that match all chunks and all columns.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::preview::{Cell, Choice, Reading};

/// The result of the database for a column.
#[derive(Deserialize)]
pub(crate) struct Forms {
    column: String,
    /// Columns of one kind share a format.
    kind: String,
    /// Texts that mean no value.
    nulls: Vec<String>,
    /// The matching formats in order of preference, each with a hash of the values that it reads.
    fits: Vec<(Value, u64)>,
    /// Example cells, and the value that each format reads from them.
    #[serde(default)]
    examples: Vec<String>,
    #[serde(default)]
    readings: Vec<Vec<String>>,
}

/// The empty format, with which the file was read.
const PLAIN: &str = "{}";

/// A format, and a fingerprint of the values that it reads from the column.
type Fit = (String, Vec<u64>);

/// The maximum number of example cells.
const MAX_EXAMPLES: usize = 10;

/// A column.
struct Column {
    kind: String,
    fits: Vec<Fit>,
    examples: Vec<Example>,
}

/// A cell, and the value that each format reads from it.
struct Example {
    text: String,
    values: BTreeMap<String, String>,
}

impl Example {
    /// Whether formats read different values.
    fn is_distinguishing(&self, formats: &mut dyn Iterator<Item = &String>) -> bool {
        let mut values = formats.map(|format| self.values.get(format));
        values.next().is_some_and(|first| values.any(|value| value != first))
    }
}

impl Column {
    /// Keeps the first cells that the formats read differently, and the same number of other cells.
    fn add_examples(&mut self, examples: Vec<Example>) {
        let formats: Vec<&String> = self.fits.iter().map(|(format, _)| format).collect();
        let is_distinguishing = |example: &Example| example.is_distinguishing(&mut formats.iter().copied());
        for example in examples {
            let mut alike =
                self.examples.iter().filter(|it| is_distinguishing(it) == is_distinguishing(&example));
            let is_known = self.examples.iter().any(|it| it.text == example.text);
            if !is_known && alike.by_ref().count() < MAX_EXAMPLES {
                self.examples.push(example);
            }
        }
    }

    fn is_plain(&self) -> bool {
        self.fits.iter().any(|(format, _)| format == PLAIN)
    }
}

/// The intermediate result.
#[derive(Default)]
pub(crate) struct Suggestion {
    columns: BTreeMap<String, Column>,
    /// Texts that mean no value.
    nulls: BTreeSet<String>,
    /// The columns in which each of these texts is a value.
    texts: BTreeMap<String, BTreeSet<String>>,
}

/// The final result.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Suggested {
    /// The format.
    pub(crate) format: Option<Value>,
    /// Warnings about ambiguous formats.
    pub(crate) ambiguities: Vec<String>,
    /// The matching formats of columns that need one, with example cells.
    pub(crate) choices: Vec<Choice>,
}

impl Suggestion {
    /// Adds the result for a chunk.
    pub(crate) fn add(&mut self, forms: Vec<Forms>) {
        for Forms { column, kind, nulls, fits, examples, readings } in forms {
            if kind == "text" {
                for text in nulls {
                    self.texts.entry(text).or_default().insert(column.clone());
                }
                continue;
            }
            self.nulls.extend(nulls);
            let fits = fits.into_iter().map(|(format, hash)| (format.to_string(), hash));
            let formats: Vec<String> = fits.clone().map(|(format, _)| format).collect();
            let examples = examples.into_iter().enumerate().map(|(index, text)| {
                let values = formats.iter().zip(&readings);
                let values =
                    values.filter_map(|(format, read)| Some((format.clone(), read.get(index)?.clone())));
                Example { text, values: values.collect() }
            });
            let examples = examples.collect();
            match self.columns.get_mut(&column) {
                None => {
                    let fits = fits.map(|(format, hash)| (format, vec![hash])).collect();
                    self.columns.insert(column, Column { kind, fits, examples });
                }
                Some(known) => {
                    let new: BTreeMap<String, u64> = fits.collect();
                    known.fits.retain_mut(|(format, hashes)| match new.get(format) {
                        Some(hash) => {
                            // Combines the hashes of all chunks. They are only compared for equality.
                            let before = hashes[0];
                            hashes[0] = before.rotate_left(5).wrapping_mul(0x517c_c1b7_2722_0a95) ^ hash;
                            true
                        }
                        None => false,
                    });
                    known.add_examples(examples);
                }
            }
        }
    }

    /// Determines the format with which all columns can be read, if some cannot be read without one.
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
            // The words for true and false of several columns can be combined, also with the default words.
            let has_plain = of_kind.iter().any(|(_, column)| column.is_plain());
            let groups: Vec<Vec<(&String, &Column)>> = match kind {
                "boolean" => {
                    of_kind.into_iter().filter(|(_, it)| !it.is_plain()).map(|it| vec![it]).collect()
                }
                _ => vec![of_kind],
            };
            for group in groups {
                let fitting = choices(&group);
                if !fitting.is_empty() {
                    suggested.choices.push(choice(&group, &fitting));
                }
                match fitting.as_slice() {
                    [] => {}
                    [only] => merge(&mut members, only),
                    several => suggested.ambiguities.push(ambiguous_format(&group, several)),
                }
            }
            if kind == "boolean" && has_plain && members.contains_key("true") {
                merge(&mut members, r#"{"true": ["true"], "false": ["false"]}"#);
            }
        }
        if members.contains_key("datetime") && !members.contains_key("time_zone") {
            suggested.ambiguities.push(
                "the times have no time zone: add one to the format, such as \"time_zone\": \"Europe/Zurich\""
                    .to_owned(),
            );
        }
        let mut nulls = self.nulls;
        nulls.retain(|text| match self.texts.get(text) {
            None => true,
            Some(columns) => {
                suggested.ambiguities.push(text_or_null(text, columns));
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

/// The formats that match all columns. Of formats that read the same values, only the first is returned.
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

/// The matching formats, with example cells of the columns that need one.
fn choice(columns: &[(&String, &Column)], formats: &[String]) -> Choice {
    let needing: Vec<(&String, &Column)> =
        columns.iter().filter(|(_, column)| !column.is_plain()).copied().collect();
    let all = needing.iter().flat_map(|(name, column)| column.examples.iter().map(move |it| (*name, it)));
    let (distinguishing, others): (Vec<_>, Vec<_>) =
        all.partition(|(_, example)| example.is_distinguishing(&mut formats.iter()));
    let examples: Vec<(&String, &Example)> =
        distinguishing.into_iter().chain(others).take(MAX_EXAMPLES).collect();
    let reading = |format: &String| {
        let cells = examples.iter().filter_map(|(column, example)| {
            let value = example.values.get(format)?.clone();
            Some(Cell { column: (*column).clone(), text: example.text.clone(), value })
        });
        let cells = cells.collect();
        Reading { format: serde_json::from_str(format).unwrap_or_default(), cells }
    };
    Choice {
        columns: needing.iter().map(|(name, _)| (*name).clone()).collect(),
        formats: formats.iter().map(reading).collect(),
    }
}

/// Adds the members of a format. The texts of a member are combined.
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

fn ambiguous_format(columns: &[(&String, &Column)], formats: &[String]) -> String {
    let names: Vec<&str> =
        columns.iter().filter(|(_, it)| !it.is_plain()).map(|(name, _)| name.as_str()).collect();
    let columns = if names.len() == 1 { "column" } else { "columns" };
    format!(
        "the cells of {columns} {} match several formats, which read different values: {}; choose one",
        names.join(", "),
        formats.join(" or ")
    )
}

fn text_or_null(text: &str, columns: &BTreeSet<String>) -> String {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    format!(
        "{text:?} may mean null in one column, but is a value in {}: null of a format applies to all columns; write a ' before \
         the text, or leave the null cells empty",
        columns.join(", ")
    )
}

#[cfg(test)]
mod tests;
