//! Totals and facets of searches.

use crate::gallery::{Gallery, keys};
use serde_json::{Value, json};

/// 30 works: every third is gold, every second has tag `a`, and the first ten are by Klee.
async fn thirty() -> Gallery {
    let gallery = Gallery::new().await;
    let klee = gallery.add("artists", "klee", json!({"name": "Klee"})).await;
    let insert = "
        insert into art.works (title, price, tier, tags, artist)
        select 'Work ' || n % 4, n,
          case when n % 3 = 0 then array['gold'] end, array['b'] || case when n % 2 = 0 then array['a'] else '{}' end,
          case when n <= 10 then $1::uuid end
        from generate_series(1, 30) n";
    gallery.session.rows(insert, &[&klee]).await;
    gallery
}

fn above(price: i32) -> Value {
    json!({"field": "price", "operator": "gt", "value": price})
}

#[tokio::test]
async fn total_is_returned_only_on_request() {
    let gallery = thirty().await;
    for count in [json!({}), json!({"count": null}), json!({"count": "none"})] {
        assert_eq!(gallery.search(&count).await["total"], Value::Null, "{count}");
    }
    for count in [json!("all"), json!(true), json!(""), json!("EXACT")] {
        let error = gallery.error(&json!({"count": count})).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/count"]),
            "{count}"
        );
    }
}

