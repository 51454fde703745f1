//! A trigger of the administrator that returns NULL before a row drops the write: every function reports this.

use harness::customers::SERIES;
use harness::{Database, Session, id_of};
use serde_json::{Value, json};

/// A database with a trigger that drops customers named `dropped`, and all writes while `test.drop` is on. The trigger
/// runs before or after those of keyed.
async fn with_trigger(trigger: &str) -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let sql = format!(
        "create function public.drop_row() returns trigger language plpgsql as $$
         begin
           if new.name = 'dropped' or pg_catalog.current_setting('test.drop', true) = 'on' then
             return null;
           end if;
           return new;
         end $$;
         create trigger {trigger} before insert or update on crm.customers for each row
           execute function public.drop_row()"
    );
    session.run(&sql).await;
    (database, session)
}

async fn assert_dropped(session: &Session, statement: &str, arguments: &[&str]) {
    let error = session.error(statement, arguments).await;
    assert_eq!(error.codes(), ("22023", "invalid_value"), "{statement}: {error}");
    assert_eq!(error.message, "a trigger of crm.customers dropped the write", "{statement}");
    assert!(error.hint.starts_with("A BEFORE ROW trigger returned NULL."), "{statement}: {error}");
}

async fn names(session: &Session) -> String {
    let names = "select coalesce(string_agg(concat(external_key, '=', name), ',' order by external_key), '') \
                 from crm.customers where deleted_at is null";
    session.text(names, &[]).await
}

#[tokio::test]
async fn dropped_write_of_one_record_is_rejected() {
    for trigger in ["aa_drop", "zz_drop"] {
        let (_database, session) = with_trigger(trigger).await;
        let made = session
            .json("select keyed.create_record('crm.customers', '{\"name\": \"Ada\"}', 'A-1')", &[])
            .await;
        let gone = session.json("select keyed.create_record('crm.customers', '{}', 'A-2')", &[]).await;
        session.rows("select keyed.delete_record($1)", &[id_of(&gone)]).await;
        session.run("set test.drop = 'on'").await;
        for statement in [
            "select keyed.create_record('crm.customers')",
            "select keyed.create_record('crm.customers', '{\"name\": \"Eve\"}', 'N-1')",
            "select keyed.upsert_by_key('crm.customers', 'N-1')",
            "select keyed.upsert_by_key('crm.customers', 'N-1', '{\"name\": \"Eve\"}')",
            "select keyed.upsert_by_key('crm.customers', 'N-1', '{\"mood\": 5}')",
            "select keyed.upsert_by_key('crm.customers', 'N-1', '{\"visits\": {\"$inc\": 1}}')",
            "select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Eve\"}')",
            "select keyed.upsert_by_key('crm.customers', 'A-1', '{\"mood\": 5}')",
            "select keyed.upsert_by_key('crm.customers', 'A-1', '{\"visits\": {\"$inc\": 1}}')",
            "select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Eve\"}', '*')",
            "select keyed.upsert_by_key('crm.customers', 'N-1', '{\"name\": \"Eve\"}', null, '*')",
        ] {
            assert_dropped(&session, statement, &[]).await;
        }
        for statement in [
            "select keyed.patch_record($1, '{\"attributes\": {\"name\": \"Eve\"}}')",
            "select keyed.patch_record($1, '{\"attributes\": {\"mood\": 5}}')",
            "select keyed.patch_record($1, '{\"external_key\": \"A-9\"}')",
            "select keyed.patch_record($1, '{\"external_key\": null, \"attributes\": {\"name\": \"Ada\"}}')",
            "select keyed.replace_attributes($1, '{\"name\": \"Eve\"}')",
            "select keyed.delete_record($1)",
        ] {
            assert_dropped(&session, statement, &[id_of(&made)]).await;
        }
        assert_dropped(&session, "select keyed.restore_record($1)", &[id_of(&gone)]).await;
        // An equal value needs no write, and a key conflict stays a key conflict.
        session.run("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Ada\"}')").await;
        session.run("select keyed.upsert_by_key('crm.customers', 'A-1')").await;
        session
            .rows("select keyed.patch_record($1, '{\"attributes\": {\"name\": \"Ada\"}}')", &[id_of(&made)])
            .await;
        let taken = session.error("select keyed.create_record('crm.customers', '{}', 'A-1')", &[]).await;
        assert_eq!(taken.codes(), ("23505", "external_key_taken"));
        assert_eq!(names(&session).await, "A-1=Ada");
        session.run("reset test.drop").await;
        session.run("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"name\": \"Eve\"}')").await;
        assert_eq!(names(&session).await, "A-1=Eve");
    }
}

fn upsert(key: &str, name: &str) -> Value {
    json!({"op": "upsert", "template": "crm.customers", "external_key": key, "attributes": {"name": name}})
}

