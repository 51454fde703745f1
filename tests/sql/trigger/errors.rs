//! A row that a trigger of the administrator rejects, with any custom SQLSTATE, does not affect other rows. Errors that
//! concern the session, the server or other sessions end the whole operation, and so do errors in the trigger's code.

use harness::{Database, Session};
use serde_json::{Value, json};

/// A database with a trigger that rejects customers named like an SQLSTATE, which it raises, or like a bug, which it
/// has.
async fn with_trigger() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "create table public.audit (customer text);
             create function crm.refuse() returns trigger language plpgsql as $$
             declare found text;
             begin
               case new.name
                 when 'strict' then select customer into strict found from pg_catalog.unnest(array[]::text[]) customer;
                 when 'assert' then assert false, 'nobody is called so';
                 when 'denied' then insert into public.audit values (new.name);
                 when 'slow' then perform pg_catalog.pg_sleep(600);
                 when 'again' then
                   begin
                     raise exception 'first' using errcode = '45000';
                   exception when others then
                     raise notice 'raised again';
                     raise;
                   end;
                 else raise exception 'refused with %', new.name using errcode = new.name, hint = 'take another';
               end case;
               return new;
             end $$;
             create trigger zz_refuse before insert on crm.customers for each row
               when (new.name ~ '^[0-9A-Z]{5}$' or new.name in ('strict', 'assert', 'denied', 'slow', 'again'))
               execute function crm.refuse()",
        )
        .await;
    (database, session)
}

/// Names of customers that the trigger rejects, and the resulting error code.
const REJECTED: [(&str, &str); 17] = [
    ("strict", "not_found"),
    ("assert", "invalid_value"),
    ("denied", "forbidden"),
    ("again", "invalid_value"),
    ("P0001", "invalid_value"),
    ("P0002", "not_found"),
    ("P0003", "invalid_value"),
    ("P0004", "invalid_value"),
    ("42501", "forbidden"),
    ("45000", "invalid_value"),
    ("ZZ999", "invalid_value"),
    ("21000", "invalid_value"),
    ("22012", "invalid_value"),
    ("23505", "conflict"),
    ("23503", "reference_not_found"),
    ("54000", "payload_too_large"),
    ("54001", "payload_too_large"),
];

/// Errors that do not concern the row, and errors in the trigger's code, which only its author can fix.
const RAISED: [&str; 18] = [
    "42P01", "42703", "0A000", "2D000", "08006", "25006", "40001", "40P01", "53100", "53200", "53400",
    "55P03", "57014", "57P01", "58030", "72000", "F0000", "XX000",
];

fn upsert(key: &str, name: &str) -> Value {
    json!({"op": "upsert", "template": "crm.customers", "external_key": key, "attributes": {"name": name}})
}

async fn keys(session: &Session) -> String {
    let keys = "select coalesce(string_agg(external_key, ',' order by external_key), '') from crm.customers";
    session.text(keys, &[]).await
}

#[tokio::test]
async fn batch_continues_after_a_custom_trigger_error() {
    let (_database, session) = with_trigger().await;
    for (name, code) in REJECTED {
        let operations = json!([upsert("a", "Ada"), upsert("b", name), upsert("c", "Cleo")]).to_string();
        let report = session.json("select keyed.batch($1)", &[&operations]).await;
        let error = &report["results"][1]["error"];
        assert_eq!(error["code"], code, "{name}: {report}");
        if name.len() == 5 && name.to_uppercase() == name {
            let reported = (&error["detail"], &error["hint"]);
            assert_eq!(
                reported,
                (&json!(format!("refused with {name}")), &json!("take another")),
                "{report}"
            );
        }
        assert_eq!(keys(&session).await, "a,c", "{name}");
        let error = session.error("select keyed.batch($1, true)", &[&operations]).await;
        assert_eq!((error.codes().1, &error.detail["failed_index"]), (code, &json!(1)), "{name}: {error}");
        session.run("delete from crm.customers").await;
    }
}

