//! POST /entities/template/{template}/import.

use super::{attributes, counts, import, send};
use harness::Service;
use serde_json::{Value, json};

#[tokio::test]
async fn repeated_import_changes_nothing() {
    let service = Service::start().await;
    service
        .post("/entities/template/companies", json!({"external_key": "ACME", "attributes": {"name": "Acme"}}))
        .await;
    let file = "external_key,name,visits,tags,tier,born,seen,company,active\n\
                A-1,Ada,12345678901234567890.50,math;engines,gold,1815-12-10,2024-02-29T13:45:00+01:00,ACME,true\n\
                A-2,\"Grace \"\"Amazing\"\"\nHopper\",-1,\"[\"\"a;b\"\",\"\"\"\"]\",,,,,false\n";
    let report = import(&service, "", file).await.expect(200);
    assert_eq!(counts(&report), [2, 2, 0, 0, 0], "{report}");
    let ada = service.by_key("A-1").await;
    assert!(ada.text.contains("\"visits\":12345678901234567890.50"), "{}", ada.text);
    let ada = &ada.body["attributes"];
    assert_eq!((&ada["tags"], &ada["tier"]), (&json!(["math", "engines"]), &json!(["gold"])));
    assert_eq!((&ada["born"], &ada["seen"]), (&json!("1815-12-10"), &json!("2024-02-29T12:45:00Z")));
    assert!(ada["company"].is_string() && ada["active"] == true);
    let grace = attributes(&service, "A-2").await;
    assert_eq!(grace["active"], false);
    assert_eq!(grace["name"], "Grace \"Amazing\"\nHopper");
    assert_eq!(
        (&grace["tags"], &grace["born"], &grace["company"]),
        (&json!(["a;b", ""]), &Value::Null, &Value::Null)
    );
    let before = service.by_key("A-1").await.expect(200)["updated_at"].clone();
    for again in [file, &file.replace("890.50,", "890.5,").replace(",-1,", ",-1.0,")] {
        let again = import(&service, "on_error=skip", again.to_owned()).await.expect(200);
        assert_eq!(counts(&again), [2, 0, 0, 2, 0]);
    }
    assert_eq!(service.by_key("A-1").await.expect(200)["updated_at"], before);
    let changed = import(&service, "", file.replace("Ada,", "Ada King,")).await.expect(200);
    assert_eq!(counts(&changed), [2, 0, 1, 1, 0]);
    let id = service.by_key("A-1").await.expect(200)["id"].clone();
    let history =
        service.get(&format!("/entities/{}/history", id.as_str().unwrap_or_default())).await.expect(200);
    let entries = history["history"].as_array().expect("entries");
    assert_eq!(entries.len(), 2);
    assert!(entries.iter().all(|entry| entry["source"] == "csv"), "{history}");
}

#[tokio::test]
async fn same_key_twice_is_written_in_the_order_of_the_file() {
    let service = Service::start().await;
    for query in ["on_error=skip", "on_error=abort"] {
        let report =
            import(&service, query, "external_key,name\nk,one\nl,x\nk,two\nk,three\n").await.expect(200);
        assert_eq!(report["rows"], 4);
        assert_eq!(attributes(&service, "k").await["name"], "three");
    }
}

#[tokio::test]
async fn dry_run_reports_everything_and_writes_nothing() {
    let service = Service::start().await;
    service.upsert("old", json!({"name": "old"})).await.expect(201);
    let file = "external_key,name,visits\nnew,new,1\nold,changed,2\nbad,bad,x\nnew,again,1\n";
    for query in ["dry_run=true", "dry_run=true&on_error=skip"] {
        let report = import(&service, query, file).await.expect(200);
        assert_eq!((report["dry_run"].clone(), counts(&report)), (json!(true), [4, 1, 2, 0, 1]), "{report}");
    }
    assert_eq!(service.by_key("new").await.status, 404);
    assert_eq!(attributes(&service, "old").await["name"], "old");
}

