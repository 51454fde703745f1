//! Records that the proxy embeds, with the bag of words and with providers that respond, fail, are slow or unreachable.

use harness::embeddings::{Reply, axis, item, vector};
use harness::paintings::VECTORS;
use harness::{EmbeddingServer, Gallery};
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn embedded_records_are_found_by_text() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-0", "Girl with a Pearl Earring").await;
    let proxy = gallery.hashing().await;
    for (key, title) in [("K-1", "The Milkmaid"), ("K-2", "View of Delft"), ("K-3", "The Pearl Fishers")] {
        let body = json!({"external_key": key, "attributes": {"title": title}});
        proxy.request("PUT", "/v1/entities/template/paintings/by-key").json(&body).send().await.expect(201);
    }
    gallery.until_done(4).await;
    let query = json!({"query_text": "pearl earring", "template_id": "paintings", "limit": 2});
    let found =
        proxy.request("POST", "/api/v1/entities/semantic-search").json(&query).send().await.expect(200);
    let titles: Vec<_> = found
        .as_array()
        .expect("an array")
        .iter()
        .map(|hit| &hit["entity"]["attribute_values"]["title"]["value"])
        .collect();
    assert_eq!(titles, ["Girl with a Pearl Earring", "The Pearl Fishers"]);
    assert_eq!(found[0]["entity"]["id"], id.as_str());
    // A later version is found by its new text, and only by that.
    let body = json!({"attributes": {"title": "The Night Watch"}});
    proxy.request("PATCH", &format!("/v1/entities/{id}")).json(&body).send().await.expect(200);
    gallery.until_done(4).await;
    let query = json!({"query_text": "night watch", "mode": "hybrid", "global_search": "watch", "limit": 1});
    let found = proxy.request("POST", "/v1/entities/search/paintings").json(&query).send().await.expect(200);
    assert_eq!(found["records"][0]["id"], id.as_str());
}

#[tokio::test]
async fn inputs_are_sent_in_batches_with_the_document_prefix() {
    let gallery = Gallery::new().await;
    for number in 0..10 {
        gallery.paint(&format!("K-{number}"), &format!("Title {number}")).await;
    }
    let server = EmbeddingServer::start_with(|question| {
        // In another order than requested.
        let inputs = question.inputs().into_iter().enumerate().rev();
        Reply::of(&inputs.map(|(index, text)| item(index, &vector(axis(&text)))).collect::<Vec<_>>())
    })
    .await;
    let settings = [
        ("KEYED_EMBED_BATCH", "4"),
        ("KEYED_EMBED_DOCUMENT_PREFIX", "search_document: "),
        ("KEYED_EMBED_MAX_CHARACTERS", "7"),
    ];
    let _proxy = gallery.asking(&server, &settings).await;
    let status = gallery.until_done(10).await;
    assert_eq!(status["models"], json!(["test-model"]));
    let mut sizes: Vec<usize> = server.requests().iter().map(|question| question.inputs().len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 4, 4]);
    assert!(server.inputs().iter().all(|text| text.starts_with("search_document: Title ")
        && text.ends_with(|last: char| last.is_ascii_digit())));
    let id = gallery.session.text("select id from g.paintings where external_key = 'K-7'", &[]).await;
    assert_eq!(gallery.axis(&id).await, axis("search_document: Title 7").to_string());
}

#[tokio::test]
async fn empty_record_is_not_sent_and_loses_its_vector() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server = EmbeddingServer::start().await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until_done(1).await;
    assert_eq!(gallery.axis(&id).await, axis("Girl").to_string());
    gallery.paint("K-1", " ").await;
    gallery.until_done(1).await;
    assert_eq!((gallery.axis(&id).await.as_str(), server.inputs()), ("", vec!["Girl".to_owned()]));
}

#[tokio::test]
async fn claims_of_a_killed_worker_are_processed() {
    let gallery = Gallery::new().await;
    gallery.paint("K-1", "Girl").await;
    let server = EmbeddingServer::start_with(|question| match question.number {
        0 => Reply::success(question).after(Duration::from_secs(60)),
        _ => Reply::success(question),
    })
    .await;
    let first = gallery.asking(&server, &[]).await;
    server.until_requested(1).await;
    drop(first);
    assert_eq!(gallery.status().await["running"], 1);
    let _second = gallery.asking(&server, &[]).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.requests().len(), 1, "the claim is still valid");
    gallery.session.run("update keyed_state.embedding_job set due_at = now()").await;
    gallery.until_done(1).await;
}

#[tokio::test]
async fn stopped_worker_releases_its_claims() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server =
        EmbeddingServer::start_with(|question| Reply::success(question).after(Duration::from_secs(60))).await;
    let proxy = gallery.asking(&server, &[]).await;
    server.until_requested(1).await;
    assert!(proxy.terminate().await.success());
    let job = gallery.job(&id).await;
    assert_eq!((&job["state"], &job["attempts"]), (&json!("pending"), &json!(0)));
}

#[tokio::test]
async fn text_that_changes_while_it_is_embedded_is_embedded_again() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server = EmbeddingServer::start_with(|question| match question.number {
        0 => Reply::success(question).after(Duration::from_secs(1)),
        _ => Reply::success(question),
    })
    .await;
    let _proxy = gallery.asking(&server, &[]).await;
    server.until_requested(1).await;
    gallery.paint("K-1", "Woman").await;
    gallery.until_done(1).await;
    assert_eq!(server.inputs(), ["Girl", "Woman"]);
    assert_eq!(gallery.axis(&id).await, axis("Woman").to_string());
}

#[tokio::test]
async fn worker_survives_database_outage_and_invalid_key() {
    let gallery = Gallery::new().await;
    let proxy =
        gallery.worker(&[("KEYED_EMBED_PROVIDER", "hash"), ("KEYED_EMBED_API_KEY", "keyed_1_wrong")]).await;
    gallery.paint("K-1", "Girl").await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(gallery.status().await["pending"], 1);
    let log = proxy.whole_log().await;
    assert!(log.contains("the API key is not valid") && log.matches("cannot embed").count() <= 3, "{log}");
    drop(proxy);
    let _proxy = gallery.hashing().await;
    for number in 0..3 {
        gallery
            .session
            .run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'keyed_proxy' and datname = current_database()")
            .await;
        gallery.paint("K-1", &format!("Title {number}")).await;
        gallery.until_done(1).await;
    }
}

#[tokio::test]
async fn proxy_without_an_embedding_key_embeds_nothing() {
    let gallery = Gallery::new().await;
    gallery.paint("K-1", "Girl").await;
    let proxy = harness::Proxy::start_with(
        &gallery.database,
        &[("KEYED_EMBED_PROVIDER", "hash"), ("KEYED_EMBED_POLL", "0.05")],
    )
    .await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(gallery.status().await["pending"], 1);
    assert!(!proxy.whole_log().await.contains("embedding records"));
}

#[tokio::test]
async fn vectors_are_normalized() {
    let gallery = Gallery::new().await;
    for title in ["1e-25", "1e25", "7"] {
        gallery.paint(title, title).await;
    }
    let server = EmbeddingServer::start_with(|question| {
        let inputs = question.inputs();
        let items = inputs.iter().enumerate().map(|(index, text)| item(index, &vector(5).replace('1', text)));
        Reply::of(&items.collect::<Vec<_>>())
    })
    .await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until_done(3).await;
    let lengths =
        &format!("select string_agg(distinct (v.embedding::real[])[6]::text, ' ') from {VECTORS} v");
    assert_eq!(gallery.session.text(lengths, &[]).await, "1");
}
