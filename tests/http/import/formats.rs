//! Files of other programs, with `format`.

use super::{attributes, counts, import, send};
use harness::{Response, Service, encode};
use serde_json::{Value, json};

/// Imports with this format.
async fn formatted(service: &Service, format: &Value, query: &str, file: &str) -> Response {
    import(service, &format!("format={}&{query}", encode(&format.to_string())), file.to_owned()).await
}

fn german() -> Value {
    json!({"decimal": ",", "thousands": ".", "date": "DD.MM.YYYY", "datetime": "DD.MM.YYYY HH:mm",
        "time_zone": "Europe/Zurich", "null": ["", "NULL", "n/a"], "true": ["ja"], "false": ["nein"], "list": "|"})
}

#[tokio::test]
async fn german_spreadsheet_is_imported() {
    let service = Service::start().await;
    let file = "external_key;name;visits;born;seen;active;tags\r\n\
                g1;Ada;1.234,50;29.02.2024;01.07.2024 12:00;ja;a; b|c\r\n";
    let file = file.replace("a; b|c", "\"a; b|c\"");
    let report = formatted(&service, &german(), "", &file).await.expect(200);
    assert_eq!(counts(&report), [1, 1, 0, 0, 0]);
    assert_eq!(report["warnings"], Value::Null, "{report}");
    let found = attributes(&service, "g1").await;
    assert_eq!(
        json!([found["visits"], found["born"], found["seen"], found["active"], found["tags"]]).to_string(),
        r#"[1234.5,"2024-02-29","2024-07-01T10:00:00Z",true,["a; b","c"]]"#
    );
    // An escaped cell is text even if it looks like null, and a key can look like null as well.
    let file = "external_key;name;visits;born;active\r\ng1;'NULL;NULL;n/a;\r\n'n/a;x;;;\r\n";
    let report = formatted(&service, &german(), "", file).await.expect(200);
    assert_eq!(counts(&report), [2, 1, 1, 0, 0]);
    let found = attributes(&service, "g1").await;
    assert_eq!(
        json!([found["name"], found["visits"], found["born"], found["active"]]),
        json!(["NULL", null, null, null])
    );
    assert_eq!(attributes(&service, "n/a").await["name"], "x");
}

#[tokio::test]
async fn invalid_cell_is_rejected_with_a_hint() {
    let service = Service::start().await;
    let file = "external_key;visits;born;seen;active\n\
                a;1,234.50;;;\nb;;2024-02-29;;\nc;;;31.03.2024 02:30;\nd;;;27.10.2024 02:30;\ne;;;;true\nn/a;1;;;\ng;2;;;ja\n";
    let report = formatted(&service, &german(), "on_error=skip", file).await.expect(200);
    assert_eq!(counts(&report), [7, 1, 0, 0, 6]);
    for (index, (column, words)) in [
        (json!("visits"), "Write 1234,50 or 1.234,50."),
        (json!("born"), "the form DD.MM.YYYY. Write a value such as 29.02.2024."),
        (json!("seen"), "the clock is set forward"),
        (json!("seen"), "Write 2024-10-27T00:30:00Z for the first, 2024-10-27T01:30:00Z for the second."),
        (json!("active"), "Write ja for true, nein for false."),
        (json!("external_key"), "no external key"),
    ]
    .into_iter()
    .enumerate()
    {
        let error = &report["errors"][index];
        assert_eq!((&error["line"], &error["column"]), (&json!(index + 2), &column), "{error}");
        assert!(error["message"].as_str().unwrap_or_default().contains(words), "{error}");
    }
}

#[tokio::test]
async fn contradictory_format_rejects_the_file_before_its_rows() {
    let service = Service::start().await;
    let file = "external_key,visits\na,1\n";
    for (format, code, pointer) in [
        (json!({"dezimal": ","}), "unknown_field", "/format/dezimal"),
        (json!({"date": "DD.MM.YY"}), "invalid_value", "/format/date"),
        (json!({"datetime": "DD.MM.YYYY HH:mm"}), "invalid_value", "/format/time_zone"),
        (json!({"time_zone": "Europe/Zuerich"}), "invalid_value", "/format/time_zone"),
    ] {
        let problem = formatted(&service, &format, "on_error=skip", file).await.expect_error(422, code);
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{problem}");
    }
    import(&service, "format=csv", file).await.expect_error(400, "malformed_request");
    let query = format!("format={}", encode("{}"));
    send(&service, "application/x-ndjson", "customers", &query, "{}")
        .await
        .expect_error(422, "invalid_value");
}

