//! A sample of the records chooses the access path of a page, not an estimate of PostgreSQL.

use harness::{Database, Session};
use serde_json::{Value, json};

const TEMPLATE: &str = r#"
    select keyed.create_project('p');
    select keyed.create_template('p', 'things', '[
      {"slug": "name", "type": "string", "indexed": true}, {"slug": "size", "type": "number", "indexed": true},
      {"slug": "weight", "type": "number"}, {"slug": "tags", "type": "list", "indexed": true}]')"#;

/// 12,000 things. One in 1000 is rare, and one in three is frequent; only the first third is old. PostgreSQL's
/// statistics date from when all things were alike.
const FILL: &str = "
    set session_replication_role = replica;
    insert into p.things (external_key, name, size, weight, tags)
    select n, 'plain thing', n, n, '{a}' from generate_series(1, 12000) n;
    analyze p.things;
    update p.things t set name = case when n % 1000 = 0 then 'rarely seen' when n % 3 = 0 then 'often met' else 'plain thing' end
        || case when n <= 4000 then ', old' else '' end,
      size = nullif(n * 7919 % 12000, 0), weight = nullif(n % 100, 0),
      tags = case when n % 1000 = 0 then '{rare}'::text[] else '{a,b}' end,
      deleted_at = case when n % 500 = 1 then now() end
    from (select id, external_key::int as n from p.things) x where x.id = t.id;
    set session_replication_role = origin";

async fn filled() -> (Database, Session) {
    let database = Database::new().await;
    let session = database.session().await;
    session.run(TEMPLATE).await;
    session.run(FILL).await;
    (database, session)
}

fn ilike(text: &str) -> Value {
    json!({"field": "name", "operator": "ilike", "value": text})
}

async fn explain(session: &Session, query: &Value) -> String {
    session.text("select keyed.explain('p.things', $1)", &[&query.to_string()]).await
}

const SORTED: &str = "Those that an index finds are sorted";

#[tokio::test]
async fn frequent_values_use_the_order_and_rare_ones_their_index() {
    let (_database, session) = filled().await;
    for (sort, index) in [(json!([]), "things_pkey"), (json!("-size"), "things_size_id_idx")] {
        let of = |filters: Value| json!({"filters": filters, "sort": sort, "limit": 20});
        let frequent = explain(&session, &of(json!([ilike("often")]))).await;
        let frequent = frequent.split("When these are exhausted").next().unwrap_or_default();
        assert!(frequent.contains(index) && !frequent.contains("records examined"), "{frequent}");
        assert!(!frequent.contains("Bitmap") && !frequent.contains("Sort"), "{frequent}");
        for rare in [
            json!([ilike("rarely")]),
            json!([ilike("rarely"), {"field": "size", "operator": "gt", "value": 0}]),
            json!([ilike("rarely"), ilike("seen")]),
            json!([{"not": ilike("often")}, ilike("rarely")]),
            json!([{"or": [ilike("rarely"), {"field": "tags", "operator": "in", "value": "rare"}]}]),
            json!([{"field": "tags", "operator": "in", "value": "rare"}]),
            json!([{"field": "name", "operator": "starts-with", "value": "rare"}]),
            json!([{"field": "name", "operator": "ends-with", "value": "ly seen"}]),
            // The index finds the frequent values of a condition with further restrictions.
            json!([ilike("rarely"), {"field": "weight", "operator": "gte", "value": 0}]),
        ] {
            let how = explain(&session, &of(rare.clone())).await;
            let found = how.split(SORTED).nth(1).unwrap_or_default();
            assert!(found.contains("Bitmap Index Scan"), "{rare}\n{how}");
            assert!(
                !found.contains("Seq Scan") && !found.contains("things_pkey on things t_"),
                "{rare}\n{how}"
            );
        }
    }
}

