//! The subtransactions of batches, which slow down concurrent readers.

use harness::{Database, Session};
use serde_json::{Value, json};

const COUNT: usize = 300;

/// A session whose open transaction has changed records by a batch, and the report.
async fn batch(operation: impl Fn(usize) -> Value) -> (Database, Session, Value) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(&format!("select keyed.upsert_by_key('crm.customers', 'K' || n, '{{\"visits\": 0}}') from generate_series(1, {COUNT}) n; begin"))
        .await;
    let operations: Vec<Value> = (1..=COUNT).map(operation).collect();
    let report = session.json("select keyed.batch($1, false)", &[&json!(operations).to_string()]).await;
    (database, session, report)
}

/// The number of subtransactions that wrote the current records.
async fn subtransactions(session: &Session) -> usize {
    let count = "select count(distinct xmin::text) from crm.customers where visits > 0";
    session.text(count, &[]).await.parse().expect("a number")
}

fn update(key: &str, visits: Value) -> Value {
    json!({"op": "update", "template": "crm.customers", "external_key": key, "attributes": {"visits": visits}})
}

/// The indexes of the rejected operations.
fn rejected(report: &Value) -> Vec<usize> {
    let results = report["results"].as_array().expect("results").iter();
    let is_rejected = |result: &&Value| result.get("error").is_some();
    results.filter(is_rejected).map(|result| result["index"].as_u64().expect("a number") as usize).collect()
}

fn upsert(n: usize, attributes: Value) -> Value {
    json!({"op": "upsert", "template": "crm.customers", "external_key": format!("K{n}"), "attributes": attributes})
}

#[tokio::test]
async fn batch_of_single_changes_needs_one_subtransaction() {
    let (_database, session, report) = batch(|n| update(&format!("K{n}"), json!({"$inc": n}))).await;
    assert_eq!(report["errors"], false, "{report}");
    assert_eq!(subtransactions(&session).await, 1);
}

#[tokio::test]
async fn operations_of_all_shapes_share_a_subtransaction() {
    let (_database, session, report) = batch(|n| match n % 3 {
        0 => upsert(n, json!({"visits": n})),
        1 => upsert(n, json!({"visits": n, "name": "x"})),
        _ => update(&format!("K{n}"), json!(n)),
    })
    .await;
    assert_eq!(report["errors"], false, "{report}");
    assert_eq!(subtransactions(&session).await, 1);
}

#[tokio::test]
async fn rejected_operations_need_few_subtransactions() {
    for (every, max) in [(100, 4), (2, 1)] {
        let (_database, session, report) = batch(|n| {
            let key = if n % every == 0 { "nowhere".to_owned() } else { format!("K{n}") };
            update(&key, json!(n))
        })
        .await;
        let expected: Vec<usize> = (0..COUNT).filter(|position| (position + 1) % every == 0).collect();
        assert_eq!(rejected(&report), expected);
        let count = "select count(*) from crm.customers where visits > 0";
        assert_eq!(session.text(count, &[]).await, (COUNT - COUNT / every).to_string());
        assert!(subtransactions(&session).await <= max);
    }
}

#[tokio::test]
async fn invalid_record_does_not_affect_others() {
    let bad = 217;
    let name = |n| if n == bad { "bad" } else { "good" };
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("alter table crm.customers add constraint only_good check (name <> 'bad')").await;
    session.run("begin").await;
    let operations: Vec<Value> =
        (1..=COUNT).map(|n| upsert(n, json!({"visits": n, "name": name(n)}))).collect();
    let operations = json!(operations).to_string();
    let report = session.json("select keyed.batch($1, false)", &[&operations]).await;
    assert_eq!(rejected(&report), [bad - 1]);
    let count = "select count(*) from crm.customers where visits > 0";
    assert_eq!(session.text(count, &[]).await, (COUNT - 1).to_string());
    assert!(subtransactions(&session).await <= 10);
    session.run("rollback").await;
    let error = session.error("select keyed.batch($1, true)", &[&operations]).await;
    assert_eq!(error.detail["failed_index"], bad - 1, "{error}");
}

