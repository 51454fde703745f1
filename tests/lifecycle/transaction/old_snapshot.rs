//! `old_snapshot_threshold`, which PostgreSQL 17 removed: a snapshot that is too old causes an error, and never missing
//! rows.

use harness::{Cluster, Database, major_version};
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_snapshot_misses_no_rows() {
    if major_version() >= 17 {
        return;
    }
    // 0 is for tests: a snapshot is too old as soon as another transaction has ended.
    let cluster = Arc::new(Cluster::start_with(&["old_snapshot_threshold=0", "autovacuum=off"]));
    let database = Database::new_in(&cluster).await.add_crm().await;
    let writer = database.session().await;
    writer.run("insert into crm.customers (external_key, name) select 'K' || n, 'Customer ' || n from generate_series(1, 400) n").await;
    let statements = [
        "select keyed.search('crm.customers', '{\"global_search\": \"customer\", \"count\": \"exact\", \"limit\": 1}') ->> 'total'",
        "select keyed.search('crm.customers', '{\"count\": \"exact\", \"limit\": 1, \"facets\": [\"name\"]}') ->> 'total'",
        "select count(keyed.get_by_key('crm.customers', 'K' || n)) from generate_series(1, 400) n",
        "select keyed.suggest('crm.customers', '{\"prefix\": \"cust\"}') -> 'suggestions' -> 0 ->> 'count'",
    ];
    for statement in statements {
        let reader = database.session().await;
        reader.run("begin isolation level repeatable read").await;
        assert_eq!(reader.text(statement, &[]).await, "400", "{statement}");
        writer.run("update crm.customers set name = name || 'x', external_key = external_key || 'x'").await;
        writer.run("vacuum").await;
        match reader.attempt(statement, &[]).await {
            Ok(rows) => assert_eq!(rows[0][0].as_deref(), Some("400"), "{statement}"),
            Err(error) => assert_eq!(error.state, "72000", "{statement}: {error}"),
        }
        writer
            .run("update crm.customers set name = left(name, -1), external_key = left(external_key, -1)")
            .await;
    }
    cluster.assert_no_crash();
}
