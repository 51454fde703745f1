//! Records that the proxy embeds, with the bag of words and with a provider that is good, bad, slow or gone.

use harness::embeddings::{Reply, axis, item, vector};
use harness::{EmbeddingServer, Gallery};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn records_are_embedded_and_found_by_a_text() {
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
    // What is written later is found under its new text, and under no other.
    let body = json!({"attributes": {"title": "The Night Watch"}});
    proxy.request("PATCH", &format!("/v1/entities/{id}")).json(&body).send().await.expect(200);
    gallery.until_done(4).await;
    let query = json!({"query_text": "night watch", "mode": "hybrid", "global_search": "watch", "limit": 1});
    let found = proxy.request("POST", "/v1/entities/search/paintings").json(&query).send().await.expect(200);
    assert_eq!(found["records"][0]["id"], id.as_str());
}

#[tokio::test]
async fn texts_are_sent_in_batches_with_the_prefix_of_documents() {
    let gallery = Gallery::new().await;
    for number in 0..10 {
        gallery.paint(&format!("K-{number}"), &format!("Title {number}")).await;
    }
    let server = EmbeddingServer::start_with(|question| {
        // In another order than asked.
        let texts = question.texts().into_iter().enumerate().rev();
        Reply::of(&texts.map(|(index, text)| item(index, &vector(axis(&text)))).collect::<Vec<_>>())
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
    let mut sizes: Vec<usize> = server.questions().iter().map(|question| question.texts().len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 4, 4]);
    assert!(server.texts().iter().all(|text| text.starts_with("search_document: Title ")
        && text.ends_with(|last: char| last.is_ascii_digit())));
    let id = gallery.session.text("select id from g.paintings where external_key = 'K-7'", &[]).await;
    assert_eq!(gallery.axis(&id).await, axis("search_document: Title 7").to_string());
}

#[tokio::test]
async fn a_provider_that_fails_for_a_while_costs_nothing_but_time() {
    let gallery = Gallery::new().await;
    for number in 0..3 {
        gallery.paint(&format!("K-{number}"), &format!("Title {number}")).await;
    }
    let server = EmbeddingServer::start_with(|question| match question.number {
        0 => Reply::status(429).retry_after("1"),
        1 => Reply::status(500),
        2 => Reply::body("<html>busy</html>"),
        3 => Reply::good(question).after(Duration::from_secs(3)),
        _ => Reply::good(question),
    })
    .await;
    let _proxy = gallery.asking(&server, &[("KEYED_EMBED_TIMEOUT", "1")]).await;
    gallery.until_done(3).await;
    let asked = server.questions();
    assert!(asked[1].at - asked[0].at >= Duration::from_secs(1), "the wish to be left alone is heeded");
    let failed = "select count(*) from keyed_state.embedding_job where attempts <> 0 or error is not null";
    assert_eq!(gallery.session.text(failed, &[]).await, "0");
}

#[tokio::test]
async fn a_wrong_model_is_told_and_no_text_is_given_up_for_it() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server = EmbeddingServer::start_with(|_| Reply::of(&[item(0, "[1,2,3]")])).await;
    let began = Instant::now();
    let proxy = gallery.asking(&server, &[]).await;
    gallery.until("told", |status| status["pending"] == 1).await;
    while gallery.job(&id).await["error"].is_null() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let job = gallery.job(&id).await;
    assert!(job["error"].as_str().is_some_and(|error| error.contains("3 numbers")), "{job}");
    assert_eq!(job["attempts"], 0);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (asked, seconds) = (server.questions().len(), began.elapsed().as_secs() as usize);
    assert!(
        asked <= 3 + 2 * seconds,
        "a provider that fails is not stormed: asked {asked} times in {seconds} s"
    );
    assert!(proxy.log().contains("cannot embed records"));
}

#[tokio::test]
async fn a_text_that_the_model_refuses_holds_no_other_up() {
    let gallery = Gallery::new().await;
    let mut ids = Vec::new();
    for title in ["Good", "Refused", "Zero", "Not a number", "Fine"] {
        ids.push(gallery.paint(title, title).await);
    }
    let server = EmbeddingServer::start_with(|question| {
        let texts = question.texts();
        if texts.iter().any(|text| text == "Refused") {
            return Reply::status(400);
        }
        let zeros = vector(768);
        let items = texts.iter().enumerate().map(|(index, text)| match text.as_str() {
            "Zero" => item(index, &zeros),
            "Not a number" => item(index, &zeros.replacen('0', "NaN", 1)),
            _ => item(index, &vector(axis(text))),
        });
        Reply::of(&items.collect::<Vec<_>>())
    })
    .await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until("two done", |status| status["done"] == 2 && status["running"] == 0).await;
    let failures = gallery
        .session
        .rows("select record_id, error from keyed.embedding_failures() order by record_id", &[])
        .await;
    let failures: Vec<_> = failures
        .into_iter()
        .map(|mut row| (row[0].take().expect("an id"), row[1].take().expect("an error")))
        .collect();
    assert_eq!(failures.iter().map(|(id, _)| id).collect::<Vec<_>>(), [&ids[1], &ids[2], &ids[3]]);
    for ((_, error), word) in failures.iter().zip(["400", "zeros", "not finite"]) {
        assert!(error.contains(word), "{error}");
    }
}

