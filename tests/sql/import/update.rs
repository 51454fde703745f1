//! Imports that only change records: `mode=update`.

use super::{counts, import, number, problems};
use harness::{Database, Session};
use serde_json::{Value, json};

async fn customers(session: &Session, header: &[&str], rows: &str) -> Value {
    import(session, "customers", &json!({"mode": "update"}), header, rows).await
}

/// The keys, names and visits of all customers.
async fn all(session: &Session) -> String {
    let sql = "select coalesce(string_agg(concat_ws('=', external_key, name, visits), ' ' order by external_key, name), '') \
               from crm.customers where deleted_at is null";
    session.text(sql, &[]).await
}

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for key in ["a", "b", "gone"] {
        session.rows("select keyed.upsert_by_key('crm.customers', $1, '{\"visits\": 1}')", &[key]).await;
    }
    session.run("select keyed.delete_record(id) from crm.customers where external_key = 'gone'").await;
    (database, session)
}

#[tokio::test]
async fn update_rejects_rows_without_a_record() {
    let (_database, session) = crm().await;
    let report =
        customers(&session, &["external_key", "name"], "a,Ada\nn,New\ngone,Gone\nb,Bob\nn,Again\na,Ann\n")
            .await;
    let mut found = problems(&report);
    found.sort_by_key(|it| it[0].as_u64());
    let missing = |row: u64| json!([row, "external_key", "not_found"]);
    assert_eq!((counts(&report), found), ([0, 3, 0], vec![missing(1), missing(2), missing(4)]), "{report}");
    assert_eq!(
        report["errors"][0]["message"],
        "no record of crm.customers has the key \"n\". Correct the key, or import it without mode=update to create the \
         record."
    );
    assert_eq!(all(&session).await, "a=Ann=1 b=Bob=1");
    let again = customers(&session, &["external_key", "name"], "a,Ann\nb,Bob\n").await;
    assert_eq!(counts(&again), [0, 0, 2], "{again}");
}

#[tokio::test]
async fn update_applies_points_and_increments_to_existing_records() {
    let (_database, session) = crm().await;
    let report = customers(&session, &["external_key", "mood"], "a,1\nn,2\n").await;
    assert_eq!(
        (counts(&report), problems(&report)),
        ([0, 1, 0], vec![json!([1, "external_key", "not_found"])])
    );
    let rows = "{\"external_key\":\"b\",\"attributes\":{\"visits\":{\"$inc\":4}}}\n\
                {\"external_key\":\"n\",\"attributes\":{\"visits\":{\"$inc\":4}}}\n\
                {\"attributes\":{\"visits\":1}}\n";
    let options = json!({"format": "ndjson", "mode": "update", "is_last": true}).to_string();
    let template = number(&session, "customers").await;
    let report =
        session.json("select keyed_http.import_rows($1, $2, $3)", &[&template, &options, rows]).await;
    let mut found = problems(&report);
    found.sort_by_key(|it| it[0].as_u64());
    let expected =
        [json!([1, "external_key", "not_found"]), json!([2, "external_key", "invalid_external_key"])];
    assert_eq!((counts(&report), found), ([0, 1, 0], expected.to_vec()), "{report}");
    assert_eq!(all(&session).await, "a=1 b=5");
}

#[tokio::test]
async fn update_identifies_records_by_id_or_key() {
    let (_database, session) = crm().await;
    let id = session.text("select id::text from crm.customers where external_key = 'a'", &[]).await;
    let other = session.text("select id::text from crm.customers where deleted_at is not null", &[]).await;
    let report = customers(&session, &["id", "name"], &format!("{id},Ada\n{other},Gone\n,None\n")).await;
    assert_eq!((counts(&report), problems(&report).len()), ([0, 1, 0], 2), "{report}");
    assert_eq!(all(&session).await, "a=Ada=1 b=1");
    let options = json!({"format": "csv", "header": ["name"], "mode": "update"}).to_string();
    let template = number(&session, "customers").await;
    let error = session.error("select keyed_http.import_rows($1, $2, '')", &[&template, &options]).await;
    assert_eq!(error.codes(), ("22023", "invalid_value"), "{error}");
    assert!(error.hint.contains("key_column=Column"), "{error}");
    for mode in ["create", "Update", ""] {
        let options = json!({"format": "csv", "header": ["external_key"], "mode": mode}).to_string();
        let error = session.error("select keyed_http.import_rows($1, $2, '')", &[&template, &options]).await;
        assert_eq!(
            (error.codes().1, &error.detail["errors"][0]["pointer"]),
            ("invalid_value", &json!("/mode"))
        );
    }
}

