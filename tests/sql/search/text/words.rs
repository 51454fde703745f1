//! The records that words find.

use harness::customers::DOCUMENTS;
use harness::{Database, Session};
use serde_json::{Value, json};

/// The keys of the customers found, best first.
pub(crate) async fn found(session: &Session, query: &str) -> String {
    found_in(session, "customers", query).await
}

async fn found_in(session: &Session, template: &str, query: &str) -> String {
    let sql = format!(
        "select string_agg(r ->> 'external_key', ' ' order by n) from jsonb_array_elements(
           keyed.search('crm.{template}', jsonb_build_object('global_search', $1::text, 'limit', 1000)) -> 'records')
         with ordinality x (r, n)"
    );
    session.text(&sql, &[query]).await
}

/// The plan of the search.
pub(crate) async fn explained(session: &Session, query: &str) -> String {
    let query = json!({"global_search": query}).to_string();
    session.text("select keyed.explain('crm.customers', $1)", &[&query]).await
}

/// The keys of the customers that have a document, in order.
async fn documented(session: &Session) -> String {
    session
        .text(
            &format!("select string_agg(c.external_key, ' ' order by c.external_key) from {DOCUMENTS} d join crm.customers c on c.id = d.record_id"),
            &[],
        )
        .await
}

pub(crate) async fn upsert(session: &Session, key: &str, attributes: Value) {
    let sql = "select keyed.upsert_by_key('crm.customers', $1, $2)";
    session.rows(sql, &[key, &attributes.to_string()]).await;
}

pub(crate) async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

