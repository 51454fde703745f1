//! Dry runs of template changes.

use harness::{Database, Session};
use serde_json::{Value, json};

/// Customers with a name, a fax number, tags, a metric and an indexed city. `A`, `B` and the deleted `C` have a fax
/// number.
async fn shop() -> (Database, Session) {
    let database = Database::new().await;
    let session = database.session().await;
    session
        .run(
            r#"select keyed.create_project('shop');
               select keyed.create_template('shop', 'customers', '[
                 {"slug": "name", "type": "string"}, {"slug": "fax", "type": "string"},
                 {"slug": "tags", "type": "list", "options": ["new", "old"]}, {"slug": "mood", "type": "metric"},
                 {"slug": "city", "type": "string", "indexed": true}]');
               select keyed.upsert_by_key('shop.customers', key, jsonb_build_object('name', key, 'fax', key, 'tags', array['new'], 'mood', 1))
               from unnest(array['A', 'B', 'C']) key;
               select keyed.upsert_by_key('shop.customers', 'D', '{"name": "D"}');
               select keyed.delete_record(id) from shop.customers where external_key = 'C'"#,
        )
        .await;
    (database, session)
}

/// Everything that a change of a definition writes.
async fn state(session: &Session) -> String {
    let state = "select concat_ws(E'\n', (select jsonb_agg(t order by t.id) from keyed_state.template t),
        (select jsonb_agg(a order by a.id) from keyed_state.attribute a), (select jsonb_agg(j) from keyed_state.job j),
        (select string_agg(concat_ws(' ', c.oid::regclass, c.relkind, c.relfilenode), ',' order by c.oid) from pg_class c
         where c.relnamespace in (select oid from pg_namespace where nspname in ('shop', 'keyed_state'))),
        (select jsonb_agg(f order by f.attnum) from pg_attribute f where f.attrelid = 'shop.customers'::regclass),
        (select string_agg(c::text, ',' order by id) from shop.customers c))";
    session.text(state, &[]).await
}

async fn plan(session: &Session, changes: &Value) -> Value {
    session
        .json("select keyed.alter_template('shop.customers', $1, dry_run => true)", &[&changes.to_string()])
        .await
}

#[tokio::test]
async fn dry_run_reports_effects_and_writes_nothing() {
    let (_database, session) = shop().await;
    let before = state(&session).await;
    let changes = json!({
        "rename": {"name": "title"}, "drop": ["fax", "city"], "display": "title", "label": "Clients",
        "attributes": [{"slug": "title", "required": true, "indexed": true}, {"slug": "visits", "type": "number", "default": 0}]
    });
    let expected = json!({
        "dry_run": true,
        "changes": {"label": {"old": "customers", "new": "Clients"}, "display": {"old": "name", "new": "title"}},
        "added": [{"slug": "visits", "type": "number", "label": "visits", "required": false, "indexed": false, "default": 0}],
        "changed": [{"slug": "name", "changes": {"slug": {"old": "name", "new": "title"}, "label": {"old": "name", "new": "title"},
                     "required": {"old": false, "new": true}, "indexed": {"old": false, "new": true}}}],
        "dropped": [{"slug": "fax", "records": 2}, {"slug": "city", "records": 0}],
        "indexes": [{"attribute": "title", "action": "create", "in_background": false},
                    {"attribute": "city", "action": "drop", "in_background": false}],
        "jobs": []
    });
    assert_eq!(plan(&session, &changes).await, expected);
    assert_eq!(state(&session).await, before);
    // The same session still uses the current definition.
    session
        .run("select keyed.upsert_by_key('shop.customers', 'A', '{\"name\": \"Ada\", \"fax\": \"1\"}')")
        .await;
    assert_eq!(plan(&session, &changes).await, expected, "every time");
    let nothing = json!({"dry_run": true, "changes": {}, "added": [], "changed": [], "dropped": [], "indexes": [], "jobs": []});
    assert_eq!(
        plan(&session, &json!({"label": "customers", "attributes": [{"slug": "city", "indexed": true}]}))
            .await,
        nothing
    );
}

#[tokio::test]
async fn dry_run_predicts_the_change() {
    let (_database, session) = shop().await;
    let changes = json!({"drop": ["mood"], "attributes": [{"slug": "fax", "indexed": true}, {"slug": "born", "type": "date"}]});
    let plan = plan(&session, &changes).await;
    assert_eq!(plan["dropped"], json!([{"slug": "mood", "records": 2}]));
    let done =
        session.json("select keyed.alter_template('shop.customers', $1)", &[&changes.to_string()]).await;
    let mut added = done["attributes"].as_array().and_then(|all| all.last()).cloned().expect("an attribute");
    added.as_object_mut().map(|members| members.remove("id"));
    assert_eq!(plan["added"], json!([added]));
    let indexed = done["attributes"].as_array().expect("attributes").iter().find(|it| it["slug"] == "fax");
    assert_eq!(indexed.map(|it| &it["indexed"]), Some(&json!(true)));
}

