//! Failures during embedding: each is attributed to its cause, and nothing else is affected.

use harness::embeddings::{Reply, axis, item, vector};
use harness::paintings::VECTORS;
use harness::{EmbeddingServer, Gallery, until};
use serde_json::json;
use std::time::{Duration, Instant};

#[tokio::test]
async fn records_changed_during_a_provider_outage_are_embedded() {
    let gallery = Gallery::new().await;
    for number in 0..3 {
        gallery.paint(&format!("K-{number}"), &format!("Title {number}")).await;
    }
    let server = EmbeddingServer::start_with(|question| match question.number {
        0 => Reply::status(429).retry_after("1"),
        1 => Reply::status(500),
        2 => Reply::body("<html>busy</html>"),
        3 => Reply::success(question).after(Duration::from_secs(3)),
        _ => Reply::success(question),
    })
    .await;
    let _proxy = gallery.asking(&server, &[("KEYED_EMBED_TIMEOUT", "1")]).await;
    gallery.until_done(3).await;
    let asked = server.requests();
    assert!(asked[1].at - asked[0].at >= Duration::from_secs(1), "the client honors Retry-After");
    let failed = "select count(*) from keyed_state.embedding_job where attempts <> 0 or error is not null";
    assert_eq!(gallery.session.text(failed, &[]).await, "0");
}

#[tokio::test]
async fn wrong_model_is_reported_without_failing_records() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let server = EmbeddingServer::start_with(|_| Reply::of(&[item(0, "[1,2,3]")])).await;
    let began = Instant::now();
    let proxy = gallery.asking(&server, &[]).await;
    gallery.until("told", |status| status["pending"] == 1).await;
    until("the error is reported", async || !gallery.job(&id).await["error"].is_null()).await;
    let job = gallery.job(&id).await;
    assert!(job["error"].as_str().is_some_and(|error| error.contains("3 numbers")), "{job}");
    assert_eq!(job["attempts"], 0);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (asked, seconds) = (server.requests().len(), began.elapsed().as_secs() as usize);
    assert!(asked <= 3 + 2 * seconds, "a failing provider is not flooded: {asked} requests in {seconds} s");
    assert!(proxy.whole_log().await.contains("cannot embed records"));
}