#[tokio::test]
async fn a_record_that_says_nothing_is_not_sent_and_loses_its_vector() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server = EmbeddingServer::start().await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until_done(1).await;
    assert_eq!(gallery.axis(&id).await, axis("Girl").to_string());
    gallery.paint("K-1", " ").await;
    gallery.until_done(1).await;
    assert_eq!((gallery.axis(&id).await.as_str(), server.texts()), ("", vec!["Girl".to_owned()]));
}

#[tokio::test]
async fn what_a_killed_worker_had_claimed_is_done_by_the_next() {
    let gallery = Gallery::new().await;
    gallery.paint("K-1", "Girl").await;
    let server = EmbeddingServer::start_with(|question| match question.number {
        0 => Reply::good(question).after(Duration::from_secs(60)),
        _ => Reply::good(question),
    })
    .await;
    let first = gallery.asking(&server, &[]).await;
    while server.questions().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(first);
    assert_eq!(gallery.status().await["running"], 1);
    let _second = gallery.asking(&server, &[]).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.questions().len(), 1, "the claim still holds");
    gallery.session.run("update keyed_state.embedding_job set due_at = now()").await;
    gallery.until_done(1).await;
}

#[tokio::test]
async fn a_worker_that_is_told_to_stop_gives_back_what_it_has() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server =
        EmbeddingServer::start_with(|question| Reply::good(question).after(Duration::from_secs(60))).await;
    let proxy = gallery.asking(&server, &[]).await;
    while server.questions().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(proxy.terminate().await.success());
    let job = gallery.job(&id).await;
    assert_eq!((&job["state"], &job["attempts"]), (&json!("pending"), &json!(0)));
}

#[tokio::test]
async fn a_text_that_changes_while_it_is_embedded_is_embedded_again() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server = EmbeddingServer::start_with(|question| match question.number {
        0 => Reply::good(question).after(Duration::from_secs(1)),
        _ => Reply::good(question),
    })
    .await;
    let _proxy = gallery.asking(&server, &[]).await;
    while server.questions().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    gallery.paint("K-1", "Woman").await;
    gallery.until_done(1).await;
    assert_eq!(server.texts(), ["Girl", "Woman"]);
    assert_eq!(gallery.axis(&id).await, axis("Woman").to_string());
}

