//! GET and POST /entities/template/{template}/export.

use crate::import::{counts, send};
use harness::{Response, Service, until};
use serde_json::{Value, json};

pub(crate) async fn export(service: &Service, template: &str, query: &str, body: Option<Value>) -> Response {
    let path = format!("/v1/entities/template/{template}/export?{query}");
    match body {
        Some(body) => service.proxy.request("POST", &path).json(&body).send().await,
        None => service.proxy.request("GET", &path).send().await,
    }
}

/// Records with values that are hard to represent in a file.
pub(crate) async fn hostile() -> Service {
    let service = Service::start().await;
    let acme = json!({"external_key": "=HYPERLINK(\"x\")", "attributes": {"name": "+Acme; \"Sons\""}});
    service.post("/entities/template/companies", acme).await.expect(201);
    let keyless =
        service.post("/entities/template/companies", json!({"attributes": {"name": "no key"}})).await;
    let keyless = keyless.expect(201)["id"].clone();
    let strings = [
        "=1+1",
        "+1",
        "-1",
        "@x",
        "\tx",
        "\rx",
        "\nx",
        "＝1+1",
        "＋1",
        "－1",
        "＠x",
        "'x",
        "'",
        "",
        "a,b",
        "a;b",
        "\"q\"",
        "l1\nl2",
        " sp ",
        "é€😀",
        "null",
        "''=1",
    ];
    for (number, text) in strings.iter().enumerate() {
        let tags: Value = match number % 6 {
            0 => json!([]),
            1 => json!(["=x", "b"]),
            2 => json!(["a;b", " c", ""]),
            3 => json!(["[x]", "\n"]),
            4 => Value::Null,
            _ => json!(["plain", "two words"]),
        };
        let attributes = json!({"name": text, "tags": tags, "born": "0001-01-01", "seen": "9999-12-31T23:59:59.999999Z",
            "tier": "gold", "active": number % 3 == 0, "company": if number % 2 == 0 { json!({"external_key": "=HYPERLINK(\"x\")"}) } else { keyless.clone() }});
        service.upsert(&format!("'k{number}"), attributes).await.expect(201);
    }
    let precise = r#"{"external_key": "-numbers", "attributes": {"visits": -0.000000000000000000012345678900, "tags": null}}"#;
    service.send_text("PUT", "/entities/template/customers/by-key", precise).await.expect(201);
    service.create(json!({"attributes": {"name": "no key"}})).await;
    service
}

pub(crate) async fn all(service: &Service) -> String {
    let columns = "id, external_key, name, visits, tags, tier, born, seen, company, mood, active";
    let session = service.session().await;
    session.text(&format!("select json_agg(row_to_json(t) order by id) from (select {columns} from crm.customers where deleted_at is null) t"), &[]).await
}

