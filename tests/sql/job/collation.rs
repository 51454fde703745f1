//! Indexes on many texts are rebuilt for another collation in the background.

use super::*;

const STRINGS: &str = "Banana Zebra Zürich apple zulu Äpfel école";

/// Customers created by an earlier version, of which some have these names.
async fn with_many_of_before() -> (Database, Session) {
    let (database, session) = with_many().await;
    set_indexed(&session, "name", true).await;
    until_done(&session).await;
    for word in STRINGS.split(' ') {
        let attributes = json!({"name": word, "visits": 0}).to_string();
        session
            .rows("select keyed.upsert_by_key('crm.customers', $1, $2::jsonb)", &[word, &attributes])
            .await;
    }
    (database, session)
}

async fn set_collation(session: &Session, slug: &str, collation: &str) {
    let changes = json!({"collation": collation}).to_string();
    session.rows("select keyed.alter_attribute('crm.customers', $1, $2::jsonb)", &[slug, &changes]).await;
}

/// The names in the order of a page.
async fn sorted(session: &Session) -> String {
    let query = json!({"filters": [{"field": "visits", "operator": "eq", "value": 0}], "sort": "name", "fields": ["name"]});
    let page = session.json("select keyed.search('crm.customers', $1::jsonb)", &[&query.to_string()]).await;
    let names = page["records"].as_array().expect("records").iter().map(|it| it["external_key"].as_str());
    names.map(|it| it.expect("a key")).collect::<Vec<_>>().join(" ")
}

/// The collations of the B-tree indexes on the names.
async fn collations(session: &Session) -> String {
    let sql = "select string_agg(l.collname, ' ' order by l.collname) from pg_index i
               join pg_collation l on l.oid = i.indcollation[0]
               where i.indrelid = 'crm.customers'::regclass and i.indisvalid and pg_get_indexdef(i.indexrelid) ~ 'btree .*[(]name,'";
    session.text(sql, &[]).await
}

/// The plan of a statement.
async fn plan(session: &Session, statement: &str) -> String {
    let rows = session.rows(&format!("explain (costs off) {statement}"), &[]).await;
    rows.into_iter().flatten().flatten().collect::<Vec<_>>().join("\n")
}

/// The plan of a search for this name.
async fn plan_of_search(session: &Session, name: &str) -> String {
    let query = json!({"filters": [{"field": "name", "operator": "eq", "value": name}]}).to_string();
    let condition = session.text("select keyed.filter_sql('crm.customers', $1)", &[&query]).await;
    plan(session, &format!("select * from crm.customers t where t.deleted_at is null and {condition}")).await
}

const ZULUS: &str = "select name from crm.customers__zulus";

#[tokio::test]
async fn index_is_rebuilt_for_a_collation_during_reads_and_writes() {
    let (database, session) = with_many_of_before().await;
    assert_eq!(sorted(&session).await, "Äpfel apple Banana école Zebra zulu Zürich");
    let role = database.create_role("clerk").await;
    let scope = json!({"field": "name", "operator": "in", "value": ["zulu", "apple"]});
    database.grant_within(&role, "crm.customers", "read", &scope).await;
    let view = json!({"filters": [{"field": "name", "operator": "eq", "value": "zulu"}]}).to_string();
    session.rows("select keyed.save_view('crm.customers', 'zulus', $1::jsonb)", &[&view]).await;
    let seen = "select count(*) from crm.customers";
    let clerk = database.session_as(&role).await;
    session.run("analyze crm.customers").await;

    let blocker = with_old_snapshot(&database).await;
    set_collation(&session, "name", "sv").await;
    until_blocked(&session).await;
    // The old index is used until the new one replaces it. Searches already have the new order.
    assert_eq!(collations(&session).await, "und-x-icu");
    assert_eq!(sorted(&session).await, "apple Banana école Zebra zulu Zürich Äpfel");
    let plan_of_before = plan_of_search(&session, "zulu").await;
    assert!(plan_of_before.contains("Index") && plan_of_before.contains("und-x-icu"), "{plan_of_before}");
    session.rows("select keyed.upsert_by_key('crm.customers', 'zulu', '{\"visits\": 0}')", &[]).await;
    blocker.run("rollback").await;
    until_done(&session).await;
    assert_eq!(collations(&session).await, "sv-x-icu");
    assert_eq!(sorted(&session).await, "apple Banana école Zebra zulu Zürich Äpfel");
    // The view on the names still works, and uses the new index.
    assert_eq!(clerk.text(seen, &[]).await, "2");
    assert_eq!(session.text(ZULUS, &[]).await, "zulu");
    for (session, statement) in [(&session, ZULUS), (&clerk, seen)] {
        let plan = plan(session, statement).await;
        assert!(plan.contains("_btree_sv-x-icu"), "{plan}");
    }
    let plan = plan_of_search(&session, "zulu").await;
    assert!(plan.contains("_btree_sv-x-icu"), "{plan}");
}

#[tokio::test]
async fn index_used_by_policies_is_replaced_last() {
    let (database, session) = with_many_of_before().await;
    let role = database.create_role("clerk").await;
    let scope = json!({"field": "name", "operator": "eq", "value": "zulu"});
    database.grant_within(&role, "crm.customers", "read", &scope).await;
    let blocker = with_old_snapshot(&database).await;
    set_collation(&session, "name", "sv").await;
    until_blocked(&session).await;
    // An open reader. The index build does not wait for it, but the change of policies does.
    let reader = database.session().await;
    reader.run("begin; lock table crm.customers in access share mode").await;
    blocker.run("rollback").await;
    session.until(BOTH, "2").await;
    let clerk = database.session_as(&role).await;
    let seen = "select count(*) from crm.customers";
    assert_eq!(clerk.text(seen, &[]).await, "1");
    let plan = plan(&clerk, seen).await;
    assert!(plan.contains("_btree_und-x-icu"), "{plan}");
    reader.run("rollback").await;
    until_done(&session).await;
    assert_eq!(collations(&session).await, "sv-x-icu");
    assert_eq!(clerk.text(seen, &[]).await, "1");
}

const BOTH: &str = "select count(*) from pg_indexes x join pg_index i on i.indexrelid = format('crm.%I', x.indexname)::regclass
                    where x.schemaname = 'crm' and x.indexname ~ '_btree_(und|sv)' and i.indisvalid";

#[tokio::test]
async fn collation_c_uses_the_case_rules_of_the_database() {
    let (_database, session) = with_many_of_before().await;
    set_collation(&session, "name", "C").await;
    until_done(&session).await;
    assert_eq!(collations(&session).await, "C");
    assert_eq!(sorted(&session).await, STRINGS);
    let query = json!({"filters": [{"field": "name", "operator": "ilike", "value": "ZÜRICH"}]});
    assert_eq!(found(&session, query).await, 1);
}

#[tokio::test]
async fn user_view_does_not_block_a_change_of_collation() {
    let (_database, session) = with_many_of_before().await;
    session
        .run("create view public.names as select name from crm.customers where left(name, 200) = 'zulu'")
        .await;
    set_collation(&session, "name", "sv").await;
    until_done(&session).await;
    assert_eq!(collations(&session).await, "sv-x-icu");
    assert_eq!(session.text("select name from public.names", &[]).await, "zulu");
}
