//! Files with invalid rows or bytes.

use super::{counts, import, send};
use harness::Service;
use serde_json::{Value, json};

#[tokio::test]
async fn invalid_row_rejects_only_itself_unless_aborting() {
    let service = Service::start().await;
    let file = "external_key,name,visits,company\n\
                g1,good,1,\n\
                b1,bad,1.5.5,\n\
                ,no key,1,\n\
                b2,bad,x,nobody\n\
                b3,too few\n\
                b4,dangling,1,nobody\n\
                g2,good,2,\n";
    let problem = import(&service, "", file).await;
    let problem = problem.expect_error(422, "invalid_value");
    assert!(problem["detail"].as_str().unwrap_or_default().contains("line 3, column visits"), "{problem}");
    assert_eq!(counts(&problem["report"]), [7, 0, 0, 0, 5]);
    assert_eq!(service.by_key("g1").await.status, 404);

    let report = import(&service, "on_error=skip", file).await.expect(200);
    assert_eq!(counts(&report), [7, 2, 0, 0, 5]);
    let errors: Vec<Value> = report["errors"]
        .as_array()
        .expect("errors")
        .iter()
        .map(|error| json!([error["line"], error["column"], error["code"]]))
        .collect();
    assert_eq!(
        errors,
        [
            json!([3, "visits", "invalid_value"]),
            json!([4, "external_key", "invalid_external_key"]),
            json!([5, "visits", "invalid_value"]),
            json!([6, null, "invalid_value"]),
            json!([7, "company", "reference_not_found"]),
        ]
    );
    assert_eq!(service.by_key("g2").await.status, 200);
    assert_eq!(service.by_key("b4").await.status, 404);
}

#[tokio::test]
async fn file_without_valid_rows_fails_with_its_first_error() {
    let service = Service::start().await;
    let lines = "{\"external_key\":\"a\",\"attributes\":{}}\nnot json\n";
    let rejected = send(&service, "application/x-ndjson", "customers", "", lines).await;
    let rejected = rejected.expect_error(400, "malformed_request");
    assert_eq!(counts(&rejected["report"]), [2, 0, 0, 0, 1], "{rejected}");
    let session = service.session().await;
    session.run("select keyed.set_quota('crm', 'live_records', 1)").await;
    let rejected = import(&service, "", "external_key\na\nb\nc\n").await.expect_error(403, "quota_exceeded");
    assert_eq!(counts(&rejected["report"]).map(|count| count > 0)[1..4], [false; 3], "{rejected}");
    assert_eq!(service.by_key("a").await.status, 404);
}

#[tokio::test]
async fn invalid_utf8_is_rejected_with_its_line() {
    let service = Service::start().await;
    let file = ["external_key,name\na,é\nb,".as_bytes(), b"\xe9\nc,x\n"].concat();
    for size in [1, 7, file.len()] {
        let chunks: Vec<_> = file.chunks(size).map(|chunk| std::io::Result::Ok(chunk.to_vec())).collect();
        let body = reqwest::Body::wrap_stream(futures_util::stream::iter(chunks));
        let rejected = import(&service, "", body).await.expect_error(400, "malformed_request");
        let detail = rejected["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("line 3 has bytes that are not valid utf-8"), "{detail}");
    }
}