#[tokio::test]
async fn columns_match_by_slug_label_or_mapping() {
    let service = Service::start().await;
    let body = json!({"attributes": [{"slug": "name", "label": "Full name"}]});
    service.patch("/templates/customers", body).await.expect(200);
    let file = "No;Full name;Besuche;Bemerkung\n7;Ada;3;x\n";
    let mapping = harness::encode(r#"{"Besuche": "visits", "Bemerkung": null}"#);
    let report =
        import(&service, &format!("key_column=No&key_prefix=erp:&mapping={mapping}"), file).await.expect(200);
    assert_eq!((counts(&report), &report["delimiter"]), ([1, 1, 0, 0, 0], &json!(";")));
    let ada = attributes(&service, "erp:7").await;
    assert_eq!((&ada["name"], &ada["visits"]), (&json!("Ada"), &json!(3)));

    let rejected = import(&service, "", file).await.expect_error(422, "unknown_attribute");
    assert_eq!(rejected["errors"].as_array().map(Vec::len), Some(3), "{rejected}");
    for (query, file) in [
        ("key_column=nope", "external_key\na\n"),
        ("", "external_key,name,name\na,b,c\n"),
        ("", "external_key,\na,b\n"),
        ("key_column=name", "external_key,name\na,b\n"),
    ] {
        import(&service, query, file).await.expect_error(422, "invalid_value");
    }
}

#[tokio::test]
async fn rows_can_refer_to_later_rows_and_cycles() {
    let service = Service::start().await;
    let staff = json!({"slug": "staff", "attributes": [
        {"slug": "name", "type": "string"},
        {"slug": "boss", "type": "reference", "template": "staff"},
    ]});
    // A template can reference itself only after it exists.
    let first = json!({"slug": "staff", "attributes": [staff["attributes"][0]]});
    service.post("/templates", first).await.expect(201);
    service.patch("/templates/staff", json!({"attributes": [staff["attributes"][1]]})).await.expect(200);
    // Each of thousands of rows, in several chunks, references a later row.
    let mut file = "external_key,name,boss\n".to_owned();
    for number in (1..=5000).rev() {
        file += &format!("s{number},n{number},s{}\n", number / 10);
    }
    file += "s0,chief,\nx,x,y\ny,y,x\nz,z,nobody\n";
    let report = send(&service, "text/csv", "staff", "on_error=skip", file.clone()).await.expect(200);
    assert_eq!(counts(&report), [5004, 5003, 0, 0, 1], "{report}");
    assert_eq!(report["errors"][0]["line"], 5005, "{report}");
    let session = service.session().await;
    let linked = "select count(*) from crm.staff s join crm.staff b on b.id = s.boss \
                  where b.external_key = 's' || substr(s.external_key, 2)::int / 10";
    let linked = linked.replace("where b", "where s.external_key like 's%' and b");
    assert_eq!(session.text(&linked, &[]).await, "5000");
    let cycle = "select count(*) from crm.staff s join crm.staff b on b.id = s.boss where b.external_key in ('x', 'y')";
    assert_eq!(session.text(cycle, &[]).await, "2");
    let again = send(&service, "text/csv", "staff", "on_error=skip", file).await.expect(200);
    assert_eq!(counts(&again), [5004, 0, 0, 5003, 1]);
}

#[tokio::test]
async fn ndjson_lines_are_rows() {
    let service = Service::start().await;
    let file = "{\"external_key\":\"a\",\"attributes\":{\"name\":\"A\",\"tags\":[\"x\"],\"mood\":3}}\n\
                \n\
                {\"external_key\":\"a\",\"attributes\":{\"visits\":{\"$inc\":2}}}\r\n\
                {\"attributes\":{\"name\":\"no key\"}}\n\
                {\"external_key\":\"b\",\"attributes\":{\"nope\":1}}\n\
                not json\n\
                {\"external_key\":\"c\",\"template_slug\":\"customers\",\"created_at\":null,\"attributes\":{}}\n";
    let report = send(&service, "application/x-ndjson", "customers", "on_error=skip", file).await.expect(200);
    assert_eq!(counts(&report), [6, 3, 1, 0, 2], "{report}");
    assert_eq!(report["errors"][0]["line"], 5);
    assert_eq!(
        (&report["errors"][0]["column"], &report["errors"][0]["code"]),
        (&json!("nope"), &json!("unknown_attribute"))
    );
    assert_eq!(
        (&report["errors"][1]["line"], &report["errors"][1]["code"]),
        (&json!(6), &json!("malformed_request"))
    );
    let a = attributes(&service, "a").await;
    assert_eq!((&a["visits"], &a["mood"]), (&json!(2), &json!(3)));
}

#[tokio::test]
async fn spreadsheet_encodings_are_imported() {
    let service = Service::start().await;
    let text = "external_key;name\r\nz;Zoë Müller\r\n";
    let windows: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let utf16: Vec<u8> =
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (bytes, query, encoding) in [
        (text.as_bytes().to_vec(), "", "utf-8"),
        ([b"\xef\xbb\xbf", text.as_bytes()].concat(), "", "utf-8"),
        (windows.clone(), "", "windows-1252"),
        (windows.clone(), "encoding=latin1", "windows-1252"),
        (utf16, "", "utf-16le"),
    ] {
        let report = import(&service, query, bytes).await.expect(200);
        assert_eq!((&report["encoding"], &report["failed"]), (&json!(encoding), &json!(0)), "{report}");
        assert_eq!(attributes(&service, "z").await["name"], "Zoë Müller");
    }
    let rejected = import(&service, "encoding=utf-8", windows).await.expect_error(400, "malformed_request");
    assert!(rejected["detail"].as_str().unwrap_or_default().contains("line 2"), "{rejected}");
}

#[tokio::test]
async fn rejected_rows_can_be_imported_by_the_same_request() {
    let service = Service::start().await;
    let path = "/v1/entities/template/customers/import?on_error=skip";
    for (query, content_type) in
        [("&encoding=windows-1252", "text/csv"), ("", "text/csv; charset=windows-1252")]
    {
        let send = async |file: Vec<u8>| {
            let request = service.proxy.request("POST", &format!("{path}{query}"));
            let response = request.header("accept", "text/csv").body(content_type, file).send().await;
            assert_eq!(response.status, 200, "{}", response.text);
            response.text
        };
        let rejected = send(b"external_key,name,visits\nz,Z\xfcrich,x\n".to_vec()).await;
        send(rejected.replace(",x,", ",2,").into_bytes()).await;
        assert_eq!(attributes(&service, "z").await["name"], "Zürich");
        service.delete("/entities/template/customers/by-key?key=z").await.expect(204);
    }
}

#[tokio::test]
async fn progress_and_rejections_are_streamed_before_the_report() {
    let service = Service::start().await;
    let file = "external_key,visits\na,1\nb,x\nc,3\n";
    let path = "/v1/entities/template/customers/import?on_error=skip";
    let request = || service.proxy.request("POST", path).body("text/csv", file);
    let response = request().header("accept", "application/x-ndjson").send().await;
    assert_eq!((response.status, response.header("content-type")), (200, "application/x-ndjson"));
    let lines: Vec<Value> =
        response.text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(
        lines[0]["file"],
        json!({"header": ["external_key", "visits"], "delimiter": ","}),
        "{lines:?}"
    );
    assert_eq!((&lines[1]["refused"]["line"], &lines[1]["refused"]["row"]), (&json!(3), &json!("b,x")));
    assert_eq!(lines[1]["refused"]["errors"][0]["column"], "visits");
    assert_eq!(lines[2]["progress"]["rows"], 3);
    assert_eq!(counts(lines.last().expect("a report")), [3, 2, 0, 0, 1]);

    let response = request().header("accept", "text/csv").send().await;
    let mut rejected = response.text.lines();
    assert_eq!(rejected.next(), Some("external_key,visits,import_error"));
    assert!(
        rejected.next().is_some_and(|row| row.starts_with("b,x,\"line 3, visits: ")),
        "{}",
        response.text
    );
    // The list of rejected rows can be sent again after its values are corrected.
    let fixed = response.text.replace("b,x,", "b,2,");
    assert_eq!(counts(&import(&service, "", fixed).await.expect(200)), [1, 1, 0, 0, 0]);

    let whole =
        || service.proxy.request("POST", "/v1/entities/template/customers/import").body("text/csv", file);
    // If nothing is imported, no list of rejected rows is returned.
    let problem = whole().header("accept", "text/csv").send().await.expect_error(422, "invalid_value");
    assert_eq!(counts(&problem["report"]), [3, 0, 0, 0, 1], "{problem}");
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(
        detail.starts_with("nothing was imported because 1 row was rejected: line 3, column visits"),
        "{detail}"
    );
    let good = service.proxy.request("POST", "/v1/entities/template/customers/import?");
    let good = good.body("text/csv", "external_key,visits\na,1\n").header("accept", "text/csv").send().await;
    assert_eq!((good.status, good.text.as_str()), (200, "external_key,visits,import_error\n"));
    let response = whole().header("accept", "application/x-ndjson").send().await;
    let last: Value = serde_json::from_str(response.text.lines().last().expect("lines")).expect("JSON");
    assert_eq!(
        (&last["problem"]["status"], &last["problem"]["code"]),
        (&json!(422), &json!("invalid_value"))
    );
}

#[tokio::test]
async fn file_can_update_some_attributes() {
    let service = Service::start().await;
    let send = |file: &'static str| send(&service, "text/csv", "companies", "on_error=skip", file);
    service
        .patch("/templates/companies", json!({"attributes": [{"slug": "size", "type": "number"}]}))
        .await
        .expect(200);
    assert_eq!(counts(&send("external_key,name\na,A\nb,B\n").await.expect(200)), [2, 2, 0, 0, 0]);
    let report = send("external_key,size\na,1\nb,2\nc,3\n").await.expect(200);
    assert_eq!(counts(&report), [3, 0, 2, 0, 1]);
    assert_eq!(
        (&report["errors"][0]["line"], &report["errors"][0]["code"]),
        (&json!(4), &json!("required_attribute"))
    );
    // The value has no column, so the error uses its slug.
    assert_eq!(report["errors"][0]["column"], "name");
    assert_eq!(counts(&send("external_key,size\na,1\nb,5\n").await.expect(200)), [2, 0, 1, 1, 0]);
}

#[tokio::test]
async fn row_can_identify_its_record_by_id() {
    let service = Service::start().await;
    let record = service.create(json!({"attributes": {"name": "nameless"}})).await;
    let id = record["id"].as_str().expect("an id");
    let file = format!("id,external_key,name\n{id},,named\n");
    assert_eq!(counts(&import(&service, "", file.clone()).await.expect(200)), [1, 0, 1, 0, 0]);
    assert_eq!(counts(&import(&service, "", file).await.expect(200)), [1, 0, 0, 1, 0]);
    let rejected =
        import(&service, "", "id,external_key,name\n00000000-0000-0000-0000-000000000000,,x\n").await;
    rejected.expect_error(404, "not_found");
}

#[tokio::test]
async fn row_without_a_key_in_a_cycle_creates_one_record() {
    let service = Service::start().await;
    let name = json!({"slug": "name", "type": "string"});
    service.post("/templates", json!({"slug": "staff", "attributes": [name]})).await.expect(201);
    let boss = json!({"slug": "boss", "type": "reference", "template": "staff"});
    service.patch("/templates/staff", json!({"attributes": [boss]})).await.expect(200);
    let line = |name: &str, boss: &str| json!({"name": name, "boss": {"external_key": boss}});
    let lines = [
        json!({"attributes": line("w", "x")}),
        json!({"external_key": "x", "attributes": line("x", "y")}),
        json!({"external_key": "y", "attributes": line("y", "x")}),
    ];
    let file = lines.map(|line| line.to_string() + "\n").concat();
    let report = send(&service, "application/x-ndjson", "staff", "on_error=skip", file).await.expect(200);
    assert_eq!(counts(&report), [3, 3, 0, 0, 0], "{report}");
    let session = service.session().await;
    let records = "select string_agg(s.name || '>' || b.name, ' ' order by s.name) \
                   from crm.staff s left join crm.staff b on b.id = s.boss";
    assert_eq!(session.text(records, &[]).await, "w>x x>y y>x");
    assert_eq!(session.text("select count(*) from crm.staff", &[]).await, "3");
}
