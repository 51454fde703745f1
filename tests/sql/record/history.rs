//! The history of a record.

use harness::{Database, Session, id_of};
use serde_json::{Value, json};

async fn with_record() -> (Database, Session, Value) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let create =
        "select keyed.create_record('crm.customers', '{\"name\": \"Ada\", \"visits\": 1.10}', 'A-1')";
    let record = session.json(create, &[]).await;
    (database, session, record)
}

async fn page(session: &Session, id: &str, size: &str, cursor: &Value) -> Value {
    match cursor.as_str() {
        Some(cursor) => session.json("select keyed.history_page($1, $2, $3)", &[id, size, cursor]).await,
        None => session.json("select keyed.history_page($1, $2)", &[id, size]).await,
    }
}

async fn latest(session: &Session, record: &Value) -> Value {
    page(session, id_of(record), "1", &Value::Null).await["history"][0].clone()
}

#[tokio::test]
async fn history_has_old_and_new_values_of_every_change() {
    let (_database, session, record) = with_record().await;
    let id = id_of(&record);
    let statements = [
        (
            r#"select keyed.patch_record($1, '{"attributes": {"visits": {"$inc": 1}, "tags": ["x"]}}')"#,
            "update",
        ),
        (
            r#"select keyed.patch_record($1, '{"external_key": "A-2", "attributes": {"name": null}}')"#,
            "update",
        ),
        (
            r#"select keyed.replace_attributes($1, '{"born": "1815-12-10", "seen": "2024-02-29T12:00:00+01:00"}')"#,
            "update",
        ),
        (r#"select keyed.upsert_by_key('crm.customers', 'A-2', '{"tier": "gold"}')"#, "update"),
        ("select keyed.delete_record($1)", "delete"),
        (r#"select keyed.restore_record($1, '{"external_key": null}')"#, "restore"),
    ];
    let changes = [
        json!({"visits": {"old": 1.10, "new": 2.10}, "tags": {"old": null, "new": ["x"]}}),
        json!({"external_key": {"old": "A-1", "new": "A-2"}, "name": {"old": "Ada", "new": null}}),
        json!({"visits": {"old": 2.10, "new": null}, "tags": {"old": ["x"], "new": null},
               "born": {"old": null, "new": "1815-12-10"}, "seen": {"old": null, "new": "2024-02-29T11:00:00Z"}}),
        json!({"tier": {"old": null, "new": ["gold"]}}),
        json!({}),
        json!({"external_key": {"old": "A-2", "new": null}}),
    ];
    let first = latest(&session, &record).await;
    assert_eq!((&first["operation"], &first["version"]), (&json!("create"), &json!(1)));
    assert_eq!(
        first["changes"],
        json!({"name": {"old": null, "new": "Ada"}, "visits": {"old": null, "new": 1.10}})
    );
    let keys = [json!("A-1"), json!("A-2"), json!("A-2"), json!("A-2"), json!("A-2"), Value::Null];
    for (number, (statement, operation)) in statements.iter().enumerate() {
        session.rows(statement, &[id]).await;
        let entry = latest(&session, &record).await;
        assert_eq!(entry["version"], number + 2);
        assert_eq!(
            (&entry["operation"], &entry["changes"]),
            (&json!(operation), &changes[number]),
            "{statement}"
        );
        assert_eq!(entry["external_key"], keys[number], "{statement}");
        assert_eq!((&entry["actor"], &entry["source"]), (&json!("postgres"), &json!("sql")));
        assert!(entry["at"].as_str().is_some_and(|at| at.ends_with('Z')));
    }
}

#[tokio::test]
async fn history_is_read_newest_first_in_pages_that_neither_skip_nor_repeat() {
    let (_database, session, record) = with_record().await;
    for _ in 0..24 {
        session
            .rows(
                r#"select keyed.patch_record($1, '{"attributes": {"visits": {"$inc": 1}}}')"#,
                &[id_of(&record)],
            )
            .await;
    }
    for (size, sizes) in [("10", vec![10, 10, 5]), ("5", vec![5; 5]), ("25", vec![25]), ("1000", vec![25])] {
        let (mut versions, mut seen, mut cursor) = (Vec::new(), Vec::new(), Value::Null);
        loop {
            let page = page(&session, id_of(&record), size, &cursor).await;
            let entries = page["history"].as_array().expect("entries");
            seen.push(entries.len());
            versions.extend(entries.iter().map(|entry| entry["version"].as_i64().expect("a number")));
            // Concurrent changes are newer than all remaining pages.
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(seen, sizes);
        assert_eq!(versions, (1..=25).rev().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn invalid_limit_or_cursor_is_rejected() {
    let (_database, session, record) = with_record().await;
    for size in ["0", "-1", "1001", "2147483647"] {
        let error = session.error("select keyed.history_page($1, $2)", &[id_of(&record), size]).await;
        assert_eq!(error.codes(), ("22023", "invalid_value"), "{size}");
    }
    for cursor in ["", "v", "1", "vx", "v99999999999", "v1 ", "'; drop table x; --"] {
        let error = session.error("select keyed.history_page($1, 10, $2)", &[id_of(&record), cursor]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/cursor"]),
            "{cursor:?}"
        );
    }
}

#[tokio::test]
async fn history_rows_equal_history_json() {
    let (_database, session, record) = with_record().await;
    session.rows(r#"select keyed.patch_record($1, '{"external_key": null}')"#, &[id_of(&record)]).await;
    let rows = "select jsonb_agg(to_jsonb(h) - 'at') from keyed.history($1) h";
    let mut page = page(&session, id_of(&record), "100", &Value::Null).await["history"].take();
    page.as_array_mut().into_iter().flatten().for_each(|entry| {
        entry.as_object_mut().map(|entry| entry.remove("at"));
    });
    assert_eq!(session.json(rows, &[id_of(&record)]).await, page);
}

#[tokio::test]
async fn history_has_the_effective_role_and_the_login() {
    let (database, session, record) = with_record().await;
    let (person, team) = (database.create_role("person").await, database.create_role("team").await);
    session.run(&format!("grant {team} to {person}")).await;
    database.grant(&team, "crm.customers", "read, update").await;
    let person_session = database.session_as(&person).await;
    person_session.run(&format!("set role {team}")).await;
    person_session
        .rows(r#"select keyed.patch_record($1, '{"attributes": {"name": "Bea"}}')"#, &[id_of(&record)])
        .await;
    person_session.rows("update crm.customers set name = 'Cleo' where id = $1", &[id_of(&record)]).await;
    person_session.run("reset role").await;
    person_session.rows("update crm.customers set name = 'Dora' where id = $1", &[id_of(&record)]).await;
    let actors = "select string_agg(actor || ' ' || source, ', ' order by version) from keyed.history($1) where version > 1";
    assert_eq!(
        session.text(actors, &[id_of(&record)]).await,
        format!("{team} (login {person}) sql, {team} (login {person}) sql, {person} sql")
    );
}

#[tokio::test]
async fn rollback_leaves_no_history() {
    let (_database, session, record) = with_record().await;
    session.run("begin").await;
    session
        .rows(r#"select keyed.patch_record($1, '{"attributes": {"name": "Bea"}}')"#, &[id_of(&record)])
        .await;
    session.run("savepoint one").await;
    session.rows("select keyed.delete_record($1)", &[id_of(&record)]).await;
    session.run("rollback to one; rollback").await;
    assert_eq!(session.text("select count(*) from keyed.history($1)", &[id_of(&record)]).await, "1");
}

#[tokio::test]
async fn many_changes_in_one_transaction_are_separate_history_entries() {
    let (_database, session, record) = with_record().await;
    session.run("begin").await;
    for name in ["Bea", "Cleo", "Dora"] {
        let body = json!({"attributes": {"name": name}}).to_string();
        session.rows("select keyed.patch_record($1, $2)", &[id_of(&record), &body]).await;
    }
    session.run("commit").await;
    let story = "select string_agg(version || ' ' || (changes #>> '{name,new}'), ', ' order by version) from keyed.history($1)";
    assert_eq!(session.text(story, &[id_of(&record)]).await, "1 Ada, 2 Bea, 3 Cleo, 4 Dora");
}

#[tokio::test]
async fn only_a_superuser_can_rewrite_history() {
    let (database, session, _) = with_record().await;
    let role = database.create_role("admin").await;
    session.run(&format!("grant keyed_admin to {role}")).await;
    let table = session
        .text("select 'keyed_state.history_' || id from keyed_state.template where slug = 'customers'", &[])
        .await;
    let admin = database.session_as(&role).await;
    admin.run(&format!("select from {table}")).await;
    for statement in [
        "delete from {}",
        "update {} set actor = 'x'",
        "truncate {}",
        "insert into {} select * from {}",
        "drop table {}",
    ] {
        let error = admin.error(&statement.replace("{}", &table), &[]).await;
        assert_eq!(error.state, "42501", "{statement}");
    }
}

#[tokio::test]
async fn user_trigger_that_writes_another_template_loses_no_history_entry() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session
        .run(
            "insert into crm.companies (external_key, name) values ('C', '0');
             create function public.count_customers() returns trigger language plpgsql as $$
             begin update crm.companies set name = (name::int + 1)::text where external_key = 'C'; return null; end $$;
             create trigger zz_count after insert on crm.customers for each row execute function public.count_customers();
             insert into crm.customers (external_key) select 'k' || n from generate_series(1, 1100) n",
        )
        .await;
    let entries = "select (select count(*) from crm.customers c, keyed.history(c.id)) || ' ' ||
                   (select count(*) from crm.companies c, keyed.history(c.id))";
    assert_eq!(session.text(entries, &[]).await, "1100 1101");
}

#[tokio::test]
async fn page_of_long_text_ends_early_and_continues() {
    let (_database, session, record) = with_record().await;
    let id = id_of(&record);
    let change = "select keyed.patch_record($1, jsonb_build_object('attributes', jsonb_build_object('name', repeat($2, 1000000))))";
    for letter in ["b", "c", "d", "e", "f", "g", "h", "i"] {
        session.json(change, &[id, letter]).await;
    }
    let (mut seen, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    while pages == 0 || !cursor.is_null() {
        let page = page(&session, id, "1000", &cursor).await;
        pages += 1;
        seen.extend(page["history"].as_array().expect("entries").iter().map(|it| it["version"].as_i64()));
        cursor = page["next_cursor"].clone();
    }
    assert!(pages > 1);
    assert_eq!(seen, (1..=9).rev().map(Some).collect::<Vec<_>>());
    assert_eq!(session.text("select count(*) from keyed.history($1)", &[id]).await, "9");
}
