//! Inbound endpoints: their definition, and the log of their deliveries.

use super::{CREATE, crm};
use serde_json::json;

#[tokio::test]
async fn a_definition_is_checked_before_anything_is_delivered() {
    let (_database, session) = crm().await;
    let good = json!({"slug": "erp", "external_key": "$.id"});
    for (members, code, place) in [
        (json!({"slug": "Not a slug"}), "invalid_slug", "/slug"),
        (json!({"slug": "shop"}), "conflict", "/slug"),
        (json!({"slug": null}), "invalid_value", "/slug"),
        (json!({"external_key": "$.["}), "invalid_value", "/external_key"),
        (json!({"items": "not a path"}), "invalid_value", "/items"),
        (json!({"mapping": {"name": "$$"}}), "invalid_value", "/mapping/name"),
        (json!({"mapping": {"nope": "$"}}), "unknown_attribute", "/mapping/nope"),
        (json!({"mapping": {"name": {"path": "$"}}}), "invalid_value", "/mapping/name"),
        (json!({"mapping": {"company": {"way": "$"}}}), "unknown_field", "/mapping/company/way"),
        (json!({"mapping": []}), "invalid_value", "/mapping"),
        (json!({"key_prefix": "a\nb"}), "invalid_value", "/key_prefix"),
        (json!({"role": "nobody_here"}), "invalid_value", "/role"),
        (json!({"role": "pg_read_all_data"}), "invalid_value", "/role"),
        (json!({"role": "keyed_proxy"}), "invalid_value", "/role"),
        (json!({"signed": "yes"}), "invalid_value", "/signed"),
        (json!({"secret": "short"}), "invalid_value", "/secret"),
        (
            json!({"signed": false, "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}),
            "invalid_value",
            "/secret",
        ),
        (json!({"token": "mine"}), "unknown_field", "/token"),
    ] {
        let mut definition = good.clone();
        for (name, value) in members.as_object().expect("members") {
            definition[name] = value.clone();
        }
        let refusal = session.refusal(CREATE, &[&definition.to_string()]).await;
        assert_eq!((refusal.is().1, refusal.pointers()), (code, vec![place]), "{members}: {refusal}");
    }
    assert_eq!(session.text("select count(*) from keyed_state.inbound_endpoint", &[]).await, "1");
    let none = session.refusal("select keyed.alter_inbound_endpoint(99, '{}')", &[]).await;
    assert_eq!(none.is(), ("P0002", "not_found"));
}

#[tokio::test]
async fn purging_keeps_webhook_ids_and_removes_failed_deliveries_only_on_request() {
    let (_database, session) = crm().await;
    let token = session
        .text("select keyed.alter_inbound_endpoint(1, '{\"rotate_token\": true}') ->> 'token'", &[])
        .await;
    let deliver =
        "select (keyed_http.deliver(sha256(convert_to($1, 'UTF8')), nullif($2, ''), null, null, $3))[1]";
    for (id, payload, status) in [
        ("", r#"{"id": 1}"#, "200"),
        ("msg_1", r#"{"id": 2}"#, "200"),
        ("", r#"{"id": null}"#, "202"),
        ("msg_2", r#"{"id": null}"#, "202"),
        ("", r#"{"id": 1}"#, "200"),
    ] {
        assert_eq!(session.text(deliver, &[&token, id, payload]).await, status, "{payload}");
    }
    assert_eq!(session.text("select keyed.purge_deliveries(now() - interval '1 hour')", &[]).await, "0");
    assert_eq!(session.text("select keyed.purge_deliveries(now() + interval '1 hour')", &[]).await, "3");
    let left = "select string_agg(concat_ws(' ', coalesce(webhook_id, '-'), status, payload), ', ' order by id) from keyed_state.inbound_delivery";
    assert_eq!(
        session.text(left, &[]).await,
        r#"msg_1 done, - failed {"id": null}, msg_2 failed {"id": null}"#
    );
    assert_eq!(session.text(deliver, &[&token, "msg_1", r#"{"id": 9}"#]).await, "200");
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "2");

    let purge_failed = "select keyed.purge_deliveries(now() + interval '1 hour', 'failed')";
    assert_eq!(session.text(purge_failed, &[]).await, "2");
    assert_eq!(session.text(left, &[]).await, "msg_1 done");
    assert_eq!(session.text(deliver, &[&token, "msg_2", r#"{"id": 3}"#]).await, "200");
    let refusal = session.refusal("select keyed.purge_deliveries(now(), 'all')", &[]).await;
    assert_eq!((refusal.is(), refusal.pointers()), (("22023", "invalid_value"), vec!["/status"]));
}
