//! Warnings in the report.

use super::{import, send};
use harness::Service;
use serde_json::{Value, json};

/// Code and lines of each warning of a report.
fn warnings(report: &Value) -> Vec<Value> {
    let warnings = report["warnings"].as_array().into_iter().flatten();
    warnings.map(|warning| json!([warning["code"], warning["lines"]])).collect()
}

#[tokio::test]
async fn unintended_effect_of_a_file_is_reported_as_a_warning() {
    let service = Service::start().await;
    let plain = import(&service, "", "external_key,name\na b,x\n").await.expect(200);
    assert_eq!(plain["warnings"], Value::Null);
    let unseen = "external_key,name\na\u{a0}b,x\na\u{200b}b,y\na b,z\n";
    let keyless = "name\nkeyless\nkeyless\n";
    for query in ["dry_run=true", ""] {
        for (file, code, starts, holds) in [
            (
                unseen,
                "invisible_character",
                "2 records were created with a key that contains",
                "differs from",
            ),
            (
                keyless,
                "missing_key",
                "2 records were created without an external key",
                "sending the rows again",
            ),
        ] {
            let report = import(&service, query, file).await.expect(200);
            assert_eq!(warnings(&report), [json!([code, [2, 3]])], "{report}");
            let message = report["warnings"][0]["message"].as_str().unwrap_or_default();
            assert!(message.starts_with(starts) && message.contains(holds), "{report}");
        }
    }
    // Existing records cause no warning.
    let again = import(&service, "", "external_key,name\na\u{a0}b,x\n").await.expect(200);
    assert_eq!(again["warnings"], Value::Null);
}

#[tokio::test]
async fn row_with_the_key_of_an_earlier_row_is_reported() {
    let service = Service::start().await;
    let lines = "{\"external_key\":\"a\"}\n{\"external_key\":\"b\"}\n{\"external_key\":\" a\"}\n".to_owned();
    for query in ["dry_run=true", "on_error=skip", ""] {
        let csv =
            import(&service, query, "external_key,name\na,1\nb,2\na,3\n,\n\"a \",4\n").await.expect(200);
        assert_eq!(warnings(&csv), [json!(["repeated_key", [4, 6]])], "{csv}");
        let json =
            send(&service, "application/x-ndjson", "customers", query, lines.clone()).await.expect(200);
        assert_eq!(warnings(&json), [json!(["repeated_key", [3]])], "{json}");
    }
    // The first ten of several chunks.
    let rows: String = (0..12_000).map(|number| format!("k{},n\n", number % 11_900)).collect();
    let report = import(&service, "on_error=skip", format!("external_key,name\n{rows}")).await.expect(200);
    let first: Vec<u64> = (11_902..11_912).collect();
    assert_eq!(warnings(&report), [json!(["repeated_key", first])], "{report}");
    assert!(
        report["warnings"][0]["message"].as_str().unwrap_or_default().starts_with("100 rows"),
        "{report}"
    );
}

#[tokio::test]
async fn waiting_row_is_not_reported_as_repeated() {
    let service = Service::start().await;
    service
        .post("/templates", json!({"slug": "staff", "attributes": [{"slug": "name", "type": "string"}]}))
        .await
        .expect(201);
    let boss = json!({"slug": "boss", "type": "reference", "template": "staff"});
    service.patch("/templates/staff", json!({"attributes": [boss]})).await.expect(200);
    let file = "external_key,boss\na,c\nb,c\nc,\n";
    let report = send(&service, "text/csv", "staff", "on_error=skip", file).await.expect(200);
    assert_eq!((&report["created"], warnings(&report)), (&json!(3), vec![]), "{report}");
}

#[tokio::test]
async fn keys_and_numbers_that_a_spreadsheet_has_changed_are_reported() {
    let service = Service::start().await;
    let keys = "external_key,name\n4.00638E+12,Red mug\n4.00638E+12,Blue mug\n4.00638E+12,Green mug\n";
    for query in ["dry_run=true", "key_prefix=gtin:"] {
        let report = import(&service, query, keys).await.expect(200);
        let expected = [json!(["repeated_key", [3, 4]]), json!(["scientific_key", [2, 3, 4]])];
        assert_eq!(warnings(&report), expected, "{report}");
    }
    for (visits, lines) in [
        (["1.234", "12", "22.500"], Some(json!([2, 4]))),
        (["1.234", "12", "22.5"], None),
        (["1.234", "12345", "22.500"], None),
        (["1.234", "0.250", "22.500"], None),
    ] {
        let [one, two, three] = visits;
        let file = format!("external_key,visits\na,{one}\nb,{two}\nc,{three}\n");
        let report = import(&service, "dry_run=true", file).await.expect(200);
        let expected: Vec<Value> = lines.into_iter().map(|lines| json!(["grouped_number", lines])).collect();
        assert_eq!(warnings(&report), expected, "{visits:?}: {report}");
    }
}