#[tokio::test]
async fn few_matches_are_found_by_an_index_without_an_order_index() {
    let (_database, session) = filled().await;
    for sort in ["weight", "size,weight", "-updated_at"] {
        let of = |text: &str| json!({"filters": [ilike(text)], "sort": sort, "limit": 20});
        let rare = explain(&session, &of("rarely")).await;
        assert!(rare.contains("things_name_idx") && !rare.contains("Seq Scan"), "{sort}\n{rare}");
        let frequent = explain(&session, &of("plain")).await;
        assert!(!frequent.contains(SORTED), "{sort}\n{frequent}");
    }
}

#[tokio::test]
async fn ordered_scan_with_few_matches_stops() {
    let (_database, session) = filled().await;
    // Frequent among the newest, and absent from earlier records.
    session
        .run(
            "set session_replication_role = replica;
             update p.things set name = 'lately met' where id in (select id from p.things order by id desc limit 12)",
        )
        .await;
    let query = json!({"filters": [ilike("lately")], "limit": 40});
    let how = explain(&session, &query).await;
    assert!(how.contains("examined, 12 are on the page") && how.contains(SORTED), "{how}");
    let page = session.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
    assert_eq!((page["records"].as_array().map(Vec::len), &page["has_more"]), (Some(12), &json!(false)));
}

#[tokio::test]
async fn ordered_scan_stops_after_the_requested_values() {
    let (_database, session) = filled().await;
    let of_size = |operator: &str, size: i32| json!({"field": "size", "operator": operator, "value": size});
    let light = json!({"field": "weight", "operator": "lt", "value": 3});
    let query =
        json!({"filters": [of_size("gte", 5000), of_size("lt", 5300), light], "sort": "size", "limit": 50});
    let how = explain(&session, &query).await;
    assert!(how.matches("records examined").count() == 1 && !how.contains(SORTED), "{how}");
    let page = session.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
    let counted = "select to_jsonb(count(*)) from p.things \
                   where size >= 5000 and size < 5300 and weight < 3 and deleted_at is null";
    assert_eq!(json!(page["records"].as_array().map(Vec::len)), session.json(counted, &[]).await);
}

#[tokio::test]
async fn scope_is_looked_up_only_with_an_index() {
    let (database, session) = filled().await;
    for (name, field, is_served) in [("heavy", "weight", false), ("large", "size", true)] {
        let role = database.create_role(name).await;
        let scope = json!({"field": field, "operator": "gte", "value": 98});
        database.grant_within(&role, "p.things", "read", &scope).await;
        let reader = database.session_as(&role).await;
        let how = explain(&reader, &json!({"sort": "-size", "limit": 20})).await;
        assert_eq!(how.contains("as materialized"), is_served, "{field}\n{how}");
        for filters in [
            json!([]),
            json!([{"field": "size", "operator": "lt", "value": 4000}]),
            json!([ilike("often")]),
            json!([ilike("rarely")]),
        ] {
            let query = json!({"filters": filters, "sort": "-size", "limit": 1000});
            let found = reader.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
            let mut filters = filters.as_array().cloned().unwrap_or_default();
            filters.push(scope.clone());
            let all = json!({"filters": filters, "sort": "-size", "limit": 1000});
            let expected = session.json("select keyed.search('p.things', $1)", &[&all.to_string()]).await;
            let keys = |page: &Value| {
                let records = page["records"].as_array().expect("records").iter();
                records.map(|record| record["external_key"].clone()).collect::<Vec<Value>>()
            };
            assert_eq!(keys(&found), keys(&expected), "{field}: {query}");
        }
    }
}

/// The ids of consecutive pages, with a change of the setting between them.
async fn read_pages(session: &Session, query: &Value, sample_sizes: &[u32]) -> Vec<String> {
    let (mut met, mut cursor, mut number) = (Vec::new(), Value::Null, 0);
    loop {
        session.run(&format!("set keyed.sample_size = {}", sample_sizes[number % sample_sizes.len()])).await;
        number += 1;
        let mut query = query.clone();
        query["cursor"] = cursor;
        let page = session.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
        let records = page["records"].as_array().expect("records").iter();
        met.extend(records.map(|record| record["external_key"].as_str().unwrap_or_default().to_owned()));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return met;
        }
    }
}