#[tokio::test]
async fn format_decides_ambiguous_grouped_numbers() {
    let service = Service::start().await;
    let file = "external_key,visits\na,1.234\nb,22.500\n";
    let warned = import(&service, "dry_run=true", file).await.expect(200);
    assert_eq!(warned["warnings"][0]["code"], "grouped_number");
    let dates = formatted(&service, &json!({"date": "DD.MM.YYYY"}), "dry_run=true", file).await.expect(200);
    assert_eq!(dates["warnings"][0]["code"], "grouped_number");
    for (format, visits) in
        [(json!({"decimal": "."}), "1.234"), (json!({"decimal": ",", "thousands": "."}), "1234")]
    {
        let report = formatted(&service, &format, "", file).await.expect(200);
        assert_eq!(report["warnings"], Value::Null);
        assert_eq!(attributes(&service, "a").await["visits"].to_string(), visits);
    }
}

#[tokio::test]
async fn dry_run_suggests_the_format_that_fits_all_cells() {
    let service = Service::start().await;
    let rows = "a;1.234,50;29.02.2024;29.02.2024 13:45;ja;n/a\nb;12;01.02.2024;;nein;x|y\n";
    let file = format!("external_key;visits;born;seen;active;name\n{rows}");
    let report = import(&service, "dry_run=true", file.clone()).await.expect(200);
    let expected = json!({"decimal": ",", "thousands": ".", "date": "DD.MM.YYYY", "datetime": "DD.MM.YYYY HH:mm",
        "true": ["ja"], "false": ["nein"]});
    assert_eq!(report["suggested_format"], expected, "{report}");
    // The file does not contain its time zone.
    assert_eq!(report["warnings"][0]["code"], "ambiguous_format", "{report}");
    let mut format = report["suggested_format"].clone();
    format["time_zone"] = json!("Europe/Zurich");
    let report = formatted(&service, &format, "", &file).await.expect(200);
    assert_eq!(counts(&report), [2, 2, 0, 0, 0]);
    assert_eq!(attributes(&service, "a").await["seen"], "2024-02-29T12:45:00Z");
    // A format is suggested only in a dry run, and only if cells are rejected.
    for (query, file) in
        [("dry_run=true", "external_key;visits\na;1.5\n".to_owned()), ("on_error=skip", file)]
    {
        let report = import(&service, query, file).await.expect(200);
        assert_eq!(report["suggested_format"], Value::Null, "{report}");
    }
}

#[tokio::test]
async fn dry_run_suggests_no_null_that_occurs_as_text() {
    let service = Service::start().await;
    for (file, location) in [
        ("external_key,visits,name\na,NA,x\nb,1,NA\n", "name"),
        ("external_key,visits,name\nNA,NA,x\nb,1,y\n", "external_key"),
    ] {
        let report = import(&service, "dry_run=true", file).await.expect(200);
        assert_eq!(report["suggested_format"], Value::Null, "{report}");
        assert_eq!(report["warnings"][0]["code"], "ambiguous_format", "{report}");
        let message = report["warnings"][0]["message"].as_str().unwrap_or_default();
        assert!(message.contains("\"NA\"") && message.contains(location), "{message}");
    }
    let report = import(&service, "dry_run=true", "external_key,visits,name\na,NA,x\n").await.expect(200);
    assert_eq!(report["suggested_format"], json!({"null": ["", "NA"]}), "{report}");
}

#[tokio::test]
async fn dry_run_reports_ambiguous_dates() {
    let service = Service::start().await;
    // Rows of many chunks; the last row decides.
    let rows: String =
        (0..30_000).map(|row| format!("k{row},0{}/0{}/2024\n", 1 + row % 9, 1 + row % 7)).collect();
    let file = format!("external_key,born\n{rows}");
    let report = import(&service, "dry_run=true", file.clone()).await.expect(200);
    assert_eq!(report["suggested_format"], Value::Null);
    let message = report["warnings"][0]["message"].as_str().unwrap_or_default();
    assert_eq!(report["warnings"][0]["code"], "ambiguous_format");
    assert!(message.contains("DD/MM/YYYY") && message.contains("MM/DD/YYYY"), "{message}");
    let report = import(&service, "dry_run=true", format!("{file}last,13/01/2024\n")).await.expect(200);
    assert_eq!(report["suggested_format"], json!({"date": "DD/MM/YYYY"}), "{}", report["warnings"]);
}
