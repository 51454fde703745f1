//! Words are compared in memory where possible and otherwise by a statement: both find the same records.

use super::words::crm;
use harness::Session;
use harness::customers::DOCUMENTS;
use serde_json::json;

/// The texts of the customers: with inflections, accents, symbols, scripts without spaces, and common words.
const STRINGS: [&str; 16] = [
    "running",
    "hope",
    "hoping",
    "Söhne",
    "sohne",
    "maps of towns",
    "map",
    "re-do",
    "(it)",
    "50%",
    "a_b",
    "C:\\x",
    "東京都",
    "common",
    "COMMON",
    "§",
];

/// Enough that there are more pages of documents than a sample reads, and some documents are compressed or TOASTed.
/// Many are updated.
async fn fill(session: &Session) {
    let strings = STRINGS.map(|text| format!("'{text}'")).join(", ");
    session
        .run(&format!(
            "insert into crm.customers (external_key, name, tags, tier)
             select 'K-' || n, (array[{strings}])[1 + n % 16] || ' ' || n,
               array[(array[{strings}])[1 + n / 16 % 16] || ' ' || repeat('x', 60 + n % 7), 'common'],
               array[case when n % 100 = 0 then 'gold' else 'silver' end]
             from generate_series(1, 8000) n;
             update crm.customers set name = name || ' ' || repeat('seldom ', 400) || 'y' where external_key like 'K-%99';
             update crm.customers set name = (select string_agg(md5(n::text), ' ') from generate_series(1, 2000) n)
             where external_key in ('K-7', 'K-700');
             update crm.customers set name = name || ' renamed' where external_key like 'K-%5';
             delete from {DOCUMENTS} using crm.customers c where c.id = record_id and c.external_key = 'K-3';
             update crm.customers set deleted_at = now() where external_key like 'K-%31'"
        ))
        .await;
}

/// The keys of the customers that a search finds, and those that match its SQL condition.
async fn both(session: &Session, query: &str, filters: &serde_json::Value) -> [String; 2] {
    let body = json!({"global_search": query, "filters": filters, "sort": "external_key", "limit": 1000, "fields": []});
    let keys = "select coalesce(string_agg(k, ' ' order by k collate \"C\"), '') from";
    let searched = session
        .text(
            &format!(
                "{keys} (select r ->> 'external_key' as k from jsonb_array_elements(
                   keyed.search('crm.customers', $1) -> 'records') r) r"
            ),
            &[&body.to_string()],
        )
        .await;
    let condition = session.text("select keyed.filter_sql('crm.customers', $1)", &[&body.to_string()]).await;
    let selected = session
        .text(
            &format!(
                "{keys} (select external_key as k from crm.customers t where deleted_at is null and {condition}
                   order by external_key limit 1000) r"
            ),
            &[],
        )
        .await;
    [searched, selected]
}

#[tokio::test]
async fn comparisons_in_memory_agree_with_sql() {
    let (_database, session) = crm().await;
    fill(&session).await;
    let words = [
        "runs",
        "run",
        "unni",
        "hope",
        "hoping",
        "söhne",
        "sohnes",
        "map",
        "\"maps of\"",
        "do",
        "it",
        "50%",
        "a_b",
        "c:\\x",
        "京都",
        "東京",
        "gold",
        "seldom",
        "renamed",
        "k-77",
        "xxxxx",
        "c4ca4238a0b9",
        "common",
        "7",
        "§",
    ];
    let mut found = 0;
    for (number, word) in words.iter().enumerate() {
        let other = words[(number * 7 + 3) % words.len()];
        for query in [(*word).to_owned(), format!("{word} {other}"), format!("{word} -{other}")] {
            for filters in [json!([]), json!([{"field": "tier", "operator": "in", "value": "gold"}])] {
                let [searched, selected] = both(&session, &query, &filters).await;
                assert_eq!(searched, selected, "{query} {filters}");
                found += searched.len();
            }
        }
    }
    assert!(found > 10_000, "almost nothing is found");
}

#[tokio::test]
async fn comparisons_in_memory_use_the_snapshot() {
    let (database, session) = crm().await;
    fill(&session).await;
    let count = "select jsonb_array_length(keyed.search('crm.customers', '{\"global_search\": \"gold\", \"limit\": 1000}') -> 'records')";
    let before = session.text(count, &[]).await;
    let reader = database.session().await;
    reader.run("begin isolation level repeatable read").await;
    assert_eq!(reader.text(count, &[]).await, before);
    session.run("begin").await;
    session.run("update crm.customers set tier = array['silver'] where external_key like 'K-%00'").await;
    session.run("insert into crm.customers (name) values ('gold')").await;
    assert_eq!(session.text(count, &[]).await, "1", "a transaction sees its own writes");
    assert_eq!(reader.text(count, &[]).await, before);
    session.run("commit").await;
    assert_eq!(reader.text(count, &[]).await, before);
    reader.run("commit").await;
    assert_eq!(reader.text(count, &[]).await, "1");
    database.cluster().assert_no_crash();
}
