//! Builds the indexes of attributes, documents and histories concurrently.
//!
//! A failed or canceled CREATE INDEX CONCURRENTLY leaves an invalid index. These indexes have names that no slug can
//! have, so that the next attempt can find and drop them.

use super::schedule::{Job, Outcome, brief, mark_started};
use crate::attribute_type::AttributeType;
use crate::define::collation_change::{self, TextIndex};
use crate::define::ddl;
use crate::job::TABLE;
use crate::postgres::caught::Caught;
use crate::postgres::guard::as_owner_defining;
use crate::postgres::parameter::params;
use crate::postgres::spi::{Connection, Snapshot, connected};
use crate::postgres::worker;
use crate::search::text;
use crate::template;
use crate::template::index::Index;
use crate::template::{Attribute, Template, catalog};
use crate::value::quote::identifier;
use crate::value::table_name::{STATE, SideTable};
use pgrx::pg_sys::Oid;
use std::collections::HashMap;

/// The next statements of an index job.
#[derive(Default)]
struct Plan {
    /// Drop invalid indexes of an earlier attempt.
    drop: Vec<String>,
    /// Build missing indexes.
    create: Vec<String>,
    /// Gives a new index the name of the index that it replaces.
    rename: Option<String>,
    /// Drop replaced indexes, after policies and views use the new one.
    replaced: Vec<String>,
    /// The transactions for which the statements would wait.
    blockers: Vec<String>,
}

impl Plan {
    fn is_done(&self) -> bool {
        self.drop.is_empty() && self.create.is_empty() && self.rename.is_none() && self.replaced.is_empty()
    }
}

/// Builds indexes, and stores which transactions blocked each job.
#[derive(Default)]
pub(crate) struct IndexBuilder {
    /// The transactions that blocked a job at its last attempt.
    blockers: HashMap<i64, Vec<String>>,
}

impl IndexBuilder {
    /// Builds the missing indexes of the job's attribute, and deletes the job.
    ///
    /// CREATE INDEX CONCURRENTLY waits for all transactions that have written to the table, and cannot be suspended. If a
    /// transaction is still open at the second attempt, other indexes are built first. A snapshot of another session
    /// delays every build.
    pub(crate) fn build(&mut self, job: &Job) -> Result<Outcome, Box<Caught>> {
        if !brief(|| mark_started(job))? {
            return Ok(Outcome::Finished);
        }
        let mut plan = brief(|| plan(job))?;
        if !self.may_run(job, &plan) {
            return Ok(Outcome::Blocked);
        }
        while !plan.is_done() {
            if !plan.replaced.is_empty() && !brief(|| recreate_readers(job))? {
                return Ok(Outcome::Blocked);
            }
            for statement in plan.drop.iter().chain(&plan.create).chain(&plan.replaced) {
                worker::show_activity(&format!("keyed: {statement}"));
                worker::run_alone(statement)?;
            }
            if let Some(rename) = &plan.rename {
                brief(|| as_owner_defining(|| connected(|spi| spi.script(rename))))?;
            }
            // After a new index is built, the replaced one is dropped.
            plan = brief(|| self::plan(job))?;
            if job.attribute.is_some() && !plan.is_done() && !self.may_run(job, &plan) {
                return Ok(Outcome::Blocked);
            }
        }
        brief(|| {
            connected(|spi| {
                let sql = format!("delete from {TABLE} where id = $1 and state = 'pending'");
                spi.run_once(&sql, Snapshot::Latest, &params![job.id]);
            });
        })?;
        Ok(Outcome::Finished)
    }

    /// Whether all blockers of the last attempt have ended. The first attempt with blockers returns false.
    fn may_run(&mut self, job: &Job, plan: &Plan) -> bool {
        if !plan.blockers.is_empty() {
            let before = self.blockers.insert(job.id, plan.blockers.clone());
            if before.is_none_or(|before| plan.blockers.iter().any(|it| before.contains(it))) {
                return false;
            }
        }
        self.blockers.remove(&job.id);
        true
    }
}