#[tokio::test]
async fn rolled_back_operation_leaves_no_trace() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let tree = json!([{"slug": "name", "type": "string"}, {"slug": "size", "type": "number"}]);
    session.rows("select keyed.create_template('crm', 'tree', $1)", &[&tree.to_string()]).await;
    let up = json!({"slug": "up", "type": "reference", "template": "tree"});
    session.rows("select keyed.add_attribute('crm.tree'::regclass, $1)", &[&up.to_string()]).await;
    let node = |key: &str, attributes: Value| json!({"op": "upsert", "template": "crm.tree", "external_key": key, "attributes": attributes});
    let below = |key: &str, up: &str| node(key, json!({"up": {"external_key": up}}));
    session.run("select keyed.upsert_by_key('crm.tree', 'been', '{\"name\": \"before\"}')").await;
    let operations = json!([
        below("a", "b"),
        below("b", "c"),
        below("c", "d"),
        node("d", json!({"size": 1, "name": "refused by the table"})),
        below("x", "y"),
        node("y", json!({"name": "Y"})),
        node("been", json!({"name": "after", "up": {"external_key": "d"}})),
        below("round", "and round"),
        below("and round", "round"),
        below("child", "been"),
    ]);
    session.run("alter table crm.tree add constraint small check (size < 1)").await;
    let report = session.json("select keyed.batch($1, false)", &[&operations.to_string()]).await;
    let statuses: Vec<u64> =
        (0..10).map(|it| report["results"][it]["status"].as_u64().unwrap_or(0)).collect();
    // The record of a rejected update exists, and can be referenced.
    assert_eq!(statuses, [422, 422, 422, 422, 201, 201, 422, 201, 201, 201], "{report}");
    for index in [0, 1, 2, 6] {
        let error = &report["results"][index]["error"];
        assert_eq!(error["code"], "reference_not_found", "{report}");
        let pointer = format!("/operations/{index}/attributes/up");
        assert_eq!(error["errors"][0]["pointer"], pointer.as_str(), "{report}");
    }
    let detail = report["results"][1]["error"]["errors"][0]["detail"].as_str().unwrap_or_default();
    assert_eq!(detail, "the referenced record \"c\" does not exist in template \"tree\"");
    let keys = "select string_agg(external_key, ',' order by external_key) from crm.tree";
    assert_eq!(session.text(keys, &[]).await, "and round,been,child,round,x,y");
    assert_eq!(session.text("select name from crm.tree where external_key = 'been'", &[]).await, "before");
}

#[tokio::test]
async fn chains_of_rejected_references_do_not_affect_other_records() {
    const LENGTH: usize = 40;
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.rows("select keyed.create_template('crm', 'tree', '[]')", &[]).await;
    let up = json!({"slug": "up", "type": "reference", "template": "tree"});
    session.rows("select keyed.add_attribute('crm.tree'::regclass, $1)", &[&up.to_string()]).await;
    let below = |key: &str, up: &str| {
        json!({"op": "upsert", "template": "crm.tree", "external_key": key,
               "attributes": {"up": {"external_key": up}}})
    };
    // A chain that alternates between both ends, so that each reference waits for one that is rejected later.
    let key = |n: usize| if n.is_multiple_of(2) { format!("a{n:03}") } else { format!("z{:03}", 999 - n) };
    let mut operations: Vec<Value> = (0..LENGTH).map(|n| below(&key(n), &key(n + 1))).collect();
    operations.push(below(&key(LENGTH), "nowhere"));
    operations.extend([
        below("good 1", "good 2"),
        below("good 2", "good 3"),
        json!({"op": "upsert", "template": "crm.tree", "external_key": "good 3"}),
        below("round", "round about"),
        below("round about", "round"),
        below("self", "self"),
    ]);
    let report = session.json("select keyed.batch($1, false)", &[&json!(operations).to_string()]).await;
    assert_eq!(rejected(&report), (0..=LENGTH).collect::<Vec<_>>(), "{report}");
    for position in 0..=LENGTH {
        assert_eq!(report["results"][position]["error"]["code"], "reference_not_found", "{report}");
    }
    let written = "select string_agg(t.external_key || '>' || coalesce(u.external_key, ''), ',' order by t.external_key) \
                   from crm.tree t left join crm.tree u on u.id = t.up";
    assert_eq!(
        session.text(written, &[]).await,
        "good 1>good 2,good 2>good 3,good 3>,round>round about,round about>round,self>self"
    );
}

