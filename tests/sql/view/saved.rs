//! Saved views: named searches, and views of PostgreSQL.

use harness::{Database, Session};
use serde_json::{Value, json};

const SAVE: &str = "select keyed.save_view('crm.customers', $1, $2)";

/// Customers `A` to `D` with 1 to 4 visits, of whom `A` and `B` have the tier gold.
pub(crate) async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            r#"select keyed.upsert_by_key('crm.companies', 'C', '{"name": "Acme"}');
               select keyed.upsert_by_key('crm.customers', chr(64 + n), jsonb_build_object('name', 'Customer ' || n, 'visits', n,
                 'tier', case when n < 3 then 'gold' else 'silver' end, 'company', jsonb_build_object('external_key', 'C')))
               from generate_series(1, 4) n"#,
        )
        .await;
    (database, session)
}

pub(crate) async fn save(session: &Session, slug: &str, query: &Value) -> Value {
    session.json(SAVE, &[slug, &query.to_string()]).await
}

/// The keys that a search finds, in order.
pub(crate) async fn found(session: &Session, query: &Value) -> String {
    let result = session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
    let records = result["records"].as_array().expect("records");
    records.iter().filter_map(|record| record["external_key"].as_str()).collect::<Vec<_>>().join(" ")
}

/// The keys that a view returns, in order.
pub(crate) async fn view_keys(session: &Session, view: &str) -> String {
    let rows = session.rows(&format!("select external_key from {view}"), &[]).await;
    rows.into_iter().filter_map(|row| row[0].clone()).collect::<Vec<_>>().join(" ")
}

pub(crate) async fn columns(session: &Session, view: &str) -> String {
    let sql = "select string_agg(column_name, ' ' order by ordinal_position) from information_schema.columns
               where table_schema || '.' || table_name = $1";
    session.text(sql, &[view]).await
}

pub(crate) fn of_tier(tier: &str) -> Value {
    json!({"field": "tier", "operator": "in", "value": [tier]})
}

#[tokio::test]
async fn view_returns_the_records_of_its_search() {
    let (_database, session) = crm().await;
    for (query, expected) in [
        (json!({}), "D C B A"),
        (json!({"filters": [of_tier("gold")], "sort": "visits"}), "A B"),
        (
            json!({"filter_groups": [[of_tier("silver")], [{"field": "visits", "operator": "lt", "value": 2}]], "sort": "-visits"}),
            "D C A",
        ),
        (
            json!({"filters": [{"field": "company.name", "operator": "eq", "value": "Acme"}], "sort": [{"field": "company"}, {"field": "visits", "direction": "desc"}]}),
            "D C B A",
        ),
        (
            json!({"filters": [{"field": "company", "operator": "eq", "value": {"external_key": "C"}}], "sort": "name"}),
            "A B C D",
        ),
        (
            json!({"filters": [{"field": "created_at", "operator": "today"}], "time_zone": "Asia/Tokyo", "sort": "external_key"}),
            "A B C D",
        ),
        (
            json!({"filters": [{"not": of_tier("gold")}, {"field": "name", "operator": "ilike", "value": "MER"}], "sort": "-external_key"}),
            "D C",
        ),
    ] {
        let view = save(&session, "chosen", &query).await;
        assert_eq!(view["sql_view"], "crm.customers__chosen");
        assert_eq!(found(&session, &json!({"view": "chosen"})).await, expected, "{query}");
        if query["sort"].is_null() {
            let count = session.text("select count(*) from crm.customers__chosen", &[]).await;
            assert_eq!(count, "4", "{query}");
        } else {
            assert_eq!(view_keys(&session, "crm.customers__chosen").await, expected, "{query}");
        }
    }
    assert_eq!(
        columns(&session, "crm.customers__chosen").await,
        "id external_key created_at updated_at name visits mood tags tier born seen company active"
    );
    session.run("select keyed.delete_record(id) from crm.customers where external_key = 'D'").await;
    assert_eq!(view_keys(&session, "crm.customers__chosen").await, "C", "a deleted record is not found");
}

