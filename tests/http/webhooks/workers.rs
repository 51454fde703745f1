//! Several proxies deliver together, and the end of one loses nothing.

use super::{create, service, service_with, settings};
use harness::{Proxy, Reaction, Receiver};
use serde_json::json;
use std::collections::HashSet;
use std::time::Duration;

#[tokio::test]
async fn two_proxies_deliver_each_change_once() {
    let receiver = Receiver::start().await;
    let service = service(&receiver).await;
    let key = service.database.api_key("keyed_admin", &[]).await;
    let _second = Proxy::start_with(&service.database, &settings(&key)).await;
    service
        .session()
        .await
        .run("insert into crm.customers (external_key) select n::text from generate_series(1, 300) n")
        .await;
    let deliveries = receiver.until_delivered(300).await;
    let ids: HashSet<&str> = deliveries.iter().map(|it| it.id()).collect();
    assert_eq!((deliveries.len(), ids.len()), (300, 300));
}

#[tokio::test]
async fn deliveries_of_a_killed_proxy_are_sent_by_another() {
    let receiver = Receiver::start_with(|deliveries| match deliveries.number {
        0..3 => Reaction::Silence,
        _ => Reaction::success(),
    })
    .await;
    let service = service_with(&[("KEYED_WEBHOOK_TIMEOUT", "60")]).await;
    create(&service, "shop", &receiver.url("/"), json!({})).await;
    for key in ["a", "b", "c"] {
        service.upsert(key, json!({"visits": 1})).await.expect(201);
    }
    receiver.until_delivered(3).await;
    for key in ["a", "b", "c"] {
        service.upsert(key, json!({"visits": 2})).await.expect(200);
    }
    let harness::Service { proxy, database } = service;
    proxy.signal("KILL");
    drop(proxy);
    let key = database.api_key("keyed_admin", &[]).await;
    let _other = Proxy::start_with(&database, &settings(&key)).await;
    let session = database.session().await;
    let expire = "update keyed_state.webhook_delivery set due_at = now() where state = 'running' and due_at > now() + interval '50 seconds'";
    session.run(expire).await;
    let deliveries = receiver.until_delivered(9).await;
    let mut short: Vec<String> = deliveries[3..].iter().map(harness::Delivery::in_short).collect();
    short.sort();
    let mut expected = Vec::new();
    for kind in ["created", "updated"] {
        expected.extend(["a", "b", "c"].map(|key| format!("record.{kind} {key}")));
    }
    assert_eq!(short, expected);
    let again: HashSet<&str> = deliveries[3..].iter().map(|it| it.id()).collect();
    assert!(deliveries[..3].iter().all(|it| again.contains(it.id())), "the webhook-ids stay");
}

#[tokio::test]
async fn proxy_finishes_deliveries_in_flight_before_it_stops() {
    let receiver = Receiver::start_with(|_| Reaction::success().after(Duration::from_millis(700))).await;
    let service = service(&receiver).await;
    service.upsert("a", json!({})).await.expect(201);
    receiver.until_delivered(1).await;
    let harness::Service { proxy, database } = service;
    assert!(proxy.terminate().await.success());
    let session = database.session().await;
    let stored = "select state || attempts from keyed_state.webhook_delivery";
    assert_eq!(session.text(stored, &[]).await, "done1");
}

#[tokio::test]
async fn key_without_privileges_delivers_nothing() {
    let receiver = Receiver::start().await;
    let database = harness::Database::with_crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm", "read").await;
    let key = database.api_key(&role, &[]).await;
    let service = harness::Service::over(database, &settings(&key)).await;
    create(&service, "shop", &receiver.url("/"), json!({})).await;
    service.upsert("a", json!({})).await.expect(201);
    harness::until("the worker is denied", async || {
        service.proxy.log().contains("cannot deliver webhooks")
            && service.proxy.log().contains("may not deliver webhooks")
    })
    .await;
    assert!(receiver.deliveries().is_empty());
}

#[tokio::test]
async fn hanging_receivers_do_not_delay_others() {
    let hanging = Receiver::start_with(|_| Reaction::Silence).await;
    let service = service_with(&[("KEYED_WEBHOOK_TIMEOUT", "60")]).await;
    let session = service.session().await;
    for number in 0..10 {
        create(&service, &format!("hangs{number}"), &hanging.url("/"), json!({})).await;
    }
    session
        .run("insert into crm.customers (external_key) select n::text from generate_series(1, 20) n")
        .await;
    // As many deliveries as a proxy has in flight, with ten per endpoint.
    hanging.until_delivered(100).await;
    let receiver = Receiver::start().await;
    create(&service, "shop", &receiver.url("/"), json!({"templates": ["companies"]})).await;
    session.run("insert into crm.companies (name) select n::text from generate_series(1, 20) n").await;
    receiver.until_delivered(20).await;
}

#[tokio::test]
async fn locked_table_does_not_delay_deliveries_of_other_projects() {
    let receiver = Receiver::start().await;
    let service = service(&receiver).await;
    let (session, holder) = (service.session().await, service.session().await);
    session.run("select keyed.create_project('two', 'Two')").await;
    let definition = json!({"slug": "two", "url": receiver.url("/two")}).to_string();
    session.rows("select keyed.create_webhook_endpoint('two', $1)", &[&definition]).await;
    session.run("insert into crm.customers (external_key) values ('a')").await;
    receiver.until_delivered(1).await;
    holder.run("begin; lock table crm.customers").await;
    session
        .run("select keyed.test_webhook_endpoint(id) from keyed_state.webhook_endpoint where slug = 'two'")
        .await;
    let deliveries = receiver.until_delivered(2).await;
    assert_eq!(deliveries[1].path, "/two");
    holder.run("rollback").await;
}
