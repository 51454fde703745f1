//! Opens the cursor of a search, and writes its rows.

use super::options::Options;
use super::record::Record;
use super::{Field, csv, ndjson, typed};
use crate::access::visibility::{self, CallerSchema};
use crate::access::{Action, Caller};
use crate::attribute_type::AttributeType;
use crate::error::{Code, Error};
use crate::filter::schema::Schema;
use crate::postgres::cursor::{Closed, Cursor};
use crate::postgres::guard::as_owner;
use crate::postgres::spi::{Connection, connected};
use crate::postgres::transaction;
use crate::record::shape::Projection;
use crate::search::page::selection::{self, Needs};
use crate::search::page::statement::select_all;
use crate::search::query::body::SearchQuery;
use crate::search::query::plan::Plan;
use crate::search::query::time_zone;
use crate::template::Template;
use crate::value::file_format::FileFormat;
use crate::value::quote::identifier;
use crate::value::table_name::{RECORD, SideTable};
use crate::view::stored;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// The number of rows in a fetch. All fetched rows are written, so the size of a chunk can be a multiple of this many long
/// records.
const FETCHED: usize = 64;
/// The minimum size of a chunk.
const CHUNK_SIZE: usize = 128 << 10;

/// An export in progress.
struct Export {
    /// The transaction of its cursor.
    transaction: u64,
    /// The caller that opened it; only it can read it.
    caller: Caller,
    template: Rc<Template>,
    /// The condition for records that were visible to the caller.
    seen: Option<String>,
    format: FileFormat,
    is_typed: bool,
    style: csv::Style,
    fields: Vec<Field>,
    /// The attributes with additional columns: the target's key of a reference, and the time of a metric's latest point.
    additional: Vec<usize>,
    cursors: VecDeque<Cursor>,
}

thread_local! {
    static EXPORT: RefCell<Option<Export>> = const { RefCell::new(None) };
}

/// Opens an export of a search, and returns the text before the first record. Pagination, counts and facets are ignored.
/// Without a sort, the order is undefined. An earlier export of the transaction is closed.
pub fn open(
    caller: &Caller,
    template: &Rc<Template>,
    body: &str,
    options: &Options,
) -> Result<String, Error> {
    caller.require(Action::Read, template)?;
    let query = SearchQuery::parse(body)?;
    let saved = stored::body_of(template, query.view.as_deref())?;
    let mut query = query.within(saved.as_deref())?;
    if query.vector.is_some() {
        let message = "an export contains every record that matches the filters and global_search; it cannot rank by a vector";
        return Err(Error::at(Code::InvalidValue, "/query_vector", message)
            .hint("Omit query_vector, or use a search for the closest records."));
    }
    if query.include_deleted {
        return Err(Error::at(
            Code::InvalidValue,
            "/include_deleted",
            "an export contains live records only",
        )
        .hint(
            "Use a search to read deleted records. They cannot be exported, because importing the file would \
                 restore them.",
        ));
    }
    query.cursor = None;
    let zone = time_zone::of_search(query.time_zone.as_deref(), template)?;
    let schema = CallerSchema::new(caller, Rc::clone(template));
    let plan = Plan::new(&query, &schema, &zone)?;
    // Rejects unknown fields.
    Projection::parse(caller, template, query.fields.as_deref(), false)?;
    let mut fields = Field::of_export(template, query.fields.as_deref());
    if query.versions || options.versions {
        fields.push(Field::Version);
    }
    options.check(template, &fields)?;
    let style = csv::Style::new(options)?;
    let selection = selection::select(caller, template, &plan)?;
    let (additional, columns) = additional_columns(template, &schema, &fields);
    let segments = match plan.keys.is_empty() {
        true => vec![None],
        false => plan.order.segments(None).into_iter().map(Some).collect(),
    };
    EXPORT.take();
    let cursors = as_owner(|| {
        connected(|spi| {
            spi.close_cursors();
            let selected = selection.as_ref().map(|it| it.selected(spi, Needs::All)).unwrap_or_default();
            let statements = segments
                .iter()
                .map(|segment| select_all(template, &plan, segment.as_ref(), &selected.condition, &columns));
            statements.map(|sql| spi.open_cursor(&sql, &selected.arguments)).collect()
        })
    });
    let format = options.format;
    let is_typed = options.is_typed;
    let header = match format {
        _ if is_typed => typed::header(template, &fields),
        FileFormat::Csv => csv::header(template, &fields, &style),
        FileFormat::Ndjson => String::new(),
    };
    let transaction = transaction::number();
    let seen = visibility::rows(caller, template, RECORD);
    let (caller, template) = (caller.clone(), Rc::clone(template));
    EXPORT.set(Some(Export {
        transaction,
        caller,
        seen,
        template,
        format,
        is_typed,
        style,
        fields,
        additional,
        cursors,
    }));
    Ok(header)
}

