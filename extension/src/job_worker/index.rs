//! Builds the indexes of an attribute concurrently, and that of the documents.
//!
//! If CREATE INDEX CONCURRENTLY fails or is cancelled, it leaves an invalid index. Ours have names that cannot be
//! slugs, so that the next attempt can find and drop them.

use super::job::{Job, brief, note_start};
use super::turns::Outcome;
use crate::define::ddl;
use crate::job::TABLE;
use crate::postgres::caught::Caught;
use crate::postgres::guard::as_owner_defining;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::worker;
use crate::search::text;
use crate::template;
use crate::template::{Template, catalog};
use crate::value::table_name::{STATE, SideTable, table_sql};
use pgrx::pg_sys::Oid;
use std::collections::HashMap;

/// What there is and what is missing.
#[derive(Default)]
struct Plan {
    /// Drops what a try before left.
    drop: Vec<String>,
    /// Builds what is missing.
    create: Vec<String>,
    /// Puts what was built in the place of another.
    rename: Option<String>,
    /// The transactions that would be waited for.
    in_the_way: Vec<String>,
}

impl Plan {
    fn is_done(&self) -> bool {
        self.drop.is_empty() && self.create.is_empty() && self.rename.is_none()
    }
}

/// What the worker remembers from one turn to the next.
#[derive(Default)]
pub(crate) struct Turns {
    /// The transactions that were in the way of a job at its last turn.
    in_the_way: HashMap<i64, Vec<String>>,
}

impl Turns {
    /// Builds the indexes that the attribute shall have and has not, and forgets the job.
    ///
    /// PostgreSQL waits for each transaction that has written to the table before, and an index under construction cannot
    /// be put off. So one that is still open at the second look is not waited for: other indexes have their turn first.
    /// A snapshot of others holds up whatever index is built, in whichever order.
    pub(crate) fn build(&mut self, job: &Job) -> Result<Outcome, Box<Caught>> {
        if !brief(|| note_start(job))? {
            return Ok(Outcome::Over);
        }
        let mut plan = brief(|| plan(job))?;
        if !plan.in_the_way.is_empty() {
            let before = self.in_the_way.insert(job.id, plan.in_the_way.clone());
            if before.is_none_or(|before| plan.in_the_way.iter().any(|it| before.contains(it))) {
                return Ok(Outcome::Held);
            }
        }
        self.in_the_way.remove(&job.id);
        while !plan.is_done() {
            for statement in plan.drop.iter().chain(&plan.create) {
                worker::show_activity(&format!("keyed: {statement}"));
                worker::run_alone(statement)?;
            }
            if let Some(rename) = &plan.rename {
                brief(|| as_owner_defining(|| connected(|spi| spi.script(rename))))?;
            }
            if job.attribute.is_some() {
                break;
            }
            // Another index of the documents takes the place of the one that was there, which then is dropped.
            plan = brief(|| self::plan(job))?;
        }
        brief(|| {
            connected(|spi| {
                let sql = format!("delete from {TABLE} where id = $1 and state = 'pending'");
                spi.run_once(&sql, Snapshot::Latest, &params![job.id]);
            });
        })?;
        Ok(Outcome::Over)
    }
}

/// Drops an invalid index that a failed attempt left: it serves no query and slows every write.
pub(crate) fn clean_up(job: &Job) {
    let warn = |caught: Box<Caught>| {
        pgrx::warning!("keyed: an invalid index of job {} remains: {}", job.id, caught.message);
    };
    match brief(|| plan(job)) {
        Ok(plan) => plan.drop.iter().filter_map(|it| worker::run_alone(it).err()).for_each(warn),
        Err(caught) => warn(caught),
    }
}

fn plan(job: &Job) -> Plan {
    catalog::refresh();
    let Some(template) = catalog::by_id(job.template) else { return Plan::default() };
    if job.attribute.is_none() {
        return connected(|spi| plan_of_documents(spi, &template));
    }
    let Some(attribute) = template.attributes.iter().find(|it| Some(it.id) == job.attribute) else {
        return Plan::default();
    };
    connected(|spi| {
        let found = template::index::of_column(spi, template.table, attribute.column);
        let wanted = ddl::index_bodies(
            &template.table_sql(),
            &attribute.slug,
            attribute.kind,
            attribute.indexed,
            &text::table::trigram_class(spi),
        );
        let mut plan = Plan::default();
        for (method, body) in wanted {
            if found.iter().any(|index| index.is_valid && !index.is_partial && index.method == method) {
                continue;
            }
            let name = ddl::concurrent_index_name(attribute.id, method);
            if found.iter().any(|index| !index.is_valid && index.name == name) {
                let index = table_sql(&template.project_slug, &name);
                plan.drop.push(format!("drop index concurrently {index}"));
            }
            plan.create.push(format!("create index concurrently \"{name}\" {body}"));
        }
        if !plan.create.is_empty() {
            plan.in_the_way = in_the_way(spi, template.table, !plan.drop.is_empty());
        }
        plan
    })
}

/// The next steps to the index of documents.
fn plan_of_documents(spi: &Connection, template: &Template) -> Plan {
    let steps = text::renewal::next_steps(spi, template);
    let table = catalog::table_oid(STATE, &SideTable::Documents.name(template.id));
    let in_the_way = match table.filter(|_| !steps.alone.is_empty()) {
        Some(table) => in_the_way(spi, table, true),
        None => Vec::new(),
    };
    Plan { create: steps.alone, rename: steps.rename, in_the_way, ..Plan::default() }
}

/// The transactions that block CREATE INDEX CONCURRENTLY (its own lock, and writers) or DROP INDEX CONCURRENTLY
/// (readers as well). VACUUM is not listed: it yields by itself.
fn in_the_way(spi: &Connection, table: Oid, with_readers: bool) -> Vec<String> {
    let rows = spi.run_once(
        "select l.virtualtransaction from pg_catalog.pg_locks l where l.locktype = 'relation' and l.relation = $1 \
         and l.database = (select d.oid from pg_catalog.pg_database d where d.datname = pg_catalog.current_database()) \
         and l.granted and l.pid is distinct from pg_catalog.pg_backend_pid() \
         and ($2 or l.mode not in ('AccessShareLock', 'RowShareLock')) and not (l.mode = 'ShareUpdateExclusiveLock' \
           and exists (select from pg_catalog.pg_stat_get_activity(l.pid) a where a.pid = l.pid and a.usesysid is null))",
        Snapshot::Latest,
        &params![table, with_readers],
    );
    rows.column::<String>().collect()
}
