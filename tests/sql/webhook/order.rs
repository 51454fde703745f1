//! The deliveries that are queued, and the order in which they can be claimed.

use super::{
    claim, create, deliver, deliveries, endpoint, finish, finish_all, in_short, queue, with_endpoint,
};
use serde_json::json;

#[tokio::test]
async fn every_change_becomes_one_delivery() {
    let (_database, session) = with_endpoint(json!({})).await;
    session
        .run(
            "insert into crm.customers (external_key) values ('a'), ('b');
             update crm.customers set visits = 1 where external_key = 'a';
             update crm.customers set deleted_at = now() where external_key = 'b'",
        )
        .await;
    assert_eq!(queue(&session).await, 4);
    assert_eq!(queue(&session).await, 0, "each change is read once");
    let mut delivered = deliver(&session).await;
    delivered.sort();
    assert_eq!(delivered, ["record.created a", "record.created b", "record.deleted b", "record.updated a"]);
    assert_eq!(deliver(&session).await, [""; 0]);
}

#[tokio::test]
async fn earlier_changes_are_delivered_only_with_from_start() {
    let (_database, session) = with_endpoint(json!({"enabled": false})).await;
    session.run("insert into crm.companies (external_key, name) values ('C-1', 'Acme')").await;
    create(&session, "now", json!({})).await;
    create(&session, "start", json!({"from": "start"})).await;
    assert_eq!(queue(&session).await, 1);
    assert_eq!(endpoint(&session, "start").await["pending"], 1);
    assert_eq!(deliver(&session).await, ["record.created C-1"]);
}

#[tokio::test]
async fn record_has_one_delivery_at_a_time_in_order() {
    let (_database, session) = with_endpoint(json!({})).await;
    session.run("insert into crm.customers (external_key) values ('a'), ('b')").await;
    for visits in 1..=3 {
        session.run(&format!("update crm.customers set visits = {visits} where external_key = 'a'")).await;
    }
    assert_eq!(queue(&session).await, 5);
    let first = claim(&session, 100).await;
    let mut short = in_short(&first);
    short.sort();
    assert_eq!(short, ["record.created a", "record.created b"]);
    assert!(deliveries(&claim(&session, 100).await).is_empty(), "the first of each record is in flight");
    // A failed delivery blocks only its own record.
    let of = |key: &str| {
        let index = in_short(&first).iter().position(|it| it.ends_with(key)).expect("the record");
        deliveries(&first)[index].clone()
    };
    assert!(finish(&session, &first, &of("a"), Some(500)).await);
    assert!(finish(&session, &first, &of("b"), Some(200)).await);
    session.run("insert into crm.customers (external_key) values ('c')").await;
    queue(&session).await;
    assert_eq!(deliver(&session).await, ["record.created c"]);
    session.run("update keyed_state.webhook_delivery set due_at = now() where state = 'pending'").await;
    let order = ["record.created a", "record.updated a", "record.updated a", "record.updated a"];
    assert_eq!(deliver(&session).await, order);
}

#[tokio::test]
async fn slow_endpoint_leaves_capacity_for_others() {
    let (_database, session) = with_endpoint(json!({})).await;
    create(&session, "other", json!({"templates": ["companies"]})).await;
    session
        .run("insert into crm.customers (external_key) select n::text from generate_series(1, 50) n")
        .await;
    session.run("insert into crm.companies (external_key, name) values ('C-1', 'Acme')").await;
    assert_eq!(queue(&session).await, 52);
    // Nothing is finished, so no endpoint has more in flight than its share.
    let mut taken = Vec::new();
    for _ in 0..10 {
        let claim = claim(&session, 100).await;
        taken.extend(deliveries(&claim).iter().map(|it| it["endpoint"].as_str().expect("a slug").to_owned()));
    }
    let count = |slug: &str| taken.iter().filter(|it| *it == slug).count();
    assert_eq!((count("shop"), count("other")), (10, 1));
}

#[tokio::test]
async fn lost_claim_changes_nothing() {
    let (_database, session) = with_endpoint(json!({})).await;
    session.run("insert into crm.customers (external_key) values ('a')").await;
    queue(&session).await;
    let lost = claim(&session, 1).await;
    session.run("update keyed_state.webhook_delivery set due_at = now()").await;
    let second = claim(&session, 1).await;
    assert_eq!(in_short(&second), ["record.created a"], "an expired claim is free");
    assert_eq!(deliveries(&lost)[0]["id"], deliveries(&second)[0]["id"], "the webhook-id stays");
    assert!(!finish(&session, &lost, &deliveries(&lost)[0], Some(500)).await);
    finish_all(&session, &second, 200).await;
    let stored = session.text("select state || attempts from keyed_state.webhook_delivery", &[]).await;
    assert_eq!(stored, "done2");
    assert!(!finish(&session, &second, &deliveries(&second)[0], Some(500)).await, "the delivery is finished");
}

