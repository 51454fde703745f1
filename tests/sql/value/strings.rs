//! Strings and lists.

use harness::{Database, Session};
use serde_json::{Value, json};

const MEBIBYTE: usize = 1 << 20;

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

async fn round_trip(session: &Session, attributes: Value) -> Value {
    let record =
        session.json("select keyed.create_record('crm.customers', $1)", &[&attributes.to_string()]).await;
    session.json("select keyed.get_record($1) -> 'attributes'", &[harness::id_of(&record)]).await
}

async fn assert_rejected(session: &Session, attributes: Value, pointer: &str) {
    let create = "select keyed.create_record('crm.customers', $1)";
    let error = session.error(create, &[&attributes.to_string()]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec![pointer]));
}

#[tokio::test]
async fn string_is_stored_unchanged() {
    let (_database, session) = crm().await;
    for text in [
        "",
        " ",
        " Ada ",
        "a\n\t\"\\/\u{1}b",
        "\u{7f}\u{feff}\u{202e}é😀",
        "null",
        "'; drop table x; --",
        "$1 %s {}",
    ] {
        assert_eq!(round_trip(&session, json!({"name": text})).await["name"], text);
        assert_eq!(round_trip(&session, json!({"tags": [text, "x"]})).await["tags"], json!([text, "x"]));
    }
}

#[tokio::test]
async fn other_types_are_not_converted_to_strings() {
    let (_database, session) = crm().await;
    for value in [json!(1), json!(true), json!(["a"]), json!({"a": "b"})] {
        assert_rejected(&session, json!({"name": value}), "/attributes/name").await;
    }
}

#[tokio::test]
async fn text_has_at_most_a_mebibyte() {
    let (_database, session) = crm().await;
    let longest = "é".repeat(MEBIBYTE / 2);
    assert_eq!(round_trip(&session, json!({"name": longest})).await["name"], json!(longest));
    assert_rejected(&session, json!({"name": longest.clone() + "x"}), "/attributes/name").await;
    let element = "x".repeat(2000);
    let mut full = vec![element.as_str(); (1 << 20) / 2000];
    assert_eq!(round_trip(&session, json!({"tags": full})).await["tags"], json!(full));
    full.push(&element);
    assert_rejected(&session, json!({"tags": full}), "/attributes/tags").await;
    assert_rejected(&session, json!({"tags": ["y", format!("{element}x")]}), "/attributes/tags/1").await;
}

#[tokio::test]
async fn record_with_the_longest_text_can_still_be_changed() {
    let (_database, session) = crm().await;
    let longest = "x".repeat(MEBIBYTE);
    let attributes = json!({"name": longest}).to_string();
    session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&attributes]).await;
    for change in [json!({"visits": 1}), json!({"name": "short"}), json!({"name": longest})] {
        session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&change.to_string()]).await;
    }
    let length = "select length(old) from keyed.history((select id from crm.customers)) h,
                  lateral (select h.changes #>> '{name,old}' as old) o where h.version = 3";
    assert_eq!(session.text(length, &[]).await, MEBIBYTE.to_string());
}

#[tokio::test]
async fn list_is_an_array_of_strings_or_one_string() {
    let (_database, session) = crm().await;
    assert_eq!(round_trip(&session, json!({"tags": "x"})).await["tags"], json!(["x"]));
    for list in [json!([]), json!(["x"]), json!(["b", "a", "b", "", "null", "{x,\"y\"}"])] {
        assert_eq!(round_trip(&session, json!({"tags": list})).await["tags"], list);
    }
    for (value, pointer) in [
        (json!([1]), "/attributes/tags/0"),
        (json!(["x", null]), "/attributes/tags/1"),
        (json!([["x"]]), "/attributes/tags/0"),
        (json!(1), "/attributes/tags"),
        (json!({"x": "y"}), "/attributes/tags"),
    ] {
        assert_rejected(&session, json!({"tags": value}), pointer).await;
    }
}

#[tokio::test]
async fn list_accepts_only_its_options() {
    let (_database, session) = crm().await;
    for list in [json!(["gold"]), json!(["silver", "gold"]), json!([])] {
        assert_eq!(round_trip(&session, json!({"tier": list})).await["tier"], list);
    }
    for (value, pointer) in [
        (json!(["bronze"]), "/attributes/tier/0"),
        (json!(["gold", "Gold"]), "/attributes/tier/1"),
        (json!("Gold card"), "/attributes/tier"),
        (json!(["gold", ""]), "/attributes/tier/1"),
    ] {
        assert_rejected(&session, json!({"tier": value}), pointer).await;
    }
}

#[tokio::test]
async fn all_errors_of_a_request_are_reported() {
    let (_database, session) = crm().await;
    let attributes =
        json!({"name": 1, "nmae": "x", "visits": "2", "born": "never", "tags": ["ok"], "a/~b": 1});
    let error =
        session.error("select keyed.create_record('crm.customers', $1)", &[&attributes.to_string()]).await;
    let mut pointers = error.pointers();
    pointers.sort_unstable();
    let problems = [
        "/attributes/a~1~0b",
        "/attributes/born",
        "/attributes/name",
        "/attributes/nmae",
        "/attributes/visits",
    ];
    assert_eq!(pointers, problems);
    let codes: Vec<&Value> =
        error.detail["errors"].as_array().into_iter().flatten().map(|it| &it["code"]).collect();
    assert_eq!(codes.iter().filter(|code| **code == "unknown_attribute").count(), 2);
}

#[tokio::test]
async fn attributes_must_be_an_object() {
    let (_database, session) = crm().await;
    for value in ["[]", "1", "\"x\"", "true", "null"] {
        let error = session.error("select keyed.create_record('crm.customers', $1)", &[value]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/attributes"]),
            "{value}"
        );
    }
}
