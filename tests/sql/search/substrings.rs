//! Substring searches compared in memory find the same records as a statement that reads all records.

use harness::{Database, Session};
use serde_json::{Value, json};

const TEMPLATE: &str = r#"
    select keyed.create_project('p');
    select keyed.create_template('p', 'things', '[
      {"slug": "size", "type": "number", "indexed": true}, {"slug": "weight", "type": "number"},
      {"slug": "name", "type": "string", "indexed": true}, {"slug": "label", "type": "string"}, {"slug": "day", "type": "date"},
      {"slug": "level", "type": "metric"}, {"slug": "is_new", "type": "boolean"}]');
    set session_replication_role = replica;
    select setseed(SEED)"#;

/// Text with language-specific case forms, wildcards, long text, and none.
const FILL: &str = "
    insert into p.things (external_key, name, size, weight, label, day, level, is_new, updated_at)
    select gen_random_uuid(), made.name, n % 7, nullif(n % 5, 0),
      case when n % 9 > 0 then repeat((array['a', '\u{e4}', '\u{6771}'])[1 + n % 3], case when n % 50 = 0 then 30000 else n % 4 * 80 end) || n % 11 end,
      case when n % 8 > 0 then date '2026-01-01' + n % 30 end, case when n % 6 > 0 then sin(n) end,
      case when n % 3 > 0 then n % 2 = 0 end, now() - make_interval(secs => n * 7919 % 3001)
    from generate_series(1, 3000) n, lateral (select case when random() < 0.05 then null else
      (select string_agg((array['king', 'KING', 'K\u{131}ng', 'K\u{130}ng', '\u{212a}ing', 'M\u{fc}ller', 'M\u{dc}LLER', 'east', 'Easter', 'a%b',
        'A_B', 'a\\b', 'x', '\u{6771}\u{4eac}\u{90fd}', repeat('padded ', 400)])[1 + floor(pow(random(), 2) * 15)::int], ' ' order by part)
       from generate_series(1, 1 + floor(random() * 3)::int + n * 0) part) end as name) made";

const CHANGE: &str = "
    update p.things set name = name || ' king' where random() < 0.1;
    update p.things set size = size + 1 where random() < 0.1;
    update p.things set name = null where random() < 0.02;
    update p.things set deleted_at = now(), external_key = null where random() < 0.05;
    delete from p.things where random() < 0.02";

const PARTS: [&str; 14] = [
    "king",
    "KIN",
    "ing",
    "k\u{131}ng",
    "M\u{fc}l",
    "m\u{dc}ller",
    "ller",
    "east",
    "a%b",
    "a_b",
    "a\\b",
    "\u{6771}\u{4eac}\u{90fd}",
    "east king",
    "ded pad",
];

