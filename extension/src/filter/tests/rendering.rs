//! The SQL of operators by type, and of combinations.

use super::*;

#[test]
fn unindexed_text_is_compared_directly() {
    check_lines(&[
        ("note", "eq", r#""it's""#, r#"t."note" = 'it''s'"#),
        ("note", "eq", r#""""#, r#"t."note" = ''"#),
        ("note", "neq", r#""a""#, r#"(t."note" = 'a') is not true"#),
        ("note", "in", r#"["a","b"]"#, r#"t."note" = any (array['a', 'b']::text[])"#),
        ("note", "in", r#"["a"]"#, r#"t."note" = 'a'"#),
        ("note", "not-in", r#"["a","b"]"#, r#"(t."note" = any (array['a', 'b']::text[])) is not true"#),
        ("note", "empty", "null", r#"t."note" is null or t."note" = ''"#),
        ("note", "not-empty", "null", r#"t."note" <> ''"#),
    ]);
}

#[test]
fn indexed_text_is_compared_by_its_prefix() {
    check_lines(&[
        ("name", "eq", r#""a""#, r#"pg_catalog.left(t."name", 200) = 'a'"#),
        ("name", "neq", r#""a""#, r#"(pg_catalog.left(t."name", 200) = 'a') is not true"#),
        ("name", "in", r#"["a","b"]"#, r#"pg_catalog.left(t."name", 200) = any (array['a', 'b']::text[])"#),
        (
            "name",
            "empty",
            "null",
            r#"pg_catalog.left(t."name", 200) is null or pg_catalog.left(t."name", 200) = ''"#,
        ),
        ("name", "not-empty", "null", r#"t."name" <> ''"#),
    ]);
}

#[test]
fn text_longer_than_the_indexed_prefix_is_also_compared_whole() {
    let (max, whole) = ("ø".repeat(200), "ø".repeat(201));
    for (sent, beginning) in [(&max, &max), (&whole, &max)] {
        assert_eq!(
            condition(&on("name", "eq", &format!("\"{sent}\""))),
            format!(r#"(pg_catalog.left(t."name", 200) = '{beginning}' and t."name" = '{sent}')"#)
        );
    }
    assert_eq!(
        condition(&on("name", "in", &format!("[\"a\",\"{whole}\"]"))),
        format!(
            "(pg_catalog.left(t.\"name\", 200) = any (array['a', '{max}']::text[]) \
             and t.\"name\" = any (array['a', '{whole}']::text[]))"
        )
    );
    let short = "ø".repeat(199);
    assert_eq!(
        condition(&on("name", "eq", &format!("\"{short}\""))),
        format!(r#"(pg_catalog.left(t."name", 200) = '{short}')"#)
    );
}

#[test]
fn pattern_covers_normalization_forms() {
    let forms = "'Z\u{fc}rich', 'Zu\u{308}rich'";
    check_lines(&[
        (
            "name",
            "eq",
            "\"Z\u{fc}rich\"",
            &format!(r#"pg_catalog.left(t."name", 200) = any (array[{forms}]::text[])"#),
        ),
        ("note", "eq", "\"Z\u{fc}rich\"", &format!(r#"t."note" = any (array[{forms}]::text[])"#)),
        ("name", "like", "\"\u{fc}\"", "t.\"name\" like '%\u{fc}%' or t.\"name\" like '%u\u{308}%'"),
        (
            "name",
            "not-like",
            "\"\u{fc}\"",
            "(t.\"name\" like '%\u{fc}%' or t.\"name\" like '%u\u{308}%') is not true",
        ),
        (
            "note",
            "ilike",
            "\"\u{fc}b\"",
            "(nullif(t.\"note\" collate \"C\" ilike '%b%', false) is not null \
             and (t.\"note\" ilike '%\u{fc}b%' or t.\"note\" ilike '%u\u{308}b%')) is true",
        ),
        ("note", "like", "\"\u{fc}\"", "(t.\"note\" like '%\u{fc}%' or t.\"note\" like '%u\u{308}%')"),
        ("external_key", "eq", "\"\u{fc}\"", "t.external_key = '\u{fc}'"),
    ]);
}

#[test]
fn wildcards_in_the_value_are_escaped() {
    check_lines(&[
        ("name", "like", r#""a b""#, r#"t."name" like '%a b%'"#),
        ("name", "not-like", r#""a""#, r#"(t."name" like '%a%') is not true"#),
        ("note", "ilike", r#""Æ""#, r#"t."note" ilike '%Æ%'"#),
        ("name", "ilike", r#""Ab""#, r#"t."name" ilike '%Ab%'"#),
        (
            "note",
            "ilike",
            r#""Karlø 5""#,
            r#"(nullif(t."note" collate "C" ilike '%_arl% 5%', false) is not null and t."note" ilike '%Karlø 5%') is true"#,
        ),
        ("name", "starts-with", r#""Rem""#, r#"t."name" like 'Rem%'"#),
        ("name", "ends-with", r#""dt""#, r#"t."name" like '%dt'"#),
        ("name", "ends-with", r#""5%""#, r#"t."name" like E'%5\\%'"#),
        ("name", "like", r#""100%_\\'""#, r#"t."name" like E'%100\\%\\_\\\\''%'"#),
        ("name", "like", r#""""#, r#"t."name" like '%%'"#),
        ("external_key", "like", r#""erp:""#, "t.external_key like '%erp:%'"),
        ("external_key", "not-like", r#""erp:""#, "(t.external_key like '%erp:%') is not true"),
    ]);
}

#[test]
fn booleans_are_compared_with_true_and_false() {
    check_lines(&[
        ("framed", "eq", "true", r#"t."framed" = 'true'::boolean"#),
        ("framed", "eq", r#""false""#, r#"t."framed" = 'false'::boolean"#),
        ("framed", "neq", "true", r#"(t."framed" = 'true'::boolean) is not true"#),
        ("framed", "in", r#""true, false""#, r#"t."framed" = any (array['true', 'false']::boolean[])"#),
        ("framed", "empty", "null", r#"t."framed" is null"#),
        ("framed", "not-empty", "null", r#"t."framed" is not null"#),
    ]);
}

#[test]
fn numbers_are_compared_in_the_type_of_their_column() {
    check_lines(&[
        ("price", "eq", "12.50", r#"t."price" = '12.50'::numeric"#),
        ("price", "gt", r#""5000""#, r#"t."price" > '5000'::numeric"#),
        ("price", "gte", "-1e10", r#"t."price" >= '-1e10'::numeric"#),
        ("price", "lt", "0", r#"t."price" < '0'::numeric"#),
        ("price", "lte", "0.1", r#"t."price" <= '0.1'::numeric"#),
        ("price", "between", "[1,2]", r#"t."price" >= '1'::numeric and t."price" <= '2'::numeric"#),
        ("price", "between", "[2,1]", r#"t."price" >= '2'::numeric and t."price" <= '1'::numeric"#),
        ("price", "in", "[1,2]", r#"t."price" = any (array['1', '2']::numeric[])"#),
        ("price", "empty", "null", r#"t."price" is null"#),
        ("price", "not-empty", "null", r#"t."price" is not null"#),
        ("humidity", "gt", "1e300", r#"t."humidity" > '1e300'::double precision"#),
        ("humidity", "in", "[1,0.5]", r#"t."humidity" = any (array['1', '0.5']::double precision[])"#),
        ("weight", "eq", "12.50", r#"t."weight" = '12.5'::double precision"#),
        ("weight", "in", "[1,2]", r#"t."weight" = any (array['1', '2']::double precision[])"#),
    ]);
}

#[test]
fn list_is_tested_for_overlap() {
    check_lines(&[
        ("tags", "in", r#"["a","b"]"#, r#"t."tags" && array['a', 'b']::text[]"#),
        ("tags", "in", r#""a""#, r#"t."tags" && array['a']::text[]"#),
        ("tags", "not-in", r#"["a"]"#, r#"(t."tags" && array['a']::text[]) is not true"#),
        ("tags", "empty", "null", r#"t."tags" is null or t."tags" = '{}'::text[]"#),
        ("tags", "not-empty", "null", r#"t."tags" <> '{}'::text[]"#),
        ("media", "in", r#""oil,ink""#, r#"t."media" && array['oil', 'ink']::text[]"#),
    ]);
}

#[test]
fn standard_field_is_a_column_or_a_constant() {
    const ID: &str = "018f0000-0000-8000-8000-000000000001";
    check_lines(&[
        ("external_key", "eq", r#"" erp:1 ""#, "t.external_key = 'erp:1'"),
        ("external_key", "in", r#""a, b""#, "t.external_key = any (array['a', 'b']::text[])"),
        ("external_key", "empty", "null", "t.external_key is null"),
        ("external_key", "not-empty", "null", "t.external_key is not null"),
        ("id", "eq", &format!("\"{ID}\""), &format!("t.id = '{ID}'::uuid")),
        ("id", "in", &format!("\"{ID},{ID}\""), &format!("t.id = any (array['{ID}', '{ID}']::uuid[])")),
        ("id", "empty", "null", "false"),
        ("id", "not-empty", "null", "true"),
        ("deleted_at", "empty", "null", "t.deleted_at is null"),
        ("template_id", "eq", r#""7""#, "true"),
        ("template_id", "eq", "7", "true"),
        ("template_id", "neq", r#""7""#, "false"),
        ("template_id", "in", r#""1,7""#, "true"),
        ("template_slug", "eq", r#""artists""#, "false"),
        ("template_slug", "not-in", r#"["artists"]"#, "true"),
    ]);
}

#[test]
fn empty_list_matches_no_record() {
    for field in ["note", "name", "price", "tags", "made", "seen", "artist", "id", "artist.name"] {
        assert_eq!(condition(&on(field, "in", "[]")), "false", "{field}");
        assert_eq!(condition(&on(field, "not-in", r#""[]""#)), "true", "{field}");
    }
}

#[test]
fn filters_are_conjunctive_and_groups_disjunctive() {
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| on("note", "eq", &format!("\"{text}\"")));
    for (body, expected) in [
        ("{}".to_owned(), "true"),
        (r#"{"filters":null,"filter_groups":null}"#.to_owned(), "true"),
        (r#"{"filters":[],"filter_groups":[]}"#.to_owned(), "true"),
        (format!(r#"{{"filters":[{a},{b}]}}"#), "(a and b)"),
        (format!(r#"{{"filter_groups":[[{a},{b}],[{c}]]}}"#), "((a and b) or c)"),
        (format!(r#"{{"filters":[{a}],"filter_groups":[[{b},{c}],[{d}]]}}"#), "(a and ((b and c) or d))"),
        (format!(r#"{{"filters":[{a}],"filter_groups":[[{b}]]}}"#), "(a and b)"),
        (
            format!(r#"{{"filters":[{{"not":{{"or":[{a},{{"and":[{b},{c}]}}]}}}}]}}"#),
            "((a or (b and c)) is not true)",
        ),
        (format!(r#"{{"filters":[{{"not":{{"not":{a}}}}},{b}]}}"#), "(a and b)"),
        (format!(r#"{{"filter_groups":[[{{"or":[{a},{b}]}},{c}]]}}"#), "((a or b) and c)"),
    ] {
        let filter = compile(&body).expect(&body);
        let sql = render(&filter, "t", Options::default());
        assert_eq!(sql.replace("t.\"note\" = '", "").replace('\'', ""), expected, "{body}");
    }
}

#[test]
fn constant_conditions_are_simplified() {
    let a = on("note", "eq", "\"a\"");
    let (always, never) = (on("template_id", "eq", "7"), on("id", "in", "[]"));
    for (filters, expected) in [
        (format!("{a},{always}"), "(t.\"note\" = 'a')"),
        (format!("{a},{never}"), "false"),
        (format!(r#"{{"or":[{a},{always}]}}"#), "true"),
        (format!(r#"{{"or":[{a},{never}]}}"#), "(t.\"note\" = 'a')"),
        (format!(r#"{{"not":{never}}}"#), "true"),
    ] {
        assert_eq!(condition(&filters), expected, "{filters}");
    }
}

#[test]
fn scope_is_a_filter_an_array_or_a_single_condition() {
    let a = on("note", "eq", "\"a\"");
    for scope in [
        format!(r#"{{"filters":[{a}]}}"#),
        format!(r#"{{"filter_groups":[[{a}]]}}"#),
        format!("[{a}]"),
        a.clone(),
        format!(r#"{{"and":[{a}]}}"#),
        format!(r#"{{"or":[{a}]}}"#),
        format!(r#"{{"not":{{"not":{a}}}}}"#),
    ] {
        let filter = compile_scope(&scope).expect(&scope);
        assert_eq!(render(&filter, "t", Options::default()), "(t.\"note\" = 'a')", "{scope}");
    }
    for scope in ["{}", "[]", r#"{"filters":[]}"#] {
        assert!(compile_scope(scope).expect(scope).is_always_true(), "{scope}");
    }
}

#[test]
fn filter_is_rendered_with_any_alias() {
    let filter =
        compile(&format!("{{\"filters\":[{}]}}", on("artist.name", "eq", "\"a\""))).expect("a filter");
    assert!(
        render(&filter, "d", Options::default())
            .starts_with("(exists (select from \"crm\".\"artists\" r1 where r1.id = d.\"artist\" and ")
    );
    assert!(
        render(&filter, "r1", Options::default())
            .starts_with("(exists (select from \"crm\".\"artists\" r2 where r2.id = r1.\"artist\" and ")
    );
}

#[test]
fn attribute_key_selects_ids() {
    let by_id = Settings { attribute_key: AttributeKey::Id, ..Settings::default() };
    for (field, expected) in [
        ("11", "(t.\"note\" = 'a')"),
        ("external_key", "(t.external_key = 'a')"),
        (
            "20.external_key",
            "(exists (select from \"crm\".\"artists\" r1 \
             where r1.id = t.\"artist\" and r1.deleted_at is null and r1.external_key = 'a'))",
        ),
    ] {
        let body = format!("{{\"filters\":[{}]}}", on(field, "eq", "\"a\""));
        let filter = compile_with(&body, by_id).expect(field);
        assert_eq!(render(&filter, "t", Options::default()), expected);
    }
    for field in ["note", "011", "+11", "99", "artist.31"] {
        let body = format!("{{\"filters\":[{}]}}", on(field, "eq", "\"a\""));
        assert_eq!(violations(compile_with(&body, by_id))[0].1, Code::UnknownField, "{field}");
    }
}
