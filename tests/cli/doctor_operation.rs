//! Findings of `doctor` during operation: each appears, and disappears when its remedy is applied.

use crate::doctor::findings;
use crate::keyed;
use harness::{Cluster, Database};
use serde_json::Value;
use std::sync::Arc;

/// A statement that causes a finding, the check, a part of its message, its severity, and a statement that ends it if
/// its remedy cannot be pasted.
type Problem = (&'static str, &'static str, &'static str, &'static str, Option<&'static str>);

/// Causes each problem, expects its finding, applies the remedy and expects the finding to be gone.
fn each_is_found_and_goes(database: &Database, problems: &[Problem]) {
    for (problem, check, part, severity, end) in problems {
        let found = || findings(keyed(database, &["doctor", "--json"]), check);
        assert!(found().is_empty(), "before {problem}: {:?}", found());
        database.run_in_psql(problem);
        let seen = found();
        let finding =
            seen.iter().find(|finding| finding["message"].as_str().is_some_and(|it| it.contains(part)));
        let finding = finding.unwrap_or_else(|| panic!("{problem}: not found in {seen:?}"));
        assert_eq!((seen.len(), finding["severity"].as_str()), (1, Some(*severity)), "{problem}: {seen:?}");
        let remedy = finding["remedy"].as_str().expect("a remedy");
        database
            .run_in_psql(end.unwrap_or_else(|| remedy.split("if it is gone: ").last().unwrap_or_default()));
        assert!(found().is_empty(), "{problem}: ended by {remedy}, but: {:?}", found());
    }
}

#[tokio::test]
async fn doctor_reports_each_operational_problem_until_it_is_fixed() {
    let database = Database::new_durable().await.add_crm().await;
    each_is_found_and_goes(
        &database,
        &[
            (
                "alter table keyed_state.embedding_job set (autovacuum_enabled = off);
                 insert into keyed_state.embedding_job (record_id, template_id, state) select gen_random_uuid(), 1, 'done' from generate_series(1, 12000);
                 delete from keyed_state.embedding_job",
                "dead rows",
                "keyed_state.embedding_job has 12000 dead rows beside 0 live ones, and was last vacuumed never",
                "warning",
                None,
            ),
            (
                "update pg_class set relfrozenxid = (pg_current_xact_id()::text::bigint + 4294967296 - 400000000)::text::xid where oid = 'crm.customers'::regclass",
                "transaction ids",
                "crm.customers may be 40",
                "warning",
                None,
            ),
            (
                "select setval('keyed_state.template_id_seq', 2000000000)",
                "numbers",
                "keyed_state.template_id_seq is at 2000000000 of 1 to 16777215",
                "warning",
                Some("select setval('keyed_state.template_id_seq', 1000)"),
            ),
            (
                "select keyed.alter_attribute('crm.customers', 'visits', '{\"indexed\": true}');
                 update pg_class set relpages = 2000 where oid = (select index from keyed.stat_indexes where template = 'customers' and attribute = 'visits');
                 update keyed_state.attribute_use set since = now() - interval '31 days'",
                "unused indexes",
                "the indexes of the attribute visits of crm.customers take 16 MB",
                "note",
                None,
            ),
            (
                "update pg_class set reltuples = 50000 where oid = 'crm.customers'::regclass;
                 update keyed_state.attribute_use set filters = 900, sorts = 100, last_at = now()
                 where attribute_id = (select a.id from keyed_state.attribute a join keyed_state.template t on t.id = a.template_id where a.slug = 'visits' and t.slug = 'customers')",
                "missing indexes",
                "900 searches filtered and 100 sorted by the attribute visits of crm.customers, which has no index and about 50000 rows",
                "note",
                None,
            ),
            (
                "select keyed.issue_api_key('keyed_admin', null, 'nightly', now() + interval '10 days');
                 update keyed_state.api_key set created_at = now() - interval '50 days';
                 update keyed_state.api_key_use set last_used_at = now()",
                "keys that expire",
                "(nightly) is in use and expires at",
                "warning",
                Some("update keyed_state.api_key_use set last_used_at = now() - interval '20 days'"),
            ),
            (
                "select keyed.issue_api_key('keyed_admin', null, 'forgotten');
                 update keyed_state.api_key set created_at = now() - interval '91 days', expires_at = 'infinity' where label = 'forgotten'",
                "unused keys",
                "(forgotten) of the role keyed_admin was never used, and issued at",
                "note",
                None,
            ),
            (
                "update pg_class set relpages = 600000 where oid = 'crm.customers'::regclass",
                "memory",
                "PostgreSQL's default, and the tables of keyed take",
                "note",
                Some("vacuum crm.customers"),
            ),
            (
                "select keyed.create_inbound_endpoint('crm.customers', '{\"slug\": \"shop\", \"external_key\": \"$.id\"}');
                 insert into keyed_state.inbound_delivery (endpoint_id, status, payload) values (1, 'failed', '{\"id\": \"A-7\", \"name\": \"Ada\"}'), (1, 'failed', '{\"id\": \"A-8\", \"name\": \"Eve\"}'), (1, 'done', null)",
                "failed deliveries",
                "the inbound endpoint shop keeps 2 failed deliveries, received since 20",
                "note",
                Some("select keyed.replay_failed_deliveries(1)"),
            ),
            (
                "select keyed.create_webhook_endpoint('crm', '{\"slug\": \"shop\", \"url\": \"https://example.com\"}');
                 update keyed_state.webhook_endpoint set enabled = false, disabled_at = now(), disabled_reason = 'the receiver returned 410 Gone'",
                "webhook endpoints",
                "the webhook endpoint shop was disabled at 20",
                "warning",
                Some("select keyed.alter_webhook_endpoint(1, '{\"enabled\": true}')"),
            ),
            (
                "select keyed.init(shard => 0); alter table keyed_state.project alter column id set maxvalue 2147483647",
                "ids of the shard",
                "keyed_state.project_id_seq assigns ids of other shards than shard 0",
                "error",
                None,
            ),
            (
                "revoke execute on function keyed.server_measurements() from keyed_owner",
                "measurements",
                "keyed_owner may not call keyed.server_measurements()",
                "note",
                None,
            ),
            (
                "alter system set track_counts = off; select pg_reload_conf()",
                "statistics",
                "track_counts is off",
                "warning",
                None,
            ),
            (
                "alter system set max_wal_size = '32MB'; select pg_reload_conf();
                 select pg_create_physical_replication_slot('gone', true);
                 create table public.writes (n integer);
                 insert into public.writes values (1); select pg_switch_wal(); insert into public.writes values (1); select pg_switch_wal();
                 insert into public.writes values (1); select pg_switch_wal()",
                "replication slots",
                "no process uses the replication slot gone, and it keeps",
                "warning",
                None,
            ),
        ],
    );
    database.run_in_psql("alter system reset max_wal_size; select pg_reload_conf()");
}

#[tokio::test]
async fn locked_table_is_reported_and_other_checks_run() {
    let database = Database::with_crm().await;
    let (holder, session) = (database.session().await, database.session().await);
    session.run("alter table crm.customers disable trigger keyed_guard").await;
    let lock = "begin; lock table crm.customers, keyed_state.access_grant in access exclusive mode";
    holder.run(lock).await;
    let pid = holder.text("select pg_backend_pid()::text", &[]).await;
    // It would wait as long as the lock is held.
    let outcome = keyed(&database, &["doctor", "--json"]);
    let report: Value = serde_json::from_str(&outcome.out).unwrap_or_else(|_| panic!("{}", outcome.err));
    let found = |report: &Value, check: &str| -> Vec<Value> {
        let all = report["findings"].as_array().into_iter().flatten();
        all.filter(|finding| finding["check"] == check).cloned().collect()
    };
    let of_grants = found(&report, "grants");
    let text = |name: &str| of_grants[0][name].as_str().unwrap_or_default().to_owned();
    assert!(
        text("message").starts_with("could not be examined, because a lock on a table is not free: process "),
        "{of_grants:?}"
    );
    assert!(text("message").contains(&format!("process {pid} (")), "{of_grants:?}");
    assert!(text("message").contains("holds up crm.customers, keyed_state.access_grant"), "{of_grants:?}");
    assert!(text("remedy").contains(&format!("select pg_terminate_backend({pid});")), "{of_grants:?}");
    let sound = |check: &str| {
        let checks = report["checks"].as_array().into_iter().flatten();
        checks.into_iter().find(|it| it["name"] == check).map(|it| it["sound"].clone())
    };
    assert_eq!((sound("grants"), sound("API keys")), (Some(Value::Null), Some(true.into())), "{report:#}");
    // Checks that read no locked table work as before.
    assert_eq!(
        (sound("templates"), found(&report, "templates").len()),
        (Some(false.into()), 1),
        "{report:#}"
    );
    // The service finds the same, within its own transaction.
    let examined = session.json("select keyed_http.examine()", &[]).await;
    assert_eq!(found(&examined, "grants"), of_grants);
    let out = keyed(&database, &["doctor"]).out;
    assert!(out.contains("grants: could not be examined") && !out.contains("skipped  grants"), "{out}");
    holder.run("rollback").await;
    assert!(findings(keyed(&database, &["doctor", "--json"]), "grants").is_empty());
}

#[tokio::test]
async fn tables_beyond_the_lock_limit_of_a_dump_are_found() {
    let cluster = Arc::new(Cluster::start_with(&["max_connections=25", "max_locks_per_transaction=10"]));
    let database = Database::new_in(&cluster).await;
    database.run_in_psql("select keyed.create_project('crm');
         do $$ begin for n in 1..60 loop perform keyed.create_template('crm', 't' || n, '[]'); commit; end loop; end $$",
    );
    let found: Vec<Value> = findings(keyed(&database, &["doctor", "--json"]), "lock table");
    let text = |name: &str| found[0][name].as_str().unwrap_or_default().to_owned();
    assert!(text("message").contains("a limit of 250 locks"), "{found:?}");
    assert!(text("remedy").starts_with("alter system set max_locks_per_transaction = 64;"), "{found:?}");
    database.run_in_psql("do $$ begin for n in 1..40 loop perform keyed.drop_template(('crm.t' || n)::regclass); commit; end loop; end $$",
    );
    assert!(findings(keyed(&database, &["doctor", "--json"]), "lock table").is_empty());
}
