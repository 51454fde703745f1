//! The state of deliveries and endpoints after an attempt.

use super::{
    alter, claim, deliver, deliveries, endpoint, finish, finish_all, in_short, log, queue, with_endpoint,
};
use harness::{Database, Session};
use serde_json::{Value, json};

/// An endpoint with one due delivery.
async fn with_one() -> (Database, Session) {
    let (database, session) = with_endpoint(json!({})).await;
    session.run("insert into crm.customers (external_key) values ('a')").await;
    assert_eq!(queue(&session).await, 1);
    (database, session)
}

async fn make_due(session: &Session) {
    session.run("update keyed_state.webhook_delivery set due_at = now() where state = 'pending'").await;
}

#[tokio::test]
async fn failed_attempts_follow_the_schedule() {
    let (_database, session) = with_one().await;
    let rest = "select extract(epoch from due_at - now()) from keyed_state.webhook_delivery";
    for expected in [5.0, 30.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 86_400.0] {
        let claim = claim(&session, 1).await;
        assert!(finish(&session, &claim, &deliveries(&claim)[0], Some(503)).await);
        let rest: f64 = session.text(rest, &[]).await.parse().expect("seconds");
        assert!((0.9 * expected - 1.0..1.1 * expected).contains(&rest), "{rest} after {expected}");
        make_due(&session).await;
    }
    let claim = claim(&session, 1).await;
    finish_all(&session, &claim, 503).await;
    let entry = &log(&session).await[0];
    assert_eq!((&entry["state"], &entry["attempts"]), (&json!("failed"), &json!(9)));
    assert_eq!((&entry["last_status"], &entry["last_error"]), (&json!(503), &json!("it failed")));
    assert_eq!((&entry["response"], &entry["duration_ms"]), (&json!("the response"), &json!(7)));
    assert_eq!(endpoint(&session, "shop").await["failed"], 1);
}

#[tokio::test]
async fn retry_after_of_the_receiver_is_honored() {
    let (_database, session) = with_one().await;
    let claim = claim(&session, 1).await;
    let id = deliveries(&claim)[0]["id"].as_str().expect("an id").to_owned();
    let sql = "select keyed_http.finish_webhook($1, $2, 429, 'busy', null, 600, 7)";
    session
        .run(
            &sql.replace("$1", &harness::quote(claim["claim"].as_str().expect("a claim")))
                .replace("$2", &harness::quote(&id)),
        )
        .await;
    let rest = "select round(extract(epoch from due_at - now())) from keyed_state.webhook_delivery";
    let rest: i32 = session.text(rest, &[]).await.parse().expect("seconds");
    assert!((590..=600).contains(&rest), "{rest}");
}

#[tokio::test]
async fn response_410_disables_the_endpoint() {
    let (_database, session) = with_one().await;
    let claim = claim(&session, 1).await;
    finish_all(&session, &claim, 410).await;
    let disabled = endpoint(&session, "shop").await;
    assert_eq!(disabled["enabled"], false);
    assert_eq!(disabled["disabled_reason"], "the receiver returned 410 Gone");
    assert!(disabled["disabled_at"].is_string());
    make_due(&session).await;
    session.run("insert into crm.customers (external_key) values ('b')").await;
    assert_eq!(queue(&session).await, 0);
    assert_eq!(deliver(&session).await, [""; 0]);
    // Nothing is lost: enabling the endpoint continues where it stopped.
    let enabled = alter(&session, &disabled["id"], json!({"enabled": true})).await;
    assert_eq!((&enabled["disabled_reason"], &enabled["failing_since"]), (&Value::Null, &Value::Null));
    assert_eq!(queue(&session).await, 1);
    assert_eq!(deliver(&session).await, ["record.created a", "record.created b"]);
}

#[tokio::test]
async fn five_days_without_success_disable_an_endpoint() {
    let (_database, session) = with_one().await;
    let first = claim(&session, 1).await;
    finish_all(&session, &first, 500).await;
    assert!(endpoint(&session, "shop").await["failing_since"].is_string());
    for (days, enabled) in [(4, true), (6, false)] {
        let past =
            format!("update keyed_state.webhook_endpoint set failing_since = now() - interval '{days} days'");
        session.run(&past).await;
        make_due(&session).await;
        let claim = claim(&session, 1).await;
        finish_all(&session, &claim, 500).await;
        assert_eq!(endpoint(&session, "shop").await["enabled"], enabled, "after {days} days");
    }
    let disabled = endpoint(&session, "shop").await;
    assert_eq!(disabled["disabled_reason"], "no delivery has succeeded for 5 days");
}

