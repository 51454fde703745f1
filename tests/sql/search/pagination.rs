//! Pagination during concurrent writes: unchanged records are returned exactly once.

use crate::gallery::Gallery;
use harness::{Database, Session};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// 600 works that share their values with others or have none: a third stays, a third is moved, a third is deleted.
const FILL: &str = "
    insert into art.works (external_key, title, price, made, tags, tier)
    select (array['stay', 'move', 'gone'])[n % 3 + 1] || n, nullif((n * 7 % 40)::text, '0'), nullif(n * 13 % 50, 0),
      '2024-01-01'::date + n * 3 % 30, array[(n % 5)::text], case when n % 2 = 0 then '{gold}'::text[] end
    from generate_series(1, 600) n";

/// Writes without a pause: creates works at all positions, moves works, and deletes works.
async fn write(session: Session, number: usize, over: Arc<AtomicBool>, written: Arc<AtomicUsize>) {
    let statements = [
        "insert into art.works (title, price, made) select (random() * 40)::int::text, (random() * 50)::int, '2024-01-01'::date + (random() * 30)::int",
        "insert into art.works (tags) values (array['9'])",
        "update art.works set price = nullif((random() * 50)::int, 0), title = nullif((random() * 40)::int::text, '1'),
           made = '2024-01-01'::date + (random() * 30)::int, tags = array[(random() * 5)::int::text]
         where id = (select id from art.works where external_key like 'move%' order by random() limit 1)",
        "select keyed.delete_record(id) from (select id from art.works where external_key like 'gone%' and deleted_at is null order by random() limit 1) x",
        // A change of an unchanged record's attribute that no sort uses.
        "update art.works set mood = random() where id = (select id from art.works where external_key like 'stay%' order by random() limit 1)",
    ];
    for round in number.. {
        if over.load(Ordering::Relaxed) {
            return;
        }
        // Two writers may change the same record: the loser continues.
        if session.attempt(statements[round % statements.len()], &[]).await.is_ok() {
            written.fetch_add(1, Ordering::Relaxed);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// How often each unchanged record is returned.
async fn meet(session: &Session, sort: &Value, limit: usize) -> HashMap<String, usize> {
    let (mut met, mut cursor) = (HashMap::new(), Value::Null);
    loop {
        let query = json!({"sort": sort, "limit": limit, "cursor": cursor, "fields": ["external_key"]});
        let page = session.json("select keyed.search('art.works', $1)", &[&query.to_string()]).await;
        for record in page["records"].as_array().into_iter().flatten() {
            if let Some(key) = record["external_key"].as_str().filter(|key| key.starts_with("stay")) {
                *met.entry(key.to_owned()).or_default() += 1;
            }
        }
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return met;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unchanged_records_are_returned_once_during_concurrent_writes() {
    let gallery = Gallery::indexed().await;
    gallery.session.run(FILL).await;
    let (over, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut writers = JoinSet::new();
    for number in 0..3 {
        let session = gallery.database.session().await;
        writers.spawn(write(session, number, Arc::clone(&over), Arc::clone(&written)));
    }
    // Whether a write happened during each pagination, because a short one may fall between two writes.
    let mut paginations = Vec::new();
    for sort in [
        Value::Null,
        json!("price"),
        json!("-price"),
        json!([{"field": "price", "nulls": "first"}]),
        json!([{"field": "title", "direction": "desc", "nulls": "first"}]),
        json!("title,-price"),
        json!("-made,title,price,tags,external_key"),
        json!("tier,-made"),
    ] {
        for limit in [11, 100] {
            let before = written.load(Ordering::Relaxed);
            let met = meet(&gallery.session, &sort, limit).await;
            let wrong: Vec<_> = met.iter().filter(|(_, times)| **times != 1).collect();
            assert!(wrong.is_empty(), "by {sort}, {limit} per page, returned again: {wrong:?}");
            assert_eq!(met.len(), 200, "by {sort}, {limit} on a page");
            paginations.push(written.load(Ordering::Relaxed) > before);
        }
    }
    over.store(true, Ordering::Relaxed);
    writers.join_all().await;
    let disturbed = paginations.iter().filter(|disturbed| **disturbed).count();
    assert!(
        2 * disturbed > paginations.len(),
        "{disturbed} of {} paginations overlapped a write",
        paginations.len()
    );
    gallery.database.cluster().assert_no_crash();
}

#[tokio::test]
async fn large_page_ends_early_and_continues() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run("insert into crm.customers (external_key, name) select 'k' || n, repeat('x', 1000000) from generate_series(1, 40) n")
        .await;
    for sort in ["\"sort\": \"external_key\"", "\"sort\": \"name\"", "\"limit\": 50"] {
        let (mut keys, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
        loop {
            let query = format!("{{{sort}, \"cursor\": {cursor}}}").replace(", \"cursor\": null", "");
            let page = "with s as (select keyed.search('crm.customers', $1) as page)
                        select jsonb_build_object('cursor', page -> 'next_cursor', 'keys',
                          (select jsonb_agg(r -> 'external_key') from jsonb_array_elements(page -> 'records') r)) from s";
            let page = session.json(page, &[&query]).await;
            keys.extend(page["keys"].as_array().expect("records").iter().map(|key| key.to_string()));
            pages += 1;
            cursor = page["cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!((keys.len(), pages), (40, 2), "{sort}");
    }
}
