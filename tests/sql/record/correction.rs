//! Corrections of a series: points are replaced and deleted, and the latest value is updated.

use harness::{Database, Session, id_of};
use serde_json::{Value, json};

/// The customer `A-1` with points at the hours 0 to 4, whose values are the hours, and one in the far future.
struct Series {
    _database: Database,
    session: Session,
    id: String,
}

const REPLACE: &str = "select keyed.replace_metric_points($1, 'mood', $2)";
const DELETE: &str = "select keyed.delete_metric_points($1, 'mood', at => $2)";

fn at(hour: u32) -> String {
    format!("2024-02-29T{hour:02}:00:00Z")
}

fn point(hour: u32, value: f64) -> Value {
    json!({"at": at(hour), "value": value})
}

const FUTURE: &str = "2999-01-01T00:00:00Z";

impl Series {
    async fn new() -> Series {
        let database = Database::with_crm().await;
        let session = database.session().await;
        let mut points: Vec<Value> = (0..5).map(|hour| point(hour, f64::from(hour))).collect();
        points.push(json!({"at": FUTURE, "value": 999}));
        let attributes = json!({"name": "Ada", "mood": points}).to_string();
        let record =
            session.json("select keyed.create_record('crm.customers', $1, 'A-1')", &[&attributes]).await;
        Series { _database: database, session, id: id_of(&record).to_owned() }
    }

    async fn call(&self, sql: &str, argument: &str) -> Value {
        self.session.json(sql, &[&self.id, argument]).await
    }

    /// Hour or year, and value.
    async fn points(&self) -> String {
        let sql = "select string_agg(case when at < '2025-01-01' then extract(hour from at at time zone 'UTC') \
                     else extract(year from at) end || ':' || value, ' ' order by at) from keyed.metric_series($1, 'mood')";
        self.session.text(sql, &[&self.id]).await
    }

    async fn value(&self) -> String {
        self.session.text("select mood from crm.customers", &[]).await
    }

    async fn measured_at(&self) -> Value {
        let sql = "select keyed.get_record($1, verbose => true) #> '{attribute_values,mood,at}'";
        self.session.json(sql, &[&self.id]).await
    }

    async fn entries(&self) -> String {
        self.session.text("select count(*) from keyed.history($1)", &[&self.id]).await
    }
}

#[tokio::test]
async fn deletion_of_a_future_point_restores_the_latest_value() {
    let series = Series::new().await;
    assert_eq!(series.value().await, "999");
    let outcome = series.call(DELETE, FUTURE).await;
    let latest = json!({"at": at(4), "value": 4});
    assert_eq!(outcome, json!({"deleted": 1, "added": 0, "latest": latest}));
    assert_eq!(
        (series.value().await, series.points().await),
        ("4".to_owned(), "0:0 1:1 2:2 3:3 4:4".to_owned())
    );
    assert_eq!((series.measured_at().await, series.entries().await), (json!(at(4)), "2".to_owned()));
    let change = "select changes -> 'mood' from keyed.history($1) limit 1";
    assert_eq!(series.call(change, "").await, json!({"old": 999, "new": 4}));
    // The deletion of an earlier point changes only the series.
    assert_eq!(series.call(DELETE, &at(1)).await["deleted"], 1);
    assert_eq!(series.call(DELETE, &at(1)).await, json!({"deleted": 0, "added": 0, "latest": latest}));
    assert_eq!(
        (series.points().await, series.entries().await),
        ("0:0 2:2 3:3 4:4".to_owned(), "2".to_owned())
    );
}

#[tokio::test]
async fn range_of_points_is_deleted_from_inclusive_to_exclusive() {
    let series = Series::new().await;
    let delete =
        "select keyed.delete_metric_points($1, 'mood', \"from\" => $2, \"to\" => '2024-02-29T03:00:00Z')";
    assert_eq!(series.call(delete, &at(1)).await["deleted"], 2);
    assert_eq!(series.points().await, "0:0 3:3 4:4 2999:999");
    let from = "select keyed.delete_metric_points($1, 'mood', \"from\" => $2)";
    assert_eq!(series.call(from, &at(4)).await["latest"], json!({"at": at(3), "value": 3}));
    assert_eq!(
        series.call(from, "0001-01-01T00:00:00Z").await,
        json!({"deleted": 2, "added": 0, "latest": null})
    );
    assert_eq!((series.value().await, series.points().await), (String::new(), String::new()));
    assert_eq!(series.measured_at().await, Value::Null);
}

#[tokio::test]
async fn points_replace_those_of_equal_times() {
    let series = Series::new().await;
    let points = json!([point(2, 2.5), {"at": FUTURE, "value": -1}, point(7, 7.0)]).to_string();
    let outcome = series.call(REPLACE, &points).await;
    let latest = json!({"at": FUTURE, "value": -1});
    assert_eq!(outcome, json!({"deleted": 2, "added": 3, "latest": latest}));
    assert_eq!(
        (series.value().await, series.points().await),
        ("-1".to_owned(), "0:0 1:1 2:2.5 3:3 4:4 7:7 2999:-1".to_owned())
    );
    // Points of a range are deleted even without a replacement.
    let within = "select keyed.replace_metric_points($1, 'mood', $2, \"from\" => '2024-02-29T03:00:00Z')";
    let outcome = series.call(within, &json!([point(3, 3.0), point(3, 3.5)]).to_string()).await;
    assert_eq!(outcome, json!({"deleted": 4, "added": 2, "latest": point(3, 3.5)}));
    assert_eq!(
        (series.value().await, series.points().await),
        ("3.5".to_owned(), "0:0 1:1 2:2.5 3:3 3:3.5".to_owned())
    );
    let whole = series.session.json("select keyed.metric_page($1, 'mood') -> 'points'", &[&series.id]).await;
    let (state, entries) = (series.points().await, series.entries().await);
    series.call(REPLACE, &whole.to_string()).await;
    assert_eq!(
        (series.points().await, series.entries().await),
        (state, entries),
        "what was read, written back"
    );
}

