//! A read shows the writes whose position it sends.

use harness::Replicated;
use serde_json::json;
use std::sync::Arc;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_answer_reads_and_the_primary_writes() {
    let replicated = Replicated::start(2, &[]).await;
    let position = replicated.write("A", "Ada").await;
    let mut answering = Vec::new();
    for _ in 0..20 {
        let request = replicated.lookup("A").header("x-keyed-position", &position);
        let (replica, answer) = replicated.answered_by(request).await;
        assert_eq!(answer.header("x-keyed-position"), "", "a read has none");
        assert_eq!(answer.expect(200)["attributes"]["name"], "Ada");
        answering.push(replica);
    }
    assert!([1, 2].iter().all(|replica| answering.contains(replica)), "{answering:?}");
    let (replica, answer) = replicated.answered_by(replicated.search("Ada")).await;
    assert_eq!(answer.expect(200)["records"][0]["external_key"], "A");
    assert_ne!(replica, 0);
    let request = replicated.lookup("A").header("x-keyed-read", "primary");
    assert_eq!(replicated.answered_by(request).await.0, 0);
    // What administrators are shown is never old.
    let jobs = replicated.service.proxy.request("GET", "/v1/jobs");
    assert_eq!(replicated.answered_by(jobs).await.0, 0);
    let metrics = replicated.service.proxy.metrics().await;
    assert!(metrics.sum("keyed_database_reads_total", &[("target", "replica")]) >= 21.0);
    assert_eq!(metrics.sum("keyed_replica_state", &[("state", "usable")]), 2.0);
    for standby in &replicated.standbys {
        standby.assert_no_crash();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_write_answers_its_position() {
    let replicated = Replicated::start(1, &[]).await;
    let proxy = &replicated.service.proxy;
    let create = || {
        let body = json!({"external_key": "A", "attributes": {"name": "Ada"}});
        proxy.request("POST", "/v1/entities/template/customers").json(&body)
    };
    let position = |answer: &harness::Response| {
        let position = answer.header("x-keyed-position").to_owned();
        assert!(position.contains('/'), "{} has no position: {:?}", answer.text, answer.headers);
        position
    };
    let first = create().header("idempotency-key", "once").send().await;
    let replay = create().header("idempotency-key", "once").send().await;
    assert_eq!((first.status, replay.header("idempotency-replayed")), (201, "true"));
    position(&first);
    position(&replay);
    // The record that is in the way can be read, too.
    let conflict = create().send().await;
    let at = position(&conflict);
    conflict.expect_error(409, "external_key_taken");
    let (_, answer) = replicated.answered_by(replicated.lookup("A").header("x-keyed-position", &at)).await;
    answer.expect(200);
    for mode in ["", "?on_error=abort"] {
        let path = format!("/v1/entities/template/customers/import{mode}");
        let name = format!("imported{}", mode.len());
        let import = proxy.request("POST", &path).body("text/csv", format!("external_key,name\nI,{name}\n"));
        let answer = import.send().await;
        let at = position(&answer);
        answer.expect(200);
        let read = replicated.lookup("I").header("x-keyed-position", &at).send().await;
        assert_eq!(read.expect(200)["attributes"]["name"], name, "{mode}");
    }
    let answer = replicated.service.delete("/entities/template/customers/by-key?key=A").await;
    let read = replicated.lookup("A").header("x-keyed-position", &position(&answer)).send().await;
    read.expect_error(404, "not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn primary_answers_until_the_position_is_replayed() {
    let replicated = Replicated::start(1, &[("KEYED_READ_LAG", "600")]).await;
    replicated.write("A", "old").await;
    replicated.catch_up();
    replicated.pause_replay(1, true);
    let position = replicated.write("A", "new").await;
    // Without the position, the replica may show what was before.
    let (replica, answer) = replicated.answered_by(replicated.lookup("A")).await;
    assert_eq!((replica, &answer.expect(200)["attributes"]["name"]), (1, &json!("old")));
    for request in [replicated.lookup("A"), replicated.search("new")] {
        let (replica, answer) = replicated.answered_by(request.header("x-keyed-position", &position)).await;
        let text = answer.text.clone();
        answer.expect(200);
        assert!(replica == 0 && text.contains("new"), "replica {replica}: {text}");
    }
    let metrics = replicated.service.proxy.metrics().await;
    assert_eq!(metrics.sum("keyed_position_waits_total", &[("outcome", "timed_out")]), 2.0);
    replicated.pause_replay(1, false);
    replicated.catch_up();
    let request = replicated.lookup("A").header("x-keyed-position", &position);
    let (replica, answer) = replicated.answered_by(request).await;
    assert_eq!((replica, &answer.expect(200)["attributes"]["name"]), (1, &json!("new")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_callers_read_their_own_writes() {
    let replicated = Arc::new(Replicated::start(2, &[("KEYED_READ_WAIT", "5")]).await);
    let callers: Vec<_> = (0..8)
        .map(|caller| {
            let replicated = Arc::clone(&replicated);
            tokio::spawn(async move {
                let key = format!("K{caller}");
                for round in 0..40 {
                    let name = format!("{caller}-{round}");
                    let position = replicated.write(&key, &name).await;
                    let fresh = |request: harness::Request| request.header("x-keyed-position", &position);
                    let record = fresh(replicated.lookup(&key)).send().await.expect(200);
                    assert_eq!(record["attributes"]["name"], name, "by key");
                    let path = format!("/v1/entities/{}", harness::id_of(&record));
                    let read = fresh(replicated.service.proxy.request("GET", &path)).send().await;
                    assert_eq!(read.expect(200)["attributes"]["name"], name, "by id");
                    let found = fresh(replicated.search(&name)).send().await.expect(200);
                    assert_eq!(found["records"][0]["external_key"], key, "by search");
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("its own writes");
    }
    let metrics = replicated.service.proxy.metrics().await;
    let by = |target| metrics.sum("keyed_database_reads_total", &[("target", target)]);
    assert!(by("replica") > by("primary"), "{} by replicas, {} by the primary", by("replica"), by("primary"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn session_that_reads_checks_the_position_behind_a_router() {
    let settings = [("KEYED_READ_LAG", "600"), ("KEYED_POOL_SIZE", "8")];
    let (replicated, _router) = Replicated::start_behind_router(&settings).await;
    replicated.write("A", "old").await;
    replicated.catch_up();
    // The monitor is led to the first replica, which has replayed everything.
    replicated.pause_replay(2, true);
    let position = replicated.write("A", "new").await;
    let (mut names, mut answering) = (Vec::new(), Vec::new());
    for round in 0..20 {
        let request = if round % 2 == 0 { replicated.lookup("A") } else { replicated.search("new") };
        let (replica, answer) = replicated.answered_by(request.header("x-keyed-position", &position)).await;
        assert!(answer.text.contains("new"), "replica {replica}: {}", answer.text);
        answering.push(replica);
        let answer = replicated.lookup("A").send().await.expect(200);
        names.push(answer["attributes"]["name"].as_str().expect("a name").to_owned());
    }
    // Some connections lead to the second replica, so a read without a position shows what was before.
    assert!(names.contains(&"old".to_owned()), "{names:?}");
    assert!(answering.contains(&0), "{answering:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn malformed_header_is_rejected_with_or_without_replicas() {
    let service = harness::Service::start().await;
    for (name, value) in [("x-keyed-position", "now"), ("x-keyed-read", "replica")] {
        let request = service.proxy.request("GET", "/v1/templates").header(name, value);
        let problem = request.send().await.expect_error(400, "malformed_request");
        assert!(problem["hint"].is_string(), "{problem}");
    }
    let answer = service.upsert("A", json!({"name": "Ada"})).await;
    assert_eq!(answer.header("x-keyed-position"), "", "without replicas, there is none");
    let position = ("x-keyed-position", "FFFFFFFF/0");
    let read = service.proxy.request("GET", "/v1/templates").header(position.0, position.1);
    read.send().await.expect(200);
}