#[tokio::test]
async fn search_within_a_view_applies_both() {
    let (_database, session) = crm().await;
    let gold = json!({"filters": [of_tier("gold")], "sort": "visits", "limit": 1, "fields": ["visits"], "count": "exact",
                      "facets": ["tier"], "global_search": "customer"});
    save(&session, "gold", &gold).await;
    for (query, expected) in [
        (json!({"view": "gold"}), "A"),
        (json!({"view": "gold", "limit": 10}), "A B"),
        (json!({"view": "gold", "limit": 10, "sort": "-visits"}), "B A"),
        (
            json!({"view": "gold", "limit": 10, "filters": [{"field": "visits", "operator": "gt", "value": 1}]}),
            "B",
        ),
        (json!({"view": "gold", "limit": 10, "filters": [of_tier("silver")]}), ""),
        (json!({"view": "gold", "limit": 10, "global_search": "2"}), "B"),
        (json!({"view": "gold", "limit": 10, "global_search": "C"}), "A B"),
        (json!({"view": "gold", "limit": 10, "global_search": "D -1 -2"}), ""),
    ] {
        assert_eq!(found(&session, &query).await, expected, "{query}");
    }
    let search = "select keyed.search('crm.customers', $1)";
    let result = session.json(search, &[r#"{"view": "gold"}"#]).await;
    assert_eq!((&result["total"], &result["has_more"]), (&json!(2), &json!(true)));
    assert_eq!(result["facets"]["tier"][0]["count"], 2);
    assert_eq!(result["records"][0]["attributes"], json!({"visits": 1}));
    let next = json!({"view": "gold", "cursor": result["next_cursor"]});
    assert_eq!(found(&session, &next).await, "B");
    // A cursor belongs to the earlier definition of the view.
    save(
        &session,
        "gold",
        &json!({"filters": [of_tier("silver")], "sort": "visits", "global_search": "customer"}),
    )
    .await;
    let error = session.error(search, &[&next.to_string()]).await;
    assert_eq!((error.codes().1, error.pointers()), ("invalid_value", vec!["/cursor"]));
    let sql = session.text("select keyed.filter_sql('crm.customers', '{\"view\": \"gold\"}')", &[]).await;
    assert!(sql.contains("silver"), "{sql}");
    let explained = session.text("select keyed.explain('crm.customers', '{\"view\": \"gold\"}')", &[]).await;
    assert!(explained.contains("silver"), "{explained}");
}

#[tokio::test]
async fn view_can_reference_attributes_by_id() {
    let (_database, session) = crm().await;
    let id = session.text("select id from keyed_state.attribute where slug = 'visits'", &[]).await;
    let by_id =
        json!({"attribute_key": "id", "filters": [{"field": id, "operator": "gt", "value": 2}], "sort": id});
    save(&session, "busy", &by_id).await;
    session.run("select keyed.alter_attribute('crm.customers', 'visits', '{\"slug\": \"calls\"}')").await;
    assert_eq!(found(&session, &json!({"view": "busy"})).await, "C D");
    assert_eq!(found(&session, &json!({"view": "busy", "sort": "-calls"})).await, "D C");
    assert_eq!(view_keys(&session, "crm.customers__busy").await, "C D");
}

#[tokio::test]
async fn view_with_terms_has_no_sql_view() {
    let (_database, session) = crm().await;
    let words = json!({"global_search": "customer 3"});
    assert_eq!(save(&session, "third", &words).await["sql_view"], Value::Null);
    assert_eq!(found(&session, &json!({"view": "third"})).await, "C");
    let is_there = "select to_regclass('crm.customers__third') is not null";
    assert_eq!(session.text(is_there, &[]).await, "f");
    save(&session, "third", &json!({"sort": "visits"})).await;
    assert_eq!(session.text(is_there, &[]).await, "t");
    save(&session, "third", &words).await;
    assert_eq!(session.text(is_there, &[]).await, "f");
    session.run("select keyed.drop_view('crm.customers', 'third')").await;
}

#[tokio::test]
async fn view_has_a_name_a_label_and_a_comment() {
    let (_database, session) = crm().await;
    let comment = "select obj_description('crm.customers__gold'::regclass)";
    let save = "select keyed.save_view('crm.customers', 'gold', '{}', $1)";
    session.rows(save, &["It's gold"]).await;
    assert_eq!(session.text(comment, &[]).await, "It's gold");
    session.rows("select keyed.save_view('crm.customers', 'gold', '{}')", &[]).await;
    assert_eq!(session.text(comment, &[]).await, "gold");
    let listed = session.json("select keyed.list_views('crm.customers')", &[]).await;
    let view = &listed["views"][0];
    assert_eq!((&view["slug"], &view["label"], &view["query"]), (&json!("gold"), &json!("gold"), &json!({})));
    session.run("select keyed.drop_view('crm.customers', 'gold')").await;
    for statement in ["get_view", "drop_view"] {
        let error = session.error(&format!("select keyed.{statement}('crm.customers', 'gold')"), &[]).await;
        assert_eq!(error.codes(), ("P0002", "not_found"));
    }
}

#[tokio::test]
async fn unsupported_view_is_rejected_with_its_pointer() {
    let (_database, session) = crm().await;
    session
        .run("select keyed.create_template('crm', 'customers__vip'); create table crm.customers__mine ()")
        .await;
    session.run("select keyed.create_template('crm', 'customers__a'); select keyed.save_view('crm.customers__a', 'b', '{}')").await;
    for (slug, query, code, pointer) in [
        ("Gold", "{}", "invalid_slug", "/slug"),
        (&"x".repeat(53), "{}", "invalid_slug", "/slug"),
        ("vip", "{}", "conflict", "/slug"),
        ("mine", "{}", "conflict", "/slug"),
        ("a__b", "{}", "conflict", "/slug"),
        ("gold", r#"{"view": "other"}"#, "invalid_value", "/query/view"),
        ("gold", r#"{"cursor": "x"}"#, "invalid_value", "/query/cursor"),
        ("gold", r#"{"limit": 0}"#, "invalid_value", "/query/limit"),
        ("gold", r#"{"sort": "nope"}"#, "unknown_field", "/query/sort"),
        ("gold", r#"{"fields": ["nope"]}"#, "unknown_field", "/query/fields/0"),
        (
            "gold",
            r#"{"filters": [{"field": "nope", "operator": "eq", "value": 1}]}"#,
            "unknown_field",
            "/query/filters/0/field",
        ),
        (
            "gold",
            r#"{"filters": [{"field": "visits", "operator": "like", "value": "1"}]}"#,
            "operator_not_allowed",
            "/query/filters/0/operator",
        ),
    ] {
        let error = session.error(SAVE, &[slug, query]).await;
        assert_eq!(error.codes().1, code, "{slug} {query}: {error}");
        assert_eq!(error.pointers(), [pointer], "{slug} {query}: {error}");
    }
    assert_eq!(session.text("select count(*) from keyed_state.view", &[]).await, "1");
    let longest = "x".repeat(52);
    save(&session, &longest, &json!({})).await;
    // A template cannot have the name of a view either.
    save(&session, "gold", &json!({})).await;
    let error = session.error("select keyed.create_template('crm', 'customers__gold')", &[]).await;
    assert_eq!((error.codes().1, error.pointers()), ("conflict", vec!["/slug"]));
    let unknown = session.error("select keyed.search('crm.customers', '{\"view\": \"nope\"}')", &[]).await;
    assert_eq!((unknown.codes(), unknown.pointers()), (("22023", "invalid_value"), vec!["/view"]));
}
