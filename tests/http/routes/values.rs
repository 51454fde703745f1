//! Values in JSON: digits, times, null.

use harness::{Service, id_of};
use serde_json::{Value, json};

async fn write(service: &Service, attributes: &str) -> harness::Response {
    let body = format!(r#"{{"external_key": "A-1", "attributes": {attributes}}}"#);
    service.send_text("PUT", "/entities/template/customers/by-key?return=record", body).await
}

#[tokio::test]
async fn number_keeps_every_digit() {
    let service = Service::start().await;
    let long = format!("0.{}", "123456789".repeat(100));
    for (written, digits) in [
        ("9007199254740993", "9007199254740993"),
        ("12345678901234567890123.45", "12345678901234567890123.45"),
        ("1.10", "1.10"),
        ("0.1", "0.1"),
        ("-0", "0"),
        ("1e2", "100"),
        ("-0.0", "0.0"),
        ("1E-2", "0.01"),
        (long.as_str(), long.as_str()),
    ] {
        let response = write(&service, &format!(r#"{{"visits": {written}}}"#)).await;
        assert!(response.text.contains(&format!("\"visits\":{digits},")), "{written}: {}", response.text);
        let read = service.by_key("A-1").await;
        assert!(read.text.contains(&format!("\"visits\":{digits},")), "{written}: {}", read.text);
    }
}

#[tokio::test]
async fn number_with_a_huge_exponent_is_rejected() {
    let service = Service::start().await;
    let long = "9".repeat(1001);
    for number in ["1e131071", "1e400", "1e1000000", "1e-400", "1e99999999999999999999", "-1e101", &long] {
        for value in [number.to_owned(), format!(r#"{{"$inc": {number}}}"#)] {
            write(&service, &format!(r#"{{"visits": {value}}}"#)).await.expect_error(422, "invalid_value");
        }
    }
    for metric in ["1e400", "-1e309", "1e1000000"] {
        write(&service, &format!(r#"{{"mood": {metric}}}"#)).await.expect_error(422, "invalid_value");
    }
}

#[tokio::test]
async fn non_numbers_are_rejected() {
    let service = Service::start().await;
    for value in [r#""NaN""#, r#""Infinity""#, r#""1""#, r#"" 12 ""#, "true", "[1]"] {
        write(&service, &format!(r#"{{"visits": {value}}}"#)).await.expect_error(422, "invalid_value");
    }
    for value in ["NaN", "Infinity", "-Infinity", "+1", "01", ".5", "1.", "0x10", "1_000", "1e", "--1"] {
        write(&service, &format!(r#"{{"visits": {value}}}"#)).await.expect_error(400, "malformed_request");
    }
}

#[tokio::test]
async fn dates_and_times_are_parsed_strictly_and_returned_in_utc() {
    let service = Service::start().await;
    for (written, shown) in [
        ("2024-02-29T12:00:00+01:00", "2024-02-29T11:00:00Z"),
        ("2024-02-29T23:59:59.999999Z", "2024-02-29T23:59:59.999999Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"),
    ] {
        let record = write(&service, &json!({"seen": written, "born": "2024-02-29"}).to_string()).await;
        assert_eq!(record.body["record"]["attributes"]["seen"], shown);
    }
    for slug in ["born", "seen"] {
        for text in
            ["today", "now", "infinity", "2024-02-30", "20240105", "24:00", "0000-01-01", "294277-01-01", ""]
        {
            let response =
                write(&service, &json!({slug: text}).to_string()).await.expect_error(422, "invalid_value");
            assert_eq!(response["errors"][0]["pointer"], format!("/attributes/{slug}"));
        }
    }
}

#[tokio::test]
async fn nul_character_is_rejected_with_its_pointer() {
    let service = Service::start().await;
    for (attributes, pointer) in [
        (r#"{"name": "a\u0000b"}"#, "/attributes/name"),
        (r#"{"tags": ["x", "\u0000"]}"#, "/attributes/tags/1"),
        (r#"{"born": "\u0000"}"#, "/attributes/born"),
        (r#"{"company": "\u0000"}"#, "/attributes/company"),
        (r#"{"company": {"external_key": "\u0000"}}"#, "/attributes/company/external_key"),
    ] {
        let response = write(&service, attributes).await;
        assert_eq!(
            (response.status, &response.body["errors"][0]["pointer"]),
            (422, &json!(pointer)),
            "{}",
            response.text
        );
    }
    let slug = write(&service, r#"{"na\u0000me": "x"}"#).await;
    slug.expect_error(422, "unknown_attribute");
}

#[tokio::test]
async fn text_is_returned_unchanged() {
    let service = Service::start().await;
    for text in [
        "",
        "a\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}\u{2028}</script>",
        "\u{feff}é😀\u{202e}",
        "'; drop table x; --",
    ] {
        let record = write(&service, &json!({"name": text, "tags": [text]}).to_string()).await;
        assert_eq!(record.body["record"]["attributes"]["name"], text);
        assert_eq!(service.by_key("A-1").await.body["attributes"]["tags"], json!([text]));
    }
    let record = service.create(json!({"attributes": {"name": "x".repeat(1 << 20)}})).await;
    assert_eq!(record["attributes"]["name"].as_str().map(str::len), Some(1 << 20));
    let longer = json!({"attributes": {"name": "x".repeat((1 << 20) + 1)}});
    service.post("/entities/template/customers", longer).await.expect_error(422, "invalid_value");
}

#[tokio::test]
async fn all_errors_are_reported_without_long_values() {
    let service = Service::start().await;
    let response = write(&service, r#"{"name": 1, "nmae": "x", "visits": "2", "born": "never"}"#).await;
    let body = response.expect_error(422, "invalid_value");
    let mut pointers: Vec<&str> =
        body["errors"].as_array().into_iter().flatten().filter_map(|it| it["pointer"].as_str()).collect();
    pointers.sort_unstable();
    assert_eq!(pointers, ["/attributes/born", "/attributes/name", "/attributes/nmae", "/attributes/visits"]);
    let long = "x".repeat(1 << 20);
    for attributes in [
        json!({"born": long}),
        json!({"seen": long}),
        json!({"tier": [long]}),
        json!({"company": long}),
        json!({&long: 1}),
    ] {
        let response = write(&service, &attributes.to_string()).await;
        assert_eq!(response.status, 422);
        assert!(
            response.text.len() < 10_000,
            "an answer of {} bytes: {}…",
            response.text.len(),
            &response.text[..200]
        );
    }
    let slug = service.post("/templates", json!({"slug": long})).await;
    assert!(slug.status == 422 && slug.text.len() < 10_000, "an answer of {} bytes", slug.text.len());
    let key = service.upsert(&long, json!({})).await;
    assert!(key.status == 422 && key.text.len() < 10_000, "an answer of {} bytes", key.text.len());
}

#[tokio::test]
async fn last_of_repeated_members_wins() {
    let service = Service::start().await;
    let body = r#"{"external_key": "A-1", "attributes": {"name": "a"}, "external_key": "A-2", "attributes": {"name": "b", "name": "c"}}"#;
    let record = service.send_text("POST", "/entities/template/customers", body).await.expect(201);
    assert_eq!((&record["external_key"], &record["attributes"]["name"]), (&json!("A-2"), &json!("c")));
}

#[tokio::test]
async fn references_accept_id_or_key() {
    let service = Service::start().await;
    let company = json!({"external_key": "C-1", "attributes": {"name": "ACME"}});
    let company = service.post("/entities/template/companies", company).await.expect(201);
    for reference in [company["id"].clone(), json!({"external_key": "C-1"})] {
        let record = service.create(json!({"attributes": {"company": reference}})).await;
        assert_eq!(record["attributes"]["company"], company["id"]);
        let verbose = service.get(&format!("/entities/{}?verbose=true", id_of(&record))).await.expect(200);
        let shown = &verbose["attribute_values"]["company"];
        assert_eq!((&shown["display"], &shown["external_key"]), (&json!("ACME"), &json!("C-1")));
    }
    for reference in
        [json!({"external_key": "C-2"}), json!("00000000-0000-0000-0000-000000000000"), Value::Null]
    {
        let response =
            service.post("/entities/template/customers", json!({"attributes": {"company": reference}})).await;
        if reference.is_null() {
            response.expect(201);
        } else {
            response.expect_error(422, "reference_not_found");
        }
    }
}
