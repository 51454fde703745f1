//! Concurrent embedding workers and writers.

use crate::assert_no_deadlock;
use harness::embeddings::{Reply, axis};
use harness::{EmbeddingServer, Gallery};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;
use tokio::task::JoinSet;

#[tokio::test]
async fn concurrent_workers_embed_each_record_once() {
    let gallery = Gallery::new().await;
    gallery
        .session
        .run("insert into g.paintings (external_key, title) select 'K-' || n, 'Title ' || n from generate_series(1, 200) n")
        .await;
    let server =
        EmbeddingServer::start_with(|question| Reply::success(question).after(Duration::from_millis(20)))
            .await;
    let settings = [("KEYED_EMBED_BATCH", "7")];
    let _proxies = [
        gallery.asking(&server, &settings).await,
        gallery.asking(&server, &settings).await,
        gallery.asking(&server, &settings).await,
    ];
    gallery.until_done(200).await;
    let inputs = server.inputs();
    assert_eq!((inputs.len(), inputs.iter().collect::<HashSet<_>>().len()), (200, 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vectors_belong_to_the_latest_text() {
    let gallery = Gallery::new().await;
    let server =
        EmbeddingServer::start_with(|question| Reply::success(question).after(Duration::from_millis(5)))
            .await;
    let settings = [("KEYED_EMBED_BATCH", "5"), ("KEYED_EMBED_POLL", "0.01"), ("KEYED_POOL_SIZE", "8")];
    let proxies = [gallery.asking(&server, &settings).await, gallery.asking(&server, &settings).await];
    let mut batches = JoinSet::new();
    for number in 0..60 {
        let operations: Value = (0..15)
            .map(|position| {
                // In another order each time, with some records identified by id, and some deleted and created again.
                let key = (position * 7 + number * 3) % 20;
                if (position + number) % 11 == 0 {
                    json!({"op": "delete", "template": "paintings", "external_key": format!("K-{key}")})
                } else {
                    let attributes = json!({"title": format!("Title {number} of {key}"), "year": number});
                    json!({"op": "upsert", "template": "paintings", "external_key": format!("K-{key}"), "attributes": attributes})
                }
            })
            .collect();
        let proxy = &proxies[number % 2];
        let body = json!({"operations": operations});
        batches.spawn(proxy.request("POST", "/v1/entities/batch").json(&body).send());
        if number % 5 == 0 {
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    }
    for response in batches.join_all().await {
        response.expect(200);
    }
    gallery.session.run("select keyed.reembed('g.paintings')").await;
    let live = gallery.session.text("select count(*) from g.paintings where deleted_at is null", &[]).await;
    let status = gallery.until_done(live.parse().expect("a number")).await;
    assert_eq!((&status["failed"], &status["by_hand"]), (&json!(0), &json!(0)));
    for row in gallery.session.rows("select id, title from g.paintings where deleted_at is null", &[]).await {
        let [Some(id), Some(title)] = row.as_slice() else { panic!("an id and a title") };
        assert_eq!(gallery.axis(id).await, axis(title).to_string(), "{title}");
    }
    assert_no_deadlock(&gallery.database);
    gallery.database.cluster().assert_no_crash();
}

#[tokio::test]
async fn writer_does_not_wait_for_a_provider() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server =
        EmbeddingServer::start_with(|question| Reply::success(question).after(Duration::from_secs(60))).await;
    let _proxy = gallery.asking(&server, &[]).await;
    server.until_requested(1).await;
    gallery.session.run("set lock_timeout = '20s'").await;
    gallery.paint("K-1", "Woman").await;
    gallery.session.rows("select keyed.delete_record($1::uuid)", &[&id]).await;
    gallery.session.run(r#"select keyed.alter_template('g.paintings', '{"embed": ["title"]}')"#).await;
    let open = "select count(*) from pg_stat_activity where usename = 'keyed_proxy' and datname = current_database() and xact_start is not null";
    assert_eq!(gallery.session.text(open, &[]).await, "0");
}
