//! Ten million records and ten thousand templates, compared with ten thousand records and one template.

use super::templates::fill_with_templates;
use super::{Run, sql};
use crate::load::median;
use crate::memory;
use crate::report::{Figure, thousands};
use crate::rounds::{Claim, Contender, Quantity, READS, WRITES_WITHOUT_DISK, Workload};
use crate::works;
use harness::Database;
use std::time::Instant;

const FEW: u32 = 10_000;
/// Records per statement, because pending trigger events are in memory.
const CHUNK: u32 = 50_000;
/// The number of templates that a session uses before its memory is measured.
const USED: u32 = 1_000;

const MANY_NAME: &str = "many records and templates";
const FEW_NAME: &str = "10,000 records, 1 template";

pub(super) async fn run(run: &mut Run<'_>) {
    let (records, templates) = (run.arguments.size_records, run.arguments.size_templates);
    let few = filled(run, FEW).await;
    let many = filled(run, records).await;
    eprintln!("Making {templates} templates …");
    let times = fill_with_templates(run.bed, &many, templates).await;
    run.report.begin(format!(
        "{} records, {} templates",
        thousands(records.into()),
        thousands(templates.into())
    ));
    let times_from = |first: usize| median(times[first..first + 10].to_vec());
    let (first, last) = (times_from(0), times_from(times.len() - 10));
    let per_template = memory_of_session(&many, templates).await;
    for (name, value, unit) in [
        ("create template, the first ten, median", first, " ms"),
        ("create template, the last ten, median", last, " ms"),
        ("session memory per template used", per_template, " kB"),
    ] {
        run.report.add_figure(&Figure {
            name: name.to_owned(),
            value,
            unit,
            related: Vec::new(),
            more_is_better: false,
            gate: None,
            aim: None,
        });
    }
    let few_template = template(run, &few);
    let many_template = template(run, &many);
    for (name, script) in [
        ("lookup by key", include_str!("../scripts/size_lookup.sql")),
        ("list of 50, newest first", include_str!("../scripts/size_newest.sql")),
        ("list of 50 sorted by indexed price", include_str!("../scripts/ordered_proxy.sql")),
        ("list of 50 by a substring of the title", include_str!("../scripts/like_proxy.sql")),
        ("search for two words", include_str!("../scripts/words_proxy.sql")),
        ("upsert by key", include_str!("../scripts/size_upsert.sql")),
    ] {
        let contender = |name, database: &Database, records, template| {
            Contender::new(name, sql(database, script, 1, &[("records", records), ("template", template)]))
        };
        let claim = |quantity| Claim { about: MANY_NAME, against: FEW_NAME, quantity, gate: None, aim: None };
        let commits = if script.contains("upsert") { WRITES_WITHOUT_DISK } else { READS };
        run.measure(&Workload {
            name,
            commits,
            contenders: vec![
                contender(MANY_NAME, &many, records, many_template),
                contender(FEW_NAME, &few, FEW, few_template),
            ],
            claims: vec![claim(Quantity::Latency), claim(Quantity::Tail)],
        });
    }
}

fn template(run: &Run<'_>, database: &Database) -> u32 {
    let number =
        run.bed.cluster.sql(database.name(), "select id from keyed_state.template where slug = 'works'");
    number.parse().expect("the id of a template")
}

/// A database with this many records of one template, in memory as far as possible.
async fn filled(run: &Run<'_>, records: u32) -> Database {
    eprintln!("Filling a template of ten attributes with {records} records …");
    let (cluster, began) = (&run.bed.cluster, Instant::now());
    let database = Database::new_in(cluster).await;
    let sql = |statements: &str| cluster.sql(database.name(), statements);
    sql("create schema plain; select keyed.create_project('bench', 'Bench')");
    sql(include_str!("../works.sql"));
    for first in (1..=records).step_by(CHUNK as usize) {
        sql(&format!(
            "set synchronous_commit = off; {}",
            works::insert(first, records.min(first + CHUNK - 1))
        ));
    }
    // The caller that the proxy would authenticate.
    sql("create table plain.caller as \
         select sha256(keyed.issue_api_key('keyed_admin')::bytea) as hash");
    sql("vacuum analyze");
    sql("checkpoint");
    sql("create extension pg_prewarm; \
         select sum(pg_prewarm(oid, 'read')) from pg_class where relkind in ('r', 'i', 't')");
    eprintln!("That took {:.0} s.", began.elapsed().as_secs_f64());
    database
}

/// The growth of a session's memory for each template that it uses for the first time, in kB.
async fn memory_of_session(database: &Database, templates: u32) -> f64 {
    let client = database.client().await;
    let process: i32 =
        client.query_one("select pg_backend_pid()", &[]).await.expect("a session has a process").get(0);
    let held = || memory::held_by(process as u32).expect("the session is there");
    let used = USED.min(templates - 2);
    client.batch_execute("select keyed.get_by_key('bench.t1', 'A-1')").await.expect("a record");
    let before = held();
    for number in 2..2 + used {
        let lookup = format!("select keyed.get_by_key('bench.t{number}', 'A-1')");
        client.batch_execute(&lookup).await.expect("a record");
    }
    (held() - before) / f64::from(used)
}
