//! Responses and history entries have the stored form that PostgreSQL's own jsonb input function produces.

use harness::Database;
use serde_json::json;

/// Numbers with digit groups that are zero, full or partial, on both sides of the decimal point.
const NUMBERS: [&str; 20] = [
    "0",
    "-0",
    "0.00",
    "-0.50",
    "7",
    "10",
    "9999",
    "10000",
    "10001",
    "100000000",
    "123456789012345678901234567890",
    "-1234567.8900",
    "0.0001",
    "0.00001",
    "0.000000012",
    "10000.0001",
    "99999999.99999999",
    "100000000000000000000.5",
    "1e30",
    "0.0000000000000000000000000000000000000000000000000000000000000000123",
];

#[tokio::test]
async fn stored_form_equals_that_of_the_input_function() {
    let database = Database::new().await;
    let session = database.session().await;
    session.run("select keyed.create_project('crm', 'C')").await;
    // More than 32 members, because jsonb then stores offsets for some of them instead of lengths.
    let numbers = (0..NUMBERS.len()).map(|number| json!({"slug": format!("n{number}"), "type": "number"}));
    let strings =
        (0..25).map(|text| json!({"slug": format!("t{text}_{}", "x".repeat(text)), "type": "string"}));
    let others = [
        json!({"slug": "is_large", "type": "boolean"}),
        json!({"slug": "day", "type": "date"}),
        json!({"slug": "at", "type": "datetime"}),
    ];
    let attributes = json!(numbers.chain(strings).chain(others).collect::<Vec<_>>()).to_string();
    session.rows("select keyed.create_template('crm', 'things', $1)", &[&attributes]).await;
    let numbers = NUMBERS.iter().enumerate().map(|(number, value)| format!("\"n{number}\": {value}"));
    let strings = (0..25).map(|text| {
        let value = ["", "é", "\"quoted\" \\ \n\t", "\u{1}", "🦀"][text % 5].repeat(text);
        format!("{}: {}", json!(format!("t{text}_{}", "x".repeat(text))), json!(value))
    });
    let others = ["\"is_large\": false", "\"day\": \"2024-02-29\"", "\"at\": \"2024-02-29T13:45:00.5Z\""];
    let values = numbers.chain(strings).chain(others.map(str::to_owned)).collect::<Vec<_>>().join(", ");
    let record = "select own *= converted from keyed.get_by_key('crm.things', $1) f (r), \
                  lateral (select f.r as value) own, lateral (select f.r::text::jsonb as value) converted";
    for (key, values) in
        [("all", format!("{{{values}}}")), ("none", "{}".to_owned()), ("k\"\\é", "{\"n1\": 2}".to_owned())]
    {
        session.rows("select keyed.upsert_by_key('crm.things', $1, $2)", &[key, &values]).await;
        assert_eq!(session.text(record, &[key]).await, "t", "{key}");
    }
    let table = "select 'keyed_state.history_' || id from keyed_state.template where slug = 'things'";
    let table = session.text(table, &[]).await;
    let histories = format!(
        "select count(*), bool_and(own *= converted) from {table}, \
         lateral (select changes as value) own, lateral (select changes::text::jsonb as value) converted"
    );
    assert_eq!(session.rows(&histories, &[]).await, [[Some("3"), Some("t")].map(|it| it.map(str::to_owned))]);
    let last = format!(
        "select changes -> ('t24_' || repeat('x', 24)) ->> 'new' from {table} where external_key = 'all'"
    );
    assert_eq!(session.text(&last, &[]).await, "🦀".repeat(24));
}
