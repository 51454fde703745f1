//! `import --interactive`: examines the file with a dry run, asks on the terminal for the parts of the format that the
//! file leaves open, and imports it.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, anyhow};
use serde_json::{Map, Value};

use super::arguments::{Import, Mode, OnError};
use super::attempt::Attempt;
use super::command_line::command_line;
use super::response::{Counts, Warning};
use crate::format::FormatArgument;
use crate::outcome::{Failure, print};
use keyed_proxy::import::preview::{Choice, Column, Preview, Reading};

pub(super) async fn run(mut import: Import) -> Result<(), Failure> {
    if !std::io::stdin().is_terminal() || import.file == Path::new("-") {
        let message =
            "--interactive asks on a terminal, and standard input is not one. Use --dry-run, which suggests a format, and then --format."
                .to_owned();
        return Err(Failure::Usage { message, help: "import" });
    }
    let mut counts = import.send(Attempt::Preview).await?;
    let preview = counts.preview.take();
    if let Some(preview) = &preview {
        show_columns(&preview.columns);
    }
    let suggested = counts.suggested_format.take();
    let mut format = match &preview {
        Some(preview) => choose(preview, suggested)?,
        None => Map::new(),
    };
    ask_about_points(&mut format, &counts.warnings)?;
    if !format.is_empty() {
        counts = send(&mut import, format).await?;
    } else if counts.failed > 0 {
        // This dry run prints the reasons of rejected rows.
        counts = import.send(Attempt::Dry).await?;
    }
    report_dry_run(&import, &counts)?;
    let rows = counts.rows.unwrap_or(0).saturating_sub(counts.failed);
    if is_yes(&format!("Import {rows} {}? [y/N]", if rows == 1 { "row" } else { "rows" }), false)? {
        let counts = import.send(Attempt::Real).await?;
        let outcome = import.report(&counts, Attempt::Real);
        print(&next_command(&import))?;
        return outcome;
    }
    print(&format!("Nothing was imported.\n{}", next_command(&import)))
}

/// Prints the counts of the dry run. Rejected rows are a failure if they abort the import.
fn report_dry_run(import: &Import, counts: &Counts) -> Result<(), Failure> {
    match import.report(counts, Attempt::Dry) {
        Err(Failure::Running(_)) if import.on_error == OnError::Skip => Ok(()),
        Err(Failure::Running(error)) if import.mode == Mode::Mirror => {
            Err(error.context("nothing was imported; correct the file").into())
        }
        Err(Failure::Running(error)) => {
            Err(error.context("nothing was imported; correct the file, or use --on-error skip").into())
        }
        outcome => outcome,
    }
}

fn next_command(import: &Import) -> String {
    format!("For the next import:\n{}\n", command_line(import))
}

fn show_columns(columns: &[Column]) {
    eprintln!("The columns of the file:");
    for Column { name, field, kind } in columns {
        match (field, kind) {
            (Some(field), Some(kind)) => eprintln!("  {} → {field} ({kind})", display_quoted(name)),
            _ => eprintln!("  {} is not imported", display_quoted(name)),
        }
    }
}

/// Checks the file with a format. Asks again for an invalid time zone.
async fn send(import: &mut Import, mut format: Map<String, Value>) -> Result<Counts, Failure> {
    let needs_zone = format.contains_key("datetime") && !format.contains_key("time_zone");
    loop {
        if needs_zone {
            let zone = ask("The times have no time zone. Which one applies, for example Europe/Zurich?")?;
            format.insert("time_zone".to_owned(), zone.into());
        }
        import.format.push(FormatArgument::Cells(Value::Object(format.clone()).to_string()));
        match import.send(Attempt::Dry).await {
            Err(Failure::Running(error)) if needs_zone && error.to_string().contains("time zone") => {
                eprintln!("{}", printable(&error.to_string()));
                import.format.pop();
            }
            outcome => return outcome,
        }
    }
}

/// Asks about numbers such as `1.234` if the file does not show whether the point is a decimal mark.
fn ask_about_points(format: &mut Map<String, Value>, warnings: &[Warning]) -> Result<(), Failure> {
    if format.contains_key("decimal") || format.contains_key("thousands") {
        return Ok(());
    }
    for warning in warnings.iter().filter(|warning| warning.code == "grouped_number") {
        eprintln!("{}", printable(&warning.to_text()));
        if is_yes("Is the point a thousands separator, so that 1.234 is more than a thousand? [y/N]", false)?
        {
            format.insert("decimal".to_owned(), ",".into());
            format.insert("thousands".to_owned(), ".".into());
            break;
        }
    }
    Ok(())
}

