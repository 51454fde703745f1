//! Files compressed with gzip.

use super::counts;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use harness::{Response, Service, peak_memory};
use std::io::Write;

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

async fn send(
    service: &Service,
    content_type: &str,
    encoding: Option<&str>,
    file: impl Into<reqwest::Body>,
) -> Response {
    let mut request = service.proxy.request("POST", "/v1/entities/template/customers/import");
    if let Some(encoding) = encoding {
        request = request.header("content-encoding", encoding);
    }
    request.body(content_type, file).send().await
}

#[tokio::test]
async fn gzip_file_is_imported_in_any_chunks() {
    let service = Service::start().await;
    let csv = packed("external_key;name\na;Åsa\nb;Bo\n");
    assert_eq!(
        counts(&send(&service, "text/csv", Some("gzip"), csv.clone()).await.expect(200)),
        [2, 2, 0, 0, 0]
    );
    // One byte at a time.
    let bytes: Vec<_> = csv.iter().map(|byte| std::io::Result::Ok(vec![*byte])).collect();
    let body = reqwest::Body::wrap_stream(stream::iter(bytes));
    assert_eq!(counts(&send(&service, "text/csv", Some("x-gzip"), body).await.expect(200)), [2, 0, 0, 2, 0]);
    let lines = packed("{\"external_key\": \"a\", \"attributes\": {\"name\": \"Åke\"}}\n");
    let report = send(&service, "application/x-ndjson", Some("gzip"), lines).await.expect(200);
    assert_eq!(counts(&report), [1, 0, 1, 0, 0]);
    assert_eq!(super::attributes(&service, "a").await["name"], "Åke");
}

#[tokio::test]
async fn decompression_bomb_uses_bounded_memory() {
    let service = Service::start().await;
    let before = peak_memory(service.proxy.process());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(b"external_key,name\na,Ada\n").expect("memory");
    let blank = vec![b'\n'; 1 << 20];
    for _ in 0..400 {
        encoder.write_all(&blank).expect("memory");
    }
    encoder.write_all(b"b,Bo\n").expect("memory");
    let file = encoder.finish().expect("memory");
    assert!(file.len() < 1 << 20, "{} bytes", file.len());
    let report = send(&service, "text/csv", Some("gzip"), file).await.expect(200);
    assert_eq!(counts(&report), [2, 2, 0, 0, 0]);
    let after = peak_memory(service.proxy.process());
    assert!(after < before + 64, "{before} MiB before, {after} MiB after");
}

#[tokio::test]
async fn invalid_gzip_is_rejected_without_an_import() {
    let service = Service::start().await;
    let whole = packed(&format!("external_key,name\n{}", "a,Ada\n".repeat(10_000)));
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    for (file, encoding, hint) in [
        (whole[..whole.len() - 1].to_vec(), Some("gzip"), "The file is truncated"),
        (damaged, Some("gzip"), "gzip --test"),
        (b"external_key,name\na,Ada\n".to_vec(), Some("gzip"), "without Content-Encoding"),
        (whole.clone(), None, "Content-Encoding: gzip"),
        (b"PK\x03\x04\x14\x00".to_vec(), None, "with Content-Type"),
    ] {
        let problem = send(&service, "text/csv", encoding, file).await.expect_error(400, "malformed_request");
        assert!(problem["hint"].as_str().is_some_and(|it| it.contains(hint)), "{problem}");
    }
    for encoding in ["br", "deflate", "gzip, gzip"] {
        send(&service, "text/csv", Some(encoding), whole.clone())
            .await
            .expect_error(415, "unsupported_media_type");
    }
    let count = service.session().await.text("select count(*)::text from crm.customers", &[]).await;
    assert_eq!(count, "0");
}