#[tokio::test]
async fn dry_run_names_the_jobs_of_a_large_template() {
    let (_database, session) = shop().await;
    session.run("insert into shop.customers (name, fax) select 'x' || n, repeat('f', 200) from generate_series(1, 6000) n").await;
    session.until("select count(*) from keyed.jobs()", "0").await;
    let before = state(&session).await;
    let changes =
        json!({"language": "german", "drop": ["tags"], "attributes": [{"slug": "fax", "indexed": true}]});
    let plan = plan(&session, &changes).await;
    assert_eq!(plan["indexes"], json!([{"attribute": "fax", "action": "create", "in_background": true}]));
    assert_eq!(
        plan["jobs"],
        json!([{"kind": "documents", "attribute": null}, {"kind": "index", "attribute": "fax"}])
    );
    assert_eq!(plan["dropped"], json!([{"slug": "tags", "records": 2}]));
    assert_eq!(state(&session).await, before);
}

#[tokio::test]
async fn dry_run_releases_its_locks() {
    let (_database, session) = shop().await;
    session.run("begin").await;
    plan(&session, &json!({"drop": ["tags"], "label": "Clients"})).await;
    let locks = "select string_agg(concat_ws(' ', locktype, relation::regclass, mode), ', ') from pg_locks
                 where pid = pg_backend_pid() and (locktype = 'advisory' or mode like '%Exclusive%' and locktype = 'relation')";
    assert_eq!(session.text(&format!("select coalesce(({locks}), '')"), &[]).await, "");
    session.run("rollback").await;
}

#[tokio::test]
async fn dry_run_fails_with_the_error_of_the_change() {
    let (_database, session) = shop().await;
    let before = state(&session).await;
    for changes in [
        json!({"drop": ["nothing"]}),
        json!({"attributes": [{"slug": "fax", "required": true}]}),
        json!({"attributes": [{"slug": "tags", "options": ["old"]}]}),
        json!({"attributes": [{"slug": "x", "type": "unknown"}]}),
        json!({"display": "moon"}),
    ] {
        let changes = changes.to_string();
        let change = session.error("select keyed.alter_template('shop.customers', $1)", &[&changes]).await;
        let dry = session.error("select keyed.alter_template('shop.customers', $1, true)", &[&changes]).await;
        assert_eq!(
            (dry.codes(), dry.pointers(), &dry.message),
            (change.codes(), change.pointers(), &change.message),
            "{changes}"
        );
    }
    assert_eq!(state(&session).await, before);
}

#[tokio::test]
async fn every_function_that_defines_a_template_has_a_dry_run() {
    let (_database, session) = shop().await;
    let before = state(&session).await;
    let create = r#"select keyed.create_template('shop', 'orders', '[{"slug": "customer", "type": "reference", "template": "customers"}]', dry_run => true)"#;
    let plan = session.json(create, &[]).await;
    assert_eq!(
        plan["added"],
        json!([{"slug": "customer", "type": "reference", "label": "customer", "required": false, "indexed": false, "template": "customers"}])
    );
    assert_eq!(
        plan["indexes"],
        json!([{"attribute": "customer", "action": "create", "in_background": false}])
    );
    for (statement, member, slug) in [
        (
            r#"add_attribute('shop.customers', '{"slug": "visits", "type": "number"}', true)"#,
            "added",
            "visits",
        ),
        (r#"alter_attribute('shop.customers', 'fax', '{"label": "Fax"}', true)"#, "changed", "fax"),
        ("drop_attribute('shop.customers', 'fax', true)", "dropped", "fax"),
    ] {
        let plan = session.json(&format!("select keyed.{statement}"), &[]).await;
        assert_eq!(plan[member][0]["slug"], slug, "{plan}");
    }
    assert_eq!(state(&session).await, before);
    let taken = "select keyed.create_template('shop', 'customers', dry_run => true)";
    assert_eq!(session.error(taken, &[]).await.codes(), ("23505", "conflict"));
}

#[tokio::test]
async fn dry_run_keeps_earlier_writes_of_its_transaction() {
    let (_database, session) = shop().await;
    session.run("begin; select keyed.add_attribute('shop.customers', '{\"slug\": \"visits\", \"type\": \"number\"}')").await;
    let dropped = plan(&session, &json!({"drop": ["visits"]})).await;
    assert_eq!(dropped["dropped"], json!([{"slug": "visits", "records": 0}]));
    session.run("select keyed.upsert_by_key('shop.customers', 'A', '{\"visits\": 3}'); commit").await;
    assert_eq!(session.text("select visits from shop.customers where external_key = 'A'", &[]).await, "3");
}
