//! Deletes the series of dropped attributes.

use crate::access::dependent::Dependent;
use crate::attribute_type::AttributeType;
use crate::job::{self, Done};
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot};
use crate::template::{Attribute, Template};
use crate::value::table_name::SideTable;
use uuid::Uuid;

/// The number of points in a chunk of a job.
const CHUNK: usize = 10_000;

/// The series of metrics.
pub struct Series;

impl Dependent for Series {
    /// Deletes few points immediately, and many by a job. Meanwhile they are invisible, because attribute ids are not reused.
    fn after_drop(&self, spi: &Connection, template: &Template, attribute: &Attribute) {
        if attribute.kind != AttributeType::Metric {
            return;
        }
        let table = SideTable::Series.sql(template.id);
        if job::are_many(spi, &table) {
            job::add_series(spi, template, attribute.id);
            return;
        }
        let by_attribute = params![attribute.id];
        spi.run_once(
            &format!("delete from {table} where attribute_id = $1"),
            Snapshot::Latest,
            &by_attribute,
        );
    }
}

/// Deletes a chunk of the points of these attributes, beginning with the record `from`.
pub fn chunk(spi: &Connection, template: &Template, attributes: &[i32], from: Uuid) -> Done {
    let table = SideTable::Series.sql(template.id);
    let sql = format!(
        "with few as (select p.record_id, p.attribute_id, p.at, p.id from {table} p \
           where p.record_id >= $1 and p.attribute_id = any ($2) order by 1, 2, 3, 4 limit {CHUNK}), \
         gone as (delete from {table} p using few f where (p.record_id, p.attribute_id, p.at, p.id) \
           = (f.record_id, f.attribute_id, f.at, f.id)) \
         select f.record_id from few f order by f.record_id desc"
    );
    let arguments = params![from, attributes];
    let rows = spi.run_once(&sql, Snapshot::Latest, &arguments);
    let last = (rows.len() == CHUNK).then(|| rows.get::<Option<Uuid>>(0, 0)).flatten();
    Done { last, records: rows.len(), ..Done::default() }
}
