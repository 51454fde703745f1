//! Suggestions, typo tolerance and highlights over texts of a megabyte that take a few kilobytes on disk.

use super::text::words::crm;
use harness::Session;
use serde_json::{Value, json};
use std::time::Duration;

async fn suggest(session: &Session, prefix: &str) -> Value {
    let query = json!({"prefix": prefix}).to_string();
    session.json("select keyed.suggest('crm.customers', $1)", &[&query]).await
}

/// Records whose texts repeat the same words.
async fn repeat(session: &Session, records: usize, words: &str) {
    let times = (1 << 20) / words.len() - 1;
    session
        .run(&format!(
            "insert into crm.customers (external_key, name)
             select 'long-' || n, repeat('{words}', {times}) from generate_series(1, {records}) n"
        ))
        .await;
}

#[tokio::test]
async fn suggestions_limit_decompressed_bytes() {
    let (_database, session) = crm().await;
    repeat(&session, 12, "commonly written ").await;
    let result = suggest(&session, "com").await;
    assert_eq!(result["exact"], false, "{result}");
    let count = result["suggestions"][0]["count"].as_u64().expect("a count");
    assert!((1..=9).contains(&count), "{result}");
}

/// Each ends with `statement_timeout` or completes first; either takes much less time than reading all texts.
#[tokio::test]
async fn timeout_cancels_the_reading_of_long_text() {
    let (_database, session) = crm().await;
    repeat(&session, 12, "éa ñx kiwifruit kö ").await;
    session.run("set statement_timeout = '200ms'").await;
    let search = "select keyed.search('crm.customers', $1)";
    for (sql, query) in [
        ("select keyed.suggest('crm.customers', $1)", json!({"prefix": "k", "limit": 50})),
        (search, json!({"global_search": "kiwifruiz", "fuzzy": "auto", "limit": 1})),
        (search, json!({"global_search": "kiwifruit ea", "highlight": true, "limit": 50})),
    ] {
        let before = session.processor_time().await;
        if let Err(error) = session.attempt(sql, &[&query.to_string()]).await {
            assert_eq!(error.state, "57014", "{query}");
        }
        let used = session.processor_time().await - before;
        assert!(used < Duration::from_secs(5), "{query}: {used:?}");
    }
}
