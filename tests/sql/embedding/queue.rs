//! The embedding queue, as its workers use it.

use crate::embedding::claims::{CLAIM, claim, embed_all, expire, inputs, store};
use harness::Gallery;
use serde_json::{Value, json};

#[tokio::test]
async fn committed_text_is_queued() {
    let gallery = Gallery::new().await;
    gallery.session.run("begin").await;
    gallery.paint("K-1", "Girl with a Pearl Earring").await;
    gallery.session.run("rollback").await;
    assert_eq!(gallery.status().await["pending"], 0);
    let id = gallery.paint("K-1", "Girl with a Pearl Earring").await;
    gallery.session.run("update g.paintings set medium = '{oil,fresco}'").await;
    assert_eq!(gallery.status().await["pending"], 1);
    // A list is embedded by its labels.
    let text = "Girl with a Pearl Earring\nOil paint, fresco";
    assert_eq!(inputs(&claim(&gallery.session).await), [(id, text.to_owned())]);
}

#[tokio::test]
async fn every_write_path_queues_text() {
    let gallery = Gallery::new().await;
    gallery
        .session
        .run(
            r#"select keyed.create_record('g.paintings', '{"title": "a"}');
               select keyed.batch('[{"op": "create", "template": "g.paintings", "attributes": {"title": "b"}},
                                    {"op": "upsert", "template": "g.paintings", "external_key": "k", "attributes": {"title": "c"}}]', true);
               insert into g.paintings (title) select 'many ' || n from generate_series(1, 2500) n;
               insert into g.paintings (year) values (1)"#,
        )
        .await;
    assert_eq!(gallery.status().await["pending"], 2504);
}

#[tokio::test]
async fn unrelated_write_does_not_touch_the_queue() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    gallery
        .session
        .run("select keyed.create_template('g', 'plain', '[{\"slug\": \"title\", \"type\": \"string\"}]')")
        .await;
    let rows = "select string_agg(j.xmin || ' ' || j::text, ',') from keyed_state.embedding_job j";
    let before = gallery.session.text(rows, &[]).await;
    gallery
        .session
        .rows(
            "select keyed.patch_record($1::uuid, '{\"attributes\": {\"year\": 1665}, \"external_key\": \"K-2\"}');
             select keyed.patch_record($1::uuid, '{\"attributes\": {\"title\": \"Girl\"}}');
             insert into g.plain (title) values ('not embedded')",
            &[&id],
        )
        .await;
    assert_eq!(gallery.session.text(rows, &[]).await, before);
}

#[tokio::test]
async fn claimed_record_is_not_claimed_again_until_the_claim_expires() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let first = claim(&gallery.session).await;
    assert_eq!(inputs(&first).len(), 1);
    assert_eq!(inputs(&claim(&gallery.session).await), []);
    assert_eq!(gallery.status().await["running"], 1);
    expire(&gallery).await;
    let second = claim(&gallery.session).await;
    assert_eq!(inputs(&second).len(), 1);
    // The first worker was slow, and the claim has passed to the second.
    assert_eq!(store(&gallery.session, &first, 0, 1, "m").await, "f");
    assert_eq!(gallery.axis(&id).await, "");
    assert_eq!(store(&gallery.session, &second, 0, 2, "m").await, "t");
    assert_eq!(store(&gallery.session, &second, 0, 3, "m").await, "f");
    assert_eq!(gallery.axis(&id).await, "2");
    let status = gallery.status().await;
    assert_eq!(
        (&status["done"], &status["pending"], &status["models"]),
        (&json!(1), &json!(0), &json!(["m"]))
    );
}

#[tokio::test]
async fn vector_of_an_outdated_text_is_discarded() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let old = claim(&gallery.session).await;
    gallery.paint("K-1", "Woman").await;
    assert_eq!(store(&gallery.session, &old, 0, 1, "m").await, "f");
    assert_eq!((gallery.axis(&id).await.as_str(), &gallery.status().await["pending"]), ("", &json!(1)));
    // Without triggers, only the hash detects the change.
    let old = claim(&gallery.session).await;
    gallery
        .session
        .run("set session_replication_role = replica; update g.paintings set title = 'Queen'; reset session_replication_role")
        .await;
    assert_eq!(store(&gallery.session, &old, 0, 1, "m").await, "f");
    let new = claim(&gallery.session).await;
    assert_eq!(inputs(&new)[0].1, "Queen");
    // A change that does not affect embedded text keeps the vectors.
    gallery.session.run("update g.paintings set year = 1700").await;
    assert_eq!(store(&gallery.session, &new, 0, 4, "m").await, "t");
    assert_eq!(gallery.axis(&id).await, "4");
}

