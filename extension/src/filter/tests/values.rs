//! Accepted forms of values.

use super::*;

fn same(field: &str, operator: &str, forms: &[&str]) {
    let first = condition(&on(field, operator, forms[0]));
    for form in &forms[1..] {
        assert_eq!(condition(&on(field, operator, form)), first, "{form}");
    }
}

#[test]
fn number_is_a_json_number_or_a_string() {
    same("price", "eq", &["5000", r#""5000""#, r#"" 5000 ""#]);
    same("price", "gt", &["-12.50", r#""-12.50""#]);
    same("humidity", "lt", &["1e3", r#""1e3""#, "1000"]);
}

#[test]
fn values_are_an_array_its_text_or_comma_separated() {
    same(
        "note",
        "in",
        &[r#"["a","b, c"]"#, r#""[\"a\",\"b, c\"]""#, r#""a,\"b, c\"""#, r#"" a , \"b, c\" ""#],
    );
    same("price", "in", &["[1,2.5]", r#""1,2.5""#, r#""[1,2.5]""#, r#"["1","2.5"]"#, r#""[\"1\", 2.5]""#]);
    same("price", "in", &["5", r#""5""#, "[5]"]);
    same("tags", "not-in", &[r#"["a","b"]"#, r#""a,b""#]);
    same("made", "in", &[r#"["2024-01-01","2024-01-02"]"#, r#""2024-01-01, 2024-01-02""#]);
    same("note", "in", &[r#"["[x]"]"#, r#""\"[x]\"""#]);
    same("note", "in", &[r#"["a"]"#, r#""a""#]);
}

#[test]
fn bounds_of_between_have_the_form_of_values() {
    same("price", "between", &["[1,5]", r#""1,5""#, r#""[1,5]""#, r#"["1","5"]"#]);
    same("seen", "between", &[r#"["2024-01-01","2024-01-31"]"#, r#""2024-01-01,2024-01-31""#]);
}

#[test]
fn operator_without_value_takes_none_null_or_an_empty_text() {
    for (field, operator) in [("note", "empty"), ("tags", "not-empty"), ("seen", "today")] {
        same(field, operator, &["null", r#""""#]);
        let without = format!(r#"{{"field":"{field}","operator":"{operator}"}}"#);
        assert_eq!(condition(&without), condition(&on(field, operator, "null")));
    }
}

#[test]
fn value_of_the_wrong_type_is_rejected_with_its_pointer() {
    const VALUE: &str = "/filters/0/value";
    for (field, operator, value, pointer, message) in [
        ("note", "eq", "5", VALUE, "must be a string"),
        ("note", "like", "[\"a\"]", VALUE, "must be a single value, not an array"),
        ("note", "in", "[\"a\",5]", "/filters/0/value/1", "must be a string"),
        ("note", "in", r#""[5]""#, VALUE, "must be a string"),
        ("note", "in", "true", VALUE, "must be a string"),
        ("note", "in", r#""""#, VALUE, "an empty value"),
        ("note", "in", r#""a,,b""#, VALUE, "an empty value"),
        ("note", "in", r#""\"a""#, VALUE, "unterminated quote"),
        ("note", "in", r#""\"a\"b""#, VALUE, "after a closing quote"),
        ("note", "in", r#""[a]""#, VALUE, "does not parse"),
        ("note", "eq", r#""a\u0000b""#, VALUE, "U+0000"),
        ("note", "like", r#""\u0000""#, VALUE, "U+0000"),
        ("note", "in", r#""[\"\\u0000\"]""#, VALUE, "U+0000"),
        ("note", "in", r#""[\"\\ud800\"]""#, VALUE, "does not parse"),
        ("price", "eq", "\"abc\"", VALUE, "must be a number such as 12.50, not \"abc\""),
        ("price", "eq", r#""""#, VALUE, "must be a number"),
        ("price", "eq", "\"NaN\"", VALUE, "must be a number"),
        ("price", "eq", "\"Infinity\"", VALUE, "must be a number"),
        ("price", "eq", "\"1_000\"", VALUE, "must be a number"),
        ("price", "eq", "\"+1\"", VALUE, "must be a number"),
        ("price", "eq", "\"0x1\"", VALUE, "must be a number"),
        ("price", "eq", "\"1 2\"", VALUE, "must be a number"),
        ("price", "eq", r#"{"$inc":1}"#, VALUE, "must be a number"),
        ("price", "in", r#""1,000""#, VALUE, "must be a number such as 12.50, not \"000\""),
        ("price", "eq", "1e400", VALUE, "an exponent from -100 to 100"),
        ("price", "eq", "\"1e131071\"", VALUE, "an exponent from -100 to 100"),
        ("price", "between", "[1]", VALUE, "two values, lower and upper bound, not 1"),
        ("price", "between", "5", VALUE, "two values, lower and upper bound, not 1"),
        ("price", "between", "\"1,2,3\"", VALUE, "not 3"),
        ("price", "between", "[1,null]", "/filters/0/value/1", "use the operator empty"),
        ("humidity", "gt", "1e400", VALUE, "too large"),
        ("humidity", "gt", "\"NaN\"", VALUE, "must be a number"),
        ("media", "in", "\"oil,chalk\"", VALUE, "\"chalk\" is not one of the options"),
        ("media", "in", "[\"oil\",\"\"]", "/filters/0/value/1", "is not one of the options"),
        ("made", "eq", "\"29.2.2024\"", VALUE, "does not have the form YYYY-MM-DD"),
        ("made", "eq", "\"2024-02-30\"", VALUE, "there is no day 2024-02-30"),
        ("made", "eq", "\"2024-02-29T00:00:00Z\"", VALUE, "has a time of day"),
        ("made", "eq", "20240229", VALUE, "must be a date"),
        ("seen", "gt", "\"2024-02-30\"", VALUE, "there is no day 2024-02-30"),
        ("seen", "gt", "\"2024-02-29T10:00:00\"", VALUE, "has no offset"),
        ("seen", "gt", "\"2024-02-29T10:00Z\"", VALUE, "has no seconds"),
        ("seen", "gt", "\"now\"", VALUE, "a time with offset or a date"),
        ("artist", "eq", "\"Rembrandt\"", VALUE, "must be a record id as a string, or {\"external_key\""),
        ("artist", "eq", "7", VALUE, "must be a record id"),
        ("artist", "eq", r#"{"id":"x"}"#, VALUE, "must be a record id"),
        ("artist", "eq", r#""{\"id\":1}""#, VALUE, "must be a record id"),
        ("artist", "eq", r#"{"external_key":5}"#, "/filters/0/value/external_key", "must be a string"),
        ("artist", "in", r#""a""#, VALUE, "must be a record id"),
        ("framed", "eq", "1", VALUE, "must be true or false"),
        ("framed", "eq", "\"yes\"", VALUE, "must be true or false, not \"yes\""),
        ("framed", "in", "[true,\"TRUE\"]", "/filters/0/value/1", "must be true or false"),
        ("id", "eq", "\"7\"", VALUE, "must be a record id"),
        ("id", "eq", r#"{"external_key":"a"}"#, VALUE, "must be a record id"),
        ("template_id", "eq", "\"works\"", VALUE, "must be the number of a template"),
        ("template_slug", "in", "[7]", "/filters/0/value/0", "must be a string"),
        ("note", "empty", "true", VALUE, "takes no value"),
        ("note", "empty", "\"false\"", VALUE, "takes no value: omit it, or send a string other than"),
        ("note", "not-empty", "\"FALSE\"", VALUE, "takes no value: omit it, or send a string other than"),
        ("note", "not-empty", "[]", VALUE, "takes no value"),
        ("seen", "today", "\"2024-01-01\"", VALUE, "takes no value"),
    ] {
        let body = format!("{{\"filters\":[{}]}}", on(field, operator, value));
        let violations = violations(compile(&body));
        assert_eq!(violations.len(), 1, "{field} {operator} {value}: {violations:?}");
        assert_eq!(
            (violations[0].0.as_str(), violations[0].1),
            (pointer, Code::InvalidValue),
            "{field} {operator} {value}"
        );
        assert!(violations[0].2.contains(message), "{field} {operator} {value}: {}", violations[0].2);
    }
}

#[test]
fn comparison_with_null_is_rejected() {
    for (field, operator) in
        [("note", "eq"), ("price", "gt"), ("tags", "in"), ("artist", "neq"), ("id", "in")]
    {
        let violations = violations(compile(&format!("{{\"filters\":[{}]}}", on(field, operator, "null"))));
        assert_eq!((violations[0].0.as_str(), violations[0].1), ("/filters/0/value", Code::InvalidValue));
        assert!(violations[0].2.contains("use the operator empty or not-empty"), "{}", violations[0].2);
    }
}

#[test]
fn invalid_external_key_is_rejected() {
    for (field, value, pointer) in [
        ("external_key", r#""""#, "/filters/0/value"),
        ("external_key", r#""a\tb""#, "/filters/0/value"),
        ("artist", r#"{"external_key":" "}"#, "/filters/0/value/external_key"),
        ("artist", r#""{\"external_key\":\"\"}""#, "/filters/0/value"),
    ] {
        let violations = violations(compile(&format!("{{\"filters\":[{}]}}", on(field, "eq", value))));
        assert_eq!(
            (violations[0].0.as_str(), violations[0].1),
            (pointer, Code::InvalidExternalKey),
            "{value}"
        );
    }
}

#[test]
fn error_lists_the_options_of_a_list() {
    let error =
        compile(&format!("{{\"filters\":[{}]}}", on("media", "in", "\"chalk\""))).expect_err("an option");
    assert_eq!(error.hint.as_deref(), Some("Use one of the options oil, ink."));
}