#[tokio::test]
async fn search_covers_exactly_its_fields() {
    let (_database, session) = crm().await;
    session.run(r#"select keyed.upsert_by_key('crm.companies', 'C-9', '{"name": "Zenith"}')"#).await;
    let attributes = json!({
        "name": "Ada Lovelace", "visits": 1815, "mood": 77, "tags": ["mathematician", "poet"], "tier": ["gold"],
        "born": "1815-12-10", "seen": "2024-02-29T12:00:00Z", "company": {"external_key": "C-9"},
    });
    upsert(&session, "erp:4711", attributes).await;
    for query in ["ada", "lovelace", "poet", "mathematician", "gold card", "erp:4711", "4711", "zenith"] {
        assert_eq!(found(&session, query).await, "erp:4711", "{query}");
    }
    for query in ["1815", "77", "2024", "12:00", "C-9", "silver", "nobody"] {
        assert_eq!(found(&session, query).await, "", "{query}");
    }
}

#[tokio::test]
async fn words_phrases_and_exclusions_combine() {
    let (_database, session) = crm().await;
    for (key, name) in [("1", "red apple pie"), ("2", "apple red"), ("3", "green apple"), ("4", "red cherry")]
    {
        upsert(&session, key, json!({"name": name})).await;
    }
    for (query, keys) in [
        ("apple", "3 2 1"),
        ("apple red", "2 1"),
        ("\"red apple\"", "1"),
        ("apple -red", "3"),
        ("red -\"apple red\"", "4 1"),
        ("-apple", "4"),
        ("-apple -cherry", ""),
        ("\"d app\"", "1"),
        ("\"red app", "2 1"),
        ("apple nothing", ""),
        ("", "4 3 2 1"),
        ("  ", "4 3 2 1"),
    ] {
        assert_eq!(found(&session, query).await, keys, "{query}");
    }
}

#[tokio::test]
async fn search_ignores_case_and_accents() {
    let (_database, session) = crm().await;
    upsert(&session, "1", json!({"name": "Zürich Łódź Straße ΣΊΣΥΦΟΣ O’Brien Ёлка", "tags": ["Été"]})).await;
    for query in [
        "zurich",
        "ZÜRICH",
        "Zu\u{308}rich",
        "lodz",
        "STRASSE",
        "straße",
        "σισυφος",
        "o'brien",
        "елка",
        "ETE",
    ] {
        assert_eq!(found(&session, query).await, "1", "{query}");
    }
}

#[tokio::test]
async fn substring_is_found_within_one_field() {
    let (_database, session) = crm().await;
    upsert(&session, "key-77", json!({"name": "Girl with a Pearl Earring", "tags": ["oil", "canvas"]})).await;
    for query in ["earl", "arring", "irl", "y-7", "anva", "with a p", "\"with a p\"", "girl\twith"] {
        assert_eq!(found(&session, query).await, "key-77", "{query}");
    }
    for query in ["earringoil", "\"earring oil\"", "\"oil canvas\"", "\"77 girl\"", "oilc", "gril"] {
        assert_eq!(found(&session, query).await, "", "{query}");
    }
}

#[tokio::test]
async fn special_characters_are_literal() {
    let (_database, session) = crm().await;
    for (key, name) in
        [("1", "100% sure_thing"), ("2", r"C:\temp\'x'"), ("3", "1000 sure-thing 5\" \u{1f}\u{1d}RUN\u{1d}")]
    {
        upsert(&session, key, json!({"name": name})).await;
    }
    for (query, keys) in [
        ("00%", "1"),
        ("0%", ""),
        ("%su", ""),
        ("%sure", "3 1"),
        ("e_t", "1"),
        ("00_", ""),
        (r"\temp", "2"),
        (r"p\'x'", "2"),
        ("'; drop table crm.customers; --", ""),
        ("5\"", "3"),
        ("\u{1d}", "3 2 1"),
        ("sure\u{1d}thing", "3 1"),
        ("running", "3"),
    ] {
        assert_eq!(found(&session, query).await, keys, "{query:?}");
    }
}

#[tokio::test]
async fn word_is_found_by_its_stem() {
    let (_database, session) = crm().await;
    for (language, name, queries, non_matches) in [
        ("english", "the city hall was running tests", "cities testing runs HALLS", "cited"),
        ("german", "Die schönen Häuser am Fluß", "schöne schon haus Flusses", "houses"),
        ("french", "les chevaux mangés au marché", "cheval manger mange marchés", "horses"),
        ("russian", "красный дом", "красная дома красные", "running"),
        ("simple", "cities", "citi", "city"),
    ] {
        session
            .rows(
                "select keyed.alter_template('crm.customers', jsonb_build_object('language', $1::text))",
                &[language],
            )
            .await;
        upsert(&session, "1", json!({"name": name})).await;
        for query in queries.split(' ') {
            assert_eq!(found(&session, query).await, "1", "{language} {query}");
        }
        assert_eq!(found(&session, non_matches).await, "", "{language} {non_matches}");
    }
}

#[tokio::test]
async fn short_terms_match_prefixes() {
    let (_database, session) = crm().await;
    for (key, name) in
        [("1", "IT department"), ("2", "bit unit (it)"), ("3", "digit"), ("4", "a-it/x"), ("5", "東京都庁")]
    {
        upsert(&session, key, json!({"name": name})).await;
    }
    for (query, keys) in [
        ("it", "4 2 1"),
        ("d", "3 1"),
        ("x", "4"),
        ("京都", "5"),
        ("庁", "5"),
        ("東庁", ""),
        ("it -un", "4 1"),
    ] {
        assert_eq!(found(&session, query).await, keys, "{query}");
    }
    assert!(!explained(&session, "it").await.contains("Every document"));
    assert!(explained(&session, "§ -x").await.contains("Every document is read for § -x:"));
}

#[tokio::test]
async fn exact_key_then_whole_words_rank_first() {
    let (_database, session) = crm().await;
    session.run("select keyed.alter_template('crm.customers', '{\"display\": \"name\"}')").await;
    for (key, name, tag) in [
        ("a", "Art", "x"),
        ("b", "Arts of cooking", "x"),
        ("c", "x", "art"),
        ("d", "Party", "x"),
        ("art", "Earth", "x"),
        ("e", "Dartmoor", "x"),
    ] {
        upsert(&session, key, json!({"name": name, "tags": [tag]})).await;
    }
    assert_eq!(found(&session, "art").await, "art a b c e d");
    assert_eq!(found(&session, "ART").await, "art a b c e d");
}

#[tokio::test]
async fn exact_key_is_found_despite_search_syntax() {
    let (_database, session) = crm().await;
    for key in ["-5", "\"q\"", "a b", "§"] {
        upsert(&session, key, json!({"name": "x"})).await;
    }
    for key in ["-5", "\"q\"", "a b", "§"] {
        let found = found(&session, &format!(" {key} ")).await;
        assert!(found.starts_with(key), "{key} finds {found}");
    }
}

#[tokio::test]
async fn invalid_search_is_rejected_with_its_pointer() {
    let (_database, session) = crm().await;
    let words: Vec<String> = (0..21).map(|number| format!("w{number}")).collect();
    for query in ["é".repeat(1001), words.join(" ")] {
        let error = session
            .error(
                "select keyed.search('crm.customers', jsonb_build_object('global_search', $1::text))",
                &[&query],
            )
            .await;
        assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/global_search"]));
    }
    assert_eq!(found(&session, &words[..20].join(" ")).await, "");
}

#[tokio::test]
async fn restored_record_is_found_again() {
    let (_database, session) = crm().await;
    upsert(&session, "1", json!({"name": "Ada"})).await;
    let id = session.text("select id from crm.customers", &[]).await;
    session.rows("select keyed.delete_record($1)", &[&id]).await;
    assert_eq!((found(&session, "ada").await, documented(&session).await), (String::new(), String::new()));
    session.rows(r#"select keyed.restore_record($1, '{"external_key": "2"}')"#, &[&id]).await;
    assert_eq!((found(&session, "ada").await, found(&session, "2").await), ("2".into(), "2".into()));
}

#[tokio::test]
async fn letter_with_punctuation_matches_prefixes() {
    let (_database, session) = crm().await;
    session
        .run("insert into crm.customers (external_key, name) values ('1', 'J.A. Smith'), ('2', 'Sale (5% off)'), ('3', '(c++)'), ('4', 'x [5€] y')")
        .await;
    for (query, expected) in [
        ("A.", "1"),
        ("5%", "2"),
        ("5€", "4"),
        ("c+", "3"),
        ("c++", "3"),
        ("5", "2 4"),
        ("z.", ""),
        ("5+", ""),
    ] {
        let result = found(&session, query).await;
        let mut keys: Vec<&str> = result.split_whitespace().collect();
        keys.sort_unstable();
        assert_eq!(keys.join(" "), expected, "{query}");
    }
}
