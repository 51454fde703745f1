//! Dates and times: ISO 8601 and RFC 3339, nothing else.

use harness::{Database, Session};
use serde_json::{Value, json};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

async fn round_trip(session: &Session, slug: &str, value: &str) -> Value {
    let attributes = json!({slug: value}).to_string();
    let record = session.json("select keyed.create_record('crm.customers', $1)", &[&attributes]).await;
    record["attributes"][slug].clone()
}

async fn assert_rejected(session: &Session, slug: &str, value: Value) {
    let attributes = json!({slug: value}).to_string();
    let error = session.error("select keyed.create_record('crm.customers', $1)", &[&attributes]).await;
    assert_eq!(error.codes(), ("22023", "invalid_value"), "{attributes}");
    assert_eq!(error.pointers(), [format!("/attributes/{slug}")], "{attributes}");
}

#[tokio::test]
async fn date_is_a_day_of_the_years_1_to_9999() {
    let (_database, session) = crm().await;
    for date in ["0001-01-01", "1582-10-10", "1900-02-28", "2000-02-29", "2024-02-29", "9999-12-31"] {
        assert_eq!(round_trip(&session, "born", date).await, date);
    }
}

#[tokio::test]
async fn invalid_date_format_is_rejected() {
    let (_database, session) = crm().await;
    for text in [
        "",
        "today",
        "now",
        "infinity",
        "-infinity",
        "epoch",
        "2024-02-30",
        "2023-02-29",
        "1900-02-29",
        "2024-13-01",
        "2024-00-01",
        "2024-01-00",
        "20240105",
        "2024-1-5",
        "1/2/2024",
        "2024/01/02",
        "0000-01-01",
        "10000-01-01",
        "-001-01-01",
        "2024-01-05T00:00:00Z",
        "2024-01-05 ",
        " 2024-01-05",
        "2024-W01-1",
        "2024-005",
        "٢٠٢٤-01-05",
    ] {
        assert_rejected(&session, "born", json!(text)).await;
    }
    for other in [json!(20240105), json!(true), json!(["2024-01-05"]), json!({"date": "2024-01-05"})] {
        assert_rejected(&session, "born", other).await;
    }
}

#[tokio::test]
async fn datetime_is_an_instant_shown_in_utc_to_the_microsecond() {
    let (_database, session) = crm().await;
    for (written, shown) in [
        ("2024-02-29T13:45:00Z", "2024-02-29T13:45:00Z"),
        ("2024-02-29t13:45:00z", "2024-02-29T13:45:00Z"),
        ("2024-02-29 13:45:00Z", "2024-02-29T13:45:00Z"),
        ("2024-03-01T00:30:00+02:00", "2024-02-29T22:30:00Z"),
        ("2024-02-29T23:30:00-05:30", "2024-03-01T05:00:00Z"),
        ("2024-02-29T13:45:00.5Z", "2024-02-29T13:45:00.5Z"),
        ("2024-02-29T13:45:00.123456Z", "2024-02-29T13:45:00.123456Z"),
        ("2024-02-29T13:45:00.1234567Z", "2024-02-29T13:45:00.123457Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        // RFC 3339 allows the leap second. PostgreSQL has none and would store the next second, so it becomes the
        // second before.
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
    ] {
        assert_eq!(round_trip(&session, "seen", written).await, shown, "{written}");
    }
}

#[tokio::test]
async fn datetime_is_shown_in_utc_regardless_of_the_session() {
    let (_database, session) = crm().await;
    session
        .run("set time zone 'Pacific/Auckland'; set datestyle = 'German'; set intervalstyle = 'sql_standard'")
        .await;
    assert_eq!(round_trip(&session, "seen", "2024-02-29T13:45:00Z").await, "2024-02-29T13:45:00Z");
    assert_eq!(round_trip(&session, "born", "2024-02-01").await, "2024-02-01");
}

#[tokio::test]
async fn invalid_time_format_is_rejected() {
    let (_database, session) = crm().await;
    for text in [
        "",
        "now",
        "infinity",
        "2024-02-29",
        "2024-02-29T13:45:00",
        "2024-02-29T13:45Z",
        "2024-02-30T00:00:00Z",
        "2024-02-29T24:00:00Z",
        "2024-02-29T25:00:00Z",
        "2024-02-29T13:60:00Z",
        "2024-02-29T13:45:61Z",
        "0000-12-31T23:59:59Z",
        "10000-01-01T00:00:00Z",
        "294277-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        "2024-02-29T13:45:00+25:00",
        "2024-02-29T13:45:00Z[Europe/Paris]",
        "2024-02-29T13:45:00 Europe/Paris",
        "20240229T134500Z",
        "2024-02-29T13:45:00Z ",
        "1709214300",
    ] {
        assert_rejected(&session, "seen", json!(text)).await;
    }
    assert_rejected(&session, "seen", json!(1_709_214_300)).await;
}

#[tokio::test]
async fn error_names_the_missing_part_of_a_time() {
    let (_database, session) = crm().await;
    for (slug, text, message, hint) in [
        ("seen", "2024-03-01T10:00Z", "\"2024-03-01T10:00Z\" has no seconds", "Write 2024-03-01T10:00:00Z."),
        ("seen", "2024-03-01 10:00+01:00", "has no seconds", "Write 2024-03-01T10:00:00+01:00."),
        ("seen", "2024-03-01T10:00:00", "has no offset", "Write 2024-03-01T10:00:00Z if it is in UTC"),
        ("seen", "2024-03-01", "is a date without a time", "2024-03-01T00:00:00Z"),
        ("born", "2024-03-01T10:00:00Z", "has a time of day", "Write only the date: 2024-03-01."),
        ("born", "2024-02-30", "there is no day 2024-02-30", "for example 2024-02-29"),
    ] {
        let attributes = json!({slug: text}).to_string();
        let error = session.error("select keyed.create_record('crm.customers', $1)", &[&attributes]).await;
        assert!(error.message.contains(message), "{text}: {error}");
        assert!(error.hint.contains(hint), "{text}: {}", error.hint);
    }
    let filter = r#"{"filters": [{"field": "seen", "operator": "gt", "value": "2024-03-01T10:00Z"}]}"#;
    let error = session.error("select keyed.search('crm.customers', $1)", &[filter]).await;
    assert!(error.message.contains("has no seconds"), "{error}");
}
