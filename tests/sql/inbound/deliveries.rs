//! Inbound endpoints: their definition, and the log of their deliveries.

use super::{CREATE, crm};
use harness::Session;
use serde_json::{Value, json};

#[tokio::test]
async fn endpoint_is_validated_when_defined() {
    let (_database, session) = crm().await;
    let good = json!({"slug": "erp", "external_key": "$.id"});
    for (members, code, position) in [
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
        let error = session.error(CREATE, &[&definition.to_string()]).await;
        assert_eq!((error.codes().1, error.pointers()), (code, vec![position]), "{members}: {error}");
    }
    assert_eq!(session.text("select count(*) from keyed_state.inbound_endpoint", &[]).await, "1");
    let none = session.error("select keyed.alter_inbound_endpoint(99, '{}')", &[]).await;
    assert_eq!(none.codes(), ("P0002", "not_found"));
}

#[tokio::test]
async fn ambiguous_path_is_rejected_with_a_hint() {
    let (_database, session) = crm().await;
    let good = json!({"slug": "erp", "external_key": "$.id"});
    for (members, position, message, hint) in [
        (
            json!({"mapping": {"name": "$.first-name"}}),
            "/mapping/name",
            "in the path $.first-name, the hyphen in first-name is a minus sign",
            r#"Write $."first-name"."#,
        ),
        (
            json!({"external_key": "$.article-id"}),
            "/external_key",
            "$.article-id",
            r#"Write $."article-id"."#,
        ),
        (json!({"items": "$.line-items[*]"}), "/items", "line-items", r#"Write $."line-items"[*]."#),
        (
            json!({"mapping": {"name": r#"$["first-name"]"#}}),
            "/mapping/name",
            "brackets",
            r#"Write $."first-name"."#,
        ),
        (
            json!({"mapping": {"name": "$.address-1"}}),
            "/mapping/name",
            "address-1",
            r#"Write $."address-1" for"#,
        ),
        (
            json!({"mapping": {"visits": "$.price-2"}}),
            "/mapping/visits",
            "price-2",
            "spaces around a minus: price - 2.",
        ),
        (
            json!({"mapping": {"company": {"path": "$.c-1"}}}),
            "/mapping/company",
            "c-1",
            r#"Write $."c-1" for"#,
        ),
        (
            json!({"mapping": {"name": "$name"}}),
            "/mapping/name",
            "the variable \"name\"",
            r#"Write $."name" for"#,
        ),
        (
            json!({"mapping": {"name": "name"}}),
            "/mapping/name",
            "the path name cannot be read",
            "Write $.name.",
        ),
        (
            json!({"mapping": {"name": "$.first name"}}),
            "/mapping/name",
            "cannot be read: ",
            "in double quotes",
        ),
        (
            json!({"mapping": {"name": "$."}}),
            "/mapping/name",
            "the path $. cannot be read: ",
            "in double quotes",
        ),
    ] {
        let mut definition = good.clone();
        for (name, value) in members.as_object().expect("members") {
            definition[name] = value.clone();
        }
        let error = session.error(CREATE, &[&definition.to_string()]).await;
        assert_eq!(
            (error.codes().1, error.pointers()),
            ("invalid_value", vec![position]),
            "{members}: {error}"
        );
        assert!(error.message.contains(message), "{members}: {error}");
        assert!(error.hint.contains(hint), "{members}: {}", error.hint);
    }
    let fine = json!({"slug": "erp", "external_key": r#"$."article-id""#,
                      "mapping": {"name": r#"$."first-name""#, "visits": "$.price - $.discount - 2"}});
    session.rows(CREATE, &[&fine.to_string()]).await;
}

#[tokio::test]
async fn endpoint_with_an_older_path_can_be_changed() {
    let (_database, session) = crm().await;
    session.run("update keyed_state.inbound_endpoint set mapping = '{\"visits\": \"$.price-2\"}'").await;
    session
        .run("select keyed.alter_inbound_endpoint(1, '{\"enabled\": false, \"key_prefix\": \"a:\"}')")
        .await;
    let again = r#"{"mapping": {"visits": "$.price-2"}}"#;
    let error = session.error("select keyed.alter_inbound_endpoint(1, $1)", &[again]).await;
    assert_eq!(error.pointers(), ["/mapping/visits"]);
}

#[tokio::test]
async fn value_that_jsonb_cannot_hold_fails_where_it_is_mapped() {
    let (_database, session) = crm().await;
    let change = r#"{"rotate_token": true, "items": "$.rows[*]", "mapping": {"name": "$.title", "tags": "$.tags[*]"}}"#;
    let token = session.text("select keyed.alter_inbound_endpoint(1, $1) ->> 'token'", &[change]).await;
    let deliver = "select (keyed_http.deliver(sha256(convert_to($1, 'UTF8')), null, null, null, $2))[1]";
    for (payload, says, position) in [
        (r#"{"rows":[{"id":"hz4","title":"ok","preview":"cut here \ud83d"}]}"#, "", ""),
        (r#"{"rows":[{"id":"hz2","title":"ok"},{"id":"hz3","title":"ok","clipboard":"x\u0000y"}]}"#, "", ""),
        (r#"{"rows":[{"id":"hz5","title":"ok","n":-1e999999}]}"#, "", ""),
        (
            r#"{"rows":[{"id":"a"},{"id":"b","title":"x\u0000"}]}"#,
            "a string with U+0000",
            "/items/1/attributes/name",
        ),
        (r#"{"rows":[{"id":"a","title":"\ude00"}]}"#, "an unpaired surrogate", "/items/0/attributes/name"),
        (
            r#"{"rows":[{"id":"a","title":{"b":["\ud83d"]}}]}"#,
            "an unpaired surrogate",
            "/items/0/attributes/name",
        ),
        (
            r#"{"rows":[{"id":"a","tags":["x","\u0000"]}]}"#,
            "a string with U+0000",
            "/items/0/attributes/tags",
        ),
        (
            r#"{"rows":[{"id":"a","title":1e999999}]}"#,
            "a number beyond the range",
            "/items/0/attributes/name",
        ),
        (r#"{"rows":[{"id":"\ud83d"}]}"#, "an unpaired surrogate", "/items/0/external_key"),
    ] {
        let status = if says.is_empty() { "200" } else { "202" };
        assert_eq!(session.text(deliver, &[&token, payload]).await, status, "{payload}");
        if says.is_empty() {
            continue;
        }
        let error = "select error from keyed_state.inbound_delivery order by id desc limit 1";
        let error = session.json(error, &[]).await;
        assert_eq!(error["errors"][0]["pointer"], position, "{payload}: {error}");
        assert!(error["detail"].as_str().is_some_and(|it| it.contains(says)), "{payload}: {error}");
    }
    let keys =
        "select string_agg(external_key, ',' order by external_key) from crm.customers where name = 'ok'";
    assert_eq!(session.text(keys, &[]).await, "hz2,hz3,hz4,hz5");
}

/// Delivers to an endpoint after this change; returns the status and the stored error.
async fn delivered(session: &Session, change: Value, payload: &str) -> (String, Value) {
    let mut change = change;
    change["rotate_token"] = json!(true);
    let alter = "select keyed.alter_inbound_endpoint(1, $1) ->> 'token'";
    let token = session.text(alter, &[&change.to_string()]).await;
    let deliver = "select (keyed_http.deliver(sha256(convert_to($1, 'UTF8')), null, null, null, $2))[1]";
    let status = session.text(deliver, &[&token, payload]).await;
    let error = "select coalesce((select to_jsonb(error) from keyed_state.inbound_delivery where status = 'failed' \
                 order by id desc limit 1), 'null')";
    (status, session.json(error, &[]).await)
}

#[tokio::test]
async fn value_that_jsonb_cannot_hold_fails_where_a_path_may_compare_it() {
    let (_database, session) = crm().await;
    let payload = r#"{"rows":[{"id":"a","total":5},{"id":"b","total":1e131072}]}"#;
    let plain = json!({"items": "$.rows[*]", "mapping": {"name": "$.title"}});
    for change in [
        json!({"items": "$.rows[*] ? (@.total > 0)", "mapping": {"name": "$.title"}}),
        json!({"items": "$.rows[*]", "mapping": {"name": "$ ? (@.total > 0).title"}}),
        json!({"items": "$.rows[*]", "mapping": {"name": "$.total.type()"}}),
        json!({"items": "$.*[*]", "mapping": {"name": "$.title"}}),
    ] {
        let (status, error) = delivered(&session, change.clone(), payload).await;
        assert_eq!(status, "202", "{change}");
        let detail = error["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("a number beyond the range of numeric"), "{change}: {error}");
        assert!(detail.contains("may depend on it"), "{change}: {error}");
    }
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "0");
    assert_eq!(delivered(&session, plain, payload).await.0, "200");
    // If all values can be represented, the filter selects as before.
    let filter = json!({"items": "$.rows[*] ? (@.total > 6)", "mapping": {"name": "$.title"}});
    let (status, _) =
        delivered(&session, filter, r#"{"rows":[{"id":"c","total":5},{"id":"d","total":7}]}"#).await;
    assert_eq!(status, "200");
    let keys = "select string_agg(external_key, ',' order by external_key) from crm.customers";
    assert_eq!(session.text(keys, &[]).await, "a,b,d");
}

#[tokio::test]
async fn failed_delivery_is_stored_with_its_pointer() {
    let (_database, session) = crm().await;
    let paths = json!({"items": "$.rows[*]", "mapping": {
        "name": "$.title", "mood": "$.mood.double()",
        "tags": "$.at ? (@.datetime() > \"2020-01-01\".datetime())"}});
    for (payload, position) in [
        (r#"{"rows":[{"id":"a"},{"id":"b","mood":"x"},{"id":"c","mood":"y"}]}"#, "/items/1/attributes/mood"),
        (
            r#"{"rows":[{"id":"a"},{"id":"b"},{"id":"c","at":"2020-01-02 10:00:00+01"}]}"#,
            "/items/2/attributes/tags",
        ),
    ] {
        let (status, error) = delivered(&session, paths.clone(), payload).await;
        assert_eq!((status.as_str(), &error["errors"][0]["pointer"]), ("202", &json!(position)), "{error}");
    }
    session
        .run(
            "create function public.ask() returns trigger language plpgsql as $$
             begin new.name := pg_catalog.current_setting('nothing.there'); return new; end $$;
             create trigger ask before insert on crm.customers for each row execute function public.ask()",
        )
        .await;
    let plain = json!({"items": "$.rows[*]", "mapping": {"name": "$.title"}});
    let (status, error) = delivered(&session, plain, r#"{"rows":[{"id":"a"}]}"#).await;
    assert_eq!((status.as_str(), &error["code"]), ("202", &json!("invalid_value")), "{error}");
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
    let error = session.error("select keyed.purge_deliveries(now(), 'all')", &[]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/status"]));
    for time in ["infinity", "-infinity", "10000-01-01Z"] {
        let error = session.error("select keyed.purge_deliveries($1)", &[time]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/before"]),
            "{time}"
        );
    }
}
