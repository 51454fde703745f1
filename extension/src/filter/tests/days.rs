//! Conditions on dates and times, and days in conditions on times.

use super::*;

const ZURICH: &str = "at time zone 'Europe/Zurich' + '0.000001 s'::interval)";

#[test]
fn date_is_compared_with_dates() {
    check_lines(&[
        ("made", "eq", r#""2024-02-29""#, r#"t."made" = '2024-02-29'::date"#),
        (
            "made",
            "in",
            r#""2024-02-29,2024-03-01""#,
            r#"t."made" = any (array['2024-02-29', '2024-03-01']::date[])"#,
        ),
        ("made", "gt", r#""2024-02-29""#, r#"t."made" > '2024-02-29'::date"#),
        (
            "made",
            "between",
            r#""0001-01-01,9999-12-31""#,
            r#"t."made" >= '0001-01-01'::date and t."made" <= '9999-12-31'::date"#,
        ),
        ("made", "empty", "null", r#"t."made" is null"#),
        ("made", "empty", r#""true""#, r#"t."made" is null"#),
        ("made", "empty", r#""""#, r#"t."made" is null"#),
        ("made", "not-empty", r#""any text""#, r#"t."made" is not null"#),
    ]);
}

#[test]
fn time_is_compared_with_instants() {
    check_lines(&[
        ("seen", "eq", r#""2024-03-10T12:00:00+02:00""#, r#"t."seen" = '2024-03-10T10:00:00Z'::timestamptz"#),
        (
            "created_at",
            "gt",
            r#""2024-03-10T10:00:00.123456Z""#,
            "t.created_at > '2024-03-10T10:00:00.123456Z'::timestamptz",
        ),
        (
            "updated_at",
            "lte",
            r#""2024-03-10T10:00:00Z""#,
            "t.updated_at <= '2024-03-10T10:00:00Z'::timestamptz",
        ),
        (
            "seen",
            "in",
            r#"["2024-03-10T10:00:00Z","2024-03-11T10:00:00Z"]"#,
            r#"t."seen" = any (array['2024-03-10T10:00:00Z', '2024-03-11T10:00:00Z']::timestamptz[])"#,
        ),
    ]);
}

#[test]
fn date_on_a_time_field_is_the_whole_day() {
    let after = |date: &str| format!("('{date} 23:59:59.999999'::timestamp {ZURICH}");
    let (this, next) = (after("2024-03-09"), after("2024-03-10"));
    let whole = format!(r#"t."seen" >= {this} and t."seen" < {next}"#);
    let value = r#""2024-03-10""#;
    check_lines(&[
        ("seen", "eq", value, &whole),
        ("seen", "neq", value, &format!("({whole}) is not true")),
        ("seen", "gt", value, &format!(r#"t."seen" >= {next}"#)),
        ("seen", "gte", value, &format!(r#"t."seen" >= {this}"#)),
        ("seen", "lt", value, &format!(r#"t."seen" < {this}"#)),
        ("seen", "lte", value, &format!(r#"t."seen" < {next}"#)),
        (
            "seen",
            "between",
            r#"["2024-03-10","2024-03-31"]"#,
            &format!(r#"t."seen" >= {this} and t."seen" < {}"#, after("2024-03-31")),
        ),
        (
            "seen",
            "between",
            r#"["2024-03-10T10:00:00Z","2024-03-10"]"#,
            &format!(r#"t."seen" >= '2024-03-10T10:00:00Z'::timestamptz and t."seen" < {next}"#),
        ),
        (
            "seen",
            "in",
            r#"["2024-03-10","2024-03-10T10:00:00Z","2024-12-31"]"#,
            &format!(
                r#"t."seen" = '2024-03-10T10:00:00Z'::timestamptz or ({whole}) or (t."seen" >= {} and t."seen" < {})"#,
                after("2024-12-30"),
                after("2024-12-31")
            ),
        ),
        ("seen", "lte", r#""9999-12-31""#, &format!(r#"t."seen" < {}"#, after("9999-12-31"))),
    ]);
}

#[test]
fn today_is_the_current_day_in_the_time_zone() {
    let today = "(pg_catalog.now() at time zone 'Europe/Zurich')::date";
    let after = |moment: &str| format!("(({today} + '{moment}'::interval) {ZURICH}");
    check_lines(&[
        ("made", "today", "null", &format!(r#"t."made" = {today}"#)),
        (
            "seen",
            "today",
            r#""""#,
            &format!(r#"t."seen" >= {} and t."seen" < {}"#, after("-0.000001 s"), after("23:59:59.999999")),
        ),
    ]);
    let made_today = compile(r#"{"filters":[{"field":"made","operator":"today"}]}"#).expect("a filter");
    assert_eq!(
        render(&made_today, "t", Options { now: Some(0), ..Options::default() }),
        r#"(t."made" = ('2000-01-01T00:00:00Z'::timestamptz at time zone 'Europe/Zurich')::date)"#
    );
}

#[test]
fn time_zone_is_rendered_as_a_literal() {
    let settings = Settings { time_zone: "a' or true --", ..Settings::default() };
    let body = format!("{{\"filters\":[{}]}}", on("seen", "lt", r#""2024-03-10""#));
    let filter = compile_with(&body, settings).expect("a filter");
    assert_eq!(
        render(&filter, "t", Options::default()),
        r#"(t."seen" < ('2024-03-09 23:59:59.999999'::timestamp at time zone 'a'' or true --' + '0.000001 s'::interval))"#
    );
}
