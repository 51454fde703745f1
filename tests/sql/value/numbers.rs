//! Numbers keep every digit, and other values are rejected.

use harness::{Database, Session};

async fn crm() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    (database, session)
}

/// Writes `visits` as raw JSON text, and returns the raw JSON text read back.
async fn round_trip(session: &Session, number: &str) -> String {
    let attributes = format!(r#"{{"visits": {number}}}"#);
    session.rows("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&attributes]).await;
    session.text("select keyed.get_by_key('crm.customers', 'A-1') #>> '{attributes,visits}'", &[]).await
}

#[tokio::test]
async fn number_keeps_every_digit() {
    let (_database, session) = crm().await;
    let long = format!("0.{}", "123456789".repeat(100));
    for digits in [
        "0",
        "1",
        "-1",
        "1.10",
        "0.1",
        "0.30000000000000004",
        "9007199254740993",
        "-9007199254740993",
        "12345678901234567890123.45",
        "100000000000000000000",
        &long,
    ] {
        assert_eq!(round_trip(&session, digits).await, digits);
    }
}

#[tokio::test]
async fn number_with_an_exponent_becomes_its_plain_digits() {
    let (_database, session) = crm().await;
    for (written, digits) in [("1e2", "100"), ("-1.5E+3", "-1500"), ("25e-3", "0.025"), ("-0", "0")] {
        assert_eq!(round_trip(&session, written).await, digits);
    }
}

#[tokio::test]
async fn overlong_number_is_rejected_early() {
    let (_database, session) = crm().await;
    let long = "9".repeat(1001);
    for number in ["1e131071", "1e5000", "1e-5000", &long] {
        let attributes = format!(r#"{{"visits": {number}}}"#);
        let error = session.error("select keyed.create_record('crm.customers', $1)", &[&attributes]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/attributes/visits"])
        );
        let increment = format!(r#"{{"visits": {{"$inc": {number}}}}}"#);
        let error = session.error("select keyed.create_record('crm.customers', $1)", &[&increment]).await;
        assert_eq!(error.pointers(), ["/attributes/visits/$inc"]);
    }
}

#[tokio::test]
async fn only_json_numbers_are_accepted() {
    let (_database, session) = crm().await;
    for value in [r#""1""#, r#""NaN""#, r#""Infinity""#, r#""""#, "true", "[1]", r#"{"value": 1}"#] {
        let attributes = format!(r#"{{"visits": {value}}}"#);
        let error = session.error("select keyed.create_record('crm.customers', $1)", &[&attributes]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/attributes/visits"])
        );
    }
}

#[tokio::test]
async fn increments_are_exact_up_to_the_digit_limit() {
    let (_database, session) = crm().await;
    let (nines, fraction) = ("9".repeat(1000), format!("0.{}", "3".repeat(998)));
    assert_eq!(round_trip(&session, &nines).await, nines);
    let increment = async |digits: &str| {
        let attributes = format!(r#"{{"visits": {{"$inc": {digits}}}}}"#);
        session.attempt("select keyed.upsert_by_key('crm.customers', 'A-1', $1)", &[&attributes]).await
    };
    increment(&fraction).await.expect("the sum has 1998 digits");
    let sum = "select keyed.get_by_key('crm.customers', 'A-1') #>> '{attributes,visits}'";
    assert_eq!(session.text(sum, &[]).await, format!("{nines}{}", &fraction[1..]));
    let mut before = session.text(sum, &[]).await;
    let error = loop {
        match increment(&nines).await {
            Ok(_) => before = session.text(sum, &[]).await,
            Err(error) => break error,
        }
        assert!(before.len() < 2100, "a number grows without bound");
    };
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/attributes/visits"]));
    assert_eq!(session.text(sum, &[]).await, before);
}
