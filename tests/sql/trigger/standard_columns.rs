//! id, created_at, updated_at and deleted_at of rows inserted by direct SQL, and invalid rows.

use harness::{Database, Session};
use serde_json::{Value, json};

/// A session of a role with all privileges on customers.
async fn clerk() -> (Database, Session) {
    let database = Database::with_crm().await;
    let role = database.create_role("clerk").await;
    database.grant(&role, "crm", "read, create, update, delete").await;
    let session = database.session_as(&role).await;
    (database, session)
}

/// Inserts rows that the triggers would reject.
async fn smuggle(session: &Session, statements: &str) {
    let smuggled =
        format!("set session_replication_role = replica; {statements}; reset session_replication_role");
    session.run(&smuggled).await;
}

/// The keys on all pages of a search, one record each.
async fn read_pages(session: &Session, sort: &str) -> String {
    let (mut collected, mut cursor) = (Vec::new(), Value::Null);
    for _ in 0..20 {
        let query = json!({"sort": sort, "limit": 1, "cursor": cursor}).to_string();
        let page = session.json("select keyed.search('crm.customers', $1)", &[&query]).await;
        collected.push(page["records"][0]["external_key"].as_str().unwrap_or_default().to_owned());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return collected.join(" ");
        }
    }
    panic!("pagination by {sort} does not end: {collected:?}");
}

#[tokio::test]
async fn nulls_of_an_insert_get_defaults() {
    let (_database, session) = clerk().await;
    session
        .run(
            "insert into crm.customers (id, external_key, created_at, updated_at, deleted_at) \
             values (null, 'A-1', null, null, null), (default, 'A-2', now(), default, null)",
        )
        .await;
    let filled = "select count(distinct id), bool_and(created_at = updated_at and now() - created_at < '1 minute') \
                  from crm.customers where keyed.get_record(id) is not null";
    assert_eq!(session.rows(filled, &[]).await, [[Some("2".to_owned()), Some("t".to_owned())]]);
}

#[tokio::test]
async fn insert_cannot_set_id_or_times() {
    let (database, session) = clerk().await;
    let other = database.session().await;
    let made_elsewhere = other.text("select keyed.new_id(2)", &[]).await;
    other.rows("insert into crm.customers (id) values ($1)", &[&made_elsewhere]).await;
    let far_away = "ffffffff-ffff-8fff-8000-008fffffffff";
    for (column, value) in [
        ("id", made_elsewhere.as_str()),
        ("id", far_away),
        ("created_at", "infinity"),
        ("created_at", "2020-01-01Z"),
        ("updated_at", "2099-01-01Z"),
        ("deleted_at", "now"),
        ("deleted_at", "2020-01-01Z"),
    ] {
        let insert = format!("insert into crm.customers ({column}) values ($1)");
        let error = session.error(&insert, &[value]).await;
        let pointer = format!("/{column}");
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec![pointer.as_str()]),
            "{value}"
        );
        assert!(error.hint.contains(&format!("Omit {column}")), "{column}: {}", error.hint);
    }
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "1", "nothing was written");
}

#[tokio::test]
async fn client_time_is_replaced_by_the_transaction_time() {
    let (database, session) = clerk().await;
    // As Django, Prisma and others write: with their own times, in milliseconds.
    session
        .run(
            "insert into crm.customers (external_key, created_at, updated_at) values \
             ('near', now() - interval '7 milliseconds', date_trunc('milliseconds', now())), \
             ('before', now() - interval '60 seconds', null), ('after', default, now() + interval '60 seconds')",
        )
        .await;
    let same = "select count(distinct (created_at, updated_at)), bool_and(created_at = updated_at) from crm.customers";
    assert_eq!(session.rows(same, &[]).await, [[Some("1".to_owned()), Some("t".to_owned())]]);
    for (column, time) in [
        ("created_at", "now() - interval '60.000001 seconds'"),
        ("created_at", "now() + interval '61 seconds'"),
        ("updated_at", "now() + interval '60.000001 seconds'"),
        ("updated_at", "'-infinity'"),
    ] {
        let error =
            session.error(&format!("insert into crm.customers ({column}) values ({time})"), &[]).await;
        let pointer = format!("/{column}");
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec![pointer.as_str()]),
            "{time}"
        );
    }
    // A role that can set times keeps the given time.
    let owner = database.session().await;
    owner.run("insert into crm.customers (external_key, created_at) values ('kept', now() - interval '7 seconds')").await;
    let kept = "select created_at = updated_at - interval '7 seconds' from crm.customers where external_key = 'kept'";
    assert_eq!(owner.text(kept, &[]).await, "t");
}

#[tokio::test]
async fn one_statement_uses_many_default_ids() {
    let (_database, session) = clerk().await;
    session
        .run("insert into crm.customers (external_key) select 'K-' || n from generate_series(1, 20000) n order by 1 desc")
        .await;
    assert_eq!(session.text("select count(*) from crm.customers", &[]).await, "20000");
}

