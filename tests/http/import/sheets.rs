//! Import and export of spreadsheets.

use super::{attributes, counts};
use crate::routes::export::{all, hostile};
use harness::{Response, Service, encode, peak_memory};
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use serde_json::{Value, json};

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

async fn import(service: &Service, query: &str, file: Vec<u8>) -> Response {
    super::send(service, XLSX, "customers", query, file).await
}

/// The file of an export.
async fn export(service: &Service, query: &str) -> Vec<u8> {
    let path = format!("/v1/entities/template/customers/export?{query}");
    let response = service.proxy.request("GET", &path).header("accept", XLSX).response().await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], XLSX);
    assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"customers.xlsx\"");
    response.bytes().await.expect("the whole file").to_vec()
}

fn zone() -> String {
    format!("format={}", encode(r#"{"time_zone": "Europe/Zurich"}"#))
}

/// A workbook with keys, names, numbers, booleans, dates and times; the second row is empty.
fn workbook() -> Vec<u8> {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet().set_name("People").expect("a name");
    let header = ["external_key", "name", "visits", "active", "born", "seen", "tags"];
    for (column, name) in header.iter().enumerate() {
        sheet.write(0, column as u16, *name).expect("a cell");
    }
    let (day, time) = (Format::new().set_num_format("dd.mm.yy"), Format::new().set_num_format("d/m/yy h:mm"));
    let date = |text: &str| ExcelDateTime::parse_from_str(text).expect("a date");
    for (row, key, seen) in
        [(2, 4_711.0, "2024-07-01T12:00:00"), (3, 4_006_381_333_931.0, "2024-01-01T12:30:59")]
    {
        sheet.write(row, 0, key).expect("a cell");
        sheet.write(row, 1, 12.0).expect("a cell");
        sheet.write(row, 2, -0.125).expect("a cell");
        sheet.write(row, 3, row == 2).expect("a cell");
        sheet.write_with_format(row, 4, date("2024-02-29"), &day).expect("a cell");
        sheet.write_with_format(row, 5, date(seen), &time).expect("a cell");
        sheet.write(row, 6, "a;b").expect("a cell");
    }
    workbook.add_worksheet().set_name("Other").expect("a name").write(0, 0, "external_key").expect("a cell");
    workbook.save_to_buffer().expect("a workbook")
}

#[tokio::test]
async fn sheet_cells_are_read_by_attribute_type() {
    let service = Service::start().await;
    let report = import(&service, &zone(), workbook()).await.expect(200);
    assert_eq!(counts(&report), [2, 2, 0, 0, 0], "{report}");
    let found = attributes(&service, "4711").await;
    assert_eq!(
        json!([found["name"], found["visits"], found["active"], found["born"], found["seen"], found["tags"]]),
        json!(["12", -0.125, true, "2024-02-29", "2024-07-01T10:00:00Z", ["a", "b"]])
    );
    assert_eq!(attributes(&service, "4006381333931").await["seen"], "2024-01-01T11:30:59Z");
    // Another sheet has no rows, and a third one does not exist.
    let report = import(&service, "sheet=Other", workbook()).await.expect(200);
    assert_eq!(counts(&report), [0; 5]);
    let problem = import(&service, "sheet=Third", workbook()).await.expect_error(422, "invalid_value");
    assert_eq!(problem["hint"], "Its sheets are: People, Other.");
}

#[tokio::test]
async fn invalid_sheet_cell_is_rejected_with_its_row() {
    let service = Service::start().await;
    // Without a time zone, no cell is a valid datetime.
    let report = import(&service, "on_error=skip", workbook()).await.expect(200);
    assert_eq!(counts(&report), [2, 0, 0, 0, 2], "{report}");
    let error = &report["errors"][0];
    assert_eq!((&error["line"], &error["column"]), (&json!(3), &json!("seen")));
    assert!(error["message"].as_str().unwrap_or_default().contains("time_zone"), "{error}");

    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let day = Format::new().set_num_format("dd.mm.yyyy");
    for (column, name) in ["external_key", "visits", "born", "active"].iter().enumerate() {
        sheet.write(0, column as u16, *name).expect("a cell");
    }
    for row in 1..5 {
        sheet.write(row, 0, format!("k{row}")).expect("a cell");
    }
    sheet.write_formula(1, 1, Formula::new("=NA()").set_result("#N/A")).expect("a cell");
    sheet.write(2, 1, "1,5").expect("a cell");
    sheet.write(3, 2, 45_000.0).expect("a cell");
    let noon = ExcelDateTime::parse_from_str("2024-02-29T12:00:00").expect("a date");
    sheet.write_with_format(4, 2, &noon, &day).expect("a cell");
    sheet.write(5, 0, 12_345_678_901_234_567_890.0).expect("a cell");
    let file = workbook.save_to_buffer().expect("a workbook");
    let report = import(&service, "on_error=skip", file.clone()).await.expect(200);
    assert_eq!(counts(&report), [5, 1, 0, 0, 4], "{report}");
    for (index, (column, words)) in [
        ("visits", "cell B2 failed with #N/A"),
        ("visits", "\"1,5\" is not a number"),
        ("born", "the number 45000"),
        ("born", "The date has a time of day"),
    ]
    .into_iter()
    .enumerate()
    {
        let error = &report["errors"][index];
        assert_eq!((&error["line"], &error["column"]), (&json!(index + 2), &json!(column)));
        assert!(error["message"].as_str().unwrap_or_default().contains(words), "{error}");
    }
    assert_eq!(report["warnings"][0]["code"], "scientific_key", "{report}");
    assert_eq!(report["warnings"][0]["lines"], json!([6]));
    // The rejected rows are returned as CSV, with their columns.
    let request = service.proxy.request("POST", "/v1/entities/template/customers/import?on_error=skip");
    let rejected = request.header("accept", "text/csv").body(XLSX, file.clone()).send().await.text;
    let lines: Vec<&str> = rejected.lines().collect();
    assert_eq!(lines[0], "external_key,visits,born,active,import_error", "{rejected}");
    assert!(lines[2].starts_with("k2,\"1,5\",,,\"line 3, visits: "), "{rejected}");
    // A format applies to text cells, and specifies which error values mean null.
    let format = encode(r##"{"decimal": ",", "null": ["", "#N/A"]}"##);
    let report = import(&service, &format!("on_error=skip&format={format}"), file).await.expect(200);
    assert_eq!(counts(&report), [5, 2, 0, 1, 2], "{report}");
    assert_eq!(attributes(&service, "k2").await["visits"], 1.5);
}

#[tokio::test]
async fn invalid_spreadsheet_is_rejected() {
    let service = Service::start().await;
    for file in [b"external_key,name\n".to_vec(), Vec::new(), workbook()[..2000].to_vec()] {
        import(&service, "", file).await.expect_error(400, "malformed_request");
    }
    super::send(&service, "text/csv", "customers", "sheet=x", "external_key\n")
        .await
        .expect_error(422, "invalid_value");
    let packed = super::send(&service, "text/csv", "customers", "", workbook()).await;
    let problem = packed.expect_error(400, "malformed_request");
    assert!(problem["hint"].as_str().unwrap_or_default().contains(XLSX), "{problem}");
}

#[tokio::test]
async fn exported_spreadsheet_round_trips() {
    let service = hostile().await;
    let exact = r#"{"external_key": "exact", "attributes": {"visits": 1234.5, "seen": "2024-07-01T10:00:00Z", "born": "1899-12-31"}}"#;
    service.send_text("PUT", "/entities/template/customers/by-key", exact).await.expect(201);
    let twice = json!({"seen": "2024-10-27T00:30:00Z", "visits": 1e15, "name": "'=1"});
    service.upsert("twice", twice).await.expect(201);
    // A numeric cell has no trailing zeros.
    let session = service.session().await;
    for visits in ["null", "-0.0000000000000000000123456789"] {
        session
            .run(&format!("update crm.customers set visits = {visits} where external_key = '-numbers'"))
            .await;
    }
    let before = all(&service).await;
    let drop_mood = encode(r#"{"mood": null}"#);
    for query in [String::new(), zone()] {
        let file = export(&service, &query).await;
        let query = format!("mapping={drop_mood}&{query}");
        let report = import(&service, &query, file.clone()).await.expect(200);
        assert_eq!(counts(&report), [26, 0, 0, 26, 0], "{report}");
        session.run("update crm.customers set name = 'x', tags = '{x}', tier = null, born = '2000-01-01', seen = now(), visits = 1, company = null, active = null").await;
        let report = import(&service, &query, file).await.expect(200);
        assert_eq!(counts(&report), [26, 0, 26, 0, 0], "{report}");
        let after = all(&service).await;
        let (after, before) = (after.split("}, "), before.split("}, "));
        let differing: Vec<(&str, &str)> =
            after.zip(before).filter(|(after, before)| after != before).collect();
        assert_eq!(differing, []);
    }
}

#[tokio::test]
async fn text_beyond_the_cell_limit_rejects_the_export() {
    let service = Service::start().await;
    service.upsert("long", json!({"name": "x".repeat(40_000)})).await.expect(201);
    let path = "/v1/entities/template/customers/export?format=xlsx";
    let problem = service.proxy.request("GET", path).send().await.expect_error(422, "invalid_value");
    assert!(
        problem["detail"].as_str().unwrap_or_default().contains("the text of name in row 2"),
        "{problem}"
    );
}

#[tokio::test]
async fn sheet_import_uses_bounded_memory() {
    let service = Service::start().await;
    let memory = |rows: u32| {
        let service = &service;
        async move {
            let mut workbook = Workbook::new();
            let sheet = workbook.add_worksheet_with_constant_memory().expect("a sheet");
            sheet.write(0, 0, "external_key").expect("a cell").write(0, 1, "name").expect("a cell");
            for row in 1..=rows {
                sheet
                    .write(row, 0, row)
                    .expect("a cell")
                    .write(row, 1, "a name of some length")
                    .expect("a cell");
            }
            let file = workbook.save_to_buffer().expect("a workbook");
            let report = import(service, "on_error=skip", file).await.expect(200);
            assert_eq!(report["failed"], Value::from(0));
            drop(export(service, "").await);
            peak_memory(service.proxy.process())
        }
    };
    let few = memory(2_000).await;
    let many = memory(40_000).await;
    assert!(many < few + 48, "{few} and {many} MiB");
}

#[tokio::test]
async fn dry_run_suggests_the_format_of_text_cells() {
    let service = Service::start().await;
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in ["external_key", "visits", "born"].iter().enumerate() {
        sheet.write(0, column as u16, *name).expect("a cell");
    }
    let day = Format::new().set_num_format("dd.mm.yyyy");
    let date = ExcelDateTime::parse_from_str("2024-02-29").expect("a date");
    // Typed cells work with every format.
    sheet.write(1, 0, "A-1").expect("a cell");
    sheet.write(1, 1, 12.5).expect("a cell");
    sheet.write_with_format(1, 2, date, &day).expect("a cell");
    sheet.write(2, 0, "A-2").expect("a cell");
    sheet.write(2, 1, "1.234,5").expect("a cell");
    sheet.write(2, 2, "31.12.2024").expect("a cell");
    let file = workbook.save_to_buffer().expect("a workbook");
    let report = import(&service, "dry_run=true&preview=true", file.clone()).await.expect(200);
    let format = &report["suggested_format"];
    assert_eq!(format, &json!({"decimal": ",", "thousands": ".", "date": "DD.MM.YYYY"}), "{report}");
    let query = format!("format={}", encode(&format.to_string()));
    import(&service, &query, file).await.expect(200);
    for (key, visits, born) in [("A-1", 12.5, "2024-02-29"), ("A-2", 1234.5, "2024-12-31")] {
        let found = attributes(&service, key).await;
        assert_eq!((&found["visits"], &found["born"]), (&json!(visits), &json!(born)), "{found}");
    }
}
