//! The indexes of an attribute, built while others read and write.
//!
//! CREATE INDEX CONCURRENTLY leaves an invalid index behind where it fails or is cancelled. Ours have names that no slug can
//! be, by which the next try finds and drops what the one before left.

use super::TABLE;
use super::run::Job;
use crate::postgres::guard::Caught;
use crate::postgres::spi::{Access, Connection, connected};
use crate::postgres::{datum, worker};
use crate::search::text;
use crate::template::{Attribute, Template, catalog, ddl};
use pgrx::pg_sys::{self, Datum};

/// What there is and what is missing.
#[derive(Default)]
struct Plan {
    /// Drops what a try before left.
    drop: Vec<String>,
    /// Builds what is missing.
    create: Vec<String>,
}

/// Builds the indexes that the attribute shall have and has not, and forgets the job.
pub(super) fn build(job: &Job) -> Result<(), Box<Caught>> {
    let plan = worker::transaction(|| plan(job))?;
    for statement in plan.drop.iter().chain(&plan.create) {
        worker::show_activity(&format!("keyed: {statement}"));
        worker::run_alone(statement)?;
    }
    worker::transaction(|| {
        connected(|spi| {
            let sql = format!("delete from {TABLE} where id = $1 and state = 'pending'");
            spi.run_once(&sql, Access::Latest, &[(pg_sys::INT8OID, Some(Datum::from(job.id)))]);
        });
    })
}

/// Drops what a try left that will not be repeated: an invalid index serves nobody and costs every write.
pub(super) fn clean_up(job: &Job) {
    for statement in worker::transaction(|| plan(job)).unwrap_or_default().drop {
        if let Err(caught) = worker::run_alone(&statement) {
            pgrx::warning!("keyed: {statement} failed: {}", caught.message);
        }
    }
}

fn plan(job: &Job) -> Plan {
    let Some(template) = catalog::by_id(job.template) else { return Plan::default() };
    let Some(attribute) = template.attributes.iter().find(|it| Some(it.id) == job.attribute) else {
        return Plan::default();
    };
    connected(|spi| {
        let found = found(spi, &template, attribute);
        let wanted = ddl::index_bodies(
            &template.table_sql(),
            &attribute.slug,
            attribute.kind,
            attribute.indexed,
            &text::table::trigram_class(spi),
        );
        let mut plan = Plan::default();
        for (method, body) in wanted {
            if found.iter().any(|index| index.is_valid && index.method == method) {
                continue;
            }
            let name = ddl::concurrent_index_name(attribute.id, method);
            if found.iter().any(|index| !index.is_valid && index.name == name) {
                let index = ddl::table_sql(&template.project_slug, &name);
                plan.drop.push(format!("drop index concurrently {index}"));
            }
            plan.create.push(format!("create index concurrently \"{name}\" {body}"));
        }
        plan
    })
}

struct Index {
    method: String,
    is_valid: bool,
    name: String,
}

/// The indexes that stand on this column, by its number or inside an expression, and on no other but the id.
fn found(spi: &Connection, template: &Template, attribute: &Attribute) -> Vec<Index> {
    let rows = spi.run_once(
        "select m.amname::text, i.indisvalid, x.relname::text from pg_catalog.pg_index i \
         join pg_catalog.pg_class x on x.oid = i.indexrelid join pg_catalog.pg_am m on m.oid = x.relam \
         where i.indrelid = $1 and not i.indisunique and i.indpred is null \
         and exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid \
         and d.refobjid = $1 and d.refobjsubid = $2) \
         and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid \
         and d.refobjid = $1 and d.refobjsubid not in ($2, 1))",
        Access::Latest,
        &[
            (pg_sys::OIDOID, Some(Datum::from(template.table))),
            (pg_sys::INT4OID, Some(Datum::from(i32::from(attribute.column)))),
        ],
    );
    let index = |row| {
        Some(Index {
            method: datum::read_text(rows.get(row, 0)?),
            is_valid: datum::read_bool(rows.get(row, 1)?),
            name: datum::read_text(rows.get(row, 2)?),
        })
    };
    (0..rows.len()).filter_map(index).collect()
}