/// The references and metrics of the fields, and the expressions of their additional columns.
fn additional_columns(template: &Template, schema: &CallerSchema, fields: &[Field]) -> (Vec<usize>, String) {
    let (mut additional, mut columns) = (Vec::new(), String::new());
    for field in fields {
        let Field::Attribute(position) = field else { continue };
        let attribute = &template.attributes[*position];
        if attribute.kind == AttributeType::Metric {
            columns.push_str(&format!(
                ", (select m.at from {} m where m.record_id = {RECORD}.id and m.attribute_id = {} \
                 and m.value = {RECORD}.{} order by m.at desc, m.id desc limit 1)",
                SideTable::Series.sql(template.id),
                attribute.id,
                identifier(&attribute.slug),
            ));
            additional.push(*position);
            continue;
        }
        let Some(target) = attribute.target.and_then(|_| schema.target(attribute.id)) else { continue };
        let visible = target.visible("r").map(|visible| format!(" and {visible}")).unwrap_or_default();
        columns.push_str(&format!(
            ", (select r.external_key from {} r where r.id = {RECORD}.{} and r.deleted_at is null{visible})",
            target.table(),
            identifier(&attribute.slug),
        ));
        additional.push(*position);
    }
    (additional, columns)
}

/// The next chunk of the export of this transaction and caller; `None` at its end.
pub fn next(caller: &Caller) -> Result<Option<String>, Error> {
    let export = EXPORT
        .take()
        .filter(|export| export.transaction == transaction::number() && export.caller == *caller);
    let Some(mut export) = export else {
        return Err(Error::new(Code::InvalidValue, "this transaction has no open export")
            .hint("Call keyed_http.export_open first, in the same transaction and as the same role."));
    };
    caller.require(Action::Read, &export.template)?;
    if visibility::rows(caller, &export.template, RECORD) != export.seen {
        return Err(Error::new(Code::Forbidden, "your grants have changed since the export began")
            .hint("Start the export again."));
    }
    let mut out = String::with_capacity(CHUNK_SIZE + CHUNK_SIZE / 4);
    as_owner(|| connected(|spi| export.write_chunk(spi, &mut out)))?;
    if out.is_empty() {
        return Ok(None);
    }
    EXPORT.set(Some(export));
    Ok(Some(out))
}

impl Export {
    /// Appends records until the chunk has its minimum size.
    fn write_chunk(&mut self, spi: &Connection, out: &mut String) -> Result<(), Error> {
        while out.len() < CHUNK_SIZE
            && let Some(cursor) = self.cursors.front()
        {
            pgrx::check_for_interrupts!();
            let Some(rows) = spi.fetch(cursor, FETCHED).map_err(|Closed| was_closed())? else {
                spi.close_cursor(cursor);
                self.cursors.pop_front();
                continue;
            };
            for row in 0..rows.len() {
                let (template, additional) = (&*self.template, self.additional.as_slice());
                let record = Record { template, rows: &rows, row, additional };
                match self.format {
                    _ if self.is_typed => typed::write(out, &record, &self.fields, &self.style),
                    FileFormat::Csv => csv::write(out, &record, &self.fields, &self.style),
                    FileFormat::Ndjson => ndjson::write(out, &record, &self.fields),
                }
            }
        }
        Ok(())
    }
}

fn was_closed() -> Error {
    Error::new(
        Code::InvalidValue,
        "the export was closed before its end, by CLOSE ALL or a rollback to a savepoint",
    )
    .hint("Start it again with keyed_http.export_open.")
}
