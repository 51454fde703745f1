//! Every database error gets the response that the tables of `keyed_errors` specify.

use harness::Service;
use keyed_errors::Code;
use serde_json::{Value, json};

/// SQLSTATE, status, code, retryable.
const TABLE: [(&str, u16, &str, bool); 48] = [
    ("22032", 400, "malformed_request", false),
    ("54001", 400, "malformed_request", false),
    ("3F000", 400, "project_required", false),
    ("28000", 401, "unauthorized", false),
    ("42501", 403, "forbidden", false),
    ("53400", 403, "quota_exceeded", false),
    ("P0002", 404, "not_found", false),
    ("23505", 409, "conflict", false),
    ("55006", 409, "request_in_progress", true),
    ("54000", 413, "payload_too_large", false),
    ("22001", 422, "invalid_value", false),
    ("22003", 422, "invalid_value", false),
    ("22007", 422, "invalid_value", false),
    ("22008", 422, "invalid_value", false),
    ("22021", 422, "invalid_value", false),
    ("22023", 422, "invalid_value", false),
    ("22P02", 422, "invalid_value", false),
    ("22P05", 422, "invalid_value", false),
    ("23502", 422, "invalid_value", false),
    ("23503", 422, "invalid_value", false),
    ("23514", 422, "invalid_value", false),
    ("42P17", 422, "invalid_value", false),
    ("P0001", 422, "invalid_value", false),
    ("40001", 503, "unavailable", true),
    ("40P01", 503, "unavailable", true),
    ("55P03", 503, "unavailable", true),
    ("25006", 503, "unavailable", true),
    ("53100", 503, "unavailable", true),
    ("53200", 503, "unavailable", true),
    ("53300", 503, "unavailable", true),
    ("57P01", 503, "unavailable", true),
    ("57P02", 503, "unavailable", true),
    ("57P03", 503, "unavailable", true),
    ("57P04", 503, "unavailable", true),
    ("08000", 503, "unavailable", true),
    ("08003", 503, "unavailable", true),
    ("08006", 503, "unavailable", true),
    ("57014", 504, "timeout", true),
    ("XX000", 500, "internal", false),
    ("XX001", 500, "internal", false),
    ("P0004", 500, "internal", false),
    ("22012", 500, "internal", false),
    ("42P01", 500, "internal", false),
    ("42703", 500, "internal", false),
    ("58030", 500, "internal", false),
    ("0A000", 500, "internal", false),
    // It is a failed precondition only with keyed's code in DETAIL.
    ("55000", 500, "internal", false),
    ("F0000", 500, "internal", false),
];

/// A service where writing a customer named like an SQLSTATE raises it, with keyed's DETAIL if a code follows. The
/// error comes from a trigger of the administrator.
async fn with_raising_trigger() -> Service {
    let service = Service::start().await;
    service.session().await.run(
        "create sequence crm.tries; grant usage on sequence crm.tries to public;
         create function crm.raise() returns trigger language plpgsql as $$ begin
           perform nextval('crm.tries');
           raise exception 'the inside of %', new.name using errcode = split_part(new.name, ' ', 1), hint = 'a hint',
             detail = case when new.name like '% %' then json_build_object('code', split_part(new.name, ' ', 2))::text
                           else 'secret detail' end;
         end $$;
         create trigger zz_raise before insert on crm.customers for each row when (new.name is not null)
           execute function crm.raise()",
    ).await;
    service
}

async fn write(service: &Service, name: &str) -> harness::Response {
    service.post("/entities/template/customers", json!({"attributes": {"name": name}})).await
}

/// It ends an idle session, so no statement can raise it.
const OF_IDLE_SESSIONS: (&str, Code) = ("57P05", Code::Unavailable);

/// The expectations in the table above are written by hand. This test checks that the table is complete.
#[test]
fn every_sqlstate_has_a_test() {
    let (idle, code) = OF_IDLE_SESSIONS;
    assert_eq!(Code::of_sqlstate(idle), code);
    let is_tested = |state: &str| {
        let mut tested = TABLE.iter().map(|(tested, ..)| *tested).chain([idle]);
        tested.any(|tested| tested == state || state.len() == 2 && tested.starts_with(state))
    };
    let untested: Vec<&str> =
        keyed_errors::POSTGRES.iter().map(|(state, _)| *state).filter(|state| !is_tested(state)).collect();
    assert!(untested.is_empty(), "add to TABLE: {untested:?}");
}

#[tokio::test]
async fn every_sqlstate_has_its_status_and_code() {
    let service = with_raising_trigger().await;
    for (state, status, code, retryable) in TABLE {
        let response = write(&service, state).await;
        let retry_after = response.header("retry-after").to_owned();
        let challenge = response.header("www-authenticate").to_owned();
        assert_eq!(
            retry_after.parse::<u32>().is_ok(),
            retryable,
            "{state}: Retry-After {retry_after:?} {}",
            response.text
        );
        assert_eq!(challenge.contains("invalid_token"), status == 401, "{state}: {challenge:?}");
        assert_eq!(challenge.contains("insufficient_scope"), code == "forbidden", "{state}: {challenge:?}");
        assert!(!response.text.contains("secret detail"), "{state}:");
        let body = response.expect_error(status, code);
        assert_eq!(body["retryable"], retryable, "{state}");
        assert_eq!(body["type"], format!("urn:problem-type:keyed:{code}"), "{state}");
    }
    service.create(json!({})).await;
}

