//! The record that a user expects comes first, whatever is newer, and for every role that can read it.

use harness::cards::DOCUMENTS;
use harness::relevance::{Query, fill, mean_reciprocal_rank, open_drawer, ranks};
use harness::{Database, Session};
use serde_json::json;

/// The ranking reaches 0.963: it does not distinguish parts of addresses and numbers from the beginnings of longer
/// ones.
const LEAST: f64 = 0.96;

async fn assert_expected_first(session: &Session, who: &str) {
    let ranks = ranks(session).await;
    let mean = mean_reciprocal_rank(&ranks);
    let others: Vec<String> = ranks.iter().filter(|it| it.1 != Some(1)).map(formatted).collect();
    println!("{who}: {mean:.3}, not first: {others:?}");
    assert!(mean >= LEAST, "{who}: {mean:.3}, not first: {others:?}");
}

fn formatted((query, rank): &(&Query, Option<usize>)) -> String {
    format!("{} for {} at {rank:?}", query.expected, query.text)
}

#[tokio::test]
async fn expected_record_ranks_first() {
    let database = Database::new().await;
    let session = database.session().await;
    fill(&session).await;
    assert_expected_first(&session, "administrator").await;
    let role = database.create_role("clerk").await;
    database.grant_within(&role, "desk.cards", "read", &open_drawer()).await;
    let clerk = database.session_as(&role).await;
    assert_expected_first(&clerk, "within a scope").await;
    // By a statement, without the index.
    session.run(&format!("drop index {DOCUMENTS}_trigram")).await;
    assert_expected_first(&session, "without the index").await;
}

async fn names(session: &Session, search: &str, limit: usize) -> String {
    let body = json!({"global_search": search, "limit": limit}).to_string();
    let sql = "select string_agg(r #>> '{attributes,name}', ', ' order by n)
               from jsonb_array_elements(keyed.search('desk.cards', $1) -> 'records') with ordinality x (r, n)";
    session.text(sql, &[&body]).await
}

#[tokio::test]
async fn new_display_attribute_is_ranked() {
    let database = Database::new().await;
    let session = database.session().await;
    fill(&session).await;
    session
        .run(
            "update desk.cards set email = 'Bolt' where external_key = 'C-9';
             select keyed.alter_template('desk.cards', '{\"display\": \"email\"}')",
        )
        .await;
    session.until("select count(*) from keyed.jobs()", "0").await;
    assert_eq!(names(&session, "bolt", 1).await, "1N4148");
    session.run("select keyed.alter_template('desk.cards', '{\"display\": null}')").await;
    session.until("select count(*) from keyed.jobs()", "0").await;
    assert_eq!(names(&session, "bolt", 1).await, "Bolt");
}

#[tokio::test]
async fn pages_return_each_record_once() {
    let database = Database::new().await;
    let session = database.session().await;
    fill(&session).await;
    session
        .run("insert into desk.cards (external_key, name) select 'B-' || n, 'bolt' from generate_series(1, 5) n")
        .await;
    let mut body = json!({"global_search": "Bolts", "limit": 2, "count": "exact"});
    let mut found: Vec<String> = Vec::new();
    loop {
        let page = session.json("select keyed.search('desk.cards', $1)", &[&body.to_string()]).await;
        let keys = page["records"].as_array().expect("records").iter();
        found.extend(keys.map(|record| record["external_key"].as_str().expect("a key").to_owned()));
        body["cursor"] = page["next_cursor"].clone();
        if body["cursor"].is_null() {
            assert_eq!(page["total"], found.len());
            break;
        }
    }
    // All of these contain exactly the words of the search; the newest come first.
    assert_eq!(found[..6], ["B-5", "B-4", "B-3", "B-2", "B-1", "C-7"]);
    let count = found.len();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), count);
}
