//! References that are matched by an attribute of their target.

use super::{attributes, counts, import, send};
use harness::{Service, encode, id_of};
use rust_xlsxwriter::Workbook;
use serde_json::{Value, json};

fn by(matching: &Value) -> String {
    format!("match={}", encode(&matching.to_string()))
}

/// A service with two companies, and their ids.
async fn with_companies() -> (Service, [String; 2]) {
    let service = Service::start().await;
    let mut ids = Vec::new();
    for (key, name) in [("C-1", "Acme"), ("C-2", "4711")] {
        let body = json!({"external_key": key, "attributes": {"name": name}});
        let made = service.post("/entities/template/companies", body).await.expect(201);
        ids.push(id_of(&made).to_owned());
    }
    let ids = ids.try_into().expect("two");
    (service, ids)
}

#[tokio::test]
async fn all_file_formats_match_references_by_text() {
    let (service, [acme, number]) = with_companies().await;
    let query = by(&json!({"company": "name"}));
    let csv = "No;Firma\na;Acme\nb;4711\nc;Nowhere\nd;n/a\n";
    let mapping = encode(r#"{"Firma": "company"}"#);
    let format = encode(r#"{"null": ["", "n/a"]}"#);
    let query_csv = format!("{query}&on_error=skip&key_column=No&mapping={mapping}&format={format}");
    let report = import(&service, &query_csv, csv).await.expect(200);
    assert_eq!(counts(&report), [4, 3, 0, 0, 1], "{report}");
    let error = &report["errors"][0];
    assert_eq!((&error["line"], &error["column"]), (&json!(4), &json!("Firma")), "{report}");
    assert_eq!((&error["code"], &report["warnings"]), (&json!("reference_not_found"), &Value::Null));
    assert_eq!(attributes(&service, "a").await["company"], acme);
    assert_eq!(attributes(&service, "b").await["company"], number);
    assert_eq!(attributes(&service, "d").await["company"], Value::Null);

    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    for (column, name) in ["external_key", "company"].iter().enumerate() {
        sheet.write(0, column as u16, *name).expect("a cell");
    }
    sheet.write(1, 0, "e").expect("a cell").write(1, 1, 4711.0).expect("a cell");
    sheet.write(2, 0, "f").expect("a cell").write(2, 1, "Acme").expect("a cell");
    let xlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    let file = workbook.save_to_buffer().expect("a workbook");
    let report = send(&service, xlsx, "customers", &query, file).await.expect(200);
    assert_eq!(counts(&report), [2, 2, 0, 0, 0], "{report}");
    assert_eq!(attributes(&service, "e").await["company"], number);

    let array = json!([{"external_key": "g", "attributes": {"company": "Acme"}}]).to_string();
    let report = send(&service, "application/json", "customers", &query, array).await.expect(200);
    assert_eq!(counts(&report), [1, 1, 0, 0, 0], "{report}");
    assert_eq!(attributes(&service, "g").await["company"], acme);
}

#[tokio::test]
async fn dry_run_and_preview_of_matched_references_write_nothing() {
    let (service, _) = with_companies().await;
    let query = format!("{}&dry_run=true&preview=true", by(&json!({"company": "name"})));
    let report = import(&service, &query, "external_key,company\na,Acme\nb,Nowhere\n").await.expect(200);
    assert_eq!(counts(&report), [2, 1, 0, 0, 1], "{report}");
    let columns = &report["preview"]["columns"];
    assert_eq!(columns[1], json!({"name": "company", "field": "company", "type": "reference"}), "{report}");
    assert_eq!(service.by_key("a").await.status, 404);
}

#[tokio::test]
async fn invalid_match_is_rejected_before_any_write() {
    let (service, _) = with_companies().await;
    for (matching, status, code) in [
        (r#"{"company": "nope"}"#, 422, "unknown_attribute"),
        (r#"{"nope": "name"}"#, 422, "unknown_attribute"),
        (r#"{"visits": "name"}"#, 422, "invalid_value"),
        (r#"{"company": null}"#, 422, "invalid_value"),
        (r#""company""#, 422, "invalid_value"),
        (r#"{"company"}"#, 400, "malformed_request"),
    ] {
        let query = format!("on_error=skip&match={}", encode(matching));
        let response = import(&service, &query, "external_key,company,visits\na,Acme,1\n").await;
        let problem = response.expect_error(status, code);
        assert!(problem["report"].is_null(), "{matching}: {problem}");
        assert_eq!(service.by_key("a").await.status, 404, "{matching}");
    }
}

#[tokio::test]
async fn rows_match_by_text_across_chunks() {
    let service = Service::start().await;
    let name = json!([{"slug": "name", "type": "string"}, {"slug": "note", "type": "string"}]);
    service.post("/templates", json!({"slug": "staff", "attributes": name})).await.expect(201);
    let boss = json!([{"slug": "boss", "type": "reference", "template": "staff"}]);
    service.patch("/templates/staff", json!({"attributes": boss})).await.expect(200);
    let session = service.session().await;
    // A chain across several chunks in which each row references the next one, a cycle over all of them, and rows that
    // wait together with other rows of the same key.
    let count = 9000;
    let mut file =
        "external_key,name,note,boss\ncycle-1,One,,Two\nr,Early,first,Late\nr,Early,second,Late\n".to_owned();
    for number in 0..count {
        file += &format!("n{number},N{number},{},N{}\n", "x".repeat(150), number + 1);
    }
    file += &format!("n{count},N{count},,\ncycle-2,Two,,One\nl,Late,,\nlost,Lost,,Nobody\n");
    for mode in ["skip", "abort&dry_run=true"] {
        let query = format!("on_error={mode}&{}", by(&json!({"boss": "name"})));
        let report = send(&service, "text/csv", "staff", &query, file.clone()).await.expect(200);
        let [rows, .., failed] = counts(&report);
        assert_eq!((rows, failed), (count + 7, 1), "{mode}: {report}");
        assert_eq!(report["errors"][0]["line"], count + 8, "{mode}: {report}");
        let linked = "select count(*) from crm.staff s join crm.staff b on b.id = s.boss \
                      where b.name = 'N' || (substr(s.external_key, 2)::int + 1) and s.external_key ~ '^n'";
        assert_eq!(session.text(linked, &[]).await, count.to_string(), "{mode}");
        let others = "select string_agg(concat(s.external_key, '=', b.external_key, s.note), ' ' order by s.external_key) \
                      from crm.staff s left join crm.staff b on b.id = s.boss where s.external_key !~ '^n'";
        assert_eq!(session.text(others, &[]).await, "cycle-1=cycle-2 cycle-2=cycle-1 l= r=lsecond", "{mode}");
    }
}
