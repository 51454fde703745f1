//! A value that few records have is looked up in its index, which also counts them.

use harness::{Database, Session, has_direct_access};
use serde_json::{Value, json};

const TEMPLATE: &str = r#"
    select keyed.create_project('p');
    select keyed.create_template('p', 'places', '[{"slug": "name", "type": "string"}]');
    select keyed.create_template('p', 'things', '[
      {"slug": "name", "type": "string", "indexed": true}, {"slug": "size", "type": "number", "indexed": true},
      {"slug": "made", "type": "date", "indexed": true}, {"slug": "seen", "type": "datetime", "indexed": true},
      {"slug": "place", "type": "reference", "template": "places"},
      {"slug": "heat", "type": "metric", "indexed": true}, {"slug": "rank", "type": "number"}]')"#;

/// 6,000 things. Each value of a field belongs to six of them, one of which is deleted.
const FILL: &str = "
    set session_replication_role = replica;
    insert into p.places (external_key) select 'P-' || n from generate_series(0, 999) n;
    insert into p.things (external_key, name, size, made, seen, place, heat, rank, deleted_at)
    select n, case when n % 1000 < 500 then 'thing ' || n % 1000 else repeat('long ', 50) || n % 1000 end,
      (n % 1000) / 10.0, date '2000-01-01' + n % 1000, timestamptz '2000-01-01T00:00:00Z' + n % 1000 * interval '1 s',
      places.ids[1 + n % 1000], n % 1000 + 0.5, 6000 - n, case when n <= 1000 then now() end
    from generate_series(1, 6000) n, (select array_agg(id order by id) as ids from p.places) places;
    set session_replication_role = origin";

const INDEX_COUNT: &str = "Index entries for the value: ";

async fn filled() -> (Database, Session) {
    let database = Database::new().await;
    let session = database.session().await;
    session.run(TEMPLATE).await;
    session.run(FILL).await;
    (database, session)
}

async fn keys(session: &Session, query: &Value) -> Vec<String> {
    let page = session.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
    let records = page["records"].as_array().expect("records").iter();
    records.map(|record| record["external_key"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn explain(session: &Session, query: &Value) -> String {
    session.text("select keyed.explain('p.things', $1)", &[&query.to_string()]).await
}

fn of_value(field: &str, value: &Value, sort: &str) -> Value {
    json!({"filters": [{"field": field, "operator": "eq", "value": value}], "sort": sort, "limit": 20})
}

#[tokio::test]
async fn rare_value_is_looked_up_in_any_order() {
    let (_database, session) = filled().await;
    let position = session
        .json("select to_jsonb(ids[8]) from (select array_agg(id order by id) ids from p.places) p", &[])
        .await;
    for (field, value) in [
        ("name", json!("thing 7")),
        ("size", json!(0.70)),
        ("made", json!("2000-01-08")),
        ("seen", json!("2000-01-01T00:00:07Z")),
        ("place", position),
        ("heat", json!(7.5)),
    ] {
        for (sort, is_down) in [("-id", true), ("id", false), ("rank", true), ("-rank", false)] {
            let query = of_value(field, &value, sort);
            let mut expected = ["1007", "2007", "3007", "4007", "5007"];
            if is_down {
                expected.reverse();
            }
            assert_eq!(keys(&session, &query).await, expected, "{query}");
            let how = explain(&session, &query).await;
            assert_eq!(how.contains(&format!("{INDEX_COUNT}6.")), has_direct_access(), "{query}\n{how}");
        }
    }
}

#[tokio::test]
async fn index_contains_the_beginning_of_long_texts() {
    let (_database, session) = filled().await;
    let text = "long ".repeat(50) + "507";
    let query = of_value("name", &json!(text), "id");
    assert_eq!(keys(&session, &query).await, ["1507", "2507", "3507", "4507", "5507"]);
    let how = explain(&session, &query).await;
    assert!(!how.contains(INDEX_COUNT), "half of all texts begin like this\n{how}");
}

#[tokio::test]
async fn rarest_value_is_looked_up_and_the_others_are_checked() {
    let (_database, session) = filled().await;
    session
        .run("set session_replication_role = replica; update p.things set size = 1 where rank > 2000")
        .await;
    let filters = json!([
        {"field": "size", "operator": "eq", "value": 1}, {"field": "name", "operator": "eq", "value": "thing 7"},
        {"field": "rank", "operator": "gt", "value": 4000}]);
    let query = json!({"filters": filters, "sort": "-made", "limit": 20});
    assert_eq!(keys(&session, &query).await, ["1007"]);
    let how = explain(&session, &query).await;
    assert_eq!(how.contains(INDEX_COUNT), has_direct_access(), "{how}");
    let found = how.split("offset 0").next().unwrap_or_default();
    assert!(!has_direct_access() || found.contains("thing 7"), "{how}");
}

#[tokio::test]
async fn value_is_found_without_its_index() {
    let (_database, session) = filled().await;
    let query = of_value("size", &json!(0.7), "-made");
    let expected = keys(&session, &query).await;
    assert_eq!(expected.len(), 5);
    for change in [
        "reindex index p.things_size_id_idx",
        "drop index p.things_size_id_idx",
        "create index things_size_id_idx on p.things (size desc, id)",
        "drop index p.things_size_id_idx; create index things_size_id_idx on p.things (size, id) where size > 50",
        r#"drop index p.things_size_id_idx; select keyed.alter_attribute('p.things', 'size', '{"indexed": false}')"#,
    ] {
        session.run(change).await;
        assert_eq!(keys(&session, &query).await, expected, "{change}");
    }
}

#[tokio::test]
async fn fixed_snapshot_finds_rare_values() {
    let (database, session) = filled().await;
    let other = database.session().await;
    let query = of_value("size", &json!(0.7), "id");
    session.run("begin isolation level repeatable read; select 1").await;
    let before = keys(&session, &query).await;
    other
        .run("update p.things set size = 3 where size = 0.7; update p.things set size = 0.7 where size = 5")
        .await;
    assert_eq!(keys(&session, &query).await, before);
    session.run("update p.things set rank = 0 where size = 90; commit").await;
    assert_eq!(keys(&session, &query).await, ["1050", "2050", "3050", "4050", "5050"]);
}