#[tokio::test]
async fn update_needs_only_the_update_privilege() {
    let (database, session) = crm().await;
    let role = database.create_role("clerk").await;
    let scope = json!({"field": "external_key", "operator": "eq", "value": "a"});
    database.grant_within(&role, "crm.customers", "read, update", &scope).await;
    let clerk = database.session_as(&role).await;
    let template = number(&session, "customers").await;
    let sql = "select keyed_http.import_rows($1, $2, $3)";
    for (header, rows) in [("name", "a,Ada\nb,Bob\nn,New\n"), ("mood", "a,1\nb,1\nn,1\n")] {
        let options =
            json!({"format": "csv", "header": ["external_key", header], "mode": "update", "is_last": true});
        let report = clerk.json(sql, &[&template, &options.to_string(), rows]).await;
        let mut errors: Vec<Value> = report["errors"].as_array().expect("errors").clone();
        errors.sort_by_key(|it| it["row"].as_u64());
        let shown = |error: &Value, key: &str| {
            let message = error["message"].as_str().unwrap_or_default().replace(key, "…");
            (error["code"].clone(), error["column"].clone(), message)
        };
        assert_eq!((counts(&report), errors.len()), ([0, 1, 0], 2), "{report}");
        assert_eq!(shown(&errors[0], "\"b\""), shown(&errors[1], "\"n\""), "{report}");
    }
    let options = json!({"format": "csv", "header": ["external_key", "name"]}).to_string();
    let error = clerk.error(sql, &[&template, &options, "a,Ada\n"]).await;
    assert_eq!(error.codes(), ("42501", "forbidden"), "{error}");
    assert_eq!(all(&session).await, "a=Ada=1 b=1");
}

#[tokio::test]
async fn row_whose_key_a_trigger_rewrites_ends_within_the_scope() {
    let (database, session) = crm().await;
    let role = database.create_role("clerk").await;
    let scope = json!({"field": "visits", "operator": "lt", "value": 5});
    database.grant_within(&role, "crm.customers", "read, create, update", &scope).await;
    session
        .run(
            "select keyed.upsert_by_key('crm.customers', 'HIDDEN', '{\"visits\": 9}');
             create function public.upper_key() returns trigger language plpgsql as
               'begin new.external_key := upper(new.external_key); return new; end';
             create trigger upper_key before insert on crm.customers for each row execute function public.upper_key()",
        )
        .await;
    let clerk = database.session_as(&role).await;
    let template = number(&session, "customers").await;
    let options = json!({"format": "csv", "header": ["external_key", "visits"], "is_last": true}).to_string();
    let sql = "select keyed_http.import_rows($1, $2, $3)";
    let report = clerk.json(sql, &[&template, &options, "hidden,1\nnew,2\n"]).await;
    assert_eq!(
        (&problems(&report), counts(&report)),
        (&vec![json!([0, null, "invalid_value"])], [1, 0, 0]),
        "{report}"
    );
    let held = "select string_agg(concat_ws('=', external_key, visits), ' ' order by external_key) from crm.customers \
                where lower(external_key) in ('hidden', 'new')";
    assert_eq!(session.text(held, &[]).await, "HIDDEN=9 NEW=2");
}

#[tokio::test]
async fn update_accepts_rows_that_refer_to_each_other() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.create_template('crm', 'staff', '[{\"slug\": \"name\", \"type\": \"string\", \"required\": true}]')").await;
    session
        .run("select keyed.add_attribute('crm.staff', '{\"slug\": \"boss\", \"type\": \"reference\", \"template\": \"staff\"}')")
        .await;
    for key in ["a", "b"] {
        session.rows("select keyed.upsert_by_key('crm.staff', $1, '{\"name\": \"x\"}')", &[key]).await;
    }
    let options = json!({"mode": "update"});
    let report =
        import(&session, "staff", &options, &["external_key", "boss"], "a,b\nb,a\nc,d\nd,c\ne,a\n").await;
    assert_eq!((counts(&report), problems(&report).len()), ([0, 2, 0], 3), "{report}");
    assert_eq!(session.text("select count(*)::text from crm.staff where boss is not null", &[]).await, "2");
    assert_eq!(session.text("select count(*)::text from crm.staff", &[]).await, "2");
}