#[tokio::test]
async fn each_page_continues_the_one_before_on_any_access_path() {
    let (_database, session) = filled().await;
    for (sort, order) in [
        (json!([]), "id desc"),
        (json!("size"), "size, id"),
        (json!([{"field": "size", "direction": "desc", "nulls": "first"}]), "size desc nulls first, id desc"),
        (json!("-weight"), "weight desc nulls last, id desc"),
        (json!("-name"), "left(name, 200) collate \"und-x-icu\" desc nulls last, id desc"),
    ] {
        for (filter, condition) in [
            (ilike("rarely"), "name ilike '%rarely%'"),
            (ilike("ly s"), "name ilike '%ly s%'"),
            (json!({"not": {"or": [ilike("plain"), ilike("often")]}}), "name !~* 'plain|often'"),
        ] {
            let query = json!({"filters": [filter], "sort": sort, "limit": 3, "fields": ["external_key"]});
            let sql = format!(
                "select coalesce(jsonb_agg(external_key order by {order}), '[]') from p.things
                 where deleted_at is null and {condition}"
            );
            let expected = session.json(&sql, &[]).await;
            // Of one record, of a few, and of so many that all are scanned.
            let met = read_pages(&session, &query, &[1, 100_000, 30, 200]).await;
            assert_eq!(json!(met), expected, "{query}");
        }
    }
}

#[tokio::test]
async fn results_do_not_depend_on_indexes() {
    let (_database, session) = filled().await;
    let count = async |sort: &str| {
        let query = json!({"filters": [ilike("rarely")], "sort": sort, "limit": 100});
        let page = session.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
        page["records"].as_array().map(Vec::len)
    };
    for sort in ["-id", "size", "weight"] {
        assert_eq!(count(sort).await, Some(12), "{sort}");
    }
    // The indexes are dropped, by plain SQL and by keyed, after the session has planned its statements.
    session.run("drop index p.things_name_idx, p.things_size_id_idx").await;
    for sort in ["-id", "size", "weight"] {
        assert_eq!(count(sort).await, Some(12), "{sort}, without indexes");
    }
    for slug in ["name", "size", "tags"] {
        session
            .run(&format!("select keyed.alter_attribute('p.things', '{slug}', '{{\"indexed\": false}}')"))
            .await;
    }
    for sort in ["-id", "size", "weight"] {
        assert_eq!(count(sort).await, Some(12), "{sort}, not indexed");
    }
    session.run("set session_replication_role = replica; delete from p.things").await;
    for sort in ["-id", "size", "weight"] {
        assert_eq!(count(sort).await, Some(0), "{sort}, of nothing");
    }
}

#[tokio::test]
async fn fixed_snapshot_finds_its_records_on_any_access_path() {
    let (database, session) = filled().await;
    let other = database.session().await;
    for isolation in ["repeatable read", "serializable"] {
        session.run(&format!("begin isolation level {isolation}")).await;
        let find = async |text: &str| {
            let query = json!({"filters": [ilike(text)], "limit": 20}).to_string();
            let page = session.json("select keyed.search('p.things', $1)", &[&query]).await;
            page["records"]
                .as_array()
                .map(|records| records.iter().map(|it| it["id"].clone()).collect::<Vec<_>>())
        };
        let before = (find("rarely").await, find("often").await);
        other
            .run("insert into p.things (name) values ('rarely seen'), ('often met'); update p.things set name = name || '!'
                  where id in (select id from p.things where name ~ 'rarely' limit 3)")
            .await;
        assert_eq!((find("rarely").await, find("often").await), before, "{isolation}");
        session.run("commit").await;
        assert_ne!((find("rarely").await, find("often").await), before, "{isolation}");
    }
}