#[tokio::test]
async fn every_code_that_the_extension_raises_has_its_status() {
    let service = with_raising_trigger().await;
    let mut count = 0;
    for code in Code::ALL {
        let Some(sqlstate) = code.sqlstate() else { continue };
        count += 1;
        let response = write(&service, &format!("{sqlstate} {}", code.name())).await;
        assert_eq!(response.header("retry-after").parse::<u32>().is_ok(), code.is_retryable(), "{code:?}");
        let body = response.expect_error(code.status(), code.name());
        assert_eq!(body["retryable"], code.is_retryable(), "{code:?}");
        assert_eq!(body["title"], keyed_errors::title(code.name()), "{code:?}");
    }
    assert!(count > 20, "{count}");
}

#[tokio::test]
async fn internal_error_shows_only_its_instance() {
    let service = with_raising_trigger().await;
    for state in ["XX000", "22012", "40001", "57014"] {
        let body = write(&service, state).await.body;
        let text = body.to_string();
        assert!(!text.contains("the inside of") && !text.contains("a hint"), "{text}");
        let instance =
            body["instance"].as_str().and_then(|it| it.strip_prefix("urn:uuid:")).expect("an instance");
        let log = service.proxy.whole_log().await;
        let line = log
            .lines()
            .find(|line| line.contains(instance))
            .unwrap_or_else(|| panic!("no {instance} in {log}"));
        assert!(line.contains(&format!("the inside of {state}")), "{line}");
    }
}

#[tokio::test]
async fn serialization_failure_is_retried_up_to_three_times() {
    let service = with_raising_trigger().await;
    let session = service.session().await;
    for (state, expected) in
        [("40001", 3), ("40P01", 3), ("55P03", 1), ("23505", 1), ("57P01", 1), ("XX000", 1)]
    {
        session.run("select setval('crm.tries', 1, false)").await;
        write(&service, state).await;
        let count = session.text("select nextval('crm.tries') - 1", &[]).await;
        assert_eq!(count, expected.to_string(), "{state}");
    }
}

#[tokio::test]
async fn slow_statement_is_canceled_with_504() {
    let service = Service::start_with(&[("KEYED_STATEMENT_TIMEOUT", "1")]).await;
    let session = service.session().await;
    session.run(
        "create function crm.sleep() returns trigger language plpgsql as $$ begin perform pg_sleep(600); return new; end $$;
         create trigger zz_sleep before insert on crm.customers for each row when (new.name = 'slow') execute function crm.sleep()",
    ).await;
    let body = write(&service, "slow").await.expect_error(504, "timeout");
    assert_eq!(body["retryable"], true);
    let running = "select count(*) from pg_stat_activity
                   where usename = 'keyed_proxy' and state <> 'idle' and datname = current_database()";
    session.until(running, "0").await;
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "0");
}

#[tokio::test]
async fn lock_timeout_is_503() {
    let service = Service::start_with(&[("KEYED_STATEMENT_TIMEOUT", "3")]).await;
    service.upsert("A-1", json!({"name": "Ada"})).await.expect(201);
    let session = service.session().await;
    session.run("begin; update crm.customers set name = 'Bea'").await;
    let response = service.upsert("A-1", json!({"name": "Cleo"})).await;
    assert!(["1", "2", "3"].contains(&response.header("retry-after")));
    response.expect_error(503, "unavailable");
    session.run("rollback").await;
    service.upsert("A-1", json!({"name": "Cleo"})).await.expect(200);
}

#[tokio::test]
async fn callers_beyond_the_pool_wait_or_get_503() {
    let service = Service::start_with(&[
        ("KEYED_POOL_SIZE", "1"),
        ("KEYED_POOL_WAIT", "2"),
        ("KEYED_STATEMENT_TIMEOUT", "25"),
    ])
    .await;
    service.upsert("A-1", json!({"name": "Ada"})).await.expect(201);
    let session = service.session().await;
    session.run("begin; update crm.customers set name = 'Bea'").await;
    let waiting = service.proxy.request("PUT", "/v1/entities/template/customers/by-key");
    let waiting =
        tokio::spawn(waiting.json(&json!({"external_key": "A-1", "attributes": {"name": "Cleo"}})).send());
    service.session().await.until_blocked(1).await;
    let response = service.by_key("A-1").await;
    assert!(["1", "2", "3"].contains(&response.header("retry-after")));
    response.expect_error(503, "unavailable");
    session.run("commit").await;
    waiting.await.expect("the request ends").expect(200);
    assert_eq!(service.by_key("A-1").await.expect(200)["attributes"]["name"], json!("Cleo"));
    assert_ne!(service.by_key("A-1").await.expect(200)["id"], Value::Null);
}
