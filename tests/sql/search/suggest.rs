//! Completions of typed text.

use super::text::words::{crm, upsert};
use harness::{Session, has_direct_access};
use serde_json::{Value, json};

async fn suggest(session: &Session, query: Value) -> Value {
    session.json("select keyed.suggest('crm.customers', $1)", &[&query.to_string()]).await
}

/// The suggestions, each with its count. Asserts that the counts are exact.
async fn suggested(session: &Session, prefix: &str) -> String {
    let result = suggest(session, json!({"prefix": prefix})).await;
    assert_eq!(result["exact"], true, "{result}");
    formatted(&result)
}

fn formatted(result: &Value) -> String {
    let suggestions = result["suggestions"].as_array().expect("suggestions").iter();
    let text = |it: &Value| format!("{} {}", it["text"].as_str().expect("a text"), it["count"]);
    suggestions.map(text).collect::<Vec<_>>().join(", ")
}

#[tokio::test]
async fn last_word_is_completed_with_words_of_records() {
    let (_database, session) = crm().await;
    upsert(&session, "erp:1", json!({"name": "Old Maps and maps", "tags": ["well-known"]})).await;
    upsert(&session, "erp:2", json!({"name": "The Maps (Map) of ZÜRICH", "tier": ["gold"]})).await;
    upsert(&session, "erp:3", json!({"name": "old map", "visits": 4711})).await;
    for (prefix, expected) in [
        ("map", "map 2, Maps 2"),
        ("MÄP", "map 2, Maps 2"),
        ("maps", "Maps 2"),
        ("zu", "ZÜRICH 1"),
        ("well", "well-known 1"),
        ("kno", "known 1"),
        ("ca", "card 1"),
        ("er", "erp 3"),
        ("erp:", "erp:1 1, erp:2 1, erp:3 1"),
        ("aps", ""),
        ("47", ""),
        ("", ""),
        ("old ", ""),
        ("-", ""),
        ("and ma", "Maps 1"),
        ("-and ma", "map 2, Maps 1"),
        ("\"old maps\" a", "and 1"),
        ("\"the ma", "Map 1, Maps 1"),
        ("nothing ma", ""),
    ] {
        assert_eq!(suggested(&session, prefix).await, expected, "{prefix}");
    }
    let one = suggest(&session, json!({"prefix": "o", "limit": 1})).await;
    assert_eq!(formatted(&one), "old 2", "the most frequent, in the newest of its spellings");
}

#[tokio::test]
async fn suggestion_has_the_most_frequent_spelling() {
    let (_database, session) = crm().await;
    let insert = "insert into crm.customers (external_key, name)";
    session
        .run(&format!(
            "{insert} select 'a-' || n, 'ZURICH lake' from generate_series(1, 20) n;
             {insert} select 'b-' || n, 'Zürich lake' from generate_series(1, 300) n;
             {insert} select 'c-' || n, 'ZURICH lake' from generate_series(1, 20) n;
             {insert} values ('sku-kodaly', 'Kodály'), ('sku-bartok', null)"
        ))
        .await;
    for (prefix, expected) in
        [("zur", "Zürich 340"), ("koda", "Kodály 1"), ("barto", "bartok 1"), ("sku-k", "sku-kodaly 1")]
    {
        assert_eq!(suggested(&session, prefix).await, expected, "{prefix}");
    }
    let result = session
        .json(
            "select keyed.search('crm.customers', $1)",
            &[&json!({"global_search": "zurihc", "fuzzy": "auto", "limit": 1}).to_string()],
        )
        .await;
    assert_eq!(result["did_you_mean"], "Zürich");
}