#[tokio::test]
async fn embedded_text_is_not_sent_again() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    embed_all(&gallery, 5).await;
    gallery.paint("K-1", "Woman").await;
    gallery.paint("K-1", "Girl").await;
    let claimed = claim(&gallery.session).await;
    assert_eq!((inputs(&claimed).len(), &claimed["settled"]), (0, &json!(true)));
    assert_eq!((gallery.axis(&id).await.as_str(), &gallery.status().await["done"]), ("5", &json!(1)));
    // The hash is of another model.
    gallery.paint("K-1", "Woman").await;
    gallery.paint("K-1", "Girl").await;
    assert_eq!(inputs(&gallery.session.json(CLAIM, &["another"]).await).len(), 1);
}

#[tokio::test]
async fn record_without_text_has_no_vector() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    embed_all(&gallery, 5).await;
    gallery.paint("K-1", "  ").await;
    let claimed = claim(&gallery.session).await;
    assert_eq!(inputs(&claimed), [(id.clone(), String::new())]);
    let arguments = ["claim", "record", "hash"].map(|name| {
        let value = if name == "claim" { &claimed[name] } else { &claimed["entries"][0][name] };
        value.as_str().expect("a text")
    });
    let stored = "select keyed_http.store_embedding($1, $2, $3, 'm', null)";
    assert_eq!(gallery.session.text(stored, &arguments).await, "t");
    assert_eq!((gallery.axis(&id).await.as_str(), &gallery.status().await["done"]), ("", &json!(1)));
}

#[tokio::test]
async fn failing_text_is_retried_eight_times() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    for attempt in 1..=8 {
        expire(&gallery).await;
        let claimed = claim(&gallery.session).await;
        let token = claimed["claim"].as_str().expect("a claim");
        assert_eq!(
            gallery
                .session
                .text("select keyed_http.fail_embedding($1, $2, $3)", &[token, &id, &"no ".repeat(900)])
                .await,
            "t"
        );
        let job = gallery.job(&id).await;
        assert_eq!((&job["attempts"], job["error"].as_str().map(str::len)), (&json!(attempt), Some(500)));
        assert_eq!(job["state"], if attempt < 8 { "pending" } else { "failed" });
        assert_eq!(inputs(&claim(&gallery.session).await), [], "it waits before the retry");
    }
    expire(&gallery).await;
    assert_eq!(inputs(&claim(&gallery.session).await), []);
    let failures =
        "select template || ' ' || state || ' ' || attempts from keyed.embedding_failures('g.paintings')";
    assert_eq!(gallery.session.text(failures, &[]).await, "g.paintings failed 8");
    assert_eq!(gallery.status().await["failed"], 1);
    assert_eq!(gallery.session.text("select keyed.retry_embeddings('g.paintings')", &[]).await, "1");
    assert_eq!(inputs(&claim(&gallery.session).await).len(), 1);
    // New text resets the attempts.
    gallery.paint("K-1", "Woman").await;
    assert_eq!(
        (&gallery.job(&id).await["attempts"], &gallery.job(&id).await["error"]),
        (&json!(0), &Value::Null)
    );
}

#[tokio::test]
async fn text_that_crashes_workers_fails_permanently() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    for _ in 1..=8 {
        assert_eq!(inputs(&claim(&gallery.session).await).len(), 1);
        expire(&gallery).await;
    }
    assert_eq!(inputs(&claim(&gallery.session).await), []);
    assert_eq!(gallery.job(&id).await["state"], "failed");
}

#[tokio::test]
async fn released_claim_does_not_count_as_an_attempt() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    for _ in 0..20 {
        let claimed = claim(&gallery.session).await;
        let token = claimed["claim"].as_str().expect("a claim");
        let released = "select keyed_http.release_embeddings($1, 'the provider is away', 0)";
        assert_eq!(gallery.session.text(released, &[token]).await, "1");
    }
    let job = gallery.job(&id).await;
    assert_eq!((&job["state"], &job["attempts"]), (&json!("pending"), &json!(0)));
    assert_eq!(job["error"], "the provider is away");
}

#[tokio::test]
async fn results_of_a_worker_are_validated() {
    let gallery = Gallery::new().await;
    gallery.paint("K-1", "Girl").await;
    for (statement, pointer) in [
        ("select keyed_http.claim_embeddings('', 1, 1)", "/model"),
        ("select keyed_http.claim_embeddings('m', 0, 1)", "/max_texts"),
        ("select keyed_http.claim_embeddings('m', 1, 0)", "/lease"),
        ("select keyed_http.release_embeddings('x', null, 0)", "/claim"),
    ] {
        let error = gallery.session.error(statement, &[]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec![pointer]),
            "{statement}"
        );
    }
    let claimed = claim(&gallery.session).await;
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    let (token, entry) = (word(&claimed["claim"]), &claimed["entries"][0]);
    for (numbers, code) in
        [("{1,2}", "vector_dimension"), ("{}", "vector_dimension"), ("{{1}}", "invalid_value")]
    {
        let store = "select keyed_http.store_embedding($1, $2, $3, 'm', $4::real[])";
        let error = gallery
            .session
            .error(store, &[&token, &word(&entry["record"]), &word(&entry["hash"]), numbers])
            .await;
        assert_eq!(error.codes(), ("22023", code), "{numbers}");
    }
}
