//! Definitions that one session has cached and another one changes.

use harness::{Database, Session};
use serde_json::{Value, json};

/// Two sessions, the first of which has read and written customers, so it has cached the template.
async fn two() -> (Database, Session, Session) {
    let database = Database::with_crm().await;
    let (first, second) = (database.session().await, database.session().await);
    first.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"name": "Ada", "visits": 1}')"#).await;
    attributes(&first).await;
    (database, first, second)
}

async fn attributes(session: &Session) -> Value {
    session.json("select keyed.get_by_key('crm.customers', 'A-1') -> 'attributes'", &[]).await
}

#[tokio::test]
async fn column_dropped_in_another_session_disappears() {
    let (_database, first, second) = two().await;
    second.run("alter table crm.customers drop column visits").await;
    assert_eq!(attributes(&first).await.get("visits"), None);
    let upsert = "select keyed.upsert_by_key('crm.customers', 'A-1', $1)";
    let error = first.error(upsert, &[r#"{"visits": 2}"#]).await;
    assert_eq!(error.codes(), ("22023", "unknown_attribute"));
    first.rows(upsert, &[r#"{"name": "Bea", "tags": ["x"]}"#]).await;
    assert_eq!(attributes(&first).await["name"], "Bea");
}

#[tokio::test]
async fn column_added_by_direct_ddl_is_ignored() {
    let (_database, first, second) = two().await;
    second.run("alter table crm.customers add column dba_note text default 'x', add column n int generated always as (1) stored").await;
    first.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"visits": 2}')"#).await;
    assert_eq!(attributes(&first).await["visits"], 2);
    second.run("update crm.customers set dba_note = 'y'").await;
    second.run("alter table crm.customers drop column dba_note").await;
    first.run("select keyed.create_record('crm.customers', '{\"name\": \"Bea\"}', 'A-2')").await;
    assert_eq!(attributes(&first).await["name"], "Ada");
}

#[tokio::test]
async fn column_of_another_type_is_rejected() {
    let (_database, first, second) = two().await;
    for (column, before, other, own) in [
        ("visits", "", "double precision", "numeric"),
        ("visits", "", "text", "numeric"),
        ("visits", "", "bigint", "numeric"),
        ("name", "", "\"char\"", "text"),
        ("name", "", "character", "text"),
        ("tags", "", "text", "text[]"),
        ("external_key", "", "bytea", "text collate \"C\""),
        ("created_at", "alter column created_at drop default,", "text", "timestamptz"),
        ("updated_at", "alter column updated_at drop default,", "date", "timestamptz"),
        ("_released_key", "", "name", "text collate \"C\""),
    ] {
        let using = if before.is_empty() { "null" } else { column };
        second
            .run(&format!(
                "alter table crm.customers {before} alter column {column} type {other} using {using}::{other}"
            ))
            .await;
        let mut hint = String::new();
        for statement in [
            "select keyed.get_by_key('crm.customers', 'A-1')",
            "select keyed.search('crm.customers', '{}')",
            r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"name": "Bea", "visits": 2}')"#,
        ] {
            let error = first.error(statement, &[]).await;
            let said = format!(r#"column "{column}" of table "crm"."customers" has type {other} instead of"#);
            assert!(error.message.contains(&said), "{}", error.message);
            assert!(
                error.hint.contains(&format!(r#"alter column "{column}" type {own} using "{column}"::"#)),
                "{}",
                error.hint
            );
            hint = error.hint;
        }
        let statement =
            hint.split_once(": ").and_then(|(_, rest)| rest.split_once(". ")).expect("a statement").0;
        second.run(statement).await;
        first.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"name": "Ada", "visits": 1, "tags": []}')"#).await;
    }
    // A length limit changes neither how values are stored nor how they compare.
    second.run("create domain short as text check (length(value) < 9)").await;
    for limited in ["varchar(80)", "short"] {
        second.run(&format!("alter table crm.customers alter column name type {limited}")).await;
        assert_eq!(attributes(&first).await["name"], "Ada");
    }
}

#[tokio::test]
async fn template_created_in_another_session_is_found() {
    let (_database, first, second) = two().await;
    let missing = first.error("select keyed.create_record('crm.orders')", &[]).await;
    assert_eq!(missing.state, "42P01");
    second
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"number\"}]')")
        .await;
    first.run("select keyed.create_record('crm.orders', '{\"n\": 1}')").await;
    second.run("select keyed.create_project('shop'); select keyed.create_template('shop', 'goods')").await;
    first.run("select keyed.create_record('shop.goods')").await;
    first.run("select keyed.create_template('shop', 'carts', '[{\"slug\": \"good\", \"type\": \"reference\", \"template\": \"goods\"}]')").await;
}

#[tokio::test]
async fn rolled_back_template_is_removed_from_the_cache() {
    let (_database, first, second) = two().await;
    first.run("begin; select keyed.create_template('crm', 'orders', '[{\"slug\": \"n\", \"type\": \"number\"}]')").await;
    first.run("select keyed.create_record('crm.orders', '{\"n\": 1}'); rollback").await;
    second
        .run("select keyed.create_template('crm', 'orders', '[{\"slug\": \"s\", \"type\": \"string\"}]')")
        .await;
    let made = first.json("select keyed.create_record('crm.orders', '{\"s\": \"x\"}')", &[]).await;
    assert_eq!(made["attributes"], json!({"s": "x"}));
}

#[tokio::test]
async fn change_of_a_table_applies_within_its_transaction() {
    let (_database, first, _) = two().await;
    first.run("begin; alter table crm.customers drop column visits").await;
    assert_eq!(attributes(&first).await.get("visits"), None);
    first.run(r#"select keyed.upsert_by_key('crm.customers', 'A-1', '{"name": "Bea"}'); rollback"#).await;
    assert_eq!(attributes(&first).await, attributes(&first).await);
    assert_eq!(
        (&attributes(&first).await["visits"], &attributes(&first).await["name"]),
        (&json!(1), &json!("Ada"))
    );
}

#[tokio::test]
async fn definition_is_current_in_any_snapshot() {
    let (_database, first, second) = two().await;
    second.run("begin isolation level repeatable read; select from pg_class").await;
    first.run("select keyed.alter_attribute('crm.customers', 'name', '{\"slug\": \"title\"}')").await;
    first.run("select keyed.drop_attribute('crm.customers', 'tags')").await;
    first.run("update crm.customers set title = 'Grace'").await;
    let attributes = "select keyed.get_by_key('crm.customers', 'A-1') -> 'attributes' ->> $1";
    assert_eq!(second.text(attributes, &["title"]).await, "Ada");
    let search =
        "select keyed.search('crm.customers', '{\"sort\": \"title\"}') #>> '{records,0,attributes,title}'";
    assert_eq!(second.text(search, &[]).await, "Ada");
    second.run("commit").await;
    assert_eq!(second.text(attributes, &["title"]).await, "Grace");
}

#[tokio::test]
async fn long_session_has_bounded_memory() {
    let (_database, first, _) = two().await;
    let memory = "select sum(total_bytes) / 1048576 from pg_backend_memory_contexts";
    let mut template = String::from(
        "select keyed.create_template('crm', 'wide', '[{\"slug\": \"a0\", \"type\": \"string\"}",
    );
    (1..40).for_each(|n| template.push_str(&format!(", {{\"slug\": \"a{n}\", \"type\": \"string\"}}")));
    first.run(&format!("{template}]')")).await;
    // Every subset of attributes is a separate statement: far more than the cache may hold.
    let upsert = |round: usize| {
        let values: Vec<String> = (0..40)
            .filter(|n| (round * 2_654_435_761) >> n & 1 == 1)
            .map(|n| format!("\"a{n}\": \"{round}\""))
            .collect();
        format!("select keyed.upsert_by_key('crm.wide', 'k{}', '{{{}}}')", round % 7, values.join(", "))
    };
    // Cached statements come and go, so the peak is what counts.
    let mut max = [0.0_f64; 2];
    for round in 0..1800 {
        first.run(&upsert(round)).await;
        if round % 50 == 49 {
            let now: f64 = first.text(memory, &[]).await.parse().expect("a number");
            let half = &mut max[round / 900];
            *half = half.max(now);
        }
    }
    assert!(max[1] < max[0] * 1.5 + 5.0, "{} MiB became {} MiB", max[0], max[1]);
}

/// How often a lookup read the definitions, and how often the grants.
async fn reads(session: &Session, lookup: &str) -> [i64; 2] {
    let scans = "select coalesce(sum(seq_scan + coalesce(idx_scan, 0)) filter (where relname <> 'access_grant'), 0) || ' ' || \
                 coalesce(sum(seq_scan + coalesce(idx_scan, 0)) filter (where relname = 'access_grant'), 0) \
                 from pg_stat_xact_all_tables where schemaname = 'keyed_state' \
                 and relname in ('template', 'attribute', 'project', 'access_grant')";
    // PostgreSQL occasionally resets the counts between transactions.
    let before = session.text(&format!("begin; {scans}"), &[]).await;
    let after = session.text(&format!("{lookup}; reset role; {scans}; commit"), &[]).await;
    let numbers = |text: &str| -> Vec<i64> {
        text.split(' ').map(|number| number.parse().expect("a number")).collect()
    };
    let (before, after) = (numbers(&before), numbers(&after));
    [after[0] - before[0], after[1] - before[1]]
}

#[tokio::test]
async fn temporary_tables_do_not_invalidate_caches() {
    // In a cluster of its own, because a session discards its caches when other sessions send more invalidations than
    // PostgreSQL's queue holds.
    let cluster = std::sync::Arc::new(harness::Cluster::start(harness::Durability::None));
    let database = Database::new_in(&cluster).await.add_crm().await;
    let first = database.session().await;
    first.run("select keyed.upsert_by_key('crm.customers', 'A-1')").await;
    let clerk = database.create_role("clerk").await;
    database.grant(&clerk, "crm.customers", "read").await;
    let lookup = format!("set local role {clerk}; select keyed.get_by_key('crm.customers', 'A-1')");
    reads(&first, &lookup).await;
    let unprivileged = database.create_role("stranger").await;
    let unprivileged = database.session_as(&unprivileged).await;
    unprivileged
        .run("do $$ begin for n in 1..80 loop execute format('create temp table t%s (n int)', n); end loop; end $$")
        .await;
    assert_eq!(reads(&first, &lookup).await[0], 0, "definitions are cached");
}

#[tokio::test]
async fn new_role_invalidates_privileges_only() {
    let cluster = std::sync::Arc::new(harness::Cluster::start(harness::Durability::None));
    let database = Database::new_in(&cluster).await.add_crm().await;
    let clerk = database.create_role("clerk").await;
    database.grant(&clerk, "crm.customers", "read").await;
    let session = database.session().await;
    session.run("select keyed.upsert_by_key('crm.customers', 'A-1')").await;
    let lookup = format!("set local role {clerk}; select keyed.get_by_key('crm.customers', 'A-1')");
    reads(&session, &lookup).await;
    assert_eq!(reads(&session, &lookup).await, [0, 0]);
    database.create_role("another").await;
    let [definitions, grants] = reads(&session, &lookup).await;
    assert_eq!(definitions, 0);
    assert!(grants > 0);
}

#[tokio::test]
async fn template_cache_has_a_limit() {
    let (database, first, _) = two().await;
    let attributes: Vec<String> =
        (0..8).map(|n| format!("{{\"slug\": \"a{n}\", \"type\": \"string\"}}")).collect();
    for template in 0..12 {
        let create = "select keyed.create_template('crm', 'wide' || $1, $2::jsonb)";
        first.rows(create, &[&template.to_string(), &format!("[{}]", attributes.join(", "))]).await;
    }
    let kept = "select sum(total_bytes) / 1024 from pg_backend_memory_contexts where name ~ '^(CachedPlan|keyed condition)'";
    let mut kilobytes = Vec::new();
    for (room, rounds) in [("32MB", 1), ("1MB", 12)] {
        let session = database.session().await;
        session.run(&format!("set keyed.session_memory = '{room}'")).await;
        let mut max = 0.0_f64;
        for round in 0..rounds {
            for (subset, template) in
                (1..40).flat_map(|subset| (0..12).map(move |template| (subset, template)))
            {
                let values: Vec<String> = (0..8)
                    .filter(|n| subset >> n & 1 == 1)
                    .map(|n| format!("\"a{n}\": \"{room} {round}\""))
                    .collect();
                let values = values.join(", ");
                let upsert = format!("select keyed.upsert_by_key('crm.wide{template}', 'k', '{{{values}}}')");
                session.run(&upsert).await;
            }
            max = max.max(session.text(kept, &[]).await.parse().expect("a number"));
        }
        kilobytes.push(max);
    }
    // Statements without a template, and the one that was cached last, are not included in the limit. Without direct
    // access, an upsert has larger statements, which are counted in kilobytes.
    let max = if harness::has_direct_access() { 1400.0 } else { 1800.0 };
    assert!(kilobytes[0] > max && kilobytes[1] < max, "{kilobytes:?} kB");
}