#[tokio::test]
async fn a_worker_outlives_its_database_and_a_key_that_does_not_hold() {
    let gallery = Gallery::new().await;
    let proxy =
        gallery.worker(&[("KEYED_EMBED_PROVIDER", "hash"), ("KEYED_EMBED_API_KEY", "keyed_1_wrong")]).await;
    gallery.paint("K-1", "Girl").await;
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(gallery.status().await["pending"], 1);
    let log = proxy.log();
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
async fn without_an_api_key_of_its_own_the_proxy_embeds_no_records() {
    let gallery = Gallery::new().await;
    gallery.paint("K-1", "Girl").await;
    let proxy = harness::Proxy::start_with(
        &gallery.database,
        &[("KEYED_EMBED_PROVIDER", "hash"), ("KEYED_EMBED_POLL", "0.05")],
    )
    .await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(gallery.status().await["pending"], 1);
    assert!(!proxy.log().contains("embedding records"));
}

#[tokio::test]
async fn a_text_that_breaks_the_provider_holds_no_other_up() {
    let gallery = Gallery::new().await;
    let mut ids = Vec::new();
    for title in ["One", "Breaking", "Two", "Slow", "Three"] {
        ids.push(gallery.paint(title, title).await);
    }
    let server = EmbeddingServer::start_with(|question| {
        let texts = question.texts();
        if texts.iter().any(|text| text == "Breaking") {
            Reply::status(500)
        } else if texts.iter().any(|text| text == "Slow") {
            Reply::good(question).after(Duration::from_secs(60))
        } else {
            Reply::good(question)
        }
    })
    .await;
    let _proxy = gallery.asking(&server, &[("KEYED_EMBED_TIMEOUT", "1")]).await;
    gallery.until("three done", |status| status["done"] == 3 && status["running"] == 0).await;
    for (id, word) in [(&ids[1], "HTTP 500"), (&ids[3], "no answer within 1 s")] {
        let job = gallery.job(id).await;
        assert_eq!(job["attempts"], 1, "{job}");
        assert!(job["error"].as_str().is_some_and(|error| error.contains(word)), "{job}");
    }
}

#[tokio::test]
async fn texts_that_all_fail_are_not_to_blame() {
    for status in [500, 400] {
        let gallery = Gallery::new().await;
        for number in 0..3 {
            gallery.paint(&format!("K-{number}"), &format!("Title {number}")).await;
        }
        let server = EmbeddingServer::start_with(move |_| Reply::status(status)).await;
        let proxy = gallery.asking(&server, &[]).await;
        let told = format!(
            "select count(*) from keyed_state.embedding_job
             where state = 'pending' and attempts = 0 and error like '%HTTP {status}%'"
        );
        let began = Instant::now();
        while gallery.session.text(&told, &[]).await != "3" {
            assert!(began.elapsed() < Duration::from_secs(30), "{status}: {}", gallery.status().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Tried together first, then each alone.
        assert!(server.questions().iter().filter(|question| question.texts().len() == 1).count() >= 3);
        // The message is in the log once the round is over.
        while !proxy.log().contains("cannot embed records") {
            assert!(began.elapsed() < Duration::from_secs(30));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(proxy.log().contains(&format!("HTTP {status}")));
    }
}

#[tokio::test]
async fn what_a_provider_gave_before_it_went_away_is_kept() {
    let gallery = Gallery::new().await;
    for number in 0..5 {
        gallery.paint(&format!("K-{number}"), &format!("Title {number}")).await;
    }
    let server = EmbeddingServer::start_with(|question| match question.number {
        0 => Reply::status(400),
        1 | 2 => Reply::good(question),
        3 => Reply::status(422),
        _ => Reply::status(429).retry_after("3600"),
    })
    .await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until("two done", |status| status["done"] == 2 && status["running"] == 0).await;
    let jobs = "select string_agg(state || ' ' || attempts || ' ' || coalesce(substr(error, 1, 8), '-'), ', '
                  order by state, attempts) from keyed_state.embedding_job";
    assert_eq!(
        gallery.session.text(jobs, &[]).await,
        "done 0 -, done 0 -, pending 0 HTTP 429, pending 0 HTTP 429, pending 1 HTTP 422"
    );
    assert_eq!(server.questions().len(), 5, "the wish to be left alone is heeded");
}

#[tokio::test]
async fn vectors_of_any_length_are_stored_at_length_one() {
    let gallery = Gallery::new().await;
    for title in ["1e-25", "1e25", "7"] {
        gallery.paint(title, title).await;
    }
    let server = EmbeddingServer::start_with(|question| {
        let texts = question.texts();
        let items = texts.iter().enumerate().map(|(index, text)| item(index, &vector(5).replace('1', text)));
        Reply::of(&items.collect::<Vec<_>>())
    })
    .await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until_done(3).await;
    let lengths =
        "select string_agg(distinct (v.embedding::real[])[6]::text, ' ') from keyed_state.vector_1 v";
    assert_eq!(gallery.session.text(lengths, &[]).await, "1");
}

#[tokio::test]
async fn a_record_whose_vector_the_database_refuses_holds_no_other_up() {
    let gallery = Gallery::new().await;
    let mut ids = Vec::new();
    for title in ["One", "Refused", "Two"] {
        ids.push(gallery.paint(title, title).await);
    }
    let check =
        format!("alter table keyed_state.vector_1 add constraint not_this check (record_id <> '{}')", ids[1]);
    gallery.session.run(&check).await;
    let server = EmbeddingServer::start().await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until("two done", |status| status["done"] == 2 && status["running"] == 0).await;
    let job = gallery.job(&ids[1]).await;
    assert_eq!((&job["state"], &job["attempts"]), (&json!("pending"), &json!(1)), "{job}");
    assert!(job["error"].as_str().is_some_and(|error| error.contains("not_this")), "{job}");
}

#[tokio::test]
async fn a_record_that_somebody_has_locked_holds_no_other_up() {
    let gallery = Gallery::new().await;
    let mut ids = Vec::new();
    for title in ["One", "Locked", "Two"] {
        ids.push(gallery.paint(title, title).await);
    }
    let other = gallery.database.session().await;
    other.run(&format!("begin; select from g.paintings where id = '{}' for update", ids[1])).await;
    let server = EmbeddingServer::start().await;
    let _proxy = gallery.asking(&server, &[("KEYED_STATEMENT_TIMEOUT", "1")]).await;
    gallery.until("two done", |status| status["done"] == 2 && status["pending"] == 1).await;
    assert_eq!(gallery.job(&ids[1]).await["attempts"], 0);
    other.run("commit").await;
    gallery.until_done(3).await;
}