#[tokio::test]
async fn success_resets_the_failure_period() {
    let (_database, session) = with_one().await;
    let first = claim(&session, 1).await;
    finish_all(&session, &first, 500).await;
    make_due(&session).await;
    let second = claim(&session, 1).await;
    finish_all(&session, &second, 299).await;
    let endpoint = endpoint(&session, "shop").await;
    assert_eq!(endpoint["failing_since"], Value::Null);
    assert!(endpoint["last_success_at"].is_string());
}

#[tokio::test]
async fn replayed_delivery_keeps_its_id_and_is_sent_again() {
    let (_database, session) = with_one().await;
    let first = claim(&session, 1).await;
    let id = deliveries(&first)[0]["id"].clone();
    let replay = "select keyed.replay_webhook_delivery($1)";
    let text = id.as_str().expect("an id");
    assert_eq!(session.error(replay, &[text]).await.codes().1, "conflict", "it is being sent");
    finish_all(&session, &first, 200).await;
    let entry = session.json(replay, &[text]).await;
    assert_eq!((&entry["state"], &entry["attempts"]), (&json!("pending"), &json!(0)));
    let second = claim(&session, 1).await;
    assert_eq!(deliveries(&second)[0]["id"], id);
    // A pending delivery is sent immediately, and its attempts still count.
    finish_all(&session, &second, 500).await;
    assert!(deliveries(&claim(&session, 1).await).is_empty());
    assert_eq!(session.json(replay, &[text]).await["attempts"], 1);
    assert_eq!(in_short(&claim(&session, 1).await), ["record.created a"]);
    let unknown = "00000000-0000-0000-0000-000000000000";
    assert_eq!(session.error(replay, &[unknown]).await.codes().1, "not_found");
}

#[tokio::test]
async fn at_most_ten_test_deliveries_are_pending() {
    let (_database, session) = with_endpoint(json!({})).await;
    let test = "select keyed.test_webhook_endpoint(1)";
    for _ in 0..10 {
        session.rows(test, &[]).await;
    }
    assert_eq!(session.error(test, &[]).await.codes().1, "conflict");
    let claimed = claim(&session, 100).await;
    finish_all(&session, &claimed, 200).await;
    session.rows(test, &[]).await;
}

#[tokio::test]
async fn test_delivery_is_sent_once_even_to_a_disabled_endpoint() {
    let (_database, session) = with_endpoint(json!({"enabled": false})).await;
    session.run("insert into crm.customers (external_key) values ('a')").await;
    let entry = session.json("select keyed.test_webhook_endpoint(1)", &[]).await;
    assert_eq!((&entry["operation"], &entry["record_id"]), (&json!("test"), &Value::Null));
    let claim = claim(&session, 10).await;
    assert_eq!(in_short(&claim), ["test -"]);
    assert_eq!(super::body(&deliveries(&claim)[0])["data"], json!({"endpoint": "shop"}));
    finish_all(&session, &claim, 410).await;
    assert_eq!(log(&session).await[0]["state"], "failed");
    let endpoint = endpoint(&session, "shop").await;
    assert_eq!((&endpoint["failing_since"], &endpoint["disabled_reason"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn finished_deliveries_are_kept_within_a_bound() {
    let (_database, session) = with_endpoint(json!({})).await;
    session
        .run(
            "insert into keyed_state.webhook_delivery (endpoint_id, template_id, record_id, operation, entry, state)
             select 1, 1, gen_random_uuid(), 'update', '{}', 'done' from generate_series(1, 1500);
             insert into crm.customers (external_key) values ('a')",
        )
        .await;
    assert_eq!(queue(&session).await, 1);
    let kept = "select count(*), min(number) from keyed_state.webhook_delivery where state = 'done'";
    assert_eq!(session.rows(kept, &[]).await[0], [Some("1000".to_owned()), Some("501".to_owned())]);
}
