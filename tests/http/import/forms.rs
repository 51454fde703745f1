//! Unusual and malformed files: none changes data silently.

use super::{attributes, counts, import, send};
use harness::Service;
use serde_json::{Value, json};

/// Line, column and code of each error of a report.
fn errors(report: &Value) -> Vec<Value> {
    let errors = report["errors"].as_array().expect("errors").iter();
    errors.map(|error| json!([error["line"], error["column"], error["code"]])).collect()
}

/// The keys, names and visits of all customers.
async fn customers(service: &Service) -> String {
    let records = "select coalesce(string_agg(concat_ws('=', external_key, name, visits), ' ' order by external_key, name), '') \
                   from crm.customers where deleted_at is null";
    service.session().await.text(records, &[]).await
}

async fn clear(service: &Service) {
    service.session().await.run("delete from crm.customers").await;
}

#[tokio::test]
async fn csv_variants_are_imported_or_rejected_with_their_line() {
    let service = Service::start().await;
    let quotes = json!(["invalid_csv"]);
    for (file, records, rejected) in [
        // Quotes.
        ("external_key,name\na,\"5\"\" pipe, long\"\n", "a=5\" pipe, long", json!([])),
        ("external_key,name\na,5\" pipe\nb,x\"\"y\n", "a=5\" pipe b=x\"\"y", json!([])),
        ("external_key,name\na, \"b\"\n", "a= \"b\"", json!([])),
        ("external_key,name\na,\"Say \"hi\" now\"\nb,B\n", "b=B", json!([[2, null, quotes[0]]])),
        ("external_key,name\na,\"A\" \r\nb,B\r\n", "b=B", json!([[2, null, quotes[0]]])),
        (
            "external_key,name,visits\nv1,Bolt,1\nv2,\"5\"\" pipe,2\nv3,Rod,3\nv4,\"6\"\" pipe,4\nv5,Nut,5\n",
            "v1=Bolt=1 v3=Rod=3 v5=Nut=5",
            json!([[3, null, quotes[0]], [5, null, quotes[0]]]),
        ),
        ("external_key,name\na,\"A\nb,B\nc,C", "b=B c=C", json!([[2, null, quotes[0]]])),
        ("external_key,name\na,A\nb,\"", "a=A", json!([[3, null, quotes[0]]])),
        // Blank rows, and columns without a name.
        ("external_key,name,,\nb1,one,,\n,,,\nb2,two,,\n,,,\n", "b1=one b2=two", json!([])),
        ("name,visits\none,1\n,\n\"\",\"\"\ntwo,2\n,\n", "one=1 two=2", json!([])),
        (",,\nexternal_key,name\na,A,,\nb,B\n", "a=A b=B", json!([])),
        ("external_key,,name\na,,A\nb,x,B\nc,,C\n", "a=A c=C", json!([[3, "2", "invalid_value"]])),
        ("external_key,name\na,A,x\nb,B\n", "b=B", json!([[2, null, "invalid_value"]])),
        // A first line that specifies the delimiter.
        ("sep=;\r\nexternal_key;name\r\na;A,1\r\nb;\"B\"x\r\n", "a=A,1", json!([[4, null, quotes[0]]])),
        ("sep=|\nexternal_key|name\na|A;1,2\n", "a=A;1,2", json!([])),
        ("\u{feff}\"sep=\t\"\nexternal_key\tname\na\tA\n", "a=A", json!([])),
        // Line endings.
        ("external_key,name\r\na,A\rb,B\nc,\"C\r\nC\"\r\n", "a=A b=B c=C\r\nC", json!([])),
        ("external_key,name\na,A\0\nb,B\n", "b=B", json!([[2, "name", "invalid_value"]])),
    ] {
        let report = import(&service, "on_error=skip", file).await.expect(200);
        assert_eq!(
            (json!(errors(&report)), customers(&service).await),
            (rejected.clone(), records.to_owned()),
            "{file:?}"
        );
        clear(&service).await;
        let whole = import(&service, "", file).await;
        if rejected == json!([]) {
            whole.expect(200);
        } else {
            let problem = whole.expect_error(422, rejected[0][2].as_str().expect("a code"));
            let detail = problem["detail"].as_str().unwrap_or_default();
            assert!(detail.contains(&format!("line {}", rejected[0][0])), "{detail}");
            assert_eq!(customers(&service).await, "", "{file:?}");
        }
        clear(&service).await;
    }
}

#[tokio::test]
async fn malformed_header_rejects_the_file() {
    let service = Service::start().await;
    for file in ["external_key,\"na\"me\na,A\n", "external_key,\"name\na,A\n"] {
        let problem = import(&service, "on_error=skip", file).await.expect_error(422, "invalid_csv");
        assert!(problem["detail"].as_str().unwrap_or_default().contains("header, in line 1"), "{problem}");
    }
}