#[tokio::test]
async fn exact_total_counts_filtered_records_on_every_page() {
    let gallery = thirty().await;
    gallery.session.run("update art.works set deleted_at = now() where price = 30").await;
    for (filters, total) in [(json!([]), 29), (json!([above(10)]), 19), (json!([above(99)]), 0)] {
        let mut cursor = Value::Null;
        loop {
            let query =
                json!({"filters": filters, "limit": 7, "count": "exact", "cursor": cursor, "sort": "price"});
            let page = gallery.search(&query).await;
            assert_eq!(page["total"], total, "{query}");
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn first_page_with_all_records_has_an_exact_total() {
    let gallery = thirty().await;
    for (filters, total) in [(json!([]), 30), (json!([above(10)]), 20), (json!([above(99)]), 0)] {
        let page = gallery.search(&json!({"filters": filters, "count": "estimated"})).await;
        assert_eq!(page["total"], total, "{filters}");
    }
}

#[tokio::test]
async fn estimate_is_close_and_at_least_the_page_size() {
    let gallery = thirty().await;
    gallery
        .session
        .run("insert into art.works (price) select n from generate_series(31, 3000) n; analyze art.works")
        .await;
    let page = gallery.search(&json!({"count": "estimated"})).await;
    let total = page["total"].as_i64().expect("a number");
    assert!((2700..3300).contains(&total), "{total}");
    let page = gallery.search(&json!({"count": "estimated", "filters": [above(1500)]})).await;
    let total = page["total"].as_i64().expect("a number");
    assert!((1200..1800).contains(&total), "{total}");
    // The planner multiplies the selectivity of two correlated conditions, which gives less than one record.
    let same = json!({"field": "title", "operator": "empty"});
    let page = gallery.search(&json!({"count": "estimated", "filters": [{"not": {"not": same}}, above(30), above(31)], "limit": 1000})).await;
    assert!(page["total"].as_i64() >= Some(1000), "{}", page["total"]);
}

#[tokio::test]
async fn facets_count_values_of_matching_records() {
    let gallery = thirty().await;
    let page = gallery.search(&json!({"facets": ["tier", "tags", "title"], "limit": 1})).await;
    assert_eq!(keys(&page), "-");
    assert_eq!(
        page["facets"],
        json!({
            "tier": [{"value": "gold", "count": 10, "label": "Gold card"}],
            "tags": [{"value": "b", "count": 30, "label": "b"}, {"value": "a", "count": 15, "label": "a"}],
            "title": [
                {"value": "Work 1", "count": 8}, {"value": "Work 2", "count": 8},
                {"value": "Work 0", "count": 7}, {"value": "Work 3", "count": 7}
            ],
        })
    );
    let page = gallery.search(&json!({"facets": ["tier", "tags"], "filters": [above(24)]})).await;
    assert_eq!(
        page["facets"],
        json!({
            "tier": [{"value": "gold", "count": 2, "label": "Gold card"}],
            "tags": [{"value": "b", "count": 6, "label": "b"}, {"value": "a", "count": 3, "label": "a"}],
        })
    );
    let none = gallery.search(&json!({"facets": ["tier"], "filters": [above(99)]})).await;
    assert_eq!(none["facets"], json!({"tier": []}));
    assert!(gallery.search(&json!({})).await.get("facets").is_none());
    assert!(gallery.search(&json!({"facets": []})).await.get("facets").is_none());
}

#[tokio::test]
async fn facets_are_equal_on_every_page() {
    let gallery = thirty().await;
    gallery.session.run("update art.works set deleted_at = now() where price = 30").await;
    let query = json!({"facets": ["tier"], "limit": 20, "sort": "price"});
    let first = gallery.search(&query).await;
    assert_eq!(first["facets"]["tier"][0]["count"], 9);
    let mut next = query;
    next["cursor"] = first["next_cursor"].clone();
    assert_eq!(gallery.search(&next).await["facets"], first["facets"]);
}

#[tokio::test]
async fn facet_of_references_shows_targets() {
    let gallery = thirty().await;
    let page = gallery.search(&json!({"facets": ["artist"]})).await;
    let klee = page["facets"]["artist"][0]["value"].clone();
    assert_eq!(
        page["facets"]["artist"],
        json!([{"value": klee, "count": 10, "display": "Klee", "external_key": "klee", "template_slug": "artists"}])
    );
    let condition = json!({"field": "artist", "operator": "eq", "value": klee});
    assert_eq!(gallery.search(&json!({"filters": [condition], "count": "exact"})).await["total"], 10);
    gallery.session.rows("select keyed.delete_record($1)", &[klee.as_str().unwrap_or_default()]).await;
    let page = gallery.search(&json!({"facets": ["artist"]})).await;
    assert_eq!(
        page["facets"]["artist"],
        json!([{"value": klee, "count": 10, "display": null, "external_key": null, "template_slug": "artists"}])
    );
}

#[tokio::test]
async fn every_type_can_be_a_facet() {
    let gallery = Gallery::new().await;
    gallery
        .works([(
            "A",
            json!({"price": 1.10, "mood": 2.5, "made": "2024-01-01", "sold": "2024-01-01T01:00:00+01:00"}),
        )])
        .await;
    let page = gallery.search(&json!({"facets": ["price", "mood", "made", "sold"]})).await;
    let one = |value: Value| json!([{"value": value, "count": 1}]);
    assert_eq!(
        page["facets"],
        json!({"price": one(json!(1.1)), "mood": one(json!(2.5)), "made": one(json!("2024-01-01")), "sold": one(json!("2024-01-01T00:00:00Z"))})
    );
}

#[tokio::test]
async fn hundred_most_frequent_values_are_counted() {
    let gallery = Gallery::new().await;
    gallery.session.run("insert into art.works (price) select n from generate_series(1, 150) n, generate_series(1, n % 3)").await;
    let facet = gallery.search(&json!({"facets": ["price"]})).await["facets"]["price"].clone();
    let counts: Vec<i64> =
        facet.as_array().into_iter().flatten().filter_map(|value| value["count"].as_i64()).collect();
    assert_eq!(counts, [vec![2; 50], vec![1; 50]].concat());
}

#[tokio::test]
async fn invalid_facet_is_rejected_with_its_pointer() {
    let gallery = Gallery::new().await;
    for (facets, code, pointer) in [
        (json!(["tier", "nothing"]), "unknown_field", "/facets/1"),
        (json!([""]), "unknown_field", "/facets/0"),
        (json!(["artist.nothing"]), "unknown_field", "/facets/0"),
        (json!(["artist.name"]), "invalid_value", "/facets/0"),
        (json!(["external_key"]), "invalid_value", "/facets/0"),
        (json!(["id"]), "invalid_value", "/facets/0"),
        (json!(["template_slug"]), "invalid_value", "/facets/0"),
        (json!("tier"), "invalid_value", "/facets"),
        (json!([1]), "invalid_value", "/facets/0"),
        (json!(vec!["tier"; 21]), "invalid_value", "/facets"),
    ] {
        let error = gallery.error(&json!({"facets": facets})).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", code), vec![pointer]), "{facets}");
    }
}

#[tokio::test]
async fn repeated_list_value_counts_once() {
    let gallery = Gallery::new().await;
    gallery.works([("A", json!({"tags": ["a", "a", "b"]})), ("B", json!({"tags": ["a"]}))]).await;
    let page = gallery.search(&json!({"facets": ["tags"]})).await;
    assert_eq!(
        page["facets"]["tags"],
        json!([{"value": "a", "count": 2, "label": "a"}, {"value": "b", "count": 1, "label": "b"}])
    );
}

#[tokio::test]
async fn shared_lists_are_counted() {
    let gallery = Gallery::new().await;
    let fill =
        "insert into art.works (external_key, tags) select n, case n % 4 when 0 then array['a', 'b', 'a']
                when 1 then array['b'] when 2 then '{}' end from generate_series(1, 400) n";
    gallery.session.run(fill).await;
    let counted =
        json!([{"value": "b", "count": 200, "label": "b"}, {"value": "a", "count": 100, "label": "a"}]);
    // After ANALYZE, PostgreSQL has statistics on shared elements.
    for (look, statement) in [("select 1", "with ordinality"), ("analyze art.works", "count(*) as n")] {
        gallery.session.run(look).await;
        let query = json!({"facets": ["tags"], "limit": 1});
        assert_eq!(gallery.search(&query).await["facets"]["tags"], counted, "{look}");
        let how = gallery.session.text("select keyed.explain('art.works', $1)", &[&query.to_string()]).await;
        assert!(how.contains(statement), "{how}");
    }
}

#[tokio::test]
async fn explain_names_conditions_that_read_every_row() {
    let gallery = Gallery::new().await;
    for query in [
        json!({"sort": "title"}),
        json!({"sort": "artist"}),
        json!({"sort": "id", "count": "exact"}),
        json!({"sort": "id", "facets": ["title"]}),
        json!({"filters": [{"field": "title", "operator": "ilike", "value": "x"}], "sort": "price"}),
    ] {
        let how = gallery.session.text("select keyed.explain('art.works', $1)", &[&query.to_string()]).await;
        assert!(how.contains("Every row of works is read."), "{query}\n{how}");
    }
}