/// A suggestion keeps the text before the last word.
#[tokio::test]
async fn suggestions_ignore_punctuation() {
    let (_database, session) = crm().await;
    upsert(&session, "1", json!({"name": "Haus, Garten"})).await;
    upsert(&session, "2", json!({"name": "Garten in C++ C#"})).await;
    for (prefix, expected) in [
        ("(gar", "(Garten 2"),
        ("-gar", "-Garten 2"),
        ("haus,gar", "haus,Garten 1"),
        ("haus/gar", "haus/Garten 1"),
        ("garten,", "Garten 2"),
        ("garten.", "Garten 2"),
        ("c+", "C++ 1"),
        ("c++", "C++ 1"),
        ("c#", "C# 1"),
        ("garten c+", "C++ 1"),
        ("(", ""),
    ] {
        assert_eq!(suggested(&session, prefix).await, expected, "{prefix}");
    }
}

#[tokio::test]
async fn suggestions_reflect_writes_immediately() {
    let (_database, session) = crm().await;
    upsert(&session, "1", json!({"name": "painting", "tags": ["paint"]})).await;
    upsert(&session, "2", json!({"name": "painter"})).await;
    assert_eq!(suggested(&session, "pai").await, "paint 1, painter 1, painting 1");
    upsert(&session, "2", json!({"name": "pair"})).await;
    assert_eq!(suggested(&session, "pai").await, "paint 1, painting 1, pair 1");
    session.run("select keyed.delete_record(id) from crm.customers where external_key = '2'").await;
    session.run("select keyed.drop_attribute('crm.customers', 'tags')").await;
    assert_eq!(suggested(&session, "pai").await, "painting 1");
}

#[tokio::test]
async fn earlier_words_can_match_display_terms() {
    let (_database, session) = crm().await;
    session.run(r#"select keyed.upsert_by_key('crm.companies', 'C-1', '{"name": "Zenith"}')"#).await;
    upsert(&session, "1", json!({"name": "map", "company": {"external_key": "C-1"}})).await;
    upsert(&session, "2", json!({"name": "maps"})).await;
    assert_eq!(suggested(&session, "zenith ma").await, "map 1");
    assert_eq!(suggested(&session, "-zenith ma").await, "maps 1");
}

/// If there are more documents than are read, frequent words are suggested, and the result says that the counts are not
/// exact.
#[tokio::test]
async fn frequent_prefix_is_completed_from_a_sample() {
    let (_database, session) = crm().await;
    session
        .run(
            "insert into crm.customers (external_key, name)
             select n, case when n % 3 = 0 then 'common word' else 'commonly' end || case when n = 1 then ' comet' else '' end
             from generate_series(1, 12000) n",
        )
        .await;
    let result = suggest(&session, json!({"prefix": "com", "limit": 2})).await;
    assert_eq!(result["exact"], false);
    let counts: Vec<u64> = result["suggestions"]
        .as_array()
        .expect("suggestions")
        .iter()
        .filter_map(|it| it["count"].as_u64())
        .collect();
    assert_eq!((result["suggestions"][0]["text"].as_str(), counts.len()), (Some("commonly"), 2));
    assert!((1000..=4000).contains(&counts.iter().sum::<u64>()), "{result}");
    assert_eq!(suggested(&session, "come").await, "comet 1");
    if has_direct_access() {
        assert_eq!(
            suggested(&session, "comet co").await,
            "comet 1, commonly 1",
            "few records have the preceding word"
        );
    }
}

#[tokio::test]
async fn invalid_suggestion_request_is_rejected() {
    let (_database, session) = crm().await;
    for (query, pointer) in [
        (json!({}), "/prefix"),
        (json!({"prefix": 1}), "/prefix"),
        (json!({"prefix": "a", "limit": 0}), "/limit"),
        (json!({"prefix": "a", "limit": 51}), "/limit"),
        (json!({"prefix": "a", "filters": []}), "/filters"),
        (json!({"prefix": "a".repeat(256)}), "/prefix"),
    ] {
        let error = session.error("select keyed.suggest('crm.customers', $1)", &[&query.to_string()]).await;
        assert_eq!(error.pointers(), [pointer], "{query}");
    }
}
