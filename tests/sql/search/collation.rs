//! The order of text: it is the same in pages, after cursors, in the index and in plain SQL.

use super::indexes::{FILL, TEMPLATE, indexes_on, plan, plans_of_search};
use harness::{Database, Session};
use serde_json::{Value, json};

/// In byte order.
const STRINGS: [&str; 7] = ["Banana", "Zebra", "Zürich", "apple", "zulu", "Äpfel", "école"];
const BY_UNICODE: &str = "Äpfel apple Banana école Zebra zulu Zürich";
const BY_BYTES: &str = "Banana Zebra Zürich apple zulu Äpfel école";

/// A template with two text attributes, of which one has an index, and the texts in both.
async fn words(collation: Option<&str>) -> (Database, Session) {
    words_in(Database::new().await, collation).await
}

async fn words_in(database: Database, collation: Option<&str>) -> (Database, Session) {
    let session = database.session().await;
    session.run("select keyed.create_project('p')").await;
    let attributes =
        r#"[{"slug": "word", "type": "string", "indexed": true}, {"slug": "plain", "type": "string"}]"#;
    session.rows("select keyed.create_template('p', 'words', $1::text::jsonb)", &[attributes]).await;
    if let Some(collation) = collation {
        let change = json!({"collation": collation}).to_string();
        session.rows("select keyed.alter_template('p.words', $1::text::jsonb)", &[&change]).await;
    }
    for text in STRINGS {
        add(&session, text, &json!({"word": text, "plain": text})).await;
    }
    (database, session)
}

async fn add(session: &Session, key: &str, attributes: &Value) {
    let attributes = attributes.to_string();
    session.rows("select keyed.upsert_by_key('p.words', $1, $2::text::jsonb)", &[key, &attributes]).await;
}

async fn search(session: &Session, query: &Value) -> Value {
    session.json("select keyed.search('p.words', $1::text::jsonb)", &[&query.to_string()]).await
}

fn keys(page: &Value) -> Vec<String> {
    let records = page["records"].as_array().expect("records");
    records.iter().map(|it| it["external_key"].as_str().expect("a key").to_owned()).collect()
}

/// All keys, in pages of two.
async fn read_pages(session: &Session, sort: &Value) -> String {
    let mut query = json!({"sort": sort, "limit": 2});
    let mut all = Vec::new();
    loop {
        let page = search(session, &query).await;
        all.extend(keys(&page));
        if page["next_cursor"].is_null() {
            return all.join(" ");
        }
        query["cursor"] = page["next_cursor"].clone();
    }
}

/// The values in the order of `order by`.
async fn by_sql(session: &Session, column: &str) -> String {
    let sql =
        format!("select string_agg({column}, ' ' order by {column}) from p.words where deleted_at is null");
    session.text(&sql, &[]).await
}

