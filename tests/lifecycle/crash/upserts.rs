//! Upserts of one key, by SQL and over HTTP.

use harness::customers::{HISTORY, SERIES};
use harness::{Database, Service, Session, until};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

const ROUNDS: usize = 3;
const WRITERS: usize = 6;

/// Everything that a write changes must agree: the number, the points of its series, the versions of its history.
async fn assert_whole(session: &Session) {
    let torn = &format!(
        "select coalesce(string_agg(c.external_key, ', '), '') from crm.customers c
                where c.visits <> (select count(*) from {SERIES} m where m.record_id = c.id)
                or c.visits <> (select max(h.version) from {HISTORY} h where h.record_id = c.id)
                or c.visits <> (select count(*) from {HISTORY} h where h.record_id = c.id)"
    );
    assert_eq!(session.text(torn, &[]).await, "", "these writes exist only partly");
    session
        .run("set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off")
        .await;
    let twice = "select count(*) from (select from crm.customers where deleted_at is null group by external_key having count(*) > 1) t";
    assert_eq!(session.text(twice, &[]).await, "0", "a key has two live holders");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_upsert_survives_kill_9() {
    let database = Database::new_durable().await.add_crm().await;
    let mut acknowledged: HashMap<usize, usize> = HashMap::new();
    for round in 0..ROUNDS {
        let mut writers = JoinSet::new();
        let written: [Arc<AtomicUsize>; WRITERS] = Default::default();
        for (writer, written) in written.iter().cloned().enumerate() {
            let client = database.client().await;
            writers.spawn(async move {
                let mut count = 0;
                // Every second writer shares a key with its neighbor.
                let upsert = format!(
                    "select keyed.upsert_by_key('crm.customers', 'K-{}', '{{\"visits\": {{\"$inc\": 1}}, \"mood\": 1}}')",
                    writer / 2
                );
                while client.batch_execute(&upsert).await.is_ok() {
                    count += 1;
                    written.store(count, Ordering::Relaxed);
                }
                (writer / 2, count)
            });
        }
        let enough = 20 * (round + 1);
        let have_all = async || written.iter().all(|written| written.load(Ordering::Relaxed) >= enough);
        until("each has written", have_all).await;
        tokio::task::block_in_place(|| database.cluster().kill());
        for (key, count) in writers.join_all().await {
            *acknowledged.entry(key).or_default() += count;
        }
        tokio::task::block_in_place(|| database.cluster().start_again());
        let session = database.session().await;
        for (key, count) in &mut acknowledged {
            let visits = "select visits from crm.customers where external_key = $1";
            let visits: usize = session.text(visits, &[&format!("K-{key}")]).await.parse().expect("a number");
            assert!(*count > 0, "nothing was acknowledged");
            // Two writers share a key. The last write of each may have been applied although its response was lost.
            assert!((*count..=*count + 2).contains(&visits), "{count} were acknowledged, {visits} exist");
            *count = visits;
        }
        assert_whole(&session).await;
        database.assert_valid_indexes().await;
        session.run(&format!("reindex database {}", database.name())).await;
    }
    database.session().await.run("select keyed.upsert_by_key('crm.customers', 'new')").await;
}

/// Waits until this many more requests of each caller have succeeded.
async fn until_more(answered: &[Arc<AtomicUsize>], count: usize) {
    for answered in answered {
        let enough = answered.load(Ordering::Relaxed) + count;
        until("a caller gets a response", async || answered.load(Ordering::Relaxed) >= enough).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_writes_survive_a_backend_crash() {
    let database = Database::new_durable().await.add_crm().await;
    let service = Service::over(database, &[("KEYED_POOL_SIZE", "4")]).await;
    let mut writers = JoinSet::new();
    let stop = Arc::new(AtomicBool::new(false));
    let answered: [Arc<AtomicUsize>; 4] = Default::default();
    for (writer, answered) in answered.iter().cloned().enumerate() {
        let (address, key) =
            (service.proxy.url("/v1/entities/template/customers/by-key"), service.proxy.key().to_owned());
        let stop = Arc::clone(&stop);
        writers.spawn(async move {
            let client = reqwest::Client::builder().no_proxy().build().expect("a client");
            let (mut acknowledged, mut unknown, mut after) = (0, 0, 0);
            let body = serde_json::json!({
                "external_key": format!("K-{writer}"), "attributes": {"visits": {"$inc": 1}, "mood": 1}
            });
            while !stop.load(Ordering::Relaxed) {
                let request =
                    client.put(&address).bearer_auth(&key).header("x-service-project-id", "crm").json(&body);
                let response = request.send().await.expect("the proxy responds");
                let status = response.status().as_u16();
                let body: serde_json::Value = response.json().await.expect("the response is JSON");
                match status {
                    200 | 201 => {
                        acknowledged += 1;
                        answered.fetch_add(1, Ordering::Relaxed);
                        after += usize::from(unknown > 0);
                    }
                    503 => {
                        unknown += usize::from(body["outcome"] == "unknown");
                        assert_eq!(body["retryable"], body["outcome"] != "unknown", "{body}");
                        tokio::time::sleep(Duration::from_millis(20)).await;
                    }
                    _ => panic!("{status}: {body}"),
                }
            }
            (writer, acknowledged, unknown, after)
        });
    }
    until_more(&answered, 20).await;
    let session = service.session().await;
    let busy = "select pid from pg_stat_activity where usename = 'keyed_proxy' and datname = current_database() limit 1";
    let process = session.text(busy, &[]).await;
    let killed = std::process::Command::new("kill").args(["-KILL", &process]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    let cluster = Arc::clone(service.database.cluster());
    until("the crash is noticed", async || cluster.log().contains("terminating any other active")).await;
    until("the server recovers", async || service.by_key("K-0").await.status == 200).await;
    until_more(&answered, 20).await;
    stop.store(true, Ordering::Relaxed);
    let reported = writers.join_all().await;
    let session = service.session().await;
    for (writer, acknowledged, unknown, after) in &reported {
        assert!(*unknown == 0 || *after > 0, "the caller got no response again");
        let visits = "select visits from crm.customers where external_key = $1";
        let visits: usize = session.text(visits, &[&format!("K-{writer}")]).await.parse().expect("a number");
        let possible = *acknowledged..=acknowledged + unknown;
        assert!(possible.contains(&visits), "{possible:?} were possible, {visits} exist");
    }
    assert_whole(&session).await;
    service.by_key("K-0").await.expect(200);
}