#[tokio::test]
async fn atomic_batch_updates_its_own_records() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let one = json!([upsert(1, json!({"name": "n"}))]).to_string();
    let two = json!([upsert(1, json!({"name": "n"})), upsert(2, json!({"visits": {"$inc": 1}}))]).to_string();
    for isolation in ["read committed", "repeatable read", "serializable"] {
        for (statement, operations) in [
            ("select keyed.batch($1, true) from generate_series(1, 3)", &one),
            ("select keyed.batch($1, true) from generate_series(1, 3)", &two),
            ("select keyed.batch($1) from generate_series(1, 3)", &two),
            ("select keyed.batch($1, true, 'wait') from generate_series(1, 3)", &two),
            ("select keyed.batch($1), keyed.batch($1, true)", &two),
            (
                "select keyed.upsert_by_key('crm.customers', 'K1', '{\"name\": \"o\"}'), keyed.batch($1, true)",
                &one,
            ),
            (
                "with made as materialized (select keyed.create_record('crm.customers', '{}', 'K1') as record) \
              select keyed.batch($1, true) from made where record is not null",
                &one,
            ),
            (
                "with made as (insert into crm.customers (external_key) values ('K1') returning id) \
              select keyed.batch($1, true) from made",
                &one,
            ),
        ] {
            session.run(&format!("begin isolation level {isolation}")).await;
            let rows = session.rows(statement, &[operations]).await;
            let last = rows.last().and_then(|row| row.last()).and_then(Option::as_deref).expect("a report");
            let report: Value = serde_json::from_str(last).expect("a report");
            assert_eq!(report["errors"], false, "{isolation}, {statement}: {report}");
            assert_eq!(report["results"][0]["created"], false, "{isolation}, {statement}: {report}");
            let keys = "select string_agg(external_key || name, ',' order by external_key) from crm.customers where name is not null";
            assert_eq!(session.text(keys, &[]).await, "K1n", "{isolation}, {statement}");
            session.run("rollback").await;
        }
    }
}

#[tokio::test]
async fn results_have_versions_and_records_on_request() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let operations = json!([upsert(1, json!({"visits": 1})), upsert(2, json!({"visits": 2}))]).to_string();
    let first = "select keyed.record_version(id) from crm.customers where external_key = 'K1'";
    for (more, members) in [
        ("", json!([false, false])),
        (", versions => true", json!([true, false])),
        (", return_record => true", json!([true, true])),
    ] {
        let report = session.json(&format!("select keyed.batch($1{more})"), &[&operations]).await;
        let result = &report["results"][0];
        assert_eq!(
            json!([result.get("version").is_some(), result.get("record").is_some()]),
            members,
            "{report}"
        );
        if result.get("version").is_some() {
            assert_eq!(result["version"], session.text(first, &[]).await);
        }
        if result.get("record").is_some() {
            assert_eq!(
                result["record"],
                session.json("select keyed.get_by_key('crm.customers', 'K1')", &[]).await
            );
        }
    }
    let mut outdated = upsert(1, json!({"visits": 5}));
    outdated["if_match"] = json!(session.text(first, &[]).await);
    session.run("update crm.customers set visits = 9 where external_key = 'K1'").await;
    let error = session.error("select keyed.batch($1, true)", &[&json!([outdated]).to_string()]).await;
    assert_eq!((error.codes(), &error.detail["failed_index"]), (("55000", "precondition_failed"), &json!(0)));
    let visits = "select visits from crm.customers where external_key = 'K1'";
    assert_eq!(session.text(visits, &[]).await, "9");
}
