//! Reports the usage of quotas.

use super::{Name, of_project, rebalance, slots};
use crate::access::Caller;
use crate::access::lookup::project_named;
use crate::access::target::{Table, Target};
use crate::error::Error;
use crate::postgres::guard::{as_owner, attempt};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::catalog;
use pgrx::prelude::PgSqlErrorCode;
use std::convert::Infallible;

/// The errors of a table that was dropped concurrently, with or without its project. It has no records.
const DROPPED: [PgSqlErrorCode; 2] =
    [PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, PgSqlErrorCode::ERRCODE_INVALID_SCHEMA_NAME];

/// `[{name, maximum, used, resets_at}]`: the quotas of a project and their usage.
pub fn report(project: &str) -> Result<String, Error> {
    Caller::current().require_admin("see quotas")?;
    let project = project_named(project)?.id;
    Ok(format!("[{}]", Name::ALL.map(|name| line(project, name)).join(",")))
}

/// One quota.
pub fn report_one(project: &str, name: Name) -> Result<String, Error> {
    Caller::current().require_admin("see quotas")?;
    Ok(line(project_named(project)?.id, name))
}

fn line(project: i32, name: Name) -> String {
    let maximum = of_project(project).maximum(name);
    let used = match (name, maximum) {
        (Name::Templates, _) => Some(templates(project)),
        (Name::AttributesPerTemplate, _) => Some(max_attributes(project)),
        (Name::LiveRecords, None) => Some(live_records(project)),
        (Name::LiveRecords | Name::WritesPerDay, Some(_)) => Some(rebalance::used(project, name)),
        (Name::WritesPerDay, None) => None,
    };
    let resets_at = match name {
        Name::WritesPerDay => format!("\"{}\"", end_of_day(project)),
        _ => "null".to_owned(),
    };
    let number = |number: Option<i64>| number.map_or("null".to_owned(), |number| number.to_string());
    format!(
        "{{\"name\":\"{}\",\"maximum\":{},\"used\":{},\"resets_at\":{resets_at}}}",
        name.text(),
        number(maximum),
        number(used),
    )
}

/// The number of templates of a project.
pub fn templates(project: i32) -> i64 {
    number(project, "select count(*) from keyed_state.template t where t.project_id = $1")
}

/// The number of attributes of the template that has the most.
fn max_attributes(project: i32) -> i64 {
    number(
        project,
        "select coalesce(max(n.count), 0) from (select count(*) from keyed_state.attribute a \
         join keyed_state.template t on t.id = a.template_id where t.project_id = $1 group by t.id) n",
    )
}

fn number(project: i32, sql: &str) -> i64 {
    as_owner(|| {
        connected(|spi| {
            let rows = spi.run_newest(sql, &params![project]);
            rows.get::<Option<i64>>(0, 0).unwrap_or_default()
        })
    })
}

/// Counted table by table. The lock on a table is released after its count, so the number of tables is
/// not limited.
fn live_records(project: i32) -> i64 {
    let Some(project) = catalog::project_by_id(project) else { return 0 };
    let target = Target { project, template: None };
    as_owner(|| {
        connected(|spi| {
            let count = |table: &Table| {
                let counted = attempt(|| Err::<Infallible, i64>(live_in(spi, &table.sql)));
                let (Ok(Err(count)) | Err(count)) =
                    counted.catch(|caught| caught.is_any_of(&DROPPED).then_some(0));
                count
            };
            target.tables(spi).iter().map(count).sum()
        })
    })
}

/// The exact number of live records in a table.
pub fn live_in(spi: &Connection, table: &str) -> i64 {
    let sql = format!("select count(*) from {table} t where t.deleted_at is null");
    spi.run_newest(&sql, &[]).value().unwrap_or(0)
}

/// The end of the project's day, as RFC 3339.
fn end_of_day(project: i32) -> String {
    let zone = slots::zone(project);
    let sql = "select to_char((((clock_timestamp() at time zone $1)::date + 1)::timestamp at time zone $1) \
               at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";
    connected(|spi| {
        let rows = spi.run_once(sql, Snapshot::Active, &params![&zone]);
        rows.get::<Option<String>>(0, 0).unwrap_or_default()
    })
}