#[tokio::test]
async fn dropped_operation_of_a_batch_does_not_affect_others() {
    let (_database, session) = with_trigger("zz_drop").await;
    session.run("select keyed.upsert_by_key('crm.customers', 'd', '{\"name\": \"Dan\"}')").await;
    session.run("select keyed.upsert_by_key('crm.customers', 'e', '{\"name\": \"Eve\"}')").await;
    let create = json!({"op": "create", "template": "crm.customers", "attributes": {"name": "dropped"}});
    let operations = json!([
        upsert("a", "Ada"),
        upsert("b", "dropped"),
        upsert("c", "Cleo"),
        upsert("d", "dropped"),
        upsert("e", "Eve"),
        create,
        json!({"op": "create", "template": "crm.customers", "external_key": "f", "attributes": {"name": "dropped"}}),
    ]);
    let report = session.json("select keyed.batch($1)", &[&operations.to_string()]).await;
    for (position, result) in report["results"].as_array().expect("results").iter().enumerate() {
        let expected = if [1, 3, 5, 6].contains(&position) { json!("invalid_value") } else { Value::Null };
        assert_eq!(result["error"]["code"], expected, "{position}: {report}");
    }
    let detail = report["results"][3]["error"]["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("a trigger of crm.customers dropped the write"), "{report}");
    assert_eq!(names(&session).await, "a=Ada,c=Cleo,d=Dan,e=Eve");
    let atomic = json!([upsert("a", "Abe"), upsert("d", "dropped")]).to_string();
    let error = session.error("select keyed.batch($1, true)", &[&atomic]).await;
    assert_eq!((error.codes().1, &error.detail["failed_index"]), ("invalid_value", &json!(1)), "{error}");
    assert_eq!(names(&session).await, "a=Ada,c=Cleo,d=Dan,e=Eve");
}

async fn import(session: &Session, header: [&str; 2], rows: &str) -> Value {
    let options = json!({"format": "csv", "header": header, "delimiter": ","}).to_string();
    let sql = "select keyed_http.import_rows(t.id::text, $1, $2) from keyed_state.template t where t.slug = 'customers'";
    session.json(sql, &[&options, rows]).await
}

#[tokio::test]
async fn dropped_row_of_an_import_does_not_affect_others() {
    let (_database, session) = with_trigger("zz_drop").await;
    let dan =
        session.json("select keyed.create_record('crm.customers', '{\"name\": \"Dan\"}', 'd')", &[]).await;
    let eve =
        session.json("select keyed.create_record('crm.customers', '{\"name\": \"Eve\"}', 'e')", &[]).await;
    let report =
        import(&session, ["external_key", "name"], "a,Ada\nb,dropped\nc,Cleo\nd,dropped\ne,Eve\n").await;
    let counts = ["created", "updated", "unchanged"].map(|name| report[name].clone());
    assert_eq!(counts, [json!(2), json!(0), json!(1)], "{report}");
    let errors = report["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 2, "{report}");
    assert!(errors.iter().all(|error| error["code"] == "invalid_value"), "{report}");
    let (dan, eve) = (id_of(&dan), id_of(&eve));
    let report = import(&session, ["id", "name"], &format!("{dan},dropped\n{eve},Eva\n")).await;
    assert_eq!(
        (&report["updated"], report["errors"].as_array().map(Vec::len)),
        (&json!(1), Some(1)),
        "{report}"
    );
    assert_eq!(names(&session).await, "a=Ada,c=Cleo,d=Dan,e=Eva");
}

#[tokio::test]
async fn trigger_that_suppresses_updates_without_a_change_drops_no_point() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "create trigger z_min_update before update on crm.customers for each row
               execute function suppress_redundant_updates_trigger()",
        )
        .await;
    let made = session
        .json("select keyed.create_record('crm.customers', '{\"name\": \"Ada\", \"visits\": 1, \"mood\": {\"value\": 4, \"at\": \"2024-05-01T00:00:00Z\"}}', 'A-1')", &[])
        .await;
    let older = |day: u32| format!("{{\"mood\": {{\"value\": 2, \"at\": \"2024-04-0{day}T00:00:00Z\"}}}}");
    session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&older(1)]).await;
    let patch = format!("{{\"attributes\": {}}}", older(2));
    session.rows("select keyed.patch_record($1, $2)", &[id_of(&made), &patch]).await;
    session.run("select keyed.upsert_by_key('crm.customers', 'A-1', '{\"visits\": {\"$inc\": 0}}')").await;
    let points = format!("select count(*) from {SERIES}");
    assert_eq!(session.text(&points, &[]).await, "3");
    let values = "select concat_ws(' ', visits, mood) from crm.customers";
    assert_eq!(session.text(values, &[]).await, "1 4");
}

#[tokio::test]
async fn trigger_that_normalizes_values_drops_nothing() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "create function public.shout() returns trigger language plpgsql as $$
             begin new.name := pg_catalog.upper(new.name); return new; end $$;
             create trigger shout before insert or update on crm.customers for each row
               execute function public.shout()",
        )
        .await;
    let batch = |names: [&str; 2]| {
        json!([upsert("a", names[0]), upsert("b", names[1]), upsert("c", "cleo")]).to_string()
    };
    for names in [["ada", "bob"], ["ada", "bob"], ["ann", "bob"]] {
        let report = session.json("select keyed.batch($1)", &[&batch(names)]).await;
        assert_eq!(report["errors"], false, "{report}");
    }
    assert_eq!(names(&session).await, "a=ANN,b=BOB,c=CLEO");
}
