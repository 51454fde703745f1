use serde_json::json;

use super::*;

fn suggested(chunks: &[Value]) -> Suggested {
    let mut all = Suggestion::default();
    for chunk in chunks {
        all.add(serde_json::from_value(chunk.clone()).expect("forms"));
    }
    all.end()
}

fn column(name: &str, kind: &str, fits: &Value) -> Value {
    json!({"column": name, "kind": kind, "nulls": [], "fits": fits})
}

#[test]
fn suggested_format_fits_every_chunk() {
    let day_first = json!([{"date": "D.M.YYYY"}, 1]);
    let month_first = json!([{"date": "M.D.YYYY"}, 2]);
    let both = json!([column("born", "date", &json!([day_first, month_first]))]);
    let one = json!([column("born", "date", &json!([day_first]))]);
    for chunks in [[both.clone(), one.clone()], [one, both.clone()]] {
        assert_eq!(suggested(&chunks).format, Some(json!({"date": "D.M.YYYY"})));
    }
    let ambiguous = suggested(&[both.clone(), both]);
    assert_eq!(ambiguous.format, None);
    assert!(ambiguous.ambiguities[0].contains("column born match several"), "{ambiguous:?}");
    assert!(
        ambiguous.ambiguities[0].contains(r#"{"date":"D.M.YYYY"} or {"date":"M.D.YYYY"}"#),
        "{ambiguous:?}"
    );
}

#[test]
fn another_column_decides_between_formats() {
    let day_first = json!([{"date": "D.M.YYYY"}, 1]);
    let month_first = json!([{"date": "M.D.YYYY"}, 2]);
    let file = json!([
        column("born", "date", &json!([day_first, month_first])),
        column("died", "date", &json!([month_first])),
    ]);
    assert_eq!(suggested(&[file]).format, Some(json!({"date": "M.D.YYYY"})));
}

#[test]
fn readable_cells_get_no_suggestion() {
    let number = json!([[{}, 1], [{"decimal": "."}, 1]]);
    assert_eq!(suggested(&[json!([column("a", "number", &number)])]), Suggested::default());
    // One column writes a point and another a comma: no format fits both.
    let comma = json!([[{"decimal": ","}, 3]]);
    let file = json!([column("a", "number", &number), column("b", "number", &comma)]);
    assert_eq!(suggested(&[file]).format, None);
}

#[test]
fn suggested_format_has_members_of_all_types() {
    let words = |yes: &str, no: &str| json!([[{"true": [yes], "false": [no]}, 1]]);
    let mut number =
        column("price", "number", &json!([[{"decimal": ","}, 3], [{"decimal": ",", "thousands": "."}, 3]]));
    number["nulls"] = json!(["n/a"]);
    let file = json!([
        column("a", "boolean", &words("ja", "nein")),
        column("b", "boolean", &words("yes", "no")),
        column("c", "boolean", &json!([[{}, 1]])),
        column("at", "datetime", &json!([[{"datetime": "D.M.YYYY H:mm"}, 4]])),
        number,
    ]);
    let found = suggested(&[file]);
    assert_eq!(
        found.format,
        Some(
            json!({"true": ["ja", "yes", "true"], "false": ["nein", "no", "false"], "datetime": "D.M.YYYY H:mm", "decimal": ",",
            "null": ["", "n/a"]})
        )
    );
    assert!(found.ambiguities.len() == 1 && found.ambiguities[0].contains("no time zone"), "{found:?}");
}

#[test]
fn text_of_another_column_is_not_suggested_as_null() {
    let mut visits = column("visits", "number", &json!([[{}, 1]]));
    visits["nulls"] = json!(["-", "NA"]);
    let country = json!({"column": "country", "kind": "text", "nulls": ["NA"], "fits": []});
    for file in [json!([visits.clone(), country.clone()]), json!([country, visits])] {
        let found = suggested(&[file]);
        assert_eq!(found.format, Some(json!({"null": ["", "-"]})));
        assert!(found.ambiguities.len() == 1 && found.ambiguities[0].contains("\"NA\""), "{found:?}");
        assert!(found.ambiguities[0].contains("is a value in country"), "{found:?}");
    }
}

#[test]
fn choices_show_cells_as_each_format_reads_them() {
    let day_first = json!([{"date": "D.M.YYYY"}, 1]);
    let month_first = json!([{"date": "M.D.YYYY"}, 2]);
    let chunk = |text: &str, readings: [&str; 2]| {
        let mut born = column("born", "date", &json!([day_first, month_first]));
        born["examples"] = json!([text]);
        born["readings"] = json!([[readings[0]], [readings[1]]]);
        json!([born])
    };
    let mut chunks = vec![chunk("1.2.2024", ["2024-02-01", "2024-01-02"])];
    chunks.push(chunk("3.3.2024", ["2024-03-03", "2024-03-03"]));
    chunks.extend(vec![chunk("3.4.2024", ["2024-04-03", "2024-03-04"]); 2]);
    for day in 5..13 {
        let [day_first, month_first] = [format!("2024-04-{day:02}"), format!("2024-{day:02}-04")];
        chunks.push(chunk(&format!("{day}.4.2024"), [&day_first, &month_first]));
    }
    let found = serde_json::to_value(suggested(&chunks).choices).expect("JSON");
    assert_eq!(found[0]["columns"], json!(["born"]));
    let formats = found[0]["formats"].as_array().expect("formats");
    assert_eq!(formats.len(), 2);
    assert_eq!(formats[1]["format"], json!({"date": "M.D.YYYY"}));
    // A cell that both formats read alike is not an example.
    assert_eq!(formats[1]["cells"].as_array().map(Vec::len), Some(10));
    assert!(!found.to_string().contains("3.3.2024"), "{found}");
    assert_eq!(formats[1]["cells"][0], json!({"column": "born", "text": "1.2.2024", "value": "2024-01-02"}));
    assert_eq!(formats[0]["cells"][1]["value"], "2024-04-03");
}