#[tokio::test]
async fn rejected_text_does_not_block_others() {
    let gallery = Gallery::new().await;
    let mut ids = Vec::new();
    for title in ["Good", "Refused", "Zero", "Not a number", "Fine"] {
        ids.push(gallery.paint(title, title).await);
    }
    let server = EmbeddingServer::start_with(|question| {
        let inputs = question.inputs();
        if inputs.iter().any(|text| text == "Refused") {
            return Reply::status(400);
        }
        let zeros = vector(768);
        let items = inputs.iter().enumerate().map(|(index, text)| match text.as_str() {
            "Zero" => item(index, &zeros),
            "Not a number" => item(index, &zeros.replacen('0', "NaN", 1)),
            _ => item(index, &vector(axis(text))),
        });
        Reply::of(&items.collect::<Vec<_>>())
    })
    .await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until("two records are embedded", |status| status["done"] == 2 && status["running"] == 0).await;
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
async fn crashing_text_does_not_block_others() {
    let gallery = Gallery::new().await;
    let mut ids = Vec::new();
    for title in ["One", "Breaking", "Two", "Slow", "Three"] {
        ids.push(gallery.paint(title, title).await);
    }
    let server = EmbeddingServer::start_with(|question| {
        let inputs = question.inputs();
        if inputs.iter().any(|text| text == "Breaking") {
            Reply::status(500)
        } else if inputs.iter().any(|text| text == "Slow") {
            Reply::success(question).after(Duration::from_secs(60))
        } else {
            Reply::success(question)
        }
    })
    .await;
    let _proxy = gallery.asking(&server, &[("KEYED_EMBED_TIMEOUT", "3")]).await;
    gallery.until("three done", |status| status["done"] == 3 && status["running"] == 0).await;
    for (id, word) in [(&ids[1], "HTTP 500"), (&ids[3], "no response within 3 s")] {
        let job = gallery.job(id).await;
        assert_eq!(job["attempts"], 1, "{job}");
        assert!(job["error"].as_str().is_some_and(|error| error.contains(word)), "{job}");
    }
}

#[tokio::test]
async fn single_failing_text_fails_permanently() {
    for (status, count) in [(500, 1), (400, 1), (400, 2)] {
        let gallery = Gallery::new().await;
        for number in 0..count {
            gallery.paint(&format!("K-{number}"), "Breaking").await;
        }
        let server = EmbeddingServer::start_with(move |question| {
            let breaks = question.inputs().iter().any(|text| text == "Breaking");
            if breaks { Reply::status(status) } else { Reply::success(question) }
        })
        .await;
        let _proxy = gallery.asking(&server, &[]).await;
        let expected_reply = format!(
            "select count(*) from keyed_state.embedding_job
             where state = 'pending' and attempts = 1 and error like '%HTTP {status}%'"
        );
        gallery.session.until(&expected_reply, &count.to_string()).await;
    }
}

#[tokio::test]
async fn failure_of_all_inputs_is_a_provider_failure() {
    for status in [500, 400] {
        let gallery = Gallery::new().await;
        for number in 0..3 {
            gallery.paint(&format!("K-{number}"), &format!("Title {number}")).await;
        }
        let server = EmbeddingServer::start_with(move |_| Reply::status(status)).await;
        let proxy = gallery.asking(&server, &[]).await;
        let expected_reply = format!(
            "select count(*) from keyed_state.embedding_job
             where state = 'pending' and attempts = 0 and error like '%HTTP {status}%'"
        );
        gallery.session.until(&expected_reply, "3").await;
        // Tried together first, then each separately.
        assert!(server.requests().iter().filter(|question| question.inputs().len() == 1).count() >= 3);
        // The message is logged at the end of the round.
        until("the log has it", async || proxy.log().contains("cannot embed records")).await;
        assert!(proxy.whole_log().await.contains(&format!("HTTP {status}")));
    }
}

#[tokio::test]
async fn vectors_before_an_outage_are_kept() {
    let gallery = Gallery::new().await;
    for number in 0..5 {
        gallery.paint(&format!("K-{number}"), &format!("Title {number}")).await;
    }
    let server = EmbeddingServer::start_with(|question| match question.number {
        0 => Reply::status(400),
        1 | 2 => Reply::success(question),
        3 => Reply::status(422),
        _ => Reply::status(429).retry_after("3600"),
    })
    .await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until("two records are embedded", |status| status["done"] == 2 && status["running"] == 0).await;
    let jobs = "select string_agg(state || ' ' || attempts || ' ' || coalesce(substr(error, 1, 8), '-'), ', '
                  order by state, attempts) from keyed_state.embedding_job";
    assert_eq!(
        gallery.session.text(jobs, &[]).await,
        "done 0 -, done 0 -, pending 0 HTTP 429, pending 0 HTTP 429, pending 1 HTTP 422"
    );
    assert_eq!(server.requests().len(), 5, "the client honors Retry-After");
}

#[tokio::test]
async fn rejected_vector_does_not_block_others() {
    let gallery = Gallery::new().await;
    let mut ids = Vec::new();
    for title in ["One", "Refused", "Two"] {
        ids.push(gallery.paint(title, title).await);
    }
    let check = format!("alter table {VECTORS} add constraint not_this check (record_id <> '{}')", ids[1]);
    gallery.session.run(&check).await;
    let server = EmbeddingServer::start().await;
    let _proxy = gallery.asking(&server, &[]).await;
    gallery.until("two records are embedded", |status| status["done"] == 2 && status["running"] == 0).await;
    let job = gallery.job(&ids[1]).await;
    assert_eq!((&job["state"], &job["attempts"]), (&json!("pending"), &json!(1)), "{job}");
    assert!(job["error"].as_str().is_some_and(|error| error.contains("not_this")), "{job}");
}

#[tokio::test]
async fn locked_record_does_not_block_others() {
    let gallery = Gallery::new().await;
    let mut ids = Vec::new();
    for title in ["One", "Locked", "Two"] {
        ids.push(gallery.paint(title, title).await);
    }
    let other = gallery.database.session().await;
    other.run(&format!("begin; select from g.paintings where id = '{}' for update", ids[1])).await;
    let server = EmbeddingServer::start().await;
    let _proxy = gallery.asking(&server, &[("KEYED_STATEMENT_TIMEOUT", "1")]).await;
    gallery.until("two records are embedded", |status| status["done"] == 2 && status["pending"] == 1).await;
    assert_eq!(gallery.job(&ids[1]).await["attempts"], 0);
    other.run("commit").await;
    gallery.until_done(3).await;
}
