//! Metrics: every write appends to a series, and the column has the latest point.

use harness::{Database, Session, id_of};
use serde_json::{Value, json};

async fn with_record() -> (Database, Session, Value) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let record = session.json("select keyed.create_record('crm.customers', '{}', 'A-1')", &[]).await;
    (database, session, record)
}

async fn write(session: &Session, mood: Value) {
    let attributes = json!({"mood": mood}).to_string();
    session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&attributes]).await;
}

async fn column(session: &Session) -> Value {
    session.json("select keyed.get_by_key('crm.customers', 'A-1') #> '{attributes,mood}'", &[]).await
}

/// The values of the series, oldest first.
async fn series(session: &Session, record: &Value) -> Value {
    session
        .json("select jsonb_agg(value order by at) from keyed.metric_series($1, 'mood')", &[id_of(record)])
        .await
}

fn point(hour: i32, value: i32) -> Value {
    json!({"at": format!("2024-02-29T{hour:02}:00:00Z"), "value": value})
}

/// Seven points between 0 and 6 o'clock with the values 0 to 6.
async fn with_points() -> (Database, Session, Value) {
    let (database, session, record) = with_record().await;
    write(&session, (0..7).map(|hour| point(hour, hour)).collect()).await;
    (database, session, record)
}

async fn page(session: &Session, record: &Value, arguments: &str) -> Value {
    session.json(&format!("select keyed.metric_page($1, 'mood', {arguments})"), &[id_of(record)]).await
}