#[tokio::test]
async fn export_round_trips() {
    let service = hostile().await;
    let before = all(&service).await;
    let drop_mood = harness::encode(r#"{"mood": null}"#);
    for (format, kind, query) in [
        ("csv", "text/csv", format!("mapping={drop_mood}")),
        ("ndjson", "application/x-ndjson", String::new()),
    ] {
        let file = export(&service, "customers", &format!("format={format}"), None).await;
        assert_eq!(file.status, 200, "{}", file.text);
        assert!(file.header("content-type").starts_with(kind));
        assert_eq!(
            file.header("content-disposition"),
            format!("attachment; filename=\"customers.{format}\"")
        );
        let report = send(&service, kind, "customers", &query, file.text.clone()).await.expect(200);
        assert_eq!(counts(&report), [24, 0, 0, 24, 0], "{report}");
        // The import resets changed records to their exported values.
        let session = service.session().await;
        session.run("update crm.customers set name = 'x', tags = '{x}', tier = null, born = null, seen = null, visits = 1, company = null, active = null").await;
        assert_ne!(all(&service).await, before);
        let report = send(&service, kind, "customers", &query, file.text).await.expect(200);
        assert_eq!(counts(&report), [24, 0, 24, 0, 0], "{report}");
        assert_eq!(all(&service).await, before);
    }
}

#[tokio::test]
async fn export_escapes_formulas_and_keeps_plain_numbers() {
    let service = hostile().await;
    let file = export(&service, "customers", "", Some(json!({"fields": ["name"]}))).await.text;
    assert!(file.starts_with("id,external_key,name\r\n"), "{file}");
    for line in file.lines() {
        for cell in line.split(',') {
            assert!(
                !cell.trim_start_matches('"').starts_with(['=', '+', '@', '＝', '＋', '－', '＠', '\t']),
                "{line}"
            );
        }
    }
    assert!(file.contains("\"'\nx\""), "{file}");
    let filters = json!([{"field": "external_key", "operator": "eq", "value": "-numbers"}]);
    let file =
        export(&service, "customers", "", Some(json!({"fields": ["visits"], "filters": filters}))).await.text;
    assert!(file.ends_with(",'-numbers,-0.000000000000000000012345678900\r\n"), "{file}");
}

#[tokio::test]
async fn export_accepts_a_search() {
    let service = Service::start().await;
    for (key, name, visits) in
        [("a", "Ada Blue", 3), ("b", "Bob Red", 1), ("c", "Cy Blue", 2), ("d", "Di Blue", 9)]
    {
        service.upsert(key, json!({"name": name, "visits": visits})).await.expect(201);
    }
    service.upsert("e", json!({"name": "Eve Blue"})).await.expect(201);
    let filters = json!([{"field": "external_key", "operator": "neq", "value": "d"}]);
    let body = json!({"global_search": "blue", "filters": filters, "sort": "-visits", "fields": ["visits"], "limit": 1});
    let file = export(&service, "customers", "format=ndjson", Some(body)).await;
    let rows: Vec<Value> = file.text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let shown: Vec<Value> =
        rows.iter().map(|row| json!([row["external_key"], row["attributes"]["visits"]])).collect();
    assert_eq!(shown, [json!(["a", 3]), json!(["c", 2]), json!(["e", null])]);

    let view = json!({"slug": "reds", "query": {"filters": [{"field": "name", "operator": "like", "value": "Red"}]}});
    service.post("/templates/customers/views", view).await.expect(201);
    let file = export(&service, "customers", "view=reds", None).await;
    assert_eq!(file.text.lines().count(), 2, "{}", file.text);
}

#[tokio::test]
async fn invalid_export_is_rejected() {
    let service = Service::start().await;
    export(&service, "customers", "format=xml", None).await.expect_error(422, "invalid_value");
    export(&service, "nothing", "", None).await.expect_error(404, "not_found");
    export(&service, "customers", "", Some(json!({"fields": ["nope"]})))
        .await
        .expect_error(422, "unknown_field");
    export(&service, "customers", "", Some(json!({"nope": 1}))).await.expect_error(422, "unknown_field");
    let vector = json!({"query_vector": vec![1; 768]});
    export(&service, "customers", "", Some(vector)).await.expect_error(422, "invalid_value");
    export(&service, "customers", "page=1", None).await.expect_error(400, "malformed_request");
}

#[tokio::test]
async fn export_of_many_records_is_complete() {
    let service = Service::start().await;
    let file: String = (0..20_000).map(|number| format!("k{number},n{number}\n")).collect();
    send(&service, "text/csv", "customers", "", format!("external_key,name\n{file}")).await.expect(200);
    let file = export(&service, "customers", "", None).await.text;
    assert_eq!(file.lines().count(), 20_001);
    let sorted = export(&service, "customers", "", Some(json!({"sort": "name"}))).await.text;
    assert_eq!(sorted.lines().count(), 20_001);
}

#[tokio::test]
async fn metric_is_exported_as_a_point() {
    let service = Service::start().await;
    let point = json!({"value": 2.5, "at": "2024-02-01T00:00:00Z"});
    let id = service.upsert("a", json!({"mood": point})).await.expect(201)["id"].clone();
    let path = format!("/entities/{}/metrics/mood", id.as_str().expect("an id"));
    service.upsert("b", json!({"name": "without"})).await.expect(201);
    let fields = || Some(json!({"fields": ["mood"], "sort": "external_key"}));
    let cells = export(&service, "customers", "", fields()).await.text;
    assert!(
        cells.contains(",a,\"{\"\"value\"\":2.5,\"\"at\"\":\"\"2024-02-01T00:00:00Z\"\"}\"\r\n"),
        "{cells}"
    );
    assert!(cells.ends_with(",b,\r\n"), "{cells}");
    let lines = export(&service, "customers", "format=ndjson", fields()).await.text;
    let shown: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["attributes"]["mood"].clone())
        .collect();
    assert_eq!(shown, [point.clone(), Value::Null]);

    // Each import appends its points, including those that the series already has. Without the column, it appends none.
    let drop_mood = format!("mapping={}", harness::encode(r#"{"mood": null}"#));
    for (kind, query, file, count) in [
        ("text/csv", drop_mood.as_str(), &cells, 1),
        ("text/csv", "", &cells, 2),
        ("application/x-ndjson", "", &lines, 3),
    ] {
        send(&service, kind, "customers", query, file.clone()).await.expect(200);
        let series = service.get(&path).await.expect(200);
        let points = series["points"].as_array().expect("points");
        assert_eq!(points.len(), count, "{series}");
        assert!(points.iter().all(|it| *it == json!({"at": point["at"], "value": 2.5})), "{series}");
    }
}

#[tokio::test]
async fn unread_export_times_out() {
    let settings = [("KEYED_REQUEST_TIMEOUT", "2"), ("KEYED_STATEMENT_TIMEOUT", "1")];
    let service = Service::start_with(&settings).await;
    let session = service.session().await;
    session
        .run("insert into crm.customers (name) select repeat('x', 1000) from generate_series(1, 20000)")
        .await;
    let request = service.proxy.request("GET", "/v1/entities/template/customers/export");
    let mut response = request.response().await;
    assert_eq!(response.status(), 200);
    let snapshots = "select count(*) from pg_stat_activity where datname = current_database() \
                     and usename = 'keyed_proxy' and xact_start is not null";
    let mut waited = 0;
    until("the export holds no snapshot", async || {
        waited += 1;
        session.text(snapshots, &[]).await == "0"
    })
    .await;
    assert!(waited > 5, "the export ended before it could wait for its reader");
    // A partly read export is visibly incomplete.
    let ended = loop {
        match response.chunk().await {
            Ok(Some(_)) => {}
            ended => break ended,
        }
    };
    assert!(ended.is_err(), "an incomplete response looks complete");
}

#[tokio::test]
async fn export_of_an_unknown_view_is_not_found() {
    let service = Service::start().await;
    export(&service, "customers", "view=nope", None).await.expect_error(404, "not_found");
    service.get("/templates/customers/views/nope").await.expect_error(404, "not_found");
    export(&service, "customers", "", Some(json!({"view": "nope"}))).await.expect_error(422, "invalid_value");
}

#[tokio::test]
async fn head_of_an_export_leaves_nothing_open() {
    // One connection, so one file at a time.
    let service = Service::start_with(&[("KEYED_POOL_SIZE", "1")]).await;
    let head = |query: &'static str| {
        let path = format!("/v1/entities/template/customers/export?{query}");
        let proxy = &service.proxy;
        async move { proxy.request("HEAD", &path).send().await }
    };
    for _ in 0..3 {
        let response = head("format=ndjson").await;
        assert_eq!((response.status, response.header("content-type")), (200, "application/x-ndjson"));
    }
    assert_eq!(head("format=xml").await.status, 422);
    assert_eq!(head("view=nope").await.status, 404);
    let session = service.session().await;
    let open =
        "select count(*) from pg_stat_activity where datname = current_database() and state like 'idle in%'";
    assert_eq!(session.text(open, &[]).await, "0");
    export(&service, "customers", "", None).await.expect(200);
}

#[tokio::test]
async fn import_of_an_export_with_versions_overwrites_no_change() {
    let service = Service::start().await;
    service.upsert("a", json!({"name": "Ada", "visits": 1.50})).await.expect(201);
    let version = service.by_key("a").await.header("etag").trim_matches('"').to_owned();
    let fields = json!({"fields": ["name"]});
    let asked = json!({"fields": ["name"], "versions": true});
    for (query, body) in [("versions=true", fields), ("", asked)] {
        let file = export(&service, "customers", query, Some(body.clone())).await.text;
        let lines: Vec<&str> = file.lines().collect();
        assert_eq!(lines[0], "id,external_key,name,version");
        assert!(lines[1].ends_with(&format!(",a,Ada,{version}")), "{file}");
        let ndjson = export(&service, "customers", &format!("format=ndjson&{query}"), Some(body)).await.text;
        let record: Value = serde_json::from_str(&ndjson).expect("one line");
        assert_eq!((&record["version"], &record["attributes"]), (&json!(version), &json!({"name": "Ada"})));

        let rejected = send(&service, "text/csv", "customers", "", file.clone())
            .await
            .expect_error(422, "invalid_value");
        assert_eq!(rejected["errors"][0]["pointer"], "/header/3");
        let rejected = send(&service, "application/x-ndjson", "customers", "on_error=abort", ndjson).await;
        let pointer_or_line = rejected.expect_error(422, "unknown_field");
        assert!(pointer_or_line["detail"].as_str().expect("a detail").contains("does not compare versions"));
        let mapping = harness::encode(r#"{"version": null}"#);
        let report =
            send(&service, "text/csv", "customers", &format!("mapping={mapping}"), file).await.expect(200);
        assert_eq!(counts(&report), [1, 0, 0, 1, 0], "{report}");
    }
    let all = export(&service, "customers", "versions=1", None).await.text;
    assert!(all.starts_with("id,external_key,name,") && all.contains(",updated_at,version\r\n"), "{all}");
    assert!(!export(&service, "customers", "", None).await.text.contains(&version));
    let sheet = export(&service, "customers", "versions=true&format=xlsx", None).await;
    assert_eq!(sheet.status, 200);

    // The column would have the name of the attribute.
    let attribute = json!({"attributes": [{"slug": "version", "type": "string"}]});
    service.proxy.request("PATCH", "/v1/templates/customers").json(&attribute).send().await.expect(200);
    let rejected =
        export(&service, "customers", "versions=true", None).await.expect_error(422, "invalid_value");
    assert_eq!(rejected["errors"][0]["pointer"], "/versions");
    assert_eq!(export(&service, "customers", "versions=true&format=ndjson", None).await.status, 200);
}