#[tokio::test]
async fn superuser_restores_only_representable_rows() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    for column in ["created_at", "updated_at", "deleted_at"] {
        for time in ["infinity", "-infinity", "4000-01-01 BC", "10000-01-01Z"] {
            let insert = format!("insert into crm.customers ({column}) values ($1)");
            let error = session.error(&insert, &[time]).await;
            let pointer = format!("/{column}");
            let expected = (("22023", "invalid_value"), vec![pointer.as_str()]);
            assert_eq!((error.codes(), error.pointers()), expected, "{time}");
        }
    }
    session
        .run(
            "insert into crm.customers (external_key, created_at, updated_at, deleted_at) values \
             ('A-1', '0001-01-01Z', '9999-12-31 23:59:59.999999Z', null), ('A-2', '2000-01-01Z', '2001-01-01Z', '2002-01-01Z')",
        )
        .await;
    let record = session.json("select keyed.get_by_key('crm.customers', 'A-1')", &[]).await;
    assert_eq!(record["created_at"], "0001-01-01T00:00:00Z");
    let error = session
        .error("update crm.customers set deleted_at = 'infinity' where external_key = 'A-1'", &[])
        .await;
    assert_eq!(error.pointers(), ["/deleted_at"]);
}

#[tokio::test]
async fn record_inserted_as_deleted_uses_no_quota() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("select keyed.set_quota('crm', 'live_records', 1)").await;
    session.run("insert into crm.customers (deleted_at) select now() from generate_series(1, 3)").await;
    session.run("delete from crm.customers").await;
    session.run("insert into crm.customers (external_key) values ('A-1')").await;
    assert_eq!(session.error("insert into crm.customers default values", &[]).await.state, "53400");
}

#[tokio::test]
async fn infinite_times_do_not_break_searches() {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.customers (external_key) values ('now'), ('now too')").await;
    let id = |last: &str| format!("ffffffff-ffff-8fff-8000-0080000000{last}");
    smuggle(
        &session,
        &format!(
            "insert into crm.customers (id, external_key, created_at, updated_at, born, seen, visits, mood) values \
             ('{}', 'never', 'infinity', 'infinity', 'infinity', 'infinity', 'NaN', 'NaN'), \
             ('{}', 'never too', 'infinity', 'infinity', 'infinity', 'infinity', 'Infinity', 'Infinity'), \
             ('{}', 'always', '-infinity', '-infinity', '-infinity', '-infinity', '-Infinity', '-Infinity'), \
             ('{}', 'old', '4000-01-01 12:00:00.5+00 BC', '0001-01-01 BC', '4000-01-01 BC', '4714-11-24 00:00:00+00 BC', 1, 1), \
             ('{}', 'late', '294276-12-31 23:59:59.999999Z', '10000-01-01Z', '5874897-12-31', '10000-01-01Z', 2, 2)",
            id("01"), id("02"), id("03"), id("04"), id("05")
        ),
    )
    .await;
    let ascending = "always old now now too late never never too";
    let descending = "never too never late now too now old always";
    for sort in ["created_at", "updated_at"] {
        assert_eq!(read_pages(&session, sort).await, ascending, "{sort}");
        assert_eq!(read_pages(&session, &format!("-{sort}")).await, descending, "-{sort}");
    }
    for sort in ["born", "seen"] {
        assert_eq!(read_pages(&session, sort).await, "always old late never never too now now too", "{sort}");
        let with_id = read_pages(&session, &format!("-{sort},id")).await;
        assert_eq!(with_id, "never never too late old always now now too", "{sort}");
    }
    for sort in ["visits", "mood"] {
        assert_eq!(read_pages(&session, sort).await, "always old late never too never now now too", "{sort}");
    }
    let record = session.json("select keyed.get_by_key('crm.customers', 'never')", &[]).await;
    let last = "9999-12-31T23:59:59.999999Z";
    assert_eq!((&record["created_at"], &record["updated_at"]), (&json!(last), &json!(last)));
    let attributes = &record["attributes"];
    assert_eq!((&attributes["born"], &attributes["seen"]), (&json!("9999-12-31"), &json!(last)));
    assert_eq!((&attributes["visits"], &attributes["mood"]), (&Value::Null, &Value::Null));
    let record = session.json("select keyed.get_by_key('crm.customers', 'old')", &[]).await;
    assert_eq!(record["created_at"], "0001-01-01T00:00:00Z");
}

#[tokio::test]
async fn cursor_with_a_time_that_cannot_be_stored_is_rejected() {
    use base64::Engine as _;
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run("insert into crm.customers (external_key) values ('A-1'), ('A-2')").await;
    let query = json!({"sort": "created_at", "limit": 1}).to_string();
    let page = session.json("select keyed.search('crm.customers', $1)", &[&query]).await;
    let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let cursor = engine.decode(page["next_cursor"].as_str().expect("a second page")).expect("base64");
    let parts: Vec<Value> = serde_json::from_slice(&cursor).expect("json");
    for (time, is_time) in [(i64::MAX, true), (-211_813_488_000_000_001, false), (i64::MAX - 1, false)] {
        let cursor = engine.encode(json!([parts[0], parts[1], time]).to_string());
        let query = json!({"sort": "created_at", "limit": 1, "cursor": cursor}).to_string();
        let result = session.attempt("select keyed.search('crm.customers', $1)", &[&query]).await;
        assert_eq!(result.is_ok(), is_time, "{time}");
    }
}
