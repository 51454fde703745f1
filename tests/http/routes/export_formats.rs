//! Exports for other programs: delimiter, byte order mark, format, gzip.

use super::export::{all, export, hostile};
use crate::import::{counts, send};
use harness::{Service, encode};
use serde_json::{Value, json};
use std::io::Read;

fn german() -> Value {
    json!({"decimal": ",", "thousands": ".", "date": "DD.MM.YYYY", "datetime": "DD.MM.YYYY HH:mm",
        "time_zone": "Europe/Zurich", "null": ["NULL", "", "n/a"], "true": ["ja"], "false": ["nein"], "list": "|"})
}

/// The query parameter for a format.
fn with(format: &Value) -> String {
    format!("format={}", encode(&format.to_string()))
}

/// The bytes of an export of customers.
async fn bytes(service: &Service, query: &str) -> Vec<u8> {
    let path = format!("/v1/entities/template/customers/export?{query}");
    let response = service.proxy.request("GET", &path).response().await;
    assert_eq!(response.status(), 200);
    response.bytes().await.expect("the whole file").to_vec()
}

/// Changes all customers, and imports a file of them.
async fn comes_back(service: &Service, format: &Value, file: Vec<u8>, rows: u64) {
    let before = all(service).await;
    let drop_mood = encode(r#"{"mood": null}"#);
    let query = format!("mapping={drop_mood}&{}", with(format));
    let report = send(service, "text/csv", "customers", &query, file.clone()).await.expect(200);
    assert_eq!(counts(&report), [rows, 0, 0, rows, 0], "{report}");
    let session = service.session().await;
    let change = "update crm.customers set name = 'x', tags = '{x}', tier = null, born = '2000-01-01', seen = now(), visits = 1, \
                  company = null, active = null";
    session.run(change).await;
    let report = send(service, "text/csv", "customers", &query, file).await.expect(200);
    assert_eq!(counts(&report), [rows, 0, rows, 0, 0], "{report}");
    assert_eq!(all(service).await, before);
}

#[tokio::test]
async fn german_export_round_trips() {
    let service = hostile().await;
    // In a time zone with daylight saving time: before, during and after the hours that the clock skips and repeats;
    // with and without seconds.
    for (number, (seen, visits, active)) in [
        ("2024-03-31T00:59:00Z", "1234.50", Value::Bool(true)),
        ("2024-03-31T01:00:00Z", "-1234567.89", Value::Bool(false)),
        ("2024-10-27T00:30:00Z", "0.001", Value::Null),
        ("2024-10-27T01:30:00Z", "1000000", Value::Bool(true)),
        ("2024-10-27T02:00:00Z", "12345678901234567890.12345678901234567890", Value::Null),
        ("2024-07-01T10:00:59.5Z", "0", Value::Null),
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(
            r#"{{"external_key": "t{number}", "attributes": {{"seen": "{seen}", "visits": {visits}, "active": {active},
            "born": "2024-02-29", "name": "{}", "tags": ["a|b", "c"]}}}}"#,
            ["NULL", "", "n/a", "'n/a", "1.234,50", "nein"][number]
        );
        service.send_text("PUT", "/entities/template/customers/by-key", body).await.expect(201);
    }
    service.upsert("n/a", json!({"tags": ["n/a"]})).await.expect(201);
    service.upsert("NULL", json!({"name": null, "tags": []})).await.expect(201);

    let format = german();
    let file = bytes(&service, &format!("delimiter=%3B&bom=true&{}", with(&format))).await;
    let text = String::from_utf8(file.clone()).expect("UTF-8");
    assert!(text.starts_with("\u{feff}id;external_key;name;"), "{text}");
    for cell in [
        ";1234,50;",
        ";-1234567,89;",
        ";29.02.2024;",
        ";31.03.2024 01:59;",
        ";31.03.2024 03:00;",
        ";27.10.2024 03:00;",
        ";2024-10-27T00:30:00Z;",
        ";2024-07-01T10:00:59.5Z;",
        ";ja",
        ";nein",
        ";'NULL;",
        ";'n/a;",
        ";';",
        ";NULL;",
        "[\"\"a|b\"\",\"\"c\"\"]",
    ] {
        assert!(text.contains(cell), "{cell} in {text}");
    }
    comes_back(&service, &format, file, 32).await;
}

#[tokio::test]
async fn american_and_swiss_exports_round_trip() {
    let service = hostile().await;
    for (delimiter, format) in [
        (
            "tab",
            json!({"datetime": "M/D/YYYY h:mm:ss A", "time_zone": "America/New_York", "date": "M/D/YYYY", "list": ","}),
        ),
        (
            "%7C",
            json!({"thousands": "'", "trailing_minus": true, "true": "WAHR", "false": "FALSCH", "list": "\n"}),
        ),
    ] {
        let file = bytes(&service, &format!("delimiter={delimiter}&{}", with(&format))).await;
        comes_back(&service, &format, file, 24).await;
    }
}

#[tokio::test]
async fn lossy_export_is_rejected() {
    let service = Service::start().await;
    for (query, pointer) in [
        (with(&json!({"null": ["0"]})), "/format/null"),
        (with(&json!({"null": []})), "/format/null"),
        (with(&json!({"date": "DD.MM.YY"})), "/format/date"),
        (with(&json!({"datetime": "DD.MM.YYYY HH:mm", "time_zone": "Nowhere"})), "/format/time_zone"),
    ] {
        let problem = export(&service, "customers", &query, None).await.expect_error(422, "invalid_value");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    // Numbers that are not exported lose no digits.
    let names = Some(json!({"fields": ["name"]}));
    let file = export(&service, "customers", &with(&json!({"null": ["0"]})), names).await;
    assert_eq!(file.status, 200, "{}", file.text);
    for query in ["delimiter=ab", "format=ndjson&bom=true", "format=ndjson&delimiter=%3B"] {
        export(&service, "customers", query, None).await.expect_error(422, "invalid_value");
    }
}

#[tokio::test]
async fn export_is_compressed_on_request() {
    let service = Service::start().await;
    let rows: String = (0..20_000).map(|number| format!("k{number},n{number}\n")).collect();
    send(&service, "text/csv", "customers", "", format!("external_key,name\n{rows}")).await.expect(200);
    let plain = bytes(&service, "").await;
    let path = "/v1/entities/template/customers/export";
    let response = service.proxy.request("GET", path).header("accept-encoding", "gzip").response().await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let packed = response.bytes().await.expect("the whole file");
    assert!(packed.len() * 2 < plain.len(), "{} of {}", packed.len(), plain.len());
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).expect("gzip");
    assert!(unpacked == plain);
}
