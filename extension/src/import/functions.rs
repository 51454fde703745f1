//! The SQL functions that import.

use super::cells::{Cell, Cells};
use super::columns::{self, Column};
use super::matching::Matching;
use super::mirror::Mirror;
use super::options::{Format, Options};
use super::run::run;
use super::single_transaction::{self, Importer};
use super::{csv, ndjson, numbers, report, suggestions};
use crate::access::Caller;
use crate::access::lookup::template_by_name;
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::postgres::function::{ReturnValue, sql_functions};
use crate::template::Template;
use std::rc::Rc;

sql_functions! {
    /// `keyed_http.import_rows(template text, options text, rows text) returns text`.
    keyed_http_import_rows => |call| {
        let caller = Caller::current();
        let template = template_by_name(&caller, &call.required_text(0, "template")?)?;
        let options = Options::parse(&call.required_text(1, "options")?)?;
        options.mode.require_privileges(&caller, &template)?;
        // Read before the import waits for a concurrent one: records that the concurrent import
        // creates are newer than this file.
        let mut mirror = match &options.mirror {
            Some(mirror) => Some(Mirror::of(&caller, &template, mirror)?),
            None => None,
        };
        if options.is_whole {
            let in_the_way = single_transaction::enter(&template, options.waits)?;
            if let Some(importer) = in_the_way {
                mirror.into_iter().for_each(Mirror::keep);
                return Ok(ReturnValue::Text(format!("{{\"waits_for\":{}}}", importer.to_json())));
            }
        }
        let rows = call.required_text(2, "rows")?;
        if let Some(ends_after) = options.mirror.as_ref().and_then(|mirror| mirror.ends_after)
            && let Some(mirror) = mirror
        {
            require_no_rows(&rows)?;
            return mirror.end(ends_after).map(ReturnValue::Text);
        }
        let report = import(&caller, &template, &options, mirror.as_mut(), &rows)?;
        mirror.into_iter().for_each(Mirror::keep);
        Ok(ReturnValue::Text(report))
    };

    /// `keyed_http.find_import(template text) returns text`.
    keyed_http_find_import => |call| {
        let caller = Caller::current();
        let template = template_by_name(&caller, &call.required_text(0, "template")?)?;
        caller.require_define(&template)?;
        let importer = Importer::of(&template).ok_or_else(|| {
            let what = format!("no all-or-nothing import into {} is running", template.full_name());
            Error::new(Code::NotFound, what)
        })?;
        Ok(ReturnValue::Text(importer.to_json()))
    };
}

/// The maximum size of a chunk, several times that of the proxy's chunks. It bounds the memory for cells and rows.
const MAX_BYTES: usize = 16 << 20;
const MAX_ROWS: usize = 50_000;

fn too_large(what: &str) -> Error {
    Error::at(Code::PayloadTooLarge, "/rows", format!("a chunk of an import has at most {what}"))
        .hint("Send several chunks.")
}

fn check_count(rows: usize) -> Result<(), Error> {
    if rows <= MAX_ROWS { Ok(()) } else { Err(too_large(&format!("{MAX_ROWS} rows"))) }
}

fn require_no_rows(rows: &str) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    Err(Error::at(Code::InvalidValue, "/rows", "the call with ends_after has no rows")
        .hint("Send the rows before it, without ends_after."))
}

fn import(
    caller: &Caller,
    template: &Rc<Template>,
    options: &Options,
    mirror: Option<&mut Mirror>,
    text: &str,
) -> Result<String, Error> {
    if text.len() > MAX_BYTES {
        return Err(too_large(&format!("{} MiB", MAX_BYTES >> 20)));
    }
    let matching = Matching::of(caller, template, options)?;
    match &options.format {
        Format::Csv { header, delimiter } => {
            let columns = columns::resolve(template, header, options, &matching)?;
            let cells = Cells::new(options)?;
            let records = match options.is_typed {
                true => Vec::new(),
                false => csv::records(text, *delimiter, MAX_ROWS + 1)?,
            };
            let typed = match options.is_typed {
                true => csv::typed_cells(text, MAX_ROWS + 1)?,
                false => csv::cells(&records),
            };
            check_count(typed.len())?;
            let (rows, rejected) = csv::rows(template, &columns, options, &matching, &cells, &typed);
            let numbers = match &options.cells {
                Some(format) if format.has_numbers() => Vec::new(),
                _ => numbers::of(template, header, &columns, &typed),
            };
            let forms = match options.suggests {
                true => suggestions::of(template, header, &columns, &typed, options.previews)?,
                false => Vec::new(),
            };
            let key = columns.iter().position(|column| *column == Column::Key);
            let is_rounded =
                |row: &usize| key.and_then(|key| typed[*row].get(key)).is_some_and(Cell::is_rounded);
            let mut notes = report::Notes::of(&rows, typed.len(), &options.key_prefix, numbers, forms);
            notes.add_rounded((0..typed.len()).filter(is_rounded));
            // All chunks of a file have the same columns.
            if options.previews && typed.is_empty() {
                notes.show_columns(columns.iter().map(|column| shown(template, *column)));
            }
            let mut outcomes = run(caller, template, options, matching, typed.len(), rejected, rows)?;
            mirror.map_or(Ok(()), |mirror| mirror.add(&mut outcomes))?;
            Ok(report::to_json(&outcomes, &notes, |field| column_name(template, header, &columns, field)))
        }
        Format::Ndjson => {
            let count = ndjson::lines(text).take(MAX_ROWS + 1).count();
            check_count(count)?;
            let (rows, rejected) = ndjson::rows(template, options, &matching, text);
            let notes = report::Notes::of(&rows, count, &options.key_prefix, Vec::new(), Vec::new());
            let mut outcomes = run(caller, template, options, matching, count, rejected, rows)?;
            mirror.map_or(Ok(()), |mirror| mirror.add(&mut outcomes))?;
            Ok(report::to_json(&outcomes, &notes, |field| Some(field.to_owned())))
        }
    }
}

/// The field of a column, and its type.
fn shown(template: &Template, column: Column) -> Option<(String, &'static str)> {
    match column {
        Column::Key => Some(("external_key".to_owned(), AttributeType::String.name())),
        Column::Id => Some(("id".to_owned(), AttributeType::String.name())),
        Column::Attribute(position) => {
            let attribute = &template.attributes[position];
            Some((attribute.slug.clone(), attribute.kind.name()))
        }
        Column::Ignored | Column::Unnamed => None,
    }
}

/// The name of a column in the header; the position of a column without a name.
fn column_name(template: &Template, header: &[String], columns: &[Column], field: &str) -> Option<String> {
    if let Ok(number) = field.parse::<usize>() {
        return (columns.get(number.checked_sub(1)?)? == &Column::Unnamed).then(|| field.to_owned());
    }
    let requested = match field {
        "external_key" => Column::Key,
        "id" => Column::Id,
        slug => Column::Attribute(template.position(slug)?),
    };
    let position = columns.iter().position(|column| *column == requested)?;
    header.get(position).cloned()
}