#[tokio::test]
async fn create_update_and_upsert_append_to_a_metric() {
    let (_database, session, record) = with_record().await;
    write(&session, json!(1)).await;
    write(&session, json!(2.5)).await;
    write(&session, json!(2.5)).await;
    session.rows(r#"select keyed.patch_record($1, '{"attributes": {"mood": -3}}')"#, &[id_of(&record)]).await;
    session.rows(r#"select keyed.replace_attributes($1, '{"mood": 4e2}')"#, &[id_of(&record)]).await;
    assert_eq!(series(&session, &record).await, json!([1, 2.5, 2.5, -3, 400]));
    assert_eq!(column(&session).await, 400);
    let made = session.json("select keyed.create_record('crm.customers', '{\"mood\": 7}')", &[]).await;
    assert_eq!((series(&session, &made).await, &made["attributes"]["mood"]), (json!([7]), &json!(7)));
    session.run(r#"select keyed.upsert_by_key('crm.customers', 'A-2', '{"mood": 8}')"#).await;
    let other = session.json("select keyed.get_by_key('crm.customers', 'A-2')", &[]).await;
    assert_eq!((series(&session, &other).await, &other["attributes"]["mood"]), (json!([8]), &json!(8)));
}

#[tokio::test]
async fn point_without_a_time_has_the_time_of_the_write() {
    let (_database, session, record) = with_record().await;
    let before = session.text("select clock_timestamp()", &[]).await;
    write(&session, json!(1)).await;
    write(&session, json!({"value": 2})).await;
    let times =
        "select count(*) from keyed.metric_series($1, 'mood') where at between $2 and clock_timestamp()";
    assert_eq!(session.text(times, &[id_of(&record), &before]).await, "2");
}

#[tokio::test]
async fn column_has_the_latest_point_by_time() {
    let (_database, session, record) = with_record().await;
    write(&session, json!([point(5, 5), point(9, 9), point(7, 7)])).await;
    assert_eq!(column(&session).await, 9);
    write(&session, point(8, 8)).await;
    assert_eq!(column(&session).await, 9);
    session.rows(r#"select keyed.patch_record($1, '{"attributes": {"mood": {"at": "2024-02-29T10:00:00Z", "value": 10}}}')"#, &[id_of(&record)]).await;
    assert_eq!(column(&session).await, 10);
    assert_eq!(series(&session, &record).await, json!([5, 7, 8, 9, 10]));
    let verbose = "select keyed.get_record($1, verbose => true) #> '{attribute_values,mood}'";
    let shown = json!({"value": 10, "type": "metric", "label": "mood", "at": "2024-02-29T10:00:00Z"});
    assert_eq!(session.json(verbose, &[id_of(&record)]).await, shown);
}

#[tokio::test]
async fn put_of_the_latest_value_adds_no_point() {
    let (_database, session, record) = with_points().await;
    let put = async |attributes: &str| {
        session.json("select keyed.replace_attributes($1, $2)", &[id_of(&record), attributes]).await
    };
    let before = session.json("select keyed.get_record($1)", &[id_of(&record)]).await;
    assert_eq!(put(r#"{"mood": 6}"#).await, before);
    put(r#"{"mood": 6.0, "name": "Ada"}"#).await;
    put(r#"{"mood": [6]}"#).await;
    put(r#"{"mood": []}"#).await;
    assert_eq!(
        (column(&session).await, series(&session, &record).await),
        (json!(6), json!([0, 1, 2, 3, 4, 5, 6]))
    );
    // Another value, a point with a time and several points are appended; so is the latest value by PATCH.
    put(r#"{"mood": 7}"#).await;
    put(r#"{"mood": {"value": 7, "at": "2024-02-29T07:00:00Z"}}"#).await;
    put(r#"{"mood": [7, 7]}"#).await;
    session.rows("select keyed.patch_record($1, '{\"attributes\": {\"mood\": 7}}')", &[id_of(&record)]).await;
    assert_eq!(series(&session, &record).await, json!([0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7]));
    // An omitted metric is cleared, and the same number is then a new measurement.
    put("{\"name\": \"Ada\"}").await;
    assert_eq!(column(&session).await, Value::Null);
    put(r#"{"mood": 7}"#).await;
    assert_eq!(series(&session, &record).await.as_array().map(Vec::len), Some(13));
}

#[tokio::test]
async fn null_clears_the_column_and_keeps_the_series() {
    let (_database, session, record) = with_points().await;
    write(&session, Value::Null).await;
    assert_eq!(column(&session).await, Value::Null);
    write(&session, point(7, 7)).await;
    session.rows("select keyed.replace_attributes($1, '{}')", &[id_of(&record)]).await;
    assert_eq!(column(&session).await, Value::Null);
    assert_eq!(series(&session, &record).await, json!([0, 1, 2, 3, 4, 5, 6, 7]));
}

#[tokio::test]
async fn empty_array_of_points_appends_nothing() {
    let (_database, session, record) = with_points().await;
    write(&session, json!([])).await;
    assert_eq!(
        (column(&session).await, series(&session, &record).await),
        (json!(6), json!([0, 1, 2, 3, 4, 5, 6]))
    );
    assert_eq!(session.text("select count(*) from keyed.history($1)", &[id_of(&record)]).await, "2");
}

#[tokio::test]
async fn series_is_read_from_inclusive_to_exclusive() {
    let (_database, session, record) = with_points().await;
    let span = r#""from" => '2024-02-29T02:00:00Z', "to" => '2024-02-29T06:00:00+01:00'"#;
    assert_eq!(page(&session, &record, span).await["points"], json!([point(2, 2), point(3, 3), point(4, 4)]));
    let nothing = r#""from" => '2025-01-01T00:00:00Z'"#;
    assert_eq!(page(&session, &record, nothing).await, json!({"points": [], "next_cursor": null}));
}

#[tokio::test]
async fn bucket_returns_the_requested_aggregate() {
    let (_database, session, record) = with_points().await;
    for (aggregate, values) in [
        ("avg", [1, 4, 6]),
        ("min", [0, 3, 6]),
        ("max", [2, 5, 6]),
        ("sum", [3, 12, 6]),
        ("count", [3, 3, 1]),
        ("last", [2, 5, 6]),
    ] {
        let expected = json!([point(0, values[0]), point(3, values[1]), point(6, values[2])]);
        let page = page(&session, &record, &format!("bucket => '3h', aggregate => '{aggregate}'")).await;
        assert_eq!(page["points"], expected, "{aggregate}");
    }
    let average = page(&session, &record, "bucket => '180m'").await["points"].clone();
    assert_eq!(average, page(&session, &record, "bucket => '10800s', aggregate => 'avg'").await["points"]);
}

#[tokio::test]
async fn pages_of_a_series_neither_skip_nor_repeat() {
    let (_database, session, record) = with_record().await;
    write(&session, (0..12).map(|number| point(number / 4, number)).collect()).await;
    for (shape, size, expected) in [
        ("page_size => 5", 5, (0..12).collect::<Vec<_>>()),
        ("page_size => 1", 1, (0..12).collect()),
        ("page_size => 12", 12, (0..12).collect()),
        ("bucket => '1h', aggregate => 'max', page_size => 2", 2, vec![3, 7, 11]),
    ] {
        let (mut values, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = page(&session, &record, &format!("{shape}{cursor}")).await;
            let points = page["points"].as_array().expect("points");
            assert!(points.len() <= size);
            values
                .extend(points.iter().filter_map(|point| point["value"].as_f64()).map(|value| value as i32));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!(", cursor => '{next}'"),
                None => break,
            }
        }
        values.sort_unstable();
        assert_eq!(values, expected, "{shape}");
    }
}

#[tokio::test]
async fn invalid_point_is_rejected() {
    let (_database, session, record) = with_points().await;
    for (mood, code, pointer) in [
        (json!("1"), "invalid_value", "/attributes/mood"),
        (json!(true), "invalid_value", "/attributes/mood"),
        (json!({"$inc": 1}), "unknown_field", "/attributes/mood/$inc"),
        (json!({"at": "2024-02-29T00:00:00Z"}), "invalid_value", "/attributes/mood/value"),
        (json!({"value": null}), "invalid_value", "/attributes/mood/value"),
        (json!([1, {"value": 2, "at": "now"}]), "invalid_value", "/attributes/mood/1/at"),
        (json!([1, [2]]), "invalid_value", "/attributes/mood/1"),
    ] {
        let attributes = json!({"mood": mood}).to_string();
        let error =
            session.error("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&attributes]).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", code), vec![pointer]), "{mood}");
    }
    for too_large in ["1e309", "-1e309"] {
        let attributes = format!(r#"{{"mood": {too_large}}}"#);
        let error =
            session.error("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&attributes]).await;
        assert_eq!(error.codes(), ("22023", "invalid_value"));
    }
    let too_many = json!({"mood": vec![0; 10_001]}).to_string();
    let error = session.error("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&too_many]).await;
    assert_eq!(error.codes(), ("54000", "payload_too_large"));
    assert_eq!(series(&session, &record).await, json!([0, 1, 2, 3, 4, 5, 6]));
}

#[tokio::test]
async fn invalid_series_request_is_rejected() {
    let (_database, session, record) = with_points().await;
    for (arguments, pointer) in [
        ("page_size => 0", "/limit"),
        ("page_size => 10001", "/limit"),
        (r#""from" => 'yesterday'"#, "/from"),
        (r#""to" => '2024-02-29'"#, "/to"),
        ("bucket => '1w'", "/bucket"),
        ("bucket => '0h'", "/bucket"),
        ("bucket => '-1h'", "/bucket"),
        ("bucket => ''", "/bucket"),
        ("bucket => 'é'", "/bucket"),
        ("bucket => '9223372036854775807d'", "/bucket"),
        ("bucket => '1h', aggregate => 'median'", "/aggregate"),
        ("aggregate => 'avg'", "/aggregate"),
        ("cursor => '1'", "/cursor"),
        ("cursor => 'x.y'", "/cursor"),
    ] {
        let error = session
            .error(&format!("select keyed.metric_page($1, 'mood', {arguments})"), &[id_of(&record)])
            .await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec![pointer]),
            "{arguments}"
        );
    }
    for slug in ["name", "nothing", "external_key", ""] {
        let error = session.error("select keyed.metric_page($1, $2)", &[id_of(&record), slug]).await;
        assert_eq!(error.codes(), ("22023", "unknown_attribute"), "{slug}");
    }
}

#[tokio::test]
async fn rolled_back_points_are_not_stored() {
    let (_database, session, record) = with_points().await;
    session
        .run(r#"begin; select keyed.upsert_by_key('crm.customers', 'A-1', '{"mood": 99}'); rollback"#)
        .await;
    let rejected = r#"{"mood": 99, "company": {"external_key": "nobody"}}"#;
    session.error("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[rejected]).await;
    assert_eq!(series(&session, &record).await, json!([0, 1, 2, 3, 4, 5, 6]));
}

#[tokio::test]
async fn points_are_stored_after_a_change_of_the_series_table() {
    let (_database, session, record) = with_record().await;
    write(&session, json!(1)).await;
    let template = "(select id from keyed_state.template where slug = 'customers')";
    let table = session.text(&format!("select 'keyed_state.metric_' || {template}"), &[]).await;
    // The sequence that the session has cached no longer exists.
    session
        .run(&format!(
            "alter table {table} alter id drop identity; \
             alter table {table} alter id add generated always as identity (start 100)"
        ))
        .await;
    write(&session, json!(2)).await;
    write(&session, json!([{"value": 3}, {"value": 4}])).await;
    session
        .run(&format!(
            "create table noted (value double precision); grant insert on noted to keyed_owner; \
             create function note_point() returns trigger language plpgsql as \
             $$begin insert into public.noted values (new.value); return new; end$$; \
             create trigger note_point after insert on {table} for each row execute function note_point()"
        ))
        .await;
    write(&session, json!(5)).await;
    session
        .run(&format!("drop trigger note_point on {table}; alter table {table} add column remark text"))
        .await;
    write(&session, json!(6)).await;
    assert_eq!(series(&session, &record).await, json!([1, 2, 3, 4, 5, 6]));
    let noted = session.json("select jsonb_agg(value) from noted", &[]).await;
    let ids = session.json(&format!("select jsonb_agg(id order by at, id) from {table}"), &[]).await;
    assert_eq!((noted, ids), (json!([5]), json!([1, 100, 101, 102, 103, 104])));
}