/// Drops invalid indexes of a failed attempt: no query can use them, and they slow down every write.
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
        return connected(|spi| {
            let plan = plan_of_documents(spi, &template);
            if plan.is_done() { plan_of_history(spi, &template) } else { plan }
        });
    }
    let Some(attribute) = template.attributes.iter().find(|it| Some(it.id) == job.attribute) else {
        return Plan::default();
    };
    connected(|spi| {
        let found = template::index::of_column(spi, template.table, attribute.column);
        let requested = ddl::index_bodies(
            &template.table_sql(),
            &attribute.slug,
            attribute.kind,
            attribute.indexed,
            &attribute.collations.order,
            &text::table::trigram_class(spi),
        );
        let texts = match attribute.kind {
            AttributeType::String => collation_change::indexes(spi, &template, attribute),
            _ => Vec::new(),
        };
        let prefix = ddl::concurrent_index_name(attribute.id, "btree");
        let mut plan = Plan::default();
        for (method, body) in requested {
            let is_text = attribute.kind == AttributeType::String && method == "btree";
            let exists = match is_text {
                true => texts.iter().any(|it| it.is_valid && it.has_collation_of(attribute)),
                false => {
                    found.iter().any(|index| index.is_valid && !index.is_partial && index.method == method)
                }
            };
            if exists {
                continue;
            }
            let name = name_of(attribute, method);
            // An attempt with another collation has another name.
            let is_failed =
                |it: &&Index| !it.is_valid && (it.name == name || is_text && it.name.starts_with(&prefix));
            for index in found.iter().filter(is_failed) {
                plan.drop.push(format!("drop index concurrently {}", index.sql));
            }
            plan.create.push(format!("create index concurrently \"{name}\" {body}"));
        }
        if plan.create.is_empty() {
            replace(attribute, &found, &texts, &mut plan);
        }
        if !plan.is_done() {
            let with_readers = !plan.drop.is_empty() || !plan.replaced.is_empty();
            plan.blockers = blockers(spi, template.table, with_readers);
        }
        plan
    })
}

/// Plans to drop indexes with other collations, including invalid ones, and to give their name to the new index.
fn replace(attribute: &Attribute, found: &[Index], texts: &[TextIndex], plan: &mut Plan) {
    let (now, former): (Vec<&TextIndex>, Vec<&TextIndex>) =
        texts.iter().partition(|it| it.has_collation_of(attribute));
    plan.replaced = former.iter().map(|it| format!("drop index concurrently {}", it.sql)).collect();
    let of_former = found.iter().find(|it| former.iter().any(|former| former.sql == it.sql));
    let name = of_former.map(|it| it.name.as_str()).filter(|name| !ddl::is_concurrent_index_name(name));
    if let ([now], Some(name)) = (now.as_slice(), name) {
        plan.rename = Some(format!("alter index {} rename to {}", now.sql, identifier(name)));
    }
}

/// The name of an attribute's index. The name of a B-tree on strings includes the collation, because two may exist for a
/// while.
fn name_of(attribute: &Attribute, method: &str) -> String {
    let collation = attribute.collations.order.rsplit('.').next().unwrap_or_default().trim_matches('"');
    let has_collation = attribute.kind == AttributeType::String && method == "btree" && !collation.is_empty();
    let suffix = if has_collation { format!("{method}_{collation}") } else { method.to_owned() };
    ddl::concurrent_index_name(attribute.id, &suffix)
}

/// Recreates the policies and views that read a string attribute attribute, so that they use the new index. Returns
/// whether it succeeded.
fn recreate_readers(job: &Job) -> bool {
    catalog::refresh();
    let template = catalog::by_id(job.template);
    template.is_none_or(|template| {
        let attribute = template.attributes.iter().find(|it| Some(it.id) == job.attribute);
        attribute.is_none_or(|attribute| collation_change::try_recreate(&template, attribute))
    })
}

/// The next statements for the index of documents.
fn plan_of_documents(spi: &Connection, template: &Template) -> Plan {
    let steps = text::renewal::next_steps(spi, template);
    let table = catalog::table_oid(STATE, &SideTable::Documents.name(template.id));
    let blockers = match table.filter(|_| !steps.alone.is_empty()) {
        Some(table) => blockers(spi, table, true),
        None => Vec::new(),
    };
    Plan { create: steps.alone, rename: steps.rename, blockers, ..Plan::default() }
}

/// The missing indexes of the history, and what a try before left of them.
fn plan_of_history(spi: &Connection, template: &Template) -> Plan {
    let mut plan = Plan::default();
    let Some(table) = template.history.filter(|_| template.history_position.is_some()) else { return plan };
    for (name, body) in ddl::history_indexes(template.id) {
        let sql = "select i.indisvalid from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid \
                   where i.indrelid = $1 and c.relname = $2::pg_catalog.name";
        let is_valid = spi.run_once(sql, Snapshot::Latest, &params![table, &name]).value::<bool>();
        if is_valid == Some(false) {
            plan.drop.push(format!("drop index concurrently {STATE}.{name}"));
        }
        if is_valid != Some(true) {
            plan.create.push(format!("create index concurrently {name} {body}"));
        }
    }
    if !plan.is_done() {
        plan.blockers = blockers(spi, table, !plan.drop.is_empty());
    }
    plan
}

/// The transactions that block CREATE INDEX CONCURRENTLY (its own lock, and writers) or DROP INDEX CONCURRENTLY
/// (readers as well), except autovacuum, which PostgreSQL cancels automatically.
fn blockers(spi: &Connection, table: Oid, with_readers: bool) -> Vec<String> {
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
