//! Metrics: time series. The column of a metric has only the latest value.

/// Deletion of points.
pub mod correction;
/// Series of dropped attributes.
pub mod removal;

use crate::access::policy_sql;
use crate::attribute_type::AttributeType;
use crate::postgres::clock::now;
use crate::postgres::guard::as_owner;
use crate::postgres::insert::{insert_rows, lock_table, next_value};
use crate::postgres::parameter::{Timestamp, array, params};
use crate::postgres::spi::{Snapshot, connected};
use crate::postgres::trigger::Firing;
use crate::postgres::{datum, direct_access};
use crate::template::{SeriesTable, Template, column};
use crate::value::change::{Change, Changes, Point};
use crate::value::table_name::SideTable;
use uuid::Uuid;

/// The SQL that creates the side table of series.
pub fn create_table(template: i32, full_name: &str, records: &str) -> String {
    let table = SideTable::Series.sql(template);
    format!(
        "create table {table} ( \
           record_id uuid, attribute_id integer, at timestamptz, id bigint generated always as identity, \
           value double precision not null, primary key (record_id, attribute_id, at, id)); \
         comment on table {table} is {}; \
         comment on column {table}.record_id is 'The record.'; \
         comment on column {table}.attribute_id is 'The metric: its number in keyed_state.attribute.'; \
         comment on column {table}.at is 'When the value was measured.'; \
         comment on column {table}.id is 'Tells points of one time apart.'; \
         comment on column {table}.value is 'What was measured.'; \
         grant select on {table} to keyed_admin; {}",
        crate::value::quote::literal(&format!(
            "Series of the metrics of {full_name}: every point ever appended."
        )),
        policy_sql::enable_on_side_table(&SideTable::Series.name(template), records)
    )
}

/// Sets the time of points without one to the current time. With the transaction's time, two points would have no order.
pub fn stamp(changes: &mut Changes) {
    for (_, change) in changes {
        if let Change::Append(points) = change {
            for point in points {
                point.at.get_or_insert_with(now);
            }
        }
    }
}

/// Whether a write appends to a series.
pub fn has_points(changes: &Changes) -> bool {
    changes.iter().any(|(_, change)| matches!(change, Change::Append(_)))
}

/// Whether a change is a number without a time.
fn is_measured_now(change: &Change) -> bool {
    matches!(change, Change::Append(points) if matches!(points.as_slice(), [Point { at: None, .. }]))
}

/// Whether a write has a number without a time, before [`stamp`].
pub fn measures_now(changes: &Changes) -> bool {
    changes.iter().any(|(_, change)| is_measured_now(change))
}

/// Removes numbers without a time that equal the latest values of a locked record, so that a client can write back what it
/// has read.
pub fn omit_latest(template: &Template, record: Uuid, changes: &mut Changes) {
    let metrics: Vec<usize> =
        changes.iter().filter(|(_, change)| is_measured_now(change)).map(|(position, _)| *position).collect();
    let columns = metrics.iter().map(|position| format!("t.\"{}\"", template.attributes[*position].slug));
    let sql = format!(
        "select {} from {} t where t.id = $1",
        columns.collect::<Vec<_>>().join(", "),
        template.table_sql()
    );
    as_owner(|| {
        connected(|spi| {
            let rows = template.run(spi, &sql, Snapshot::Latest, &params![record]);
            if rows.is_empty() {
                return;
            }
            changes.retain(|(position, change)| {
                match (change, metrics.iter().position(|it| it == position)) {
                    (Change::Append(points), Some(column)) => {
                        points.first().map(|point| point.value) != rows.get::<Option<f64>>(0, column)
                    }
                    _ => true,
                }
            });
        });
    });
}

/// Appends the points of a completed write.
pub fn append(template: &Template, record: Uuid, changes: &Changes) {
    for (position, change) in changes {
        if let Change::Append(points) = change {
            append_points(template, record, template.attributes[*position].id, points);
        }
    }
}

/// Appends a point for each metric column that direct DML has changed.
pub fn append_direct(template: &Template, firing: &Firing) {
    let Some(new) = &firing.new else { return };
    let Some(record) = new.get(column::ID).map(datum::read_uuid) else { return };
    for attribute in template.attributes.iter().filter(|attribute| attribute.kind == AttributeType::Metric) {
        let is_changed = firing.old.as_ref().is_none_or(|old| !new.same(old, attribute.column));
        if let (true, Some(value)) = (is_changed, new.get(attribute.column)) {
            let point = Point { value: datum::read_f64(value), at: Some(now()) };
            append_points(template, record, attribute.id, &[point]);
        }
    }
}

fn append_points(template: &Template, record: Uuid, attribute: i32, points: &[Point]) {
    as_owner(|| {
        if append_directly(template, record, attribute, points).is_none() {
            append_by_statement(template, record, attribute, points);
        }
    });
}

/// Appends points without a statement; `None` if the table does not have its expected form.
fn append_directly(template: &Template, record: Uuid, attribute: i32, points: &[Point]) -> Option<()> {
    let SeriesTable { table, sequence } = template.series?;
    direct_access::require().ok()?;
    lock_table(table);
    let row = |point: &Point| {
        Some((record, attribute, Timestamp(point.at?), next_value(sequence).ok()?, point.value))
    };
    let rows = points.iter().map(row).collect::<Option<Vec<_>>>()?;
    insert_rows(table, rows.into_iter()).ok()
}

fn append_by_statement(template: &Template, record: Uuid, attribute: i32, points: &[Point]) {
    let sql = format!(
        "insert into {} (record_id, attribute_id, at, value) select $1, $2, p.at, p.value \
         from unnest($3, $4) p (at, value)",
        SideTable::Series.sql(template.id)
    );
    connected(|spi| {
        let arguments = params![
            record,
            attribute,
            array(points.iter().map(|point| point.at.map(Timestamp))),
            array(points.iter().map(|point| point.value))
        ];
        template.run(spi, &sql, Snapshot::Latest, &arguments);
    });
}
