//! The capacity of an inbound endpoint's log.

use super::crm;
use harness::Session;

const DELIVER: &str =
    "select (keyed_http.deliver(sha256(convert_to($1, 'UTF8')), nullif($2, ''), null, null, $3))[1]";

async fn token(session: &Session) -> String {
    session.text("select keyed.alter_inbound_endpoint(1, '{\"rotate_token\": true}') ->> 'token'", &[]).await
}

#[tokio::test]
async fn rejected_delivery_beyond_the_log_limit_is_not_stored() {
    let (_database, session) = crm().await;
    let token = token(&session).await;
    session.run("set keyed.max_inbound_log_size = '1MB'").await;
    let bad = format!(r#"{{"id": null, "padding": "{}"}}"#, "x".repeat(400_000));
    for id in ["a", "b"] {
        assert_eq!(session.text(DELIVER, &[&token, id, &bad]).await, "202", "{id}");
    }
    let error = session.error(DELIVER, &[&token, "c", &bad]).await;
    assert_eq!(error.codes(), ("53100", "unavailable"));
    assert!(
        error.message.contains("\"shop\" has reached the limit of stored deliveries: 2 failed"),
        "{error}"
    );
    // A processed delivery needs no capacity, and a smaller one still fits.
    assert_eq!(session.text(DELIVER, &[&token, "d", r#"{"id": 1}"#]).await, "200");
    assert_eq!(session.text(DELIVER, &[&token, "e", r#"{"id": null}"#]).await, "202");
    let kept =
        "select string_agg(webhook_id || ' ' || status, ', ' order by id) from keyed_state.inbound_delivery";
    assert_eq!(session.text(kept, &[]).await, "a failed, b failed, d done, e failed");
    session.run("select keyed.purge_deliveries(now() + interval '1 hour', 'failed')").await;
    assert_eq!(session.text(DELIVER, &[&token, "c", &bad]).await, "202");
}

#[tokio::test]
async fn only_the_newest_payloads_are_kept() {
    let (_database, session) = crm().await;
    let token = token(&session).await;
    session.run("set keyed.max_inbound_log_size = '1MB'").await;
    let padding = "x".repeat(100_000);
    let payloads = "select count(*) filter (where payload is null) > 0 and count(payload) <= 10 from keyed_state.inbound_delivery";
    let mut count = 0;
    // Old payloads are removed occasionally: after 16 deliveries on average.
    while session.text(payloads, &[]).await == "f" {
        let body = format!(r#"{{"id": 1, "padding": "{padding}"}}"#);
        assert_eq!(session.text(DELIVER, &[&token, &format!("id {count}"), &body]).await, "200");
        count += 1;
        assert!(count < 1000, "no payload was ever removed");
    }
    let kept = "select count(*) || ' ' || count(payload) || ' ' || bool_and(payload is not null) filter (where id > newest - 10) \
                from keyed_state.inbound_delivery, (select max(id) as newest from keyed_state.inbound_delivery) n";
    assert_eq!(
        session.text(kept, &[]).await,
        format!("{count} 10 true"),
        "lines stay, with the newest megabyte"
    );
    // A repeated delivery is recognized by its log entry.
    assert_eq!(session.text(DELIVER, &[&token, "id 0", "{}"]).await, "200");
}

#[tokio::test]
async fn former_name_of_the_setting_applies_unless_the_current_one_is_set() {
    let (database, session) = crm().await;
    let token = token(&session).await;
    session.run(&format!("alter database \"{}\" set keyed.inbound_room = '1MB'", database.name())).await;
    let session = database.session().await;
    let bad = format!(r#"{{"id": null, "padding": "{}"}}"#, "x".repeat(400_000));
    for id in ["a", "b"] {
        assert_eq!(session.text(DELIVER, &[&token, id, &bad]).await, "202", "{id}");
    }
    assert_eq!(session.error(DELIVER, &[&token, "c", &bad]).await.codes(), ("53100", "unavailable"));
    session.run("set keyed.max_inbound_log_size = '1GB'").await;
    assert_eq!(session.text(DELIVER, &[&token, "c", &bad]).await, "202");
    session.run("reset keyed.max_inbound_log_size").await;
    assert_eq!(session.error(DELIVER, &[&token, "d", &bad]).await.codes(), ("53100", "unavailable"));
}
