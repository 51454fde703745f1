//! A page of ranked matches, looked up in their order.

use super::cursor::{self, Position};
use super::page_writer::PageWriter;
use super::plan::Plan;
use crate::postgres::parameter::{array, params};
use crate::postgres::spi::{Connection, Snapshot};
use crate::record::read;
use crate::record::shape::{Projection, STANDARD_COLUMNS};
use crate::record::statement::columns;
use crate::template::Template;
use crate::value::table_name::RECORD;
use uuid::Uuid;

/// The statement that reads these columns of matches, in their order: `$1` are their ids, `$2` how many are wanted.
pub fn ranked_sql(columns: &str, template: &Template, plan: &Plan) -> String {
    format!(
        "select {columns}, m.n from unnest($1) with ordinality m (id, n) join {} {RECORD} on {RECORD}.id = m.id \
         where {} order by m.n limit $2",
        template.table_sql(),
        plan.condition
    )
}

/// The matches are looked up one by one, where nothing but words and the caller's sight decides on them: then what is
/// asked of each is always the same.
fn ranked_by_index(
    template: &Template,
    plan: &Plan,
    rest: &[(i16, Uuid)],
    projection: &Projection,
    out: &mut String,
) -> Option<PageWriter> {
    if !plan.filter.is_always_true() {
        return None;
    }
    let (mut page, mut last) = (PageWriter::default(), None);
    let ids = rest.iter().map(|(_, id)| *id);
    let outcome = read::each_by_id(template, ids, &plan.condition, projection, |place, record| {
        page.has_more = page.shown == plan.limit || page.is_full(out);
        if !page.has_more {
            page.write_record(&record, out);
            last = Some(rest[place]);
        }
        !page.has_more
    });
    outcome.ok()?;
    page.last =
        last.map(|(rank, id)| cursor::encode(&plan.fingerprint, &[rank.to_string()], &id.to_string()));
    Some(page)
}

/// The matches are looked up in portions that grow, since filters may leave few of them.
pub fn ranked_page(
    spi: &Connection,
    template: &Template,
    plan: &Plan,
    ranked: &[(i16, Uuid)],
    projection: &Projection,
    out: &mut String,
) -> PageWriter {
    let mut page = PageWriter::default();
    let mut rest = match &plan.position {
        Some(Position { rank: Some(rank), uuid, .. }) => {
            let before = |(other, id): &(i16, Uuid)| (i32::from(*other), *id) >= (*rank, *uuid);
            &ranked[ranked.partition_point(before)..]
        }
        _ => ranked,
    };
    if let Some(page) = ranked_by_index(template, plan, rest, projection, out) {
        return page;
    }
    let sql = ranked_sql(&columns(template), template, plan);
    let number = STANDARD_COLUMNS + template.attributes.len();
    let mut portion = if plan.has_words_only { plan.limit + 1 } else { 2 * (plan.limit + 1) };
    while !rest.is_empty() {
        let (now, later) = rest.split_at(portion.min(rest.len()));
        let room = plan.limit - page.shown;
        let limit = room as i64 + 1;
        let rows =
            spi.run_once(&sql, Snapshot::Active, &params![array(now.iter().map(|(_, id)| *id)), limit]);
        let shown = page.write_records(template, &rows, rows.len().min(room), projection, out);
        if shown > 0 {
            let at = rows.get::<Option<i64>>(shown - 1, number).unwrap_or(1) as usize - 1;
            let (rank, id) = now[at];
            page.last = Some(cursor::encode(&plan.fingerprint, &[rank.to_string()], &id.to_string()));
        }
        if rows.len() > shown {
            page.has_more = true;
            break;
        }
        rest = later;
        portion *= 8;
    }
    page
}
