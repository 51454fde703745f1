//! Highlights of the matches of a search.

use super::words::{crm, upsert};
use harness::Session;
use serde_json::{Value, json};

/// The first found record with its highlights.
async fn first(session: &Session, query: Value) -> Value {
    let result = session.json("select keyed.search('crm.customers', $1)", &[&query.to_string()]).await;
    result["records"][0].clone()
}

/// The highlights of the first found record.
async fn highlights(session: &Session, words: &str) -> Value {
    first(session, json!({"global_search": words, "highlight": true})).await["highlights"].clone()
}

#[tokio::test]
async fn all_matches_are_highlighted() {
    let (_database, session) = crm().await;
    session.run(r#"select keyed.upsert_by_key('crm.companies', 'C-9', '{"name": "Zenith & Söhne"}')"#).await;
    let attributes = json!({
        "name": "Ada Lovelace, painting <maps>", "tags": ["mathematician", "poet"], "tier": ["silver", "gold"],
        "company": {"external_key": "C-9"}, "visits": 4711,
    });
    upsert(&session, "erp:4711", attributes).await;
    for (words, expected) in [
        ("lovelace", json!({"name": ["Ada <mark>Lovelace</mark>, painting &lt;maps&gt;"]})),
        ("LÖVE", json!({"name": ["Ada <mark>Love</mark>lace, painting &lt;maps&gt;"]})),
        ("painted map", json!({"name": ["Ada Lovelace, <mark>painting</mark> &lt;<mark>maps</mark>&gt;"]})),
        ("\"ada love\"", json!({"name": ["<mark>Ada Love</mark>lace, painting &lt;maps&gt;"]})),
        (
            "ma -nothing",
            json!({"name": ["Ada Lovelace, painting &lt;<mark>ma</mark>ps&gt;"],
                               "tags": ["<mark>ma</mark>thematician"]}),
        ),
        ("card poets", json!({"tier": ["Gold <mark>card</mark>"], "tags": ["<mark>poet</mark>"]})),
        ("4711", json!({"external_key": ["erp:<mark>4711</mark>"]})),
        (
            "sohne ada",
            json!({"name": ["<mark>Ada</mark> Lovelace, painting &lt;maps&gt;"],
                             "company": ["Zenith &amp; <mark>Söhne</mark>"]}),
        ),
        ("", json!({})),
    ] {
        assert_eq!(highlights(&session, words).await, expected, "{words}");
    }
}

#[tokio::test]
async fn highlights_cover_returned_fields() {
    let (_database, session) = crm().await;
    upsert(&session, "red", json!({"name": "red", "tags": ["red"]})).await;
    let query = json!({"global_search": "red", "highlight": true, "fields": ["tags"]});
    let mark = "<mark>red</mark>";
    assert_eq!(first(&session, query).await["highlights"], json!({"tags": [mark], "external_key": [mark]}));
    for off in [json!(false), Value::Null] {
        let record = first(&session, json!({"global_search": "red", "highlight": off})).await;
        assert!(record.get("highlights").is_none(), "{record}");
    }
}

#[tokio::test]
async fn offsets_are_in_characters_of_the_value() {
    let (_database, session) = crm().await;
    let long = format!("{} Ĳssel 😀 needle {}", "é ".repeat(200), "behind ".repeat(50));
    upsert(&session, "1", json!({"name": long, "tags": ["none", "😀 needle"]})).await;
    let query = json!({"global_search": "needle", "highlight": {"offsets": true}});
    let record = first(&session, query).await;
    let characters: Vec<char> = long.chars().collect();
    let at = &record["highlight_offsets"]["name"][0];
    let part = |range: &Value, from: usize, to: usize| -> String {
        let position = |at: usize| range[at].as_u64().expect("an offset") as usize;
        characters[position(from)..position(to)].iter().collect()
    };
    assert_eq!(part(&at["marks"][0], 0, 1), "needle");
    let fragment = record["highlights"]["name"][0].as_str().expect("a fragment");
    let (start, end) = (&at["start"], &at["end"]);
    let shown = part(&json!([start, end]), 0, 1);
    assert_eq!(fragment, format!("…{}…", shown.replace("needle", "<mark>needle</mark>")));
    assert!((100..=180).contains(&shown.chars().count()), "{shown}");
    assert_eq!(
        record["highlight_offsets"]["tags"],
        json!([{"value": 1, "start": 0, "end": 8, "marks": [[2, 8]]}])
    );
}

#[tokio::test]
async fn all_searches_return_highlights() {
    let (_database, session) = crm().await;
    for number in 1..=5 {
        upsert(&session, &format!("K-{number}"), json!({"name": "red apple", "visits": number})).await;
    }
    let save = "select keyed.save_view('crm.customers', 'reds', $1)";
    let view = json!({"global_search": "red", "highlight": true, "filters": [
        {"field": "visits", "operator": "gt", "value": 2}]});
    session.rows(save, &[&view.to_string()]).await;
    let one = json!({"name": ["<mark>red</mark> apple"]});
    let both = json!({"name": ["<mark>red</mark> <mark>apple</mark>"]});
    for (query, expected) in [
        (json!({"global_search": "red", "highlight": true, "verbose": true}), &one),
        (json!({"global_search": "red", "highlight": true, "sort": "visits"}), &one),
        (json!({"global_search": "red", "highlight": true, "filters": view["filters"]}), &one),
        (json!({"view": "reds"}), &one),
        (json!({"view": "reds", "global_search": "apple"}), &both),
        (json!({"view": "reds", "highlight": false}), &Value::Null),
    ] {
        let record = first(&session, query.clone()).await;
        assert_eq!(record.get("highlights").unwrap_or(&Value::Null), expected, "{query}");
        let mut page = query;
        page["limit"] = json!(1);
        let result = session.json("select keyed.search('crm.customers', $1)", &[&page.to_string()]).await;
        page["cursor"] = result["next_cursor"].clone();
        let record = first(&session, page).await;
        assert_eq!(record.get("highlights").unwrap_or(&Value::Null), expected, "of the next page");
    }
}

#[tokio::test]
async fn invalid_highlight_is_rejected() {
    let (_database, session) = crm().await;
    for (highlight, pointer) in [
        (json!("yes"), "/highlight"),
        (json!({"color": 1}), "/highlight/color"),
        (json!({"offsets": 1}), "/highlight/offsets"),
    ] {
        let query = json!({"highlight": highlight}).to_string();
        let error = session.error("select keyed.search('crm.customers', $1)", &[&query]).await;
        assert_eq!(error.pointers(), [pointer], "{highlight}");
    }
}
