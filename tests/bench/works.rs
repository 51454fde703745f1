//! Half a million records, for lists and searches. They are created when the first group needs them, because that takes
//! a while.

use crate::bed::Bed;
use std::time::Instant;

const RECORDS: u32 = 500_000;

/// The variables of the scripts for these records.
pub(crate) struct Works {
    /// The template's id, which handwritten SQL returns too.
    pub(crate) template: u32,
}

/// The statement that creates the records with these numbers.
pub(crate) fn insert(first: u32, last: u32) -> String {
    let sql = include_str!("works_records.sql");
    sql.replace(":first", &first.to_string()).replace(":last", &last.to_string())
}

impl Works {
    /// Creates the template, its records, and the tables of the other contenders.
    pub(crate) async fn fill(bed: &Bed) -> Self {
        eprintln!("Filling a template of ten attributes with {RECORDS} records …");
        let began = Instant::now();
        let sql = |statements: &str| bed.cluster.sql(bed.database.name(), statements);
        sql(include_str!("works.sql"));
        sql(&format!("set synchronous_commit = off; {}", insert(1, RECORDS)));
        let template = sql("select id from keyed_state.template where slug = 'works'");
        sql(&include_str!("works_peers.sql").replace(":template", &template));
        // For the statement that the proxy sends: its API key is checked.
        sql(&format!("create table plain.caller as select sha256('{}') as hash", bed.proxy.key()));
        // Moves the pending list of the text index into it, and prevents an autovacuum during a turn.
        for table in ["bench.works", "rest.works", "keyed_state.text", "keyed_state.history"] {
            let number = if table.starts_with("keyed") { format!("_{template}") } else { String::new() };
            sql(&format!("vacuum analyze {table}{number}"));
        }
        sql("vacuum analyze plain.pages");
        sql("checkpoint");
        if let Some(postgrest) = &bed.postgrest {
            sql("grant select on rest.works to web_anon; notify pgrst, 'reload schema'");
            postgrest.wait_for("works?limit=1").await;
        }
        sql("create extension pg_prewarm");
        eprintln!("That took {:.0} s.", began.elapsed().as_secs_f64());
        Self { template: template.parse().expect("the id of a template") }
    }

    /// Reads all tables and indexes, because the operating system may have evicted them: disks are not measured.
    pub(crate) fn warm(&self, bed: &Bed) {
        let statement = format!(
            "select count(pg_prewarm(relation, 'read')) from ( \
             select indexrelid::regclass as relation, indrelid as tables from pg_index \
             union all select oid, oid from pg_class) as relations \
             where tables in ('bench.works'::regclass, 'rest.works'::regclass, 'keyed_state.text_{}'::regclass)",
            self.template
        );
        bed.cluster.sql(bed.database.name(), &statement);
    }
}
