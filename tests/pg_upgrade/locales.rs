//! Databases whose collation provider is not libc, for which PostgreSQL 18 folds case differently.

use super::*;
use harness::{Cluster, Durability, upgrade_path};
use std::sync::Arc;

/// Text that ICU lowercases differently from libc: a final sigma, and the dotted I.
const STRINGS: [&str; 3] = ["ΟΔΟΣ ΑΘΗΝΑΣ", "İSTANBUL", "École"];

/// The keys of the records that substring conditions find with the attribute's index.
async fn found_by_index(database: &Database) -> Vec<String> {
    let session = database.session().await;
    session.run("set enable_seqscan = off; set enable_indexscan = off").await;
    let mut found = Vec::new();
    for part in ["%ΟΔΟΣ%", "%İSTAN%", "%école%"] {
        let keys = "select string_agg(external_key, ' ') from depot.parts where name ilike $1";
        let plan = session.rows(&format!("explain {keys}"), &[part]).await;
        assert!(format!("{plan:?}").contains("parts_name_idx"), "{plan:?}");
        found.push(session.text(keys, &[part]).await);
    }
    found
}

/// The keys of the records that searches find.
async fn found(database: &Database) -> Vec<String> {
    let session = database.session().await;
    let mut found = Vec::new();
    for query in [
        r#"{"filters": [{"field": "name", "operator": "ilike", "value": "ΟΔΟΣ"}]}"#,
        r#"{"filters": [{"field": "name", "operator": "ilike", "value": "İSTAN"}]}"#,
        r#"{"global_search": "ΟΔΟΣ"}"#,
        r#"{"global_search": "οδος"}"#,
        r#"{"global_search": "İSTANBUL"}"#,
        r#"{"global_search": "école"}"#,
    ] {
        let keys = "select string_agg(r ->> 'external_key', ' ') from jsonb_array_elements(keyed.search('depot.parts', $1) -> 'records') r";
        found.push(session.text(keys, &[query]).await);
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn remedies_fix_icu_indexes_after_pg_upgrade() {
    let path = upgrade_path();
    let cluster = Arc::new(Cluster::start_version(&path[0], Durability::None, &[]));
    let options = "template template0 locale_provider icu icu_locale 'und' locale 'C.UTF-8'";
    let database = Database::empty_with(&cluster, options).await;
    let session = database.session().await;
    session
        .run(
            "create extension keyed cascade; select keyed.init(); select keyed.create_project('depot');
             select keyed.create_template('depot', 'parts', '[{\"slug\": \"name\", \"type\": \"string\", \"indexed\": true}]')",
        )
        .await;
    for (number, text) in STRINGS.iter().enumerate() {
        let upsert = "select keyed.upsert_by_key('depot.parts', $1, jsonb_build_object('name', $2::text))";
        session.rows(upsert, &[&number.to_string(), text]).await;
    }
    // Enough other records that the planner uses an index.
    session
        .run("insert into depot.parts (name) select 'other ' || n from generate_series(1, 3000) n; analyze depot.parts")
        .await;
    drop(session);
    let before = (found_by_index(&database).await, found(&database).await);
    assert_eq!(before.0, ["0", "1", "2"]);
    assert_eq!(before.1, ["0", "1", "0", "0", "1", "2"]);

    let newest = path.last().expect("several versions");
    let upgraded = tokio::task::block_in_place(|| database.cluster().upgraded_to(newest));
    let upgraded = database.in_cluster(upgraded);
    assert_ne!(found_by_index(&upgraded).await, before.0, "the index still has the case mapping of libc");
    let findings = findings(&upgraded);
    let stale: Vec<_> = findings.iter().filter(|[check, ..]| check == "stems").collect();
    assert!(stale.len() == 1 && stale[0][1].contains("ilike miss"), "{findings:#?}");
    upgraded.run_in_psql(&stale[0][2]);
    assert_eq!((found_by_index(&upgraded).await, found(&upgraded).await), before);
}
