//! Days in conditions on datetimes: from midnight to midnight in the time zone of the request, including days with a
//! clock change.

use crate::gallery::{Gallery, keys};
use serde_json::{Value, json};

/// Works that were sold at these times; each has its time as key.
async fn sold(times: &[&str]) -> Gallery {
    let gallery = Gallery::new().await;
    for time in times {
        gallery.add("works", time, json!({"sold": time})).await;
    }
    gallery
}

async fn in_zone(gallery: &Gallery, zone: Value, operator: &str, value: Value) -> Vec<String> {
    let condition = json!({"field": "sold", "operator": operator, "value": value});
    let found = gallery.passing(json!({"filters": [condition], "time_zone": zone})).await;
    found.split(' ').filter(|key| !key.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn day_uses_the_time_zone_of_the_request() {
    let times =
        ["2024-03-09T10:30:00Z", "2024-03-09T23:30:00Z", "2024-03-10T10:30:00Z", "2024-03-10T11:00:00Z"];
    let gallery = sold(&times).await;
    // Auckland is 13 hours ahead, so its 10 March lasts from 11:00 to 11:00 UTC.
    for (zone, day, expected) in [
        (Value::Null, "2024-03-10", &times[2..]),
        (json!("UTC"), "2024-03-10", &times[2..]),
        (json!("Pacific/Auckland"), "2024-03-10", &times[1..3]),
        (json!("Pacific/Auckland"), "2024-03-11", &times[3..]),
        (json!("Europe/Zurich"), "2024-03-10", &times[1..]),
        (json!("America/New_York"), "2024-03-09", &times[..2]),
    ] {
        assert_eq!(in_zone(&gallery, zone.clone(), "eq", json!(day)).await, expected, "{day} in {zone}");
    }
}

#[tokio::test]
async fn day_of_a_clock_change_has_its_real_length() {
    // In New York, 10 March 2024 had 23 hours and 3 November had 25; in São Paulo, 4 November 2018 had no midnight.
    for (zone, day, before, first, last, after) in [
        (
            "America/New_York",
            "2024-03-10",
            "2024-03-10T04:59:59.999999Z",
            "2024-03-10T05:00:00Z",
            "2024-03-11T03:59:59.999999Z",
            "2024-03-11T04:00:00Z",
        ),
        (
            "America/New_York",
            "2024-11-03",
            "2024-11-03T03:59:59.999999Z",
            "2024-11-03T04:00:00Z",
            "2024-11-04T04:59:59.999999Z",
            "2024-11-04T05:00:00Z",
        ),
        (
            "America/Sao_Paulo",
            "2018-11-04",
            "2018-11-04T02:59:59.999999Z",
            "2018-11-04T03:00:00Z",
            "2018-11-05T01:59:59.999999Z",
            "2018-11-05T02:00:00Z",
        ),
        (
            "America/Sao_Paulo",
            "2018-02-17",
            "2018-02-17T01:59:59.999999Z",
            "2018-02-17T02:00:00Z",
            "2018-02-18T02:59:59.999999Z",
            "2018-02-18T03:00:00Z",
        ),
    ] {
        let gallery = sold(&[before, first, last, after]).await;
        for (operator, value, expected) in [
            ("eq", json!(day), &[first, last][..]),
            ("neq", json!(day), &[before, after]),
            ("in", json!([day]), &[first, last]),
            ("not-in", json!(day), &[before, after]),
            ("lt", json!(day), &[before]),
            ("lte", json!(day), &[before, first, last]),
            ("gt", json!(day), &[after]),
            ("gte", json!(day), &[first, last, after]),
            ("between", json!([day, day]), &[first, last]),
            ("between", json!(format!("{day},{after}")), &[first, last, after]),
            ("in", json!([before, day]), &[before, first, last]),
        ] {
            let found = in_zone(&gallery, json!(zone), operator, value.clone()).await;
            assert_eq!(found, expected, "{operator} {value} in {zone}");
        }
    }
}

#[tokio::test]
async fn first_and_last_day_can_be_filtered() {
    let gallery = sold(&["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]).await;
    for (day, expected) in
        [("0001-01-01", "0001-01-01T00:00:00Z"), ("9999-12-31", "9999-12-31T23:59:59.999999Z")]
    {
        for operator in ["eq", "in", if day < "1" { "lte" } else { "gte" }] {
            assert_eq!(
                in_zone(&gallery, json!("UTC"), operator, json!(day)).await,
                [expected],
                "{operator} {day}"
            );
        }
    }
    assert!(in_zone(&gallery, json!("UTC"), "gt", json!("9999-12-31")).await.is_empty());
    assert!(in_zone(&gallery, json!("UTC"), "lt", json!("0001-01-01")).await.is_empty());
}

#[tokio::test]
async fn date_has_no_time_zone() {
    let gallery = Gallery::new().await;
    gallery.works([("A", json!({"made": "2024-03-10"}))]).await;
    for zone in ["UTC", "Pacific/Auckland", "America/New_York"] {
        let condition = json!({"field": "made", "operator": "eq", "value": "2024-03-10"});
        assert_eq!(gallery.passing(json!({"filters": [condition], "time_zone": zone})).await, "A");
    }
}

#[tokio::test]
async fn today_begins_and_ends_at_local_midnight() {
    let gallery = Gallery::new().await;
    for zone in ["UTC", "Pacific/Auckland", "Pacific/Pago_Pago", "Asia/Kathmandu"] {
        // One transaction, so that all statements have the same current day.
        gallery.session.run("begin").await;
        let insert = "
            insert into art.works (external_key, sold, made)
            select key, (date_trunc('day', now() at time zone $1) + after) at time zone $1,
              ((now() at time zone $1) + days)::date
            from (values
              ('A', interval '-1 microsecond', interval '-1 day'), ('B', '0', '0'),
              ('C', interval '1 day -1 microsecond', '0'), ('D', interval '1 day', interval '1 day'), ('E', null, null)
            ) v (key, after, days)";
        gallery.session.rows(insert, &[zone]).await;
        for (field, operator, expected) in
            [("sold", "today", "B C"), ("made", "today", "B C"), ("created_at", "today", "A B C D E")]
        {
            for value in [None, Some(Value::Null), Some(json!(""))] {
                let mut condition = json!({"field": field, "operator": operator});
                if let Some(value) = value {
                    condition["value"] = value;
                }
                let query = json!({"filters": [condition], "time_zone": zone});
                assert_eq!(gallery.passing(query).await, expected, "{field} in {zone}");
                let query =
                    json!({"filters": [{"not": condition}], "time_zone": zone, "sort": "external_key"});
                let rest: Vec<&str> = "A B C D E".split(' ').filter(|key| !expected.contains(key)).collect();
                assert_eq!(keys(&gallery.search(&query).await), rest.join(" "), "not {field} in {zone}");
            }
        }
        gallery.session.run("rollback").await;
    }
}

#[tokio::test]
async fn time_zone_must_be_a_known_name() {
    let gallery = Gallery::new().await;
    for zone in ["UTC", "Europe/Zurich", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "GMT+0"] {
        gallery.search(&json!({"time_zone": zone})).await;
    }
    for zone in [
        "",
        " ",
        "Mars/Olympus",
        "<+07>-07",
        "+02:00",
        "-5",
        "5",
        "UTC'; select 1; --",
        "Europe/Zurich\n",
        "../../etc/passwd",
        "Europe",
        "default",
        "localtime",
        "posixrules",
        "Factory",
        "local",
        &"x".repeat(100_000),
    ] {
        let error = gallery.error(&json!({"time_zone": zone})).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/time_zone"]),
            "{zone:.80}"
        );
    }
}

#[tokio::test]
async fn day_with_two_midnights_begins_at_the_first() {
    // The clock went from 01:00 back to 00:00, so the first hour of the day occurred twice.
    for (zone, day, before, first, second, last) in [
        (
            "Atlantic/Azores",
            "2024-10-27",
            "2024-10-26T23:59:59Z",
            "2024-10-27T00:00:00Z",
            "2024-10-27T01:00:00Z",
            "2024-10-28T00:59:59Z",
        ),
        (
            "America/Havana",
            "2024-11-03",
            "2024-11-03T03:59:59Z",
            "2024-11-03T04:00:00Z",
            "2024-11-03T05:00:00Z",
            "2024-11-04T04:59:59Z",
        ),
    ] {
        let gallery = sold(&[before, first, second, last]).await;
        // The local date and time.
        let shown = "select string_agg(((sold at time zone $1)::date = $2::date)::text, ' ' order by sold) from art.works";
        assert_eq!(gallery.session.text(shown, &[zone, day]).await, "false true true true");
        for (operator, expected) in [
            ("eq", &[first, second, last][..]),
            ("neq", &[before]),
            ("lt", &[before]),
            ("gte", &[first, second, last]),
        ] {
            assert_eq!(
                in_zone(&gallery, json!(zone), operator, json!(day)).await,
                expected,
                "{operator} in {zone}"
            );
        }
    }
}

#[tokio::test]
async fn utc_offset_is_not_a_time_zone() {
    let gallery = Gallery::new().await;
    // PostgreSQL would read each as a zone of its own, two hours behind UTC instead of ahead.
    for zone in ["UTC+2", "GMT+2", "Foo2", "CET-1CEST", "ABC+3DEF"] {
        let error = gallery.error(&json!({"time_zone": zone})).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/time_zone"]),
            "{zone}"
        );
    }
}

#[tokio::test]
async fn default_time_zone_is_the_project_time_zone() {
    let gallery = sold(&["2024-03-10T10:30:00Z", "2024-03-10T11:00:00Z"]).await;
    let other = gallery.database.session().await;
    let day = async || in_zone(&gallery, Value::Null, "eq", json!("2024-03-11")).await;
    assert!(day().await.is_empty());
    // Another session sets the time zone, and this one applies it immediately.
    other.run("select keyed.set_time_zone('art', 'Pacific/Auckland')").await;
    assert_eq!(day().await, ["2024-03-10T11:00:00Z"]);
    assert!(in_zone(&gallery, json!("UTC"), "eq", json!("2024-03-11")).await.is_empty());
    for today in ["sold", "made"] {
        let query = json!({"filters": [{"field": today, "operator": "today"}]}).to_string();
        let condition = gallery.session.text("select keyed.filter_sql('art.works', $1)", &[&query]).await;
        assert!(condition.contains("'Pacific/Auckland'"), "{condition}");
    }
    other.run("begin").await;
    other.run("select keyed.set_time_zone('art', 'UTC')").await;
    other.run("rollback").await;
    assert_eq!(day().await, ["2024-03-10T11:00:00Z"]);
    other.run("select keyed.set_time_zone('art', null)").await;
    assert!(day().await.is_empty());
}

#[tokio::test]
async fn old_snapshot_does_not_cache_an_old_time_zone() {
    let gallery = sold(&["2024-03-10T11:00:00Z"]).await;
    let other = gallery.database.session().await;
    gallery.session.run("begin isolation level repeatable read; select 1").await;
    other.run("select keyed.set_time_zone('art', 'Pacific/Auckland')").await;
    assert!(in_zone(&gallery, Value::Null, "eq", json!("2024-03-11")).await.is_empty());
    gallery.session.run("commit").await;
    assert_eq!(in_zone(&gallery, Value::Null, "eq", json!("2024-03-11")).await, ["2024-03-10T11:00:00Z"]);
}

#[tokio::test]
async fn time_zone_of_a_project_must_be_known() {
    let gallery = Gallery::new().await;
    let set = "select keyed.set_time_zone($1, $2)";
    for zone in ["Mars/Olympus", "", "UTC+2", "local"] {
        let error = gallery.session.error(set, &["art", zone]).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/time_zone"]),
            "{zone}"
        );
    }
    assert_eq!(gallery.session.error(set, &["nowhere", "UTC"]).await.codes(), ("P0002", "not_found"));
    let number = gallery.session.text("select id from keyed_state.project where slug = 'art'", &[]).await;
    gallery.session.rows(set, &[&number, "Europe/Zurich"]).await;
    let kept = "select time_zone from keyed_state.project";
    assert_eq!(gallery.session.text(kept, &[]).await, "Europe/Zurich");
}
