//! The rules of external keys, at every HTTP entry point.

use harness::{Response, Service, encode, id_of};
use serde_json::{Value, json};

/// A live and a deleted record without keys, whose keys the tests try to set.
struct EntryPoints {
    service: Service,
    live: String,
    deleted: String,
}

const ENTRY_POINTS: [&str; 4] = ["create", "patch", "upsert", "restore"];

impl EntryPoints {
    async fn open() -> Self {
        let service = Service::start().await;
        let live = id_of(&service.create(json!({})).await).to_owned();
        let deleted = id_of(&service.create(json!({})).await).to_owned();
        assert_eq!(service.delete(&format!("/entities/{deleted}")).await.status, 204);
        Self { service, live, deleted }
    }

    /// Sends a key as raw JSON through an entry point.
    async fn send(&self, entry_point: &str, key: &str) -> Response {
        let body = format!("{{\"external_key\": {key}}}");
        let (method, path) = match entry_point {
            "create" => ("POST", "/entities/template/customers".to_owned()),
            "patch" => ("PATCH", format!("/entities/{}", self.live)),
            "upsert" => ("PUT", "/entities/template/customers/by-key?return=record".to_owned()),
            _ => ("POST", format!("/entities/{}/restore", self.deleted)),
        };
        self.service.send_text(method, &path, body).await
    }

    async fn send_text(&self, entry_point: &str, key: &str) -> Response {
        self.send(entry_point, &json!(key).to_string()).await
    }

    /// The key as an entry point stored it; its record is then deleted.
    async fn stored(&self, entry_point: &str, key: &str) -> Value {
        let response = self.send_text(entry_point, key).await;
        assert!([200, 201].contains(&response.status), "{entry_point}: {}", response.text);
        let record = if entry_point == "upsert" { &response.body["record"] } else { &response.body };
        let stored = record["external_key"].clone();
        match entry_point {
            "patch" => drop(
                self.service.patch(&format!("/entities/{}", self.live), json!({"external_key": null})).await,
            ),
            _ => assert_eq!(self.service.delete(&format!("/entities/{}", id_of(record))).await.status, 204),
        }
        stored
    }

    async fn assert_rejected(&self, entry_point: &str, key: &str) {
        let body = self.send(entry_point, key).await.expect_error(422, "invalid_external_key");
        assert_eq!(body["errors"][0]["pointer"], "/external_key", "{entry_point} of {key}");
    }
}

#[tokio::test]
async fn key_is_trimmed_and_otherwise_unchanged() {
    let entry_points = EntryPoints::open().await;
    for entry_point in ENTRY_POINTS {
        assert_eq!(entry_points.stored(entry_point, "  A:1/é x  ").await, "A:1/é x", "{entry_point}");
        for kept in
            ["\u{a0}a", "a\u{3000}", "\u{200b}a", "a\u{202e}", "\u{feff}a", "a\u{2028}", "a:/ b", "<a>&\"'"]
        {
            assert_eq!(entry_points.stored(entry_point, kept).await, kept, "{entry_point}");
        }
    }
}

#[tokio::test]
async fn key_has_1_to_255_characters() {
    let entry_points = EntryPoints::open().await;
    let longest = "😀".repeat(255);
    for entry_point in ENTRY_POINTS {
        assert_eq!(entry_points.stored(entry_point, &longest).await, json!(longest), "{entry_point}");
        let spaced = format!("{0}{longest}{0}", " ".repeat(20));
        assert_eq!(entry_points.stored(entry_point, &spaced).await, json!(longest), "{entry_point}");
        for rejected in [String::new(), " ".to_owned(), "    ".to_owned(), "😀".repeat(256), "a".repeat(256)]
        {
            entry_points.assert_rejected(entry_point, &json!(rejected).to_string()).await;
        }
    }
}

#[tokio::test]
async fn control_characters_in_a_key_are_rejected() {
    let entry_points = EntryPoints::open().await;
    for entry_point in ENTRY_POINTS {
        for code in (0x00..=0x1f).chain(0x7f..=0x9f) {
            for key in
                [format!("\"\\u{code:04x}b\""), format!("\"a\\u{code:04x}b\""), format!("\"a\\u{code:04x}\"")]
            {
                entry_points.assert_rejected(entry_point, &key).await;
            }
        }
    }
}

#[tokio::test]
async fn other_types_are_not_converted_to_keys() {
    let entry_points = EntryPoints::open().await;
    for entry_point in ENTRY_POINTS {
        for key in ["1", "1.5", "true", "false", "[]", "[\"a\"]", "{}", "{\"external_key\": \"a\"}"] {
            entry_points.assert_rejected(entry_point, key).await;
        }
    }
    entry_points.assert_rejected("upsert", "null").await;
    let missing =
        entry_points.service.put("/entities/template/customers/by-key", json!({"attributes": {}})).await;
    missing.expect_error(422, "invalid_external_key");
}

