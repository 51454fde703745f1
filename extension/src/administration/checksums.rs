//! Checksums of the tables of a database, for comparison before and after a restore.
//!
//! A checksum is the sum of the hashes of the rows in text form, so it does not depend on their order, and a table is read once
//! in constant memory. All tables are read with the snapshot of the calling statement. The lock on a table is released after
//! it was read, so the number of tables is not limited.

use crate::access::Caller;
use crate::error::Error;
use crate::json_write::to_json;
use crate::postgres::guard::{as_owner, attempt, with_settings};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::template::Template;
use crate::value::quote::literal;
use crate::value::table_name::{STATE, SideTable, table_sql};
use serde::Serialize;
use std::convert::Infallible;
use std::ffi::CStr;

/// Settings that determine the text form of values.
const FORMATS: [(&CStr, &CStr); 5] = [
    (c"timezone", c"UTC"),
    (c"datestyle", c"ISO, MDY"),
    (c"intervalstyle", c"postgres"),
    (c"extra_float_digits", c"1"),
    (c"bytea_output", c"hex"),
];

/// A row of a table, named `t`, as text.
const ROW: &str = "t::text";

/// A row of a state table as text, without `bound_in`, which differs between clusters by design.
const STATE_ROW: &str = "(pg_catalog.to_jsonb(t) - 'bound_in')::text";

/// The checksum of a table.
#[derive(Serialize)]
struct Line {
    template: Option<String>,
    part: String,
    rows: i64,
    checksum: String,
    newest: Option<String>,
}

/// A table to read.
struct Table {
    template: Option<String>,
    part: String,
    sql: String,
    row: &'static str,
    /// The column with the time of a row's last change.
    changed: Option<&'static str>,
}

/// All tables, or those of a template, as JSON.
pub(super) fn report(template: Option<&Template>) -> Result<String, Error> {
    let caller = Caller::current();
    caller.require_admin("compute checksums")?;
    caller.require_all_projects("compute checksums")?;
    let lines: Vec<Line> = as_owner(|| {
        with_settings(&FORMATS, || {
            connected(|spi| tables(spi, template).iter().map(|table| read_and_unlock(spi, table)).collect())
        })
    });
    Ok(to_json(&lines))
}

fn tables(spi: &Connection, template: Option<&Template>) -> Vec<Table> {
    let mut tables = of_templates(spi, template);
    if template.is_none() {
        tables.extend(of_the_state(spi));
    }
    tables
}

/// The existing tables of each template.
fn of_templates(spi: &Connection, template: Option<&Template>) -> Vec<Table> {
    let [history, series, documents, vectors] =
        SideTable::ALL.map(|table| format!("{} is not null", table.regclass_sql("t.id")));
    let sql = format!(
        "select t.id, p.slug, t.slug, pg_catalog.to_regclass(pg_catalog.format('%I.%I', p.slug, t.slug)) is not null, \
         {history}, {series}, {documents}, {vectors} from {STATE}.template t join {STATE}.project p on p.id = t.project_id \
         where $1 is null or t.id = $1 order by p.slug, t.slug"
    );
    let rows = spi.run_once(&sql, Snapshot::Active, &params![template.map(|template| template.id)]);
    let rows = rows.iter::<(i32, String, String, bool, bool, bool, bool, bool)>();
    let tables = rows.flat_map(|(id, project, slug, records, history, series, documents, vectors)| {
        let beside = |kind: SideTable| kind.sql(id);
        let parts = [
            (records, "records", table_sql(&project, &slug), Some("updated_at")),
            (history, "history", beside(SideTable::History), Some("at")),
            (series, "series", beside(SideTable::Series), None),
            (documents, "documents", beside(SideTable::Documents), None),
            (vectors, "vectors", beside(SideTable::Vectors), None),
        ];
        let present = parts.into_iter().filter(|(is_present, ..)| *is_present);
        present.map(move |(_, part, sql, changed)| Table {
            template: Some(format!("{project}.{slug}")),
            part: part.to_owned(),
            sql,
            row: ROW,
            changed,
        })
    });
    tables.collect()
}

/// State tables that reads change, and the one that identifies the cluster.
const EXCLUDED: [&str; 3] = ["api_key_use", "attribute_use", "change_generation"];

/// The state tables that are not side tables of templates.
fn of_the_state(spi: &Connection) -> Vec<Table> {
    let sql = format!(
        "select c.relname::text from pg_catalog.pg_class c where c.relkind = 'r' \
         and c.relnamespace = {}::pg_catalog.regnamespace order by c.relname",
        literal(STATE)
    );
    let names = spi.run_once(&sql, Snapshot::Active, &[]);
    let names: Vec<String> = names.column::<String>().collect();
    let is_left_out = |name: &String| {
        EXCLUDED.contains(&name.as_str()) || SideTable::ALL.iter().any(|kind| kind.is_named(name))
    };
    let table = |name: String| Table {
        template: None,
        sql: format!("{STATE}.\"{name}\""),
        part: name,
        row: STATE_ROW,
        changed: None,
    };
    names.into_iter().filter(|name| !is_left_out(name)).map(table).collect()
}

/// Reads a table in a subtransaction that is rolled back, which releases its locks.
fn read_and_unlock(spi: &Connection, table: &Table) -> Line {
    let Err(line) = attempt(|| Err::<Infallible, Line>(read(spi, table))).or_rethrow();
    line
}

/// The first eight bytes of the SHA-256 of each row, as a number. The sum is exact, and the checksum is its last 64 bits.
fn read(spi: &Connection, table: &Table) -> Line {
    let newest =
        table.changed.map_or("null::text".to_owned(), |column| format!("pg_catalog.max(t.{column})::text"));
    let sql = format!(
        "select pg_catalog.count(*), coalesce(pg_catalog.sum(('x' || pg_catalog.encode(pg_catalog.substr(pg_catalog.sha256( \
         pg_catalog.convert_to({}, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint), 0)::text, {newest} from {} t",
        table.row, table.sql
    );
    let rows = spi.run_once(&sql, Snapshot::Active, &[]);
    let (rows, sum, newest): (i64, String, Option<String>) = rows.first().unwrap_or_default();
    let sum = sum.parse::<i128>().unwrap_or_default();
    let checksum = format!("{:016x}", sum.rem_euclid(1 << 64));
    Line { template: table.template.clone(), part: table.part.clone(), rows, checksum, newest }
}