#[tokio::test]
async fn file_of_rejected_rows_can_be_corrected_and_imported() {
    let service = Service::start().await;
    let send = async |file: String| {
        let request = service.proxy.request("POST", "/v1/entities/template/customers/import?on_error=skip");
        let response = request.header("accept", "text/csv").body("text/csv", file).send().await;
        assert_eq!(response.status, 200, "{}", response.text);
        response.text
    };
    let rejected = send("external_key,name\na,\"Say \"hi\" now\"\nb,\"5\"\" pipe\nc,C\n".to_owned()).await;
    let lines: Vec<&str> = rejected.lines().collect();
    assert!(lines.len() == 3 && lines[0] == "external_key,name,import_error", "{rejected}");
    assert!(
        lines[1].starts_with("a,\"Say \"hi\" now\",\"line 2: text follows a closing quote"),
        "{rejected}"
    );
    // Without a correction, the row is rejected again, and no other row with it.
    let again = send(rejected.replace("\"5\"\" pipe", "\"5\"\" pipe\"")).await;
    assert_eq!(again.lines().count(), 2, "{again}");
    assert_eq!(customers(&service).await, "b=5\" pipe c=C");
    let corrected = again.replace("\"Say \"hi\" now\"", "\"Say \"\"hi\"\" now\"");
    assert_eq!(send(corrected).await, "external_key,name,import_error\n");
    assert_eq!(attributes(&service, "a").await["name"], "Say \"hi\" now");
}

#[tokio::test]
async fn boolean_of_a_spreadsheet_is_read_in_any_case() {
    let service = Service::start().await;
    let file = "external_key,active\nx1,TRUE\nx2,False\nx3,yes\n";
    let report = import(&service, "on_error=skip", file).await.expect(200);
    assert_eq!(errors(&report), [json!([4, "active", "invalid_value"])], "{report}");
    assert_eq!(attributes(&service, "x1").await["active"], true);
    assert_eq!(attributes(&service, "x2").await["active"], false);
}

#[tokio::test]
async fn json_array_is_imported_like_lines() {
    let service = Service::start().await;
    let elements = json!([
        {"external_key": "a", "attributes": {"name": "A"}},
        {"external_key": "b", "attributes": {"name": "],[{"}},
        {"external_key": "c", "attributes": {"nope": 1}},
        {"external_key": "d", "attributes": {"name": "D"}},
    ]);
    let pretty = serde_json::to_string_pretty(&elements).expect("JSON");
    let lines: String =
        elements.as_array().expect("elements").iter().map(|it| it.to_string() + "\n").collect();
    for (content_type, file, line) in [
        ("application/json", elements.to_string(), 1),
        ("application/json", pretty.clone(), 14),
        ("application/json; charset=utf-8", lines.clone(), 3),
        ("application/x-ndjson", elements.to_string(), 1),
        ("application/x-ndjson", pretty.clone(), 14),
        ("application/jsonl", format!("\r\n{pretty}\r\n"), 15),
    ] {
        let report =
            send(&service, content_type, "customers", "on_error=skip", file.clone()).await.expect(200);
        assert_eq!(counts(&report), [4, 3, 0, 0, 1], "{content_type} {file}: {report}");
        assert_eq!(errors(&report), [json!([line, "nope", "unknown_attribute"])], "{content_type} {file}");
        assert_eq!(customers(&service).await, "a=A b=],[{ d=D");
        clear(&service).await;
        send(&service, content_type, "customers", "", file).await.expect_error(422, "unknown_attribute");
        assert_eq!(customers(&service).await, "");
    }
}

#[tokio::test]
async fn file_that_is_neither_an_array_nor_lines_is_rejected_as_a_whole() {
    let service = Service::start().await;
    let record = json!({"external_key": "a", "attributes": {}});
    let pretty = serde_json::to_string_pretty(&record).expect("JSON");
    for (file, says) in [
        (format!("[{record}"), "before the end of its JSON array"),
        (format!("[{record},\n"), "before the end of its JSON array"),
        (format!("[{record}]\n[{record}]\n"), "text follows the JSON array in line 2"),
        (format!("[{record}]\n{record}\n"), "text follows the JSON array in line 2"),
        (pretty.clone(), "the JSON object that begins in line 1 does not end there"),
        (format!("\n{pretty}\n{pretty}\n"), "the JSON object that begins in line 2 does not end there"),
    ] {
        for content_type in ["application/json", "application/x-ndjson"] {
            let response = send(&service, content_type, "customers", "on_error=skip", file.clone()).await;
            let problem = response.expect_error(400, "malformed_request");
            assert!(problem["detail"].as_str().unwrap_or_default().contains(says), "{file}: {problem}");
            assert_eq!(customers(&service).await, "", "{file}");
        }
    }
    for file in [format!("[{record},]"), "[{\"external_key\": \"a\nb\"}]".to_owned(), "[1]".to_owned()] {
        send(&service, "application/json", "customers", "", file)
            .await
            .expect_error(400, "malformed_request");
    }
    assert_eq!(counts(&send(&service, "application/json", "customers", "", "[]").await.expect(200)), [0; 5]);
}

#[tokio::test]
async fn long_array_is_read_in_chunks() {
    let service = Service::start().await;
    let element = |number: usize| {
        json!({"external_key": format!("k{number}"), "attributes": {"name": "é".repeat(100)}}).to_string()
    };
    let elements: Vec<String> = (0..20_000).map(element).collect();
    let file = format!("[\n{}\n]\n", elements.join(",\n"));
    let chunks: Vec<_> = file.as_bytes().chunks(7777).map(|it| std::io::Result::Ok(it.to_vec())).collect();
    let body = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
    let report = send(&service, "application/json", "customers", "on_error=skip", body).await.expect(200);
    assert_eq!(counts(&report), [20_000, 20_000, 0, 0, 0], "{report}");
}