#[tokio::test]
async fn lone_surrogate_is_rejected() {
    let entry_points = EntryPoints::open().await;
    for entry_point in ENTRY_POINTS {
        for key in [r#""\ud800""#, r#""a\udc00b""#, r#""\ud800\u0041""#, r#""\ud83d""#] {
            entry_points.send(entry_point, key).await.expect_error(400, "malformed_request");
        }
        assert_eq!(entry_points.stored(entry_point, "\u{1f600}").await, "😀");
        let escaped = entry_points.send(entry_point, r#""\ud83d\ude00x""#).await;
        assert!([200, 201].contains(&escaped.status), "{entry_point}: {}", escaped.text);
        assert!(escaped.text.contains("😀x") || entry_point == "upsert", "{}", escaped.text);
        entry_points.service.delete("/entities/template/customers/by-key?key=%F0%9F%98%80x").await;
    }
}

#[tokio::test]
async fn lookup_compares_bytes() {
    let entry_points = EntryPoints::open().await;
    let keys = [
        "A:1/é x",
        "a:1/é x",
        "A:1/e\u{301} x",
        "100%",
        "a+b",
        "a b",
        "a&key=b",
        "#?=;",
        "🇩🇪",
        "a%20b",
        "\"\\",
    ];
    let mut ids = Vec::new();
    for key in keys {
        ids.push(id_of(&entry_points.service.create(json!({"external_key": key})).await).to_owned());
    }
    for (key, id) in keys.iter().zip(&ids) {
        assert_eq!(entry_points.service.by_key(key).await.expect(200)["id"], json!(id), "{key}");
    }
    let path = |query: &str| format!("/entities/template/customers/by-key?key={query}");
    // In a query string, + denotes a space, as in submitted forms.
    for query in ["A%3A1%2F%C3%A9%20x", "A:1/%c3%a9+x", "A:1/%C3%A9%20x"] {
        assert_eq!(entry_points.service.get(&path(query)).await.expect(200)["id"], json!(ids[0]), "{query}");
    }
    assert_eq!(entry_points.service.get(&path("a+b")).await.expect(200)["id"], json!(ids[5]));
    for nobody in ["B:1/é x", "A:1/É x", "A:1/é", "%", "_", "A%", "A_1/é x"] {
        entry_points.service.get(&path(&encode(nobody))).await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn plus_in_a_query_finds_no_other_record() {
    let service = Service::start().await;
    let with_plus = service.create(json!({"external_key": "+41791234567"})).await;
    let without = service.create(json!({"external_key": "41791234567"})).await;
    let path = |query: &str| format!("/entities/template/customers/by-key?key={query}");
    for query in ["+41791234567", "%2041791234567", "41791234567+", "41791234567%20", "+", "%20%20"] {
        for response in [service.get(&path(query)).await, service.delete(&path(query)).await] {
            let problem = response.expect_error(422, "invalid_external_key");
            assert_eq!(problem["hint"], "Write + as %2B: in a query string, + is a space.", "{query}");
        }
    }
    assert_eq!(service.get(&path("%2B41791234567")).await.expect(200)["id"], with_plus["id"]);
    assert_eq!(service.by_key("41791234567").await.expect(200)["id"], without["id"]);
    assert_eq!(service.delete(&path("%2B41791234567")).await.status, 204);
    service.by_key("+41791234567").await.expect_error(404, "not_found");
    service.by_key("41791234567").await.expect(200);
}

#[tokio::test]
async fn lookup_rejects_other_forms_of_a_key() {
    let service = Service::start().await;
    service.create(json!({"external_key": "ABC-1"})).await;
    // Lowercase, full-width forms, a no-break and an ideographic space, a soft hyphen, a zero-width space.
    for other in
        ["abc-1", "ＡＢＣ-１", "ABC\u{ff0d}1", "\u{a0}ABC-1", "\u{3000}ABC-1", "ABC\u{ad}-1", "ABC-1\u{200b}"]
    {
        service.by_key(other).await.expect_error(404, "not_found");
        let path = format!("/entities/template/customers/by-key?key={}", encode(other));
        service.delete(&path).await.expect_error(404, "not_found");
    }
    service.by_key("ABC-1").await.expect(200);
}

#[tokio::test]
async fn invalid_key_is_not_found() {
    let entry_points = EntryPoints::open().await;
    let long = "a".repeat(256);
    for key in ["%00", "a%00b", "%0A", "%7F", "%C2%85", "", long.as_str()] {
        let path = format!("/entities/template/customers/by-key?key={key}");
        entry_points.service.get(&path).await.expect_error(404, "not_found");
        entry_points.service.delete(&path).await.expect_error(404, "not_found");
    }
}

#[tokio::test]
async fn deletion_releases_the_key() {
    let service = Service::start().await;
    let old = service.create(json!({"external_key": "A-1"})).await;
    service
        .post("/entities/template/customers", json!({"external_key": "A-1"}))
        .await
        .expect_error(409, "external_key_taken");
    assert_eq!(service.delete(&format!("/entities/{}", id_of(&old))).await.status, 204);
    service.by_key("A-1").await.expect_error(404, "not_found");
    let new = service.create(json!({"external_key": "A-1"})).await;
    assert_ne!(new["id"], old["id"]);
    let history = service.get(&format!("/entities/{}/history", id_of(&old))).await.expect(200);
    assert_eq!(
        (&history["history"][0]["operation"], &history["history"][0]["external_key"]),
        (&json!("delete"), &json!("A-1"))
    );
    let company = json!({"external_key": "A-1", "attributes": {"name": "ACME"}});
    service.post("/entities/template/companies", company).await.expect(201);
}

#[tokio::test]
async fn conflict_has_the_existing_id_and_a_pointer() {
    let service = Service::start().await;
    let holder = service.create(json!({"external_key": "A-1"})).await;
    let other = service.create(json!({"external_key": "A-2"})).await;
    let other = format!("/entities/{}", id_of(&other));
    for response in [
        service.post("/entities/template/customers", json!({"external_key": " A-1"})).await,
        service.patch(&other, json!({"external_key": "A-1"})).await,
        service.put("/entities/template/customers/by-key?mode=create", json!({"external_key": "A-1"})).await,
    ] {
        let body = response.expect_error(409, "external_key_taken");
        assert_eq!(body["existing_id"], holder["id"]);
        assert_eq!(body["errors"][0]["pointer"], "/external_key");
        assert_eq!(body["retryable"], false);
    }
    assert_eq!(service.get(&other).await.expect(200)["external_key"], "A-2");
}
