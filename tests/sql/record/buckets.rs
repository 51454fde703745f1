//! Buckets of a series, page by page.

use harness::customers::SERIES;
use harness::{Database, Session, id_of};
use serde_json::Value;

/// A database with a customer whose points are given as SQL: times and values. The session has run its queries when
/// there was one point.
async fn with_points(points: &str, questions: &[&str]) -> (Database, Session, String) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    let record =
        session.json("select keyed.create_record('crm.customers', '{\"mood\": 0}', 'A-1')", &[]).await;
    for question in questions {
        pages(&session, id_of(&record), question).await;
    }
    session
        .run(&format!(
            "begin; insert into {SERIES} (record_id, attribute_id, at, value)
               select s.record_id, s.attribute_id, p.at, p.value from {SERIES} s, ({points}) p (at, value);
             delete from {SERIES} where at > now() - interval '1 hour'; commit"
        ))
        .await;
    (database, session, id_of(&record).to_owned())
}

/// All buckets, read in pages of this size, as `microseconds=value`.
async fn read_pages(session: &Session, id: &str, question: &str, size: usize) -> Vec<String> {
    let (mut buckets, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = format!("select keyed.metric_page($1, 'mood', {question}, page_size => {size}{cursor})");
        let page = session.json(&page, &[id]).await;
        let points = page["points"].as_array().expect("points");
        assert!(points.len() <= size, "{question}: {} of {size}", points.len());
        buckets.extend(
            points
                .iter()
                .map(|point| format!("{}={}", point["at"].as_str().unwrap_or_default(), point["value"])),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!(", cursor => '{next}'"),
            None => return buckets,
        }
        assert_eq!(points.len(), size, "{question}: a page before the last is full");
    }
}

#[tokio::test]
async fn pages_of_buckets_equal_the_aggregated_points() {
    // Dense and sparse parts, before and after 2000, across a clock change, with points on bucket bounds and several at
    // one time.
    let (_database, session, id) = with_points(
        "select timestamptz '2024-03-31T00:00:00Z' + i * interval '13 minutes', (i * 7919) % 1000 from generate_series(0, 200) i
         union all select timestamptz '2024-04-05T00:00:00Z' + i * interval '1 hour', i from generate_series(0, 30) i
         union all select timestamptz '1999-12-31T00:00:00Z' + i * interval '6 hours', -i from generate_series(0, 8) i
         union all select timestamptz '1969-07-20T20:17:40Z', i from generate_series(1, 3) i
         union all select timestamptz '2024-12-01T00:00:00.000001Z' + i * interval '1 microsecond', i from generate_series(0, 9) i",
        &[],
    )
    .await;
    for zone in ["UTC", "Europe/Berlin", "America/New_York"] {
        session.run(&format!("set timezone = '{zone}'")).await;
        for (bucket, seconds) in
            [("7m", 420), ("1h", 3600), ("1d", 86_400), ("366d", 366 * 86_400), ("1s", 1)]
        {
            for (from, to) in [
                ("-infinity", "infinity"),
                ("2024-03-31T00:30:00Z", "2024-04-05T20:30:00Z"),
                ("1999-12-31T06:00:00Z", "2000-01-01T12:00:00Z"),
                ("2030-01-01T00:00:00Z", "2031-01-01T00:00:00Z"),
            ] {
                for (aggregate, sql) in [
                    ("avg", "avg(value)"),
                    ("sum", "sum(value)"),
                    ("min", "min(value)"),
                    ("max", "max(value)"),
                    ("count", "count(*)"),
                    ("last", "(array_agg(value order by at desc, id desc))[1]"),
                ] {
                    let expected = format!(
                        "select coalesce(jsonb_agg(b.at || '=' || b.value order by b.at), '[]') from (
                           select to_char(date_bin('{seconds} seconds', at, '2000-01-01T00:00:00Z') at time zone 'UTC',
                             'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') as at, to_jsonb({sql}::float8)::text as value
                           from {SERIES} where at >= '{from}' and at < '{to}' group by 1) b"
                    );
                    let expected: Value = session.json(&expected, &[]).await;
                    let mut question = format!("bucket => '{bucket}', aggregate => '{aggregate}'");
                    if from != "-infinity" {
                        question += &format!(", \"from\" => '{from}', \"to\" => '{to}'");
                    }
                    let reported = format!("{zone}, {question}");
                    let sizes: &[usize] = if zone == "UTC" { &[7, 10_000] } else { &[50] };
                    for size in sizes {
                        let collected = read_pages(&session, &id, &question, *size).await;
                        let expected: Vec<&str> =
                            expected.as_array().expect("buckets").iter().filter_map(Value::as_str).collect();
                        assert_eq!(collected, expected, "{reported}, {size}");
                    }
                }
            }
        }
    }
}

/// The pages of tables and indexes that reading one page of buckets touches.
async fn pages(session: &Session, id: &str, question: &str) -> u64 {
    let explain = format!(
        "explain (analyze, buffers, timing off, format json) select keyed.metric_page($1, 'mood', {question})"
    );
    let plan = session.json(&explain, &[id]).await;
    ["Shared Hit Blocks", "Shared Read Blocks", "Temp Read Blocks"]
        .iter()
        .map(|name| plan[0]["Plan"][*name].as_u64().unwrap_or_default())
        .sum()
}

#[tokio::test]
async fn page_of_buckets_reads_only_its_points() {
    let points = |count: usize| {
        format!(
            "select timestamptz '2024-01-01T00:00:00Z' + i * interval '1 second', i from generate_series(0, {count} - 1) i"
        )
    };
    let questions = [
        "bucket => '1s', page_size => 100",
        "bucket => '1m', page_size => 10",
        "bucket => '1m', page_size => 10, aggregate => 'last'",
        "bucket => '1h', page_size => 1, aggregate => 'last'",
        "bucket => '1s', page_size => 100, \"from\" => '2024-01-01T04:00:00Z'",
        "bucket => '1s', page_size => 100, \"from\" => '2024-01-01T01:00:00Z', \"to\" => '2024-01-01T05:00:00Z'",
    ];
    let few = with_points(&points(20_000), &questions).await;
    let many = with_points(&points(80_000), &questions).await;
    for question in questions {
        let mut cost = Vec::new();
        for (_, session, id) in [&few, &many] {
            cost.push(pages(session, id, question).await);
            let next = session
                .text(&format!("select keyed.metric_page($1, 'mood', {question}) ->> 'next_cursor'"), &[id])
                .await;
            cost.push(pages(session, id, &format!("{question}, cursor => '{next}'")).await);
        }
        let [first_of_few, next_of_few, first_of_many, next_of_many] = cost[..] else { panic!("four costs") };
        println!("{question}: {cost:?}");
        assert!(first_of_many as f64 <= 1.5 * first_of_few as f64, "{question}: {cost:?}");
        assert!(next_of_many as f64 <= 1.5 * next_of_few as f64, "{question}: {cost:?}");
        assert!(first_of_few < 1000 && next_of_few < 1000, "{question}: {cost:?}");
    }
}