fn reversed(keys: &str) -> String {
    keys.split(' ').rev().collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn text_is_sorted_by_the_unicode_collation() {
    let (_database, session) = words(None).await;
    let template = session.json("select keyed.alter_template('p.words', '{}')", &[]).await;
    assert_eq!(template["collation"], "und");
    for field in ["word", "plain"] {
        let page = search(&session, &json!({"sort": field})).await;
        assert_eq!(keys(&page).join(" "), BY_UNICODE, "{field}");
        assert_eq!(read_pages(&session, &json!(field)).await, BY_UNICODE, "{field}");
        assert_eq!(read_pages(&session, &json!(format!("-{field}"))).await, reversed(BY_UNICODE), "{field}");
    }
    // Keys are ordered by bytes.
    assert_eq!(read_pages(&session, &json!("external_key")).await, BY_BYTES);
}

#[tokio::test]
async fn cursors_continue_among_equal_values_and_nulls() {
    let (_database, session) = words(None).await;
    for (key, word) in
        [("n1", Value::Null), ("n2", Value::Null), ("e1", json!("école")), ("e2", json!("école"))]
    {
        add(&session, key, &json!({"word": word, "plain": word})).await;
    }
    for field in ["word", "plain"] {
        for (direction, nulls, expected) in [
            ("asc", "last", "Äpfel apple Banana école e1 e2 Zebra zulu Zürich n1 n2"),
            ("asc", "first", "n1 n2 Äpfel apple Banana école e1 e2 Zebra zulu Zürich"),
            ("desc", "last", "Zürich zulu Zebra e2 e1 école Banana apple Äpfel n2 n1"),
            ("desc", "first", "n2 n1 Zürich zulu Zebra e2 e1 école Banana apple Äpfel"),
        ] {
            let sort = json!([{"field": field, "direction": direction, "nulls": nulls}]);
            assert_eq!(read_pages(&session, &sort).await, expected, "{sort}");
        }
    }
}

#[tokio::test]
async fn collation_c_sorts_text_by_bytes() {
    let (_database, session) = words(Some("C")).await;
    for field in ["word", "plain"] {
        assert_eq!(read_pages(&session, &json!(field)).await, BY_BYTES, "{field}");
        assert_eq!(read_pages(&session, &json!(format!("-{field}"))).await, reversed(BY_BYTES), "{field}");
        // The case rules are still those of the database.
        let filter = json!({"filters": [{"field": field, "operator": "ilike", "value": "ÄPF"}]});
        assert_eq!(keys(&search(&session, &filter).await), ["Äpfel"], "{field}");
    }
}

#[tokio::test]
async fn language_collation_sorts_text() {
    let (_database, session) = words(Some("sv")).await;
    let expected = "apple Banana école Zebra zulu Zürich Äpfel";
    assert_eq!(read_pages(&session, &json!("word")).await, expected);
    let change = r#"{"collation": "de"}"#;
    session.rows("select keyed.alter_attribute('p.words', 'plain', $1::text::jsonb)", &[change]).await;
    assert_eq!(read_pages(&session, &json!("plain")).await, BY_UNICODE);
    assert_eq!(read_pages(&session, &json!("word")).await, expected);
}

#[tokio::test]
async fn comparisons_are_exact_in_every_collation() {
    for collation in ["und", "sv", "C", "tr"] {
        let (_database, session) = words(Some(collation)).await;
        add(&session, "upper", &json!({"word": "APPLE", "plain": "APPLE"})).await;
        add(&session, "decomposed", &json!({"word": "Zu\u{308}rich", "plain": "Zu\u{308}rich"})).await;
        add(&session, "dotless", &json!({"word": "Iznik", "plain": "Iznik"})).await;
        for field in ["word", "plain"] {
            for (operator, value, expected) in [
                ("eq", json!("apple"), "apple"),
                ("in", json!(["apple", "zebra"]), "apple"),
                ("eq", json!("Zürich"), "Zürich decomposed"),
                ("eq", json!("ecole"), ""),
                ("starts-with", json!("app"), "apple"),
                ("starts-with", json!("Zür"), "Zürich decomposed"),
                ("ends-with", json!("pfel"), "Äpfel"),
                ("like", json!("ppl"), "apple"),
                ("ilike", json!("PPL"), "apple upper"),
                ("ilike", json!("ZÜR"), "Zürich decomposed"),
                ("ilike", json!("IZN"), "dotless"),
                ("ilike", json!("izn"), "dotless"),
            ] {
                let condition = json!({"field": field, "operator": operator, "value": value});
                let mut found = keys(&search(&session, &json!({"filters": [condition]})).await);
                found.sort_unstable();
                assert_eq!(found.join(" "), expected, "{collation}: {condition}");
            }
        }
    }
}

#[tokio::test]
async fn cursor_of_another_collation_is_rejected() {
    let (_database, session) = words(None).await;
    let page = search(&session, &json!({"sort": "word", "limit": 2})).await;
    session.run(r#"select keyed.alter_template('p.words', '{"collation": "de"}')"#).await;
    let query = json!({"sort": "word", "limit": 2, "cursor": page["next_cursor"]}).to_string();
    let error = session.error("select keyed.search('p.words', $1::text::jsonb)", &[&query]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/cursor"]));
}

#[tokio::test]
async fn equally_frequent_values_are_sorted_as_text() {
    let (_database, session) = words(None).await;
    for query in [json!({"facets": ["word"]}), json!({"facets": ["word"], "global_search": "a"})] {
        let page = search(&session, &query).await;
        let values = page["facets"]["word"].as_array().expect("values");
        let values: Vec<&str> = values.iter().filter_map(|it| it["value"].as_str()).collect();
        let expected = BY_UNICODE.split(' ').filter(|it| values.contains(it)).collect::<Vec<_>>();
        assert!(values.len() > 1 && values == expected, "{query}: {values:?}");
    }
}

#[tokio::test]
async fn role_with_a_scope_uses_text_indexes() {
    for database in [Database::new().await, Database::new_with_icu().await] {
        with_a_scope_the_indexes_serve(&database).await;
    }
}

async fn with_a_scope_the_indexes_serve(database: &Database) {
    let session = database.session().await;
    session.run(TEMPLATE).await;
    session.run(&format!("set session_replication_role = replica; {FILL}")).await;
    session.run("vacuum analyze crm.customers").await;
    let role = database.create_role("clerk").await;
    let scope = json!({"field": "visits", "operator": "gte", "value": 0});
    database.grant_within(&role, "crm.customers", "read", &scope).await;
    let indexes = indexes_on(&session, "name").await;
    let one = |operator: &str, value: &str| json!({"filters": [{"field": "name", "operator": operator, "value": value}], "limit": 20});
    for query in [
        one("eq", "name 7"),
        one("starts-with", "name 777"),
        one("ilike", "NAME 777"),
        json!({"sort": "name", "limit": 20}),
    ] {
        let plans = plans_of_search(database, Some(&role), &query).await;
        assert!(indexes.iter().any(|index| plans.contains(index)), "{query}\n{plans}");
    }
    // Plain SQL reads the order from the index as well, and text values if no policy applies.
    let sorted = "select * from crm.customers order by left(name, 200) collate \"und-x-icu\", id limit 20";
    for session in [&session, &database.session_as(&role).await] {
        let plan = plan(session, sorted).await;
        assert!(indexes.iter().any(|index| plan.contains(index)) && !plan.contains("Sort"), "{plan}");
    }
    for condition in ["name ilike '%NAME 777%'", "name like 'name 777%'", "name = 'name 7'"] {
        let plan = plan(&session, &format!("select * from crm.customers where {condition}")).await;
        assert!(indexes.iter().any(|index| plan.contains(index)), "{condition}\n{plan}");
    }
    // A policy contains the expression of the index, too.
    let role = database.create_role("reader").await;
    let scope = json!({"field": "name", "operator": "in", "value": ["name 7", "name 8"]});
    database.grant_within(&role, "crm.customers", "read", &scope).await;
    let reader = database.session_as(&role).await;
    let counted = "select count(*) from crm.customers";
    let plan = plan(&reader, counted).await;
    assert!(plan.contains("customers_left_id_idx"), "{plan}");
    assert_eq!(reader.text(counted, &[]).await, "40");
}

#[tokio::test]
async fn plain_sql_combines_keys_and_text_of_all_collations() {
    let (_database, session) = words(None).await;
    session.run(r#"select keyed.alter_attribute('p.words', 'plain', '{"collation": "sv"}')"#).await;
    for (sql, expected) in [
        ("select count(*) from p.words a join p.words b on a.external_key = b.word", "7"),
        ("select count(*) from p.words a join p.words b on a.plain = b.word where a.plain <= b.word", "7"),
        ("select count(*) from (select external_key from p.words union select plain from p.words) u", "7"),
        ("select max(coalesce(word, plain, external_key)) from p.words", "école"),
        ("select count(distinct case when word < plain then word else external_key end) from p.words", "7"),
    ] {
        assert_eq!(session.text(sql, &[]).await, expected, "{sql}");
    }
}

#[tokio::test]
async fn plain_sql_sorts_by_the_default_collation_of_the_database() {
    let (_database, session) = words(None).await;
    assert_eq!(by_sql(&session, "word").await, BY_BYTES);
    assert_eq!(by_sql(&session, "word collate \"und-x-icu\"").await, BY_UNICODE);
    let (_database, session) = words_in(Database::new_with_icu().await, None).await;
    assert_eq!(by_sql(&session, "word").await, BY_UNICODE);
    assert_eq!(read_pages(&session, &json!("word")).await, BY_UNICODE);
    assert_eq!(read_pages(&session, &json!("external_key")).await, BY_BYTES);
}

#[tokio::test]
async fn lists_and_references_are_sorted_like_text() {
    let (_database, session) = words(None).await;
    let attributes = json!([{"slug": "tags", "type": "list"}, {"slug": "other", "type": "reference", "template": "words"}]);
    let change = json!({"display": "plain", "attributes": attributes}).to_string();
    session.rows("select keyed.alter_template('p.words', $1::text::jsonb)", &[&change]).await;
    for text in STRINGS {
        add(&session, text, &json!({"tags": ["all", text], "other": {"external_key": text}})).await;
    }
    for field in ["tags", "other"] {
        assert_eq!(read_pages(&session, &json!(field)).await, BY_UNICODE, "{field}");
        assert_eq!(read_pages(&session, &json!(format!("-{field}"))).await, reversed(BY_UNICODE), "{field}");
    }
    for query in [json!({"facets": ["tags"]}), json!({"facets": ["tags"], "global_search": "all"})] {
        let page = search(&session, &query).await;
        let values = page["facets"]["tags"].as_array().expect("values");
        let values: Vec<&str> =
            values.iter().filter_map(|it| it["value"].as_str()).filter(|it| *it != "all").collect();
        let expected = BY_UNICODE.split(' ').filter(|it| values.contains(it)).collect::<Vec<_>>();
        assert!(values.len() > 3 && values == expected, "{query}: {values:?}");
    }
}
