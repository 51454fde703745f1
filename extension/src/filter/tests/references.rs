//! Conditions on references, by id or key, and on fields of their targets.

use super::*;

const ID: &str = "018f0000-0000-8000-8000-000000000001";

#[test]
fn reference_is_compared_with_an_id_or_a_key() {
    let id = &format!("t.\"artist\" = '{ID}'::uuid");
    let key = "t.\"artist\" = any (array(select r1.id from \"crm\".\"artists\" r1 \
               where r1.external_key = 'k''1' and r1.deleted_at is null))";
    let keys = "t.\"artist\" = any (array(select r1.id from \"crm\".\"artists\" r1 \
                where r1.external_key = any (array['k,1', 'k2']::text[]) and r1.deleted_at is null))";
    check_lines(&[
        ("artist", "eq", &format!("\"{ID}\""), id),
        ("artist", "eq", &format!("\"{}\"", ID.to_uppercase().replace('-', "")), id),
        ("artist", "neq", &format!("\"{ID}\""), &format!("({id}) is not true")),
        ("artist", "in", &format!("\"{ID}\""), id),
        ("artist", "eq", r#"{"external_key":" k'1 "}"#, key),
        ("artist", "eq", r#""{\"external_key\":\"k'1\"}""#, key),
        ("artist", "neq", r#"{"external_key":"k'1"}"#, &format!("({key}) is not true")),
        ("artist", "in", r#"{"external_key":"k'1"}"#, key),
        ("artist", "in", r#"[{"external_key":"k,1"},{"external_key":"k2"}]"#, keys),
        ("artist", "in", r#""[{\"external_key\":\"k,1\"},{\"external_key\":\"k2\"}]""#, keys),
        (
            "artist",
            "in",
            &format!(r#"["{ID}",{{"external_key":"k'1"}},"{ID}"]"#),
            &format!("t.\"artist\" = any (array['{ID}', '{ID}']::uuid[]) or {key}"),
        ),
        ("artist", "in", r#"" {\"external_key\":\"k'1\"} ""#, key),
        ("artist", "empty", "null", "t.\"artist\" is null"),
        ("artist", "not-empty", "null", "t.\"artist\" is not null"),
    ]);
}

#[test]
fn key_matches_only_a_visible_record() {
    check_lines(&[
        (
            "artist.country",
            "eq",
            r#"{"external_key":"ch"}"#,
            "exists (select from \"crm\".\"artists\" r1 where r1.id = t.\"artist\" and r1.deleted_at is null \
             and r1.\"country\" = any (array(select r2.id from \"crm\".\"countries\" r2 \
             where r2.external_key = 'ch' and r2.deleted_at is null \
             and (r2.external_key <> 'x' or r2.external_key is null))))",
        ),
        ("owner", "eq", r#"{"external_key":"k"}"#, "false"),
        ("owner", "neq", r#"{"external_key":"k"}"#, "true"),
        (
            "owner",
            "in",
            &format!(r#"["{ID}",{{"external_key":"k"}}]"#),
            &format!("t.\"owner\" = '{ID}'::uuid"),
        ),
        ("owner", "empty", "null", "t.\"owner\" is null"),
    ]);
}

#[test]
fn field_of_a_referenced_record_requires_a_live_visible_record() {
    let artist =
        "exists (select from \"crm\".\"artists\" r1 where r1.id = t.\"artist\" and r1.deleted_at is null";
    let country = &format!(
        "{artist} and exists (select from \"crm\".\"countries\" r2 where r2.id = r1.\"country\" and r2.deleted_at is null \
         and (r2.external_key <> 'x' or r2.external_key is null)"
    );
    check_lines(&[
        (
            "artist.name",
            "eq",
            r#""a""#,
            &format!("{artist} and pg_catalog.left(r1.\"name\", 200) collate pg_catalog.\"sv-x-icu\" = 'a')"),
        ),
        ("artist.name", "like", r#""a""#, &format!("{artist} and r1.\"name\" like '%a%')")),
        (
            "artist.born",
            "in",
            r#"["1606-07-15","1609-07-28"]"#,
            &format!("{artist} and r1.\"born\" = any (array['1606-07-15', '1609-07-28']::date[]))"),
        ),
        (
            "artist.created_at",
            "between",
            r#"["2024-01-01T00:00:00Z","2024-01-02T00:00:00Z"]"#,
            &format!(
                "{artist} and (r1.created_at >= '2024-01-01T00:00:00Z'::timestamptz \
                 and r1.created_at <= '2024-01-02T00:00:00Z'::timestamptz))"
            ),
        ),
        ("artist.external_key", "eq", r#""a""#, &format!("{artist} and r1.external_key = 'a')")),
        ("artist.country.name", "eq", r#""a""#, &format!("{country} and r2.\"name\" = 'a'))")),
        (
            "artist.country.union.name",
            "starts-with",
            r#""E""#,
            &format!(
                "{country} and exists (select from \"crm\".\"unions\" r3 \
                 where r3.id = r2.\"union\" and r3.deleted_at is null and r3.\"name\" like 'E%')))"
            ),
        ),
    ]);
}

#[test]
fn missing_reference_is_empty_and_not_equal() {
    let artist =
        "exists (select from \"crm\".\"artists\" r1 where r1.id = t.\"artist\" and r1.deleted_at is null";
    check_lines(&[
        (
            "artist.name",
            "neq",
            r#""a""#,
            &format!(
                "not {artist} and pg_catalog.left(r1.\"name\", 200) collate pg_catalog.\"sv-x-icu\" = 'a')"
            ),
        ),
        ("artist.name", "not-empty", "null", &format!("{artist} and r1.\"name\" <> '')")),
        ("artist.name", "empty", "null", &format!("not {artist} and r1.\"name\" <> '')")),
        ("artist.id", "not-empty", "null", &format!("{artist})")),
        ("artist.id", "empty", "null", &format!("not {artist})")),
        ("artist.template_slug", "eq", r#""artists""#, &format!("{artist})")),
        ("artist.template_slug", "eq", r#""works""#, "false"),
        ("artist.template_id", "neq", r#""8""#, &format!("not {artist})")),
    ]);
}

#[test]
fn invisible_field_is_reported_as_unknown() {
    let rejected = |field: &str| {
        let error = compile(&format!("{{\"filters\":[{}]}}", on(field, "eq", "\"a\""))).expect_err(field);
        assert_eq!(
            (error.code, error.violations[0].pointer.as_str()),
            (Code::UnknownField, "/filters/0/field")
        );
        let hint = error.hint.unwrap_or_default();
        (error.message.replace(field, "…"), hint)
    };
    for hidden in ["owner.name", "owner.external_key", "owner.name.more", "owner.id"] {
        assert_eq!(rejected(hidden), rejected("no.such"), "{hidden}");
    }
    assert!(rejected("artist.no").1.contains("crm.artists: name, born, country"));
}
