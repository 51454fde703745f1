//! Builds the indexes of an attribute concurrently, and that of the documents.
//!
//! If CREATE INDEX CONCURRENTLY fails or is cancelled, it leaves an invalid index. Ours have names that cannot be
//! slugs, so that the next attempt can find and drop them.

use super::job::{Job, brief, note_start};
use super::turns::Outcome;
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

/// What there is and what is missing.
#[derive(Default)]
struct Plan {
    /// Drops what a try before left.
    drop: Vec<String>,
    /// Builds what is missing.
    create: Vec<String>,
    /// Puts what was built in the place of another.
    rename: Option<String>,
    /// Drops what another index has taken the place of, once policies and views use that.
    replaced: Vec<String>,
    /// The transactions that would be waited for.
    in_the_way: Vec<String>,
}

impl Plan {
    fn is_done(&self) -> bool {
        self.drop.is_empty() && self.create.is_empty() && self.rename.is_none() && self.replaced.is_empty()
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
    /// A snapshot of another session delays every index build, whatever the order.
    pub(crate) fn build(&mut self, job: &Job) -> Result<Outcome, Box<Caught>> {
        if !brief(|| note_start(job))? {
            return Ok(Outcome::Over);
        }
        let mut plan = brief(|| plan(job))?;
        if !self.may_run(job, &plan) {
            return Ok(Outcome::Held);
        }
        while !plan.is_done() {
            if !plan.replaced.is_empty() && !brief(|| renew_readers(job))? {
                return Ok(Outcome::Held);
            }
            for statement in plan.drop.iter().chain(&plan.create).chain(&plan.replaced) {
                worker::show_activity(&format!("keyed: {statement}"));
                worker::run_alone(statement)?;
            }
            if let Some(rename) = &plan.rename {
                brief(|| as_owner_defining(|| connected(|spi| spi.script(rename))))?;
            }
            // Another index takes the place of the one that was there, which then is dropped.
            plan = brief(|| self::plan(job))?;
            if job.attribute.is_some() && !plan.is_done() && !self.may_run(job, &plan) {
                return Ok(Outcome::Held);
            }
        }
        brief(|| {
            connected(|spi| {
                let sql = format!("delete from {TABLE} where id = $1 and state = 'pending'");
                spi.run_once(&sql, Snapshot::Latest, &params![job.id]);
            });
        })?;
        Ok(Outcome::Over)
    }

    /// Whether no transaction that would be waited for is left that was there at the last look.
    fn may_run(&mut self, job: &Job, plan: &Plan) -> bool {
        if !plan.in_the_way.is_empty() {
            let before = self.in_the_way.insert(job.id, plan.in_the_way.clone());
            if before.is_none_or(|before| plan.in_the_way.iter().any(|it| before.contains(it))) {
                return false;
            }
        }
        self.in_the_way.remove(&job.id);
        true
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
            &attribute.collations.order,
            &text::table::trigram_class(spi),
        );
        let texts = match attribute.kind {
            AttributeType::String => collation_change::indexes(spi, &template, attribute),
            _ => Vec::new(),
        };
        let of_any_order = ddl::concurrent_index_name(attribute.id, "btree");
        let mut plan = Plan::default();
        for (method, body) in wanted {
            let is_text = attribute.kind == AttributeType::String && method == "btree";
            let is_there = match is_text {
                true => texts.iter().any(|it| it.is_valid && it.has_collation_of(attribute)),
                false => {
                    found.iter().any(|index| index.is_valid && !index.is_partial && index.method == method)
                }
            };
            if is_there {
                continue;
            }
            let name = name_of(attribute, method);
            // A try in another order has another name.
            let is_left = |it: &&Index| {
                !it.is_valid && (it.name == name || is_text && it.name.starts_with(&of_any_order))
            };
            for index in found.iter().filter(is_left) {
                plan.drop.push(format!("drop index concurrently {}", index.sql));
            }
            plan.create.push(format!("create index concurrently \"{name}\" {body}"));
        }
        if plan.create.is_empty() {
            replace(attribute, &found, &texts, &mut plan);
        }
        if !plan.is_done() {
            let with_readers = !plan.drop.is_empty() || !plan.replaced.is_empty();
            plan.in_the_way = in_the_way(spi, template.table, with_readers);
        }
        plan
    })
}

/// Drops indexes in other orders, also what an interrupted drop left, and gives their name to the one that takes their place.
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

/// The name of an index of an attribute: of texts, one for each order, of which there may be two for a while.
fn name_of(attribute: &Attribute, method: &str) -> String {
    let order = attribute.collations.order.rsplit('.').next().unwrap_or_default().trim_matches('"');
    let is_ordered = attribute.kind == AttributeType::String && method == "btree" && !order.is_empty();
    let of_order = if is_ordered { format!("{method}_{order}") } else { method.to_owned() };
    ddl::concurrent_index_name(attribute.id, &of_order)
}

/// Makes what reads a text use the index that is complete. Returns whether it could.
fn renew_readers(job: &Job) -> bool {
    catalog::refresh();
    let template = catalog::by_id(job.template);
    template.is_none_or(|template| {
        let attribute = template.attributes.iter().find(|it| Some(it.id) == job.attribute);
        attribute.is_none_or(|attribute| collation_change::try_recreate(&template, attribute))
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