#[tokio::test]
async fn changes_after_an_open_transaction_wait_for_it() {
    let (database, session) = with_endpoint(json!({})).await;
    let other = database.session().await;
    other.run("begin; insert into crm.customers (external_key) values ('first')").await;
    session.run("insert into crm.customers (external_key) values ('second')").await;
    assert_eq!(queue(&session).await, 0);
    other.run("commit").await;
    assert_eq!(queue(&session).await, 2);
    let mut delivered = deliver(&session).await;
    delivered.sort();
    assert_eq!(delivered, ["record.created first", "record.created second"]);
}

#[tokio::test]
async fn full_queue_leaves_the_rest_in_the_feed() {
    let (_database, session) = with_endpoint(json!({"templates": ["companies"]})).await;
    session
        .run(
            "insert into keyed_state.webhook_delivery (endpoint_id, template_id, record_id, operation, entry)
             select 1, 1, gen_random_uuid(), 'update', '{}' from generate_series(1, 1000);
             insert into crm.companies (name) values ('Acme')",
        )
        .await;
    assert_eq!(queue(&session).await, 0);
    session.run("delete from keyed_state.webhook_delivery where number = 1").await;
    assert_eq!(queue(&session).await, 1);
}

#[tokio::test]
async fn full_queues_do_not_make_a_worker_poll_again() {
    let (_database, session) = with_endpoint(json!({})).await;
    for number in 2..=11 {
        create(&session, &format!("shop{number}"), json!({})).await;
    }
    session
        .run(
            "insert into keyed_state.webhook_delivery (endpoint_id, template_id, record_id, operation, entry)
             select e.id, 1, gen_random_uuid(), 'update', '{}'
             from keyed_state.webhook_endpoint e, generate_series(1, 1000);
             insert into crm.companies (name) values ('Acme')",
        )
        .await;
    let queued = session.json("select keyed_http.queue_webhooks()", &[]).await;
    assert_eq!(queued, json!({"queued": 0, "has_more": false}));
}

#[tokio::test]
async fn locked_table_delays_only_its_project() {
    let (database, session) = with_endpoint(json!({"include_record": true})).await;
    session
        .run(
            "select keyed.create_project('two', 'Two');
             select keyed.create_template('two', 'notes', '[{\"slug\": \"text\", \"type\": \"string\"}]');
             select keyed.create_webhook_endpoint('two', '{\"slug\": \"two\", \"url\": \"https://two.example.com/\"}');
             insert into crm.customers (external_key) values ('a');
             insert into two.notes (external_key) values ('b')",
        )
        .await;
    let other = database.session().await;
    other.run("begin; lock table crm.customers").await;
    assert_eq!(queue(&session).await, 1);
    assert_eq!(in_short(&claim(&session, 10).await), ["record.created b"]);
    other.run("commit").await;
    assert_eq!(queue(&session).await, 1);
    other.run("begin; lock table crm.customers").await;
    assert!(deliveries(&claim(&session, 10).await).is_empty(), "the record cannot be read");
    other.run("commit").await;
    assert_eq!(in_short(&claim(&session, 10).await), ["record.created a"]);
}

#[tokio::test]
async fn claim_honors_the_in_flight_limit_of_an_endpoint() {
    let (_database, session) = with_endpoint(json!({})).await;
    session.run("insert into crm.customers (external_key) select n::text from generate_series(1, 5) n").await;
    assert_eq!(queue(&session).await, 5);
    let claim = "select keyed_http.claim_webhooks(10, 60, $1::integer)";
    for (max_in_flight, claimed) in [("1", 1), ("1", 0), ("3", 2), ("3", 0)] {
        assert_eq!(deliveries(&session.json(claim, &[max_in_flight]).await).len(), claimed);
    }
    assert_eq!(session.error(claim, &["0"]).await.pointers(), ["/max_in_flight"]);
}

#[tokio::test]
async fn claim_reads_each_waiting_delivery_once_with_outdated_statistics() {
    let (_database, session) = with_endpoint(json!({})).await;
    session
        .run(
            "analyze keyed_state.webhook_delivery; set plan_cache_mode = force_custom_plan;
             insert into crm.customers (external_key) select n::text from generate_series(1, 900) n",
        )
        .await;
    assert_eq!(queue(&session).await, 900);
    session.run("begin").await;
    assert_eq!(deliveries(&claim(&session, 10).await).len(), 10);
    let read = "select pg_stat_get_xact_tuples_returned(o) + pg_stat_get_xact_tuples_fetched(o) < 20000
                from (select 'keyed_state.webhook_delivery'::regclass::oid) t (o)";
    assert_eq!(session.text(read, &[]).await, "t");
}

#[tokio::test]
async fn endpoint_change_keeps_a_concurrent_disabling() {
    let (database, session) = with_endpoint(json!({})).await;
    let (other, watcher) = (database.session().await, database.session().await);
    other
        .run("begin; update keyed_state.webhook_endpoint set enabled = false, disabled_reason = 'gone' where id = 1")
        .await;
    let change = async {
        session.json("select keyed.alter_webhook_endpoint(1, '{\"include_record\": true}')", &[]).await
    };
    let commit = async {
        watcher.until_blocked(1).await;
        other.run("commit").await;
    };
    let (changed, ()) = tokio::join!(change, commit);
    assert_eq!(
        (&changed["enabled"], &changed["disabled_reason"], &changed["include_record"]),
        (&json!(false), &json!("gone"), &json!(true))
    );
}
