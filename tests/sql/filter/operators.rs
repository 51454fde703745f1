//! Every operator on every type, as in the table of docs/reference/search.md: on real rows, with values as strings and
//! as JSON.

use crate::gallery::Gallery;
use serde_json::{Value, json};

/// Searches with several equivalent forms of a value.
async fn check(gallery: &Gallery, field: &str, operator: &str, forms: &[Value], expected: &str) {
    for form in forms {
        assert_eq!(
            gallery.filtered(field, operator, form.clone()).await,
            expected,
            "{field} {operator} {form}"
        );
    }
}

/// A column with an index finds the same records as one without.
async fn with_and_without_index(check: impl AsyncFn(&Gallery), gallery: &Gallery) {
    for indexed in ["false", "true"] {
        gallery.index(indexed).await;
        check(gallery).await;
    }
}

#[tokio::test]
async fn text_supports_its_operators() {
    let gallery = Gallery::new().await;
    gallery
        .works([
            ("A", json!({"title": "Water"})),
            ("B", json!({"title": "water lilies"})),
            ("C", json!({"title": "Wine, \"red\""})),
            ("D", json!({"title": ""})),
            ("E", json!({})),
            ("F", json!({"title": " Water "})),
        ])
        .await;
    let all = async |gallery: &Gallery| {
        check(gallery, "title", "eq", &[json!("Water")], "A").await;
        check(gallery, "title", "eq", &[json!(" Water ")], "F").await;
        check(gallery, "title", "eq", &[json!("")], "D").await;
        check(gallery, "title", "neq", &[json!("Water")], "B C D E F").await;
        check(gallery, "title", "neq", &[json!("")], "A B C E F").await;
        let many = [
            json!(["Water", "Wine, \"red\"", "none"]),
            json!(r#"Water, "Wine, ""red""",none"#),
            json!(r#"["Water", "Wine, \"red\"", "none"]"#),
        ];
        check(gallery, "title", "in", &many, "A C").await;
        check(gallery, "title", "not-in", &many, "B D E F").await;
        check(gallery, "title", "in", &[json!([]), json!("[]")], "").await;
        check(gallery, "title", "not-in", &[json!([]), json!("[]")], "A B C D E F").await;
        check(gallery, "title", "in", &[json!([""]), json!("\"\"")], "D").await;
        check(gallery, "title", "like", &[json!("ater")], "A B F").await;
        check(gallery, "title", "like", &[json!("")], "A B C D F").await;
        check(gallery, "title", "not-like", &[json!("ater")], "C D E").await;
        check(gallery, "title", "ilike", &[json!("WATER")], "A B F").await;
        check(gallery, "title", "starts-with", &[json!("Wat")], "A").await;
        check(gallery, "title", "starts-with", &[json!("W")], "A C").await;
        check(gallery, "title", "ends-with", &[json!("ater")], "A").await;
        check(gallery, "title", "ends-with", &[json!("R")], "").await;
        check(gallery, "title", "ends-with", &[json!("d\"")], "C").await;
        check(gallery, "title", "ends-with", &[json!("")], "A B C D F").await;
        check(gallery, "title", "empty", &[Value::Null, json!("")], "D E").await;
        check(gallery, "title", "not-empty", &[Value::Null, json!("")], "A B C F").await;
    };
    with_and_without_index(all, &gallery).await;
}

#[tokio::test]
async fn numbers_support_their_operators() {
    let gallery = Gallery::new().await;
    gallery
        .works([
            ("A", json!({"price": -3, "mood": -3})),
            ("B", json!({"price": 0, "mood": 0})),
            ("C", json!({"price": 2.5, "mood": 2.5})),
            ("D", json!({"price": 10, "mood": 10})),
            ("E", json!({})),
        ])
        .await;
    let all = async |gallery: &Gallery| {
        for field in ["price", "mood"] {
            let half = [json!(2.5), json!("2.5"), json!("2.50"), json!("25e-1")];
            check(gallery, field, "eq", &half, "C").await;
            check(gallery, field, "neq", &half, "A B D E").await;
            check(gallery, field, "eq", &[json!("-0"), json!("0.0"), json!(0)], "B").await;
            check(gallery, field, "gt", &half, "D").await;
            check(gallery, field, "gte", &half, "C D").await;
            check(gallery, field, "lt", &half, "A B").await;
            check(gallery, field, "lte", &half, "A B C").await;
            let range = [json!([-3, 2.5]), json!("-3,2.5"), json!("[-3, 2.50]"), json!(["-3", "2.5"])];
            check(gallery, field, "between", &range, "A B C").await;
            check(gallery, field, "between", &[json!([10, -3]), json!("10,-3")], "").await;
            let many = [json!([10, -3]), json!("10, -3.00"), json!("[\"10\", -3]"), json!([1e1, "-3"])];
            check(gallery, field, "in", &many, "A D").await;
            check(gallery, field, "not-in", &many, "B C E").await;
            check(gallery, field, "in", &[json!(10), json!("10")], "D").await;
            check(gallery, field, "empty", &[Value::Null], "E").await;
            check(gallery, field, "not-empty", &[Value::Null], "A B C D").await;
        }
    };
    with_and_without_index(all, &gallery).await;
}

#[tokio::test]
async fn every_digit_of_a_number_counts() {
    let gallery = Gallery::new().await;
    let create = "select keyed.create_record('art.works', $1, $2)";
    for (key, digits) in [
        ("A", "9007199254740992"),
        ("B", "9007199254740993"),
        ("C", "12345678901234567890123.45"),
        ("D", "12345678901234567890123.46"),
        ("E", "0.1"),
        ("F", "0.10000000000000000001"),
    ] {
        gallery.session.rows(create, &[&format!(r#"{{"price": {digits}}}"#), key]).await;
    }
    // As a string, and as JSON with more digits than a double holds.
    for (operator, digits, expected) in [
        ("eq", "9007199254740993", "B"),
        ("eq", "12345678901234567890123.45", "C"),
        ("gt", "12345678901234567890123.45", "D"),
        ("lte", "9007199254740992.5", "A E F"),
        ("gt", "0.1", "A B C D F"),
        ("in", "[0.10000000000000000001, 9007199254740992]", "A F"),
        ("between", "[9007199254740993, 12345678901234567890123.45]", "B C"),
    ] {
        for value in [digits.to_owned(), json!(digits).to_string()] {
            let query = format!(
                r#"{{"filters": [{{"field": "price", "operator": "{operator}", "value": {value}}}], "sort": "external_key"}}"#
            );
            let result = gallery.session.json("select keyed.search('art.works', $1)", &[&query]).await;
            assert_eq!(crate::gallery::keys(&result), expected, "{query}");
        }
    }
}

#[tokio::test]
async fn lists_support_their_operators() {
    let gallery = Gallery::new().await;
    gallery
        .works([
            ("A", json!({"tags": ["red", "blue"], "tier": ["gold"]})),
            ("B", json!({"tags": ["blue"], "tier": ["gold", "silver"]})),
            ("C", json!({"tags": ["dark, blue", "27\" wheels"]})),
            ("D", json!({"tags": [], "tier": []})),
            ("E", json!({})),
            ("F", json!({"tags": [""]})),
        ])
        .await;
    let all = async |gallery: &Gallery| {
        check(gallery, "tags", "in", &[json!("blue"), json!(["blue"]), json!("[\"blue\"]")], "A B").await;
        check(gallery, "tags", "not-in", &[json!("blue"), json!(["blue"])], "C D E F").await;
        check(gallery, "tags", "in", &[json!("red, green"), json!(["red", "green"])], "A").await;
        let quoted = [json!("\"dark, blue\""), json!(["dark, blue"]), json!("\"27\"\" wheels\", x")];
        check(gallery, "tags", "in", &quoted, "C").await;
        check(gallery, "tags", "in", &[json!([""])], "F").await;
        check(gallery, "tags", "in", &[json!([])], "").await;
        check(gallery, "tags", "not-in", &[json!([])], "A B C D E F").await;
        check(gallery, "tags", "empty", &[Value::Null], "D E").await;
        check(gallery, "tags", "not-empty", &[Value::Null], "A B C F").await;
        check(gallery, "tier", "in", &[json!("gold"), json!(["gold"])], "A B").await;
        check(gallery, "tier", "not-in", &[json!("gold,silver")], "C D E F").await;
    };
    with_and_without_index(all, &gallery).await;
}

#[tokio::test]
async fn booleans_support_their_operators() {
    let gallery = Gallery::new().await;
    gallery
        .works([
            ("A", json!({"framed": true})),
            ("B", json!({"framed": false})),
            ("C", json!({"framed": true})),
            ("D", json!({})),
        ])
        .await;
    let all = async |gallery: &Gallery| {
        check(gallery, "framed", "eq", &[json!(true), json!("true")], "A C").await;
        check(gallery, "framed", "eq", &[json!(false), json!("false")], "B").await;
        check(gallery, "framed", "neq", &[json!(true), json!("true")], "B D").await;
        check(gallery, "framed", "in", &[json!([true]), json!("true"), json!("[true]")], "A C").await;
        check(gallery, "framed", "in", &[json!([true, false]), json!("true, false")], "A B C").await;
        check(gallery, "framed", "not-in", &[json!([false]), json!("false")], "A C D").await;
        check(gallery, "framed", "empty", &[Value::Null], "D").await;
        check(gallery, "framed", "not-empty", &[Value::Null], "A B C").await;
    };
    with_and_without_index(all, &gallery).await;
}

#[tokio::test]
async fn dates_and_times_support_their_operators() {
    let gallery = Gallery::new().await;
    gallery
        .works([
            ("A", json!({"made": "2024-02-28", "sold": "2024-02-28T12:00:00Z"})),
            ("B", json!({"made": "2024-02-29", "sold": "2024-02-29T12:00:00Z"})),
            ("C", json!({"made": "2024-03-01", "sold": "2024-03-01T12:00:00Z"})),
            ("D", json!({})),
        ])
        .await;
    let all = async |gallery: &Gallery| {
        // In a condition on a datetime, a date denotes the whole day; noon denotes that instant, with any offset.
        let noon = ["2024-02-29T12:00:00Z", "2024-02-29T13:00:00.000+01:00", "2024-02-29 12:00:00Z"];
        for (field, forms) in [("made", &["2024-02-29"][..]), ("sold", &noon), ("sold", &["2024-02-29"])] {
            let forms: Vec<Value> = forms.iter().map(|form| json!(form)).collect();
            for (operator, expected) in
                [("eq", "B"), ("neq", "A C D"), ("gt", "C"), ("gte", "B C"), ("lt", "A"), ("lte", "A B")]
            {
                check(gallery, field, operator, &forms, expected).await;
            }
            let first = if field == "made" { json!("2024-02-28") } else { json!("2024-02-28T12:00:00Z") };
            for form in &forms {
                let text =
                    format!("{}, {}", first.as_str().unwrap_or_default(), form.as_str().unwrap_or_default());
                let many = [json!([first, form]), json!(text), json!(json!([first, form]).to_string())];
                check(gallery, field, "in", &many, "A B").await;
                check(gallery, field, "not-in", &many, "C D").await;
                check(gallery, field, "between", &many, "A B").await;
            }
            check(gallery, field, "empty", &[Value::Null], "D").await;
            check(gallery, field, "not-empty", &[Value::Null], "A B C").await;
        }
    };
    with_and_without_index(all, &gallery).await;
}

#[tokio::test]
async fn keys_support_eight_operators() {
    let gallery = Gallery::new().await;
    gallery.works([("crm:1", json!({})), ("crm:2", json!({})), ("erp/1 a,b", json!({}))]).await;
    gallery.session.run("select keyed.create_record('art.works', '{}')").await;
    // Records are listed by key; a dash denotes the one without a key.
    check(&gallery, "external_key", "eq", &[json!("crm:1"), json!("  crm:1 ")], "crm:1").await;
    check(&gallery, "external_key", "eq", &[json!("CRM:1")], "").await;
    check(
        &gallery,
        "external_key",
        "in",
        &[json!(["crm:2", "erp/1 a,b"]), json!("crm:2, \"erp/1 a,b\"")],
        "crm:2 erp/1 a,b",
    )
    .await;
    check(&gallery, "external_key", "like", &[json!("1")], "crm:1 erp/1 a,b").await;
    check(&gallery, "external_key", "not-empty", &[Value::Null], "crm:1 crm:2 erp/1 a,b").await;
    for (operator, value, expected) in [
        ("neq", json!("crm:1"), "crm:2 erp/1 a,b -"),
        ("not-in", json!("crm:1,crm:2"), "erp/1 a,b -"),
        ("not-like", json!("crm"), "erp/1 a,b -"),
        ("empty", Value::Null, "-"),
    ] {
        let condition = json!({"field": "external_key", "operator": operator, "value": value});
        let query = json!({"filters": [condition], "sort": "external_key"});
        assert_eq!(gallery.keys(&query).await, expected, "{operator}");
    }
}

#[tokio::test]
async fn standard_fields_can_be_filtered_by() {
    let gallery = Gallery::new().await;
    let first = gallery.add("works", "A", json!({})).await;
    let second = gallery.add("works", "B", json!({})).await;
    gallery.add("works", "C", json!({})).await;
    check(&gallery, "id", "eq", &[json!(first), json!(first.to_uppercase())], "A").await;
    check(&gallery, "id", "neq", &[json!(first)], "B C").await;
    check(&gallery, "id", "in", &[json!([first, second]), json!(format!("{first},{second}"))], "A B").await;
    check(&gallery, "id", "not-in", &[json!([first, second])], "C").await;
    check(&gallery, "id", "empty", &[Value::Null], "").await;
    check(&gallery, "id", "not-empty", &[Value::Null], "A B C").await;
    let template = gallery.search(&json!({})).await["records"][0]["template_id"].clone();
    check(&gallery, "template_id", "eq", std::slice::from_ref(&template), "A B C").await;
    check(&gallery, "template_id", "not-in", &[json!([template, "999"])], "").await;
    check(&gallery, "template_slug", "in", &[json!("works,artists")], "A B C").await;
    check(&gallery, "template_slug", "neq", &[json!("works")], "").await;
    check(&gallery, "deleted_at", "empty", &[Value::Null], "A B C").await;
    gallery.session.run("update art.works set price = 1 where external_key = 'B'").await;
    let updated = gallery
        .session
        .text("select keyed.get_record(id) ->> 'updated_at' from art.works where external_key = 'B'", &[]);
    let updated = updated.await;
    check(&gallery, "updated_at", "eq", &[json!(updated)], "B").await;
    check(&gallery, "created_at", "lt", &[json!(updated)], "A B C").await;
}