#[tokio::test]
async fn slow_statement_log_keeps_the_sqlstate_of_a_trigger() {
    let (_database, session) = with_trigger().await;
    session.run("set keyed.log_slow_statements = 0").await;
    for name in ["45000", "again"] {
        let operations = json!([upsert("a", "Ada"), upsert("b", name)]).to_string();
        let report = session.json("select keyed.batch($1)", &[&operations]).await;
        assert_eq!(report["results"][1]["error"]["code"], "invalid_value", "{name}: {report}");
    }
}

#[tokio::test]
async fn import_continues_after_a_custom_trigger_error() {
    let (_database, session) = with_trigger().await;
    for (name, code) in REJECTED {
        let report = import(&session, name).await.expect("a report");
        assert_eq!(report["errors"][0]["code"], code, "{name}: {report}");
        assert_eq!(
            (&report["created"], keys(&session).await.as_str()),
            (&json!(2), "a,c"),
            "{name}: {report}"
        );
        session.run("delete from crm.customers").await;
    }
}

async fn import(session: &Session, name: &str) -> Result<Value, String> {
    let options = json!({"format": "csv", "header": ["external_key", "name"], "delimiter": ","}).to_string();
    let rows = format!("a,Ada\nb,{name}\nc,Cleo\n");
    let import = "select keyed_http.import_rows(t.id::text, $1, $2) from keyed_state.template t where t.slug = 'customers'";
    match session.attempt(import, &[&options, &rows]).await {
        Ok(rows) => Ok(serde_json::from_str(rows[0][0].as_deref().unwrap_or_default()).expect("a report")),
        Err(error) => Err(error.state),
    }
}

const DELIVER: &str = "select (keyed_http.deliver(sha256(convert_to($1, 'UTF8')), null, null, null, $2))[1]";

/// The token of an endpoint that creates one customer per delivery.
async fn endpoint(session: &Session) -> String {
    let definition =
        json!({"slug": "shop", "external_key": "$.id", "signed": false, "mapping": {"name": "$.name"}});
    let create = "select keyed.create_inbound_endpoint('crm.customers', $1) ->> 'token'";
    session.text(create, &[&definition.to_string()]).await
}

#[tokio::test]
async fn delivery_rejected_by_a_trigger_is_stored_with_its_error() {
    let (_database, session) = with_trigger().await;
    let token = endpoint(&session).await;
    for (name, code) in REJECTED {
        let payload = json!({"id": 1, "name": name}).to_string();
        assert_eq!(session.text(DELIVER, &[&token, &payload]).await, "202", "{name}");
        let kept = "select jsonb_build_array(status, payload::jsonb ->> 'name', error ->> 'code') \
                    from keyed_state.inbound_delivery order by id desc limit 1";
        assert_eq!(session.json(kept, &[]).await, json!(["failed", name, code]));
        let sent = json!({"payload": {"id": 1, "name": name}}).to_string();
        let tried = session.json("select keyed.dry_run_inbound(1, $1)", &[&sent]).await;
        assert_eq!(tried["error"]["code"], code, "{name}: {tried}");
    }
    assert_eq!(keys(&session).await, "");
}

#[tokio::test]
async fn server_and_internal_errors_end_batches_imports_and_deliveries() {
    let (_database, session) = with_trigger().await;
    let token = endpoint(&session).await;
    for state in RAISED {
        let operations = json!([upsert("a", "Ada"), upsert("b", state)]).to_string();
        let error = session.error("select keyed.batch($1)", &[&operations]).await;
        assert_eq!(error.state, state, "{error}");
        assert_eq!(import(&session, state).await.expect_err("a refusal"), state);
        let payload = json!({"id": 1, "name": state}).to_string();
        assert_eq!(session.error(DELIVER, &[&token, &payload]).await.state, state);
    }
    session.run("set statement_timeout = '100ms'").await;
    let slow = json!([upsert("a", "Ada"), upsert("b", "slow")]).to_string();
    assert_eq!(session.error("select keyed.batch($1)", &[&slow]).await.state, "57014");
    session.run("reset statement_timeout").await;
    assert_eq!(session.text("select count(*) from keyed_state.inbound_delivery", &[]).await, "0");
    assert_eq!(keys(&session).await, "");
}