/// The format of the cells; empty if they need none.
fn choose(preview: &Preview, suggested: Option<Value>) -> Result<Map<String, Value>, Failure> {
    let mut format = match suggested {
        Some(Value::Object(format)) => format,
        _ => Map::new(),
    };
    for choice in &preview.choices {
        let reading = chosen(choice)?;
        add(&mut format, &reading.format);
    }
    if let Some(texts) = format.get("null").and_then(Value::as_array) {
        let texts: Vec<String> = texts.iter().filter_map(Value::as_str).map(display_quoted).collect();
        if !is_yes(&format!("Do these cells mean no value: {}? [Y/n]", texts.join(", ")), true)? {
            return Err(unknown_format());
        }
    }
    Ok(format)
}

/// Asks which of the matching formats to use.
fn chosen(choice: &Choice) -> Result<&Reading, Failure> {
    let names: Vec<String> = choice.columns.iter().map(|name| display_quoted(name)).collect();
    let what = match names.len() {
        1 => format!("column {}", names[0]),
        _ => format!("columns {}", names.join(", ")),
    };
    if let [only] = choice.formats.as_slice() {
        eprintln!("The cells of {what} match this format:");
        show(None, only);
        return if is_yes("Is this format correct? [Y/n]", true)? { Ok(only) } else { Err(unknown_format()) };
    }
    eprintln!("The cells of {what} match {} formats:", choice.formats.len());
    for (position, reading) in choice.formats.iter().enumerate() {
        show(Some(position + 1), reading);
    }
    loop {
        let response = ask(&format!("Which format is correct? [1-{}]", choice.formats.len()))?;
        let number = response.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        match number.and_then(|position| choice.formats.get(position)) {
            Some(reading) => return Ok(reading),
            None => eprintln!("Enter a number from 1 to {}.", choice.formats.len()),
        }
    }
}

fn unknown_format() -> Failure {
    anyhow!("nothing was imported; set the format of the file's values with --format").into()
}

/// Prints a format, and cells with the values that it reads.
fn show(number: Option<usize>, reading: &Reading) {
    let number = number.map_or(String::new(), |number| format!("{number}: "));
    eprintln!("  {number}{}", printable(&reading.format.to_string()));
    for cell in &reading.cells {
        eprintln!("     {} is {}", display_quoted(&cell.text), display_quoted(&cell.value));
    }
}

/// Adds the members of a format. Words for true and false of several columns are combined.
fn add(format: &mut Map<String, Value>, chosen: &Value) {
    for (name, value) in chosen.as_object().into_iter().flatten() {
        match (format.get_mut(name), value) {
            (Some(Value::Array(known)), Value::Array(new)) => {
                for text in new.iter().filter(|text| !known.contains(text)).cloned().collect::<Vec<_>>() {
                    known.push(text);
                }
            }
            _ => {
                format.insert(name.clone(), value.clone());
            }
        }
    }
}

/// A text of the file in quotes, with control characters escaped.
fn display_quoted(text: &str) -> String {
    format!("\"{}\"", printable(text))
}

/// Escapes characters that a terminal interprets.
fn printable(text: &str) -> String {
    let display_quoted =
        |it: char| if it.is_control() { it.escape_default().to_string() } else { it.to_string() };
    text.chars().map(display_quoted).collect()
}

fn is_yes(question: &str, default: bool) -> Result<bool, Failure> {
    loop {
        match ask(question)?.to_ascii_lowercase().as_str() {
            "" => return Ok(default),
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ => eprintln!("Enter y or n."),
        }
    }
}

/// Asks on the terminal.
fn ask(question: &str) -> Result<String, Failure> {
    eprint!("{question} ");
    let _ = std::io::stderr().flush();
    let mut response = String::new();
    let read = std::io::stdin().read_line(&mut response).context("cannot read the answer")?;
    if read == 0 {
        return Err(anyhow!("nothing was imported: standard input ended").into());
    }
    Ok(response.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn formats_of_several_columns_are_merged() {
        let mut format = Map::new();
        for chosen in [
            json!({"true": ["ja"], "false": ["nein"]}),
            json!({"true": ["yes"], "false": ["nein"]}),
            json!({"date": "D.M.YYYY"}),
        ] {
            add(&mut format, &chosen);
        }
        assert_eq!(
            Value::Object(format),
            json!({"true": ["ja", "yes"], "false": ["nein"], "date": "D.M.YYYY"})
        );
    }

    #[test]
    fn control_characters_of_a_file_are_escaped() {
        assert_eq!(display_quoted("a\u{1b}[2J\tü"), "\"a\\u{1b}[2J\\tü\"");
    }
}
