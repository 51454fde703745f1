//! Facets and totals of words that very many records have are equal to the counts of an SQL statement.

use harness::{Database, Session};
use serde_json::{Value, json};

const TEMPLATE: &str = r#"
    select keyed.create_project('p');
    select keyed.create_template('p', 'makers', '[{"slug": "name", "type": "string"}]');
    select keyed.create_template('p', 'things', '[
      {"slug": "name", "type": "string"}, {"slug": "size", "type": "number"}, {"slug": "label", "type": "string"},
      {"slug": "tags", "type": "list"}, {"slug": "day", "type": "date"}, {"slug": "seen", "type": "datetime"},
      {"slug": "is_new", "type": "boolean"}, {"slug": "level", "type": "metric"},
      {"slug": "maker", "type": "reference", "template": "makers"}]')"#;

/// 33,000 things, 99 % of which have a word. Labels differ by case and accents, and more labels than are counted are
/// equally frequent. Some values are missing; lists have repeated values or are empty.
const FILL: &str = "
    insert into p.makers (external_key, name) select n, 'Maker ' || n from generate_series(1, 12) n;
    insert into p.things (external_key, name, size, label, tags, day, seen, is_new, level, maker)
    select n, case when n % 100 > 0 then 'common' else 'other' end, n % 1000,
      case when n % 9 > 0 then (array['Z\u{fc}rich', 'zurich', 'ZURICH', 'a', 'B', '\u{e4}'])[1 + n % 6] || nullif(n % 180, 7) end,
      case n % 5 when 0 then null when 1 then '{}' when 2 then array['x', 'y', 'x'] when 3 then '[3:4]={q,y}' else array['t' || n % 150, 'y'] end,
      case when n % 4 > 0 then date '1999-12-01' + n % 60 end, timestamptz '1999-12-31 23:00Z' + make_interval(hours => n % 3),
      case when n % 3 > 0 then n % 2 = 0 end, n % 7, makers.ids[1 + n % 13]
    from generate_series(1, 33000) n, (select array_agg(id) as ids from p.makers) makers";

const CHANGE: &str = "
    update p.things set label = 'a' where size < 20;
    update p.things set tags = array['y', 'late'] where size between 900 and 910;
    update p.things set size = size + 0.00 where label like 'a%';
    update p.things set size = -size / 4, level = -level where size between 100 and 300;
    update p.things set name = 'other' where size between 500 and 504.0;
    update p.things set deleted_at = now() where size between 700 and 720";

const FIELDS: [&str; 8] = ["label", "tags", "day", "seen", "is_new", "maker", "size", "level"];

/// Values and counts in the result.
fn counted(result: &Value, field: &str) -> Value {
    let values = result["facets"][field].as_array().expect("values").iter();
    values.map(|it| json!([it["value"], it["count"]])).collect()
}

async fn compare(session: &Session, owner: &Session, filters: Value, condition: &str) {
    let query = json!({"global_search": "common", "filters": filters, "facets": FIELDS, "count": "exact", "limit": 1});
    let result = session.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
    let found = format!("p.things where deleted_at is null and name = 'common' and {condition}");
    let total = owner.json(&format!("select to_jsonb(count(*)) from {found}"), &[]).await;
    assert_eq!(result["total"], total, "{query}");
    assert_ne!(total, json!(0), "{query}");
    for field in FIELDS {
        let values = match field {
            "tags" => format!("(select distinct id, unnest(tags) as v from {found}) each"),
            "seen" => format!(
                "(select to_char(seen at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as v from {found}) each"
            ),
            _ => format!("(select {field} as v from {found}) each"),
        };
        let order = if matches!(field, "label" | "tags") { "v collate \"und-x-icu\"" } else { "v" };
        let sql = format!(
            "select coalesce(jsonb_agg(jsonb_build_array(v, n) order by place), '[]') from (
               select v, count(*) as n, row_number() over (order by count(*) desc, {order}) as place
               from {values} where v is not null group by v order by 2 desc, {order} limit 100) counts"
        );
        assert_eq!(counted(&result, field), owner.json(&sql, &[]).await, "{field} of {query}");
    }
}

#[tokio::test]
async fn value_counts_agree_with_sql() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run(TEMPLATE).await;
    session.run(FILL).await;
    let role = database.create_role("small").await;
    let scope = json!({"field": "size", "operator": "lt", "value": 960});
    database.grant_within(&role, "p.things", "read", &scope).await;
    let reader = database.session_as(&role).await;
    for change in ["analyze p.things", CHANGE, "vacuum p.things"] {
        for statement in change.split(';') {
            session.run(statement).await;
        }
        let large = json!([{"field": "size", "operator": "gte", "value": 30}]);
        compare(&session, &session, json!([]), "true").await;
        compare(&session, &session, large.clone(), "size >= 30").await;
        compare(&reader, &session, json!([]), "size < 960").await;
        compare(&reader, &session, large, "size >= 30 and size < 960").await;
        // Few of many.
        let few = json!([{"field": "size", "operator": "lt", "value": 25}]);
        compare(&session, &session, few, "size < 25").await;
    }
    // A transaction counts what its snapshot contains.
    session.run("begin isolation level repeatable read; select count(*) from p.things").await;
    let other = database.session().await;
    other.run("update p.things set label = 'new', deleted_at = case when size > 800 then now() end where size > 600").await;
    compare(&session, &session, json!([]), "true").await;
    session.run("commit").await;
    compare(&session, &session, json!([]), "true").await;
    database.cluster().assert_no_crash();
}
