//! Privileges for searches, and surroundings that must not change their results.

use crate::gallery::{Gallery, keys};
use harness::Session;
use serde_json::{Value, json};

/// Works `A`, `B`, `C` with prices 1 to 3, `A` by Klee; and a session of a role that may use the project.
async fn with_reader() -> (Gallery, String, Session) {
    let gallery = Gallery::indexed().await;
    let klee = gallery.add("artists", "klee", json!({"name": "Klee"})).await;
    for (number, key) in (1..).zip(["A", "B", "C"]) {
        let artist = if key == "A" { json!(klee) } else { Value::Null };
        let attributes = json!({"title": key, "price": number, "mood": number, "tags": [key], "artist": artist,
                                "made": format!("2024-01-0{number}"), "sold": format!("2024-01-0{number}T00:00:00Z")});
        gallery.add("works", key, attributes).await;
    }
    let role = gallery.database.create_role("reader").await;
    gallery.session.run(&format!("grant usage on schema art to {role}")).await;
    let session = gallery.database.session_as(&role).await;
    (gallery, role, session)
}

async fn found(session: &Session, query: &Value) -> String {
    keys(&session.json("select keyed.search('art.works', $1)", &[&query.to_string()]).await)
}

#[tokio::test]
async fn search_needs_the_read_privilege() {
    let (gallery, role, reader) = with_reader().await;
    for statement in ["select keyed.search('art.works')", "select keyed.filter_sql('art.works')"] {
        assert_eq!(reader.error(statement, &[]).await.codes(), ("42501", "forbidden"), "{statement}");
    }
    gallery.database.grant(&role, "art.works", "create, update, delete").await;
    let error = reader.error("select keyed.search('art.works', '{\"nothing\": 1}')", &[]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
    gallery.database.grant(&role, "art.works", "read").await;
    assert_eq!(found(&reader, &json!({"sort": "price"})).await, "A B C");
    gallery.database.revoke(&role, "art.works").await;
    gallery.session.run(&format!("grant usage on schema art to {role}")).await;
    let error = reader.error("select keyed.search('art.works')", &[]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"));
}

#[tokio::test]
async fn only_ids_of_an_unreadable_template_are_shown() {
    let (gallery, role, reader) = with_reader().await;
    gallery.database.grant(&role, "art.works", "read").await;
    let query = json!({"facets": ["artist"], "verbose": true, "sort": "artist"});
    let result = reader.text("select keyed.search('art.works', $1)", &[&query.to_string()]).await;
    assert!(!result.to_lowercase().contains("klee"), "{result}");
    gallery.database.grant(&role, "art.artists", "read").await;
    let result = reader.text("select keyed.search('art.works', $1)", &[&query.to_string()]).await;
    assert_eq!(result.matches("\"Klee\"").count(), 2, "as display of the record and of the facet: {result}");
}

#[tokio::test]
async fn search_needs_no_write_privilege() {
    let (gallery, _, _) = with_reader().await;
    gallery.session.run("begin read only").await;
    let query = json!({"sort": "price", "count": "exact", "facets": ["artist"], "verbose": true, "limit": 2});
    assert_eq!(found(&gallery.session, &query).await, "A B");
    gallery.session.run("commit").await;
}

#[tokio::test]
async fn search_reads_its_snapshot_and_own_writes() {
    let (gallery, _, _) = with_reader().await;
    let reader = gallery.database.session().await;
    reader.run("begin isolation level repeatable read; select 1 from art.works").await;
    gallery.session.run("begin; update art.works set price = 9 where external_key = 'A'").await;
    let above = json!({"filters": [{"field": "price", "operator": "gt", "value": 2}], "sort": "price", "count": "exact"});
    assert_eq!(found(&gallery.session, &above).await, "C A");
    assert_eq!(found(&reader, &above).await, "C");
    gallery.session.run("commit").await;
    assert_eq!(found(&reader, &above).await, "C");
    reader.run("commit").await;
    assert_eq!(found(&reader, &above).await, "C A");
}

#[tokio::test]
async fn objects_in_other_schemas_do_not_shadow_a_search() {
    let (gallery, role, reader) = with_reader().await;
    gallery.database.grant(&role, "art", "read").await;
    gallery.session.run("create schema evil; grant all on schema evil to public").await;
    let types = ["text", "numeric", "float8", "date", "timestamptz", "uuid"];
    for sql_type in types {
        reader.run(&format!("create function evil.lie({sql_type}, {sql_type}) returns boolean language sql as 'select false'")).await;
        for operator in ["=", "<>", "<", ">", "<=", ">="] {
            reader.run(&format!("create operator evil.{operator} (leftarg = {sql_type}, rightarg = {sql_type}, function = evil.lie)")).await;
        }
    }
    reader
        .run(
            "create operator evil.~~ (leftarg = text, rightarg = text, function = evil.lie);
             create function evil.lie(text[], text[]) returns boolean language sql as 'select false';
             create operator evil.&& (leftarg = text[], rightarg = text[], function = evil.lie);
             create function evil.left(text, integer) returns text language sql as 'select null::text';
             create function evil.now() returns timestamptz language sql as 'select null::timestamptz';
             create domain evil.numeric as pg_catalog.numeric check (value > 1000);
             create temporary table works (x int); create temporary table artists (x int);
             set search_path = pg_temp, evil, pg_catalog; set time zone 'Pacific/Auckland'; set datestyle = 'sql, dmy'",
        )
        .await;
    for (field, operator, value, expected) in [
        ("title", "eq", json!("B"), "B"),
        ("title", "in", json!("A,B"), "A B"),
        ("title", "like", json!("C"), "C"),
        ("title", "not-empty", Value::Null, "A B C"),
        ("price", "gt", json!(1), "B C"),
        ("mood", "lte", json!(2), "A B"),
        ("tags", "in", json!("A,C"), "A C"),
        ("made", "eq", json!("2024-01-02"), "B"),
        ("sold", "eq", json!("2024-01-02"), "B"),
        ("sold", "today", Value::Null, ""),
        ("created_at", "today", Value::Null, "A B C"),
        ("external_key", "neq", json!("A"), "B C"),
        ("artist", "eq", json!({"external_key": "klee"}), "A"),
        ("artist.name", "starts-with", json!("K"), "A"),
    ] {
        let condition = json!({"field": field, "operator": operator, "value": value});
        for sort in ["external_key", "title", "price", "made", "artist.name,price"] {
            let first = json!({"filters": [condition], "sort": sort, "limit": 1, "count": "exact", "facets": ["tags"]});
            let page = reader.json("select keyed.search('art.works', $1)", &[&first.to_string()]).await;
            let mut collected = keys(&page);
            if !page["next_cursor"].is_null() {
                let next = json!({"filters": [condition], "sort": sort, "cursor": page["next_cursor"]});
                collected = format!("{collected} {}", found(&reader, &next).await);
            }
            assert_eq!(collected, expected, "{condition} by {sort}");
        }
    }
}