/// Compares the results with those of PostgreSQL without an index. Returns whether there were any.
async fn compare(session: &Session, part: &str, operator: &str, sort: &Value, limit: usize) -> bool {
    let pattern =
        format!("replace(replace(replace({}, '\\', '\\\\'), '%', '\\%'), '_', '\\_')", quoted(part));
    let condition = match operator {
        "ilike" => format!("name ilike '%' || {pattern} || '%'"),
        "like" => format!("name like '%' || {pattern} || '%'"),
        "starts-with" => format!("name like {pattern} || '%'"),
        _ => format!("name like '%' || {pattern}"),
    };
    let order = match sort.as_str() {
        Some("id") => "id",
        Some("-id") => "id desc",
        Some("size") => "size nulls last, id",
        Some("-weight") => "weight desc nulls last, id desc",
        Some("label") => "left(label, 200) collate \"und-x-icu\" nulls last, id",
        Some("-day") => "day desc nulls last, id desc",
        Some("level") => "level nulls last, id",
        Some("is_new") => "is_new nulls last, id",
        Some("-updated_at") => "updated_at desc, id desc",
        Some(other) => panic!("{other}"),
        None if sort[0]["nulls"] == "first" => "weight desc nulls first, id desc",
        None => "id desc",
    };
    session.run("set enable_indexscan = off; set enable_bitmapscan = off").await;
    let sql = format!(
        "select coalesce(jsonb_agg(id order by {order}), '[]') from p.things where deleted_at is null and {condition}"
    );
    let expected = session.json(&sql, &[]).await;
    session.run("reset enable_indexscan; reset enable_bitmapscan").await;
    let (mut met, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let filters = json!([{"field": "name", "operator": operator, "value": part}]);
        let query =
            json!({"filters": filters, "sort": sort, "limit": limit, "cursor": cursor, "fields": ["id"]});
        let page = session.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
        met.extend(page["records"].as_array().expect("records").iter().map(|record| record["id"].clone()));
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(Value::from(met), expected, "{part:?} {operator} by {sort}, {limit} on a page");
    expected != json!([])
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[tokio::test]
async fn substrings_match_as_in_sql_after_changes() {
    let seed = std::env::var("KEYED_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(11_u64);
    println!("KEYED_TEST_SEED={seed}");
    let database = Database::new().await;
    let session = database.session().await;
    session.run(&TEMPLATE.replace("SEED", &format!("{}", (seed % 1000) as f64 / 1000.0))).await;
    session.run(FILL).await;
    for change in ["analyze p.things", CHANGE, "vacuum p.things", CHANGE, "reindex table p.things"] {
        for statement in change.split(';') {
            session.run(statement).await;
        }
        let mut found = 0;
        for part in PARTS {
            for operator in ["ilike", "like", "starts-with", "ends-with"] {
                let with_index = [
                    (json!([]), 1, 7),
                    (json!("id"), 20, 40),
                    (json!("-id"), 200, 400),
                    (json!("size"), 10, 90),
                ];
                let without = [
                    (json!("-weight"), 10, 200),
                    (json!([{"field": "weight", "direction": "desc", "nulls": "first"}]), 10, 300),
                    (json!("label"), 10, 60),
                    (json!("-day"), 10, 100),
                    (json!("level"), 10, 15),
                    (json!("is_new"), 10, 30),
                    (json!("-updated_at"), 10, 50),
                ];
                // The operators differ only in the comparison of text, which all sorts share.
                let without = without.into_iter().take(if operator == "ilike" { 7 } else { 1 });
                for (sort, look, limit) in with_index.into_iter().chain(without) {
                    session.run(&format!("set keyed.sample_size = {look}")).await;
                    let limit = if found % 3 == 0 { limit } else { 1000 };
                    found += usize::from(compare(&session, part, operator, &sort, limit).await);
                }
            }
        }
        assert!(found > 100, "most substrings occur in no text: {found}");
    }
    database.cluster().assert_no_crash();
}

#[tokio::test]
async fn substrings_match_as_in_sql_with_other_conditions() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run(&TEMPLATE.replace("SEED", "0.5")).await;
    session.run(FILL).await;
    session.run("set keyed.sample_size = 5").await;
    for (others, condition) in [
        (json!([{"field": "size", "operator": "gt", "value": 3}]), "size > 3"),
        (json!([{"field": "name", "operator": "like", "value": "M\u{fc}l"}]), "name like '%M\u{fc}l%'"),
        (json!([{"field": "weight", "operator": "empty"}]), "weight is null"),
    ] {
        for sort in ["-id", "size", "weight"] {
            let mut filters = vec![json!({"field": "name", "operator": "ilike", "value": "east"})];
            filters.extend(others.as_array().into_iter().flatten().cloned());
            let query = json!({"filters": filters, "sort": sort, "limit": 1000, "fields": ["id"]});
            let found = session.json("select keyed.search('p.things', $1)", &[&query.to_string()]).await;
            let sql = format!(
                "select to_jsonb(count(*)) from p.things where deleted_at is null and name ilike '%east%' and {condition}"
            );
            let expected = session.json(&sql, &[]).await;
            assert_ne!(expected, json!(0), "{condition}");
            assert_eq!(json!(found["records"].as_array().map(Vec::len)), expected, "{condition} by {sort}");
        }
    }
}