#[tokio::test]
async fn invalid_correction_is_rejected() {
    let series = Series::new().await;
    let before = series.points().await;
    for (sql, argument, code, pointer) in [
        (REPLACE, json!([{"value": 1}]).to_string(), "invalid_value", "/points/0/at"),
        (REPLACE, json!([7]).to_string(), "invalid_value", "/points/0/at"),
        (
            REPLACE,
            json!([point(1, 1.0), {"at": "yesterday", "value": 1}]).to_string(),
            "invalid_value",
            "/points/1/at",
        ),
        (REPLACE, json!([{"at": at(1), "value": "1"}]).to_string(), "invalid_value", "/points/0/value"),
        (
            REPLACE,
            json!([{"at": at(1), "value": 1, "unit": "K"}]).to_string(),
            "unknown_field",
            "/points/0/unit",
        ),
        (REPLACE, json!({"points": []}).to_string(), "invalid_value", "/points"),
        (REPLACE, "[]".to_owned(), "invalid_value", "/points"),
        (
            "select keyed.replace_metric_points($1, 'mood', $2, \"to\" => '2024-02-29T03:00:00Z')",
            json!([point(1, 1.0), point(3, 3.0)]).to_string(),
            "invalid_value",
            "/points/1/at",
        ),
        (DELETE, "yesterday".to_owned(), "invalid_value", "/at"),
        (
            "select keyed.delete_metric_points($1, 'mood', \"from\" => $2)",
            "1".to_owned(),
            "invalid_value",
            "/from",
        ),
        ("select keyed.delete_metric_points($1, 'mood', $2, \"to\" => $2)", at(1), "invalid_value", "/at"),
        ("select keyed.delete_metric_points($1, 'mood')", String::new(), "invalid_value", "/at"),
        ("select keyed.delete_metric_points($1, 'name', $2)", at(1), "unknown_attribute", "/slug"),
        ("select keyed.delete_metric_points($1, $2, $2)", at(1), "unknown_attribute", "/slug"),
    ] {
        let error = series.session.error(sql, &[&series.id, &argument]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", code), vec![pointer]),
            "{sql} with {argument}"
        );
    }
    let stale = "select keyed.delete_metric_points($1, 'mood', $2, if_match => '\"0\"')";
    assert_eq!(series.session.error(stale, &[&series.id, FUTURE]).await.codes().1, "precondition_failed");
    let nothing = "select keyed.delete_metric_points('00000000-0000-8000-8000-000000000000', 'mood', $2)";
    assert_eq!(series.session.error(nothing, &[&series.id, FUTURE]).await.codes().1, "not_found");
    assert_eq!((series.points().await, series.value().await), (before, "999".to_owned()));
    series.session.rows("select keyed.delete_record($1)", &[&series.id]).await;
    assert_eq!(series.session.error(DELETE, &[&series.id, FUTURE]).await.codes().1, "not_found");
}

#[tokio::test]
async fn write_restores_the_latest_value_of_a_cleared_metric() {
    let series = Series::new().await;
    let write = "select keyed.patch_record($1, jsonb_build_object('attributes', jsonb_build_object('mood', $2::jsonb)))";
    series.call(write, "null").await;
    assert_eq!((series.value().await, series.measured_at().await), (String::new(), Value::Null));
    // A current measurement is older than the future point.
    series.call(write, "5").await;
    assert_eq!((series.value().await, series.measured_at().await), ("999".to_owned(), json!(FUTURE)));
    series.call(DELETE, FUTURE).await;
    assert_eq!(series.value().await, "5");
    series.call(write, "null").await;
    series.call(write, &point(6, 6.0).to_string()).await;
    assert_eq!(series.value().await, "5", "the latest by time");
}

#[tokio::test]
async fn value_written_by_sql_has_its_own_time() {
    let series = Series::new().await;
    let before = series.session.text("select clock_timestamp()", &[]).await;
    series.session.run("update crm.customers set mood = 5").await;
    assert_eq!(series.value().await, "5");
    let measured = series.measured_at().await;
    let is_now = "select $1::timestamptz between $2 and clock_timestamp()";
    assert_eq!(
        series.session.text(is_now, &[measured.as_str().expect("a time"), &before]).await,
        "t",
        "{measured}"
    );
    series.session.run("begin").await;
    series.session.run("select keyed_http.export_open('2', 'ndjson', '{}')").await;
    let line = series.session.json("select keyed_http.export_next()", &[]).await;
    series.session.run("commit").await;
    assert_eq!(line["attributes"]["mood"], json!({"value": 5, "at": measured}));
    // The next write by a function restores the latest value by time.
    let write = "select keyed.patch_record($1, jsonb_build_object('attributes', jsonb_build_object('mood', $2::jsonb)))";
    series.call(write, "6").await;
    assert_eq!((series.value().await, series.measured_at().await), ("999".to_owned(), json!(FUTURE)));
}
