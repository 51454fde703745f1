//! Pages: size, order, and end.

use crate::gallery::{Gallery, keys};
use serde_json::{Value, json};

/// The keys on all pages, page by page; each page but the last is full.
async fn read_pages(gallery: &Gallery, query: &Value, limit: usize) -> Vec<String> {
    let (mut pages, mut query) = (Vec::new(), query.clone());
    query["limit"] = json!(limit);
    loop {
        let page = gallery.search(&query).await;
        let found = keys(&page);
        assert_eq!(page["has_more"], !page["next_cursor"].is_null(), "{page}");
        if page["next_cursor"].is_null() {
            pages.push(found);
            return pages;
        }
        assert_eq!(found.split(' ').count(), limit, "{query}");
        pages.push(found);
        query["cursor"] = page["next_cursor"].clone();
    }
}

/// Asserts that a search with this sort finds these keys, with any page size.
async fn is_ordered(gallery: &Gallery, sort: Value, expected: &str) {
    for limit in [1, 2, 3, 5, 1000] {
        let pages = read_pages(gallery, &json!({"sort": sort}), limit).await;
        assert_eq!(pages.join(" "), expected, "sorted by {sort}, {limit} per page");
    }
}

/// Works with ties and missing values: `A` 2, `B` 1, `C` –, `D` 2, `E` –, `F` 1, `G` 3.
async fn seven() -> Gallery {
    let gallery = Gallery::new().await;
    for (key, number) in [("A", 2), ("B", 1), ("C", 0), ("D", 2), ("E", 0), ("F", 1), ("G", 3)] {
        let attributes = match number {
            0 => json!({}),
            _ => {
                json!({"price": number, "mood": number, "title": format!("{number}"), "tags": [format!("{number}")],
                        "made": format!("2024-01-0{number}"), "sold": format!("2024-01-01T00:00:0{number}Z")})
            }
        };
        gallery.add("works", key, attributes).await;
    }
    gallery
}

#[tokio::test]
async fn default_order_is_newest_first() {
    let gallery = seven().await;
    for sort in [Value::Null, json!([]), json!("")] {
        is_ordered(&gallery, sort, "G F E D C B A").await;
    }
    // Records of one transaction have the same time of creation, and still have an order.
    gallery
        .session
        .run("select keyed.batch((select jsonb_agg(jsonb_build_object('op', 'create', 'template', 'art.works', 'external_key', 'T' || n))
              from generate_series(1, 3) n))")
        .await;
    is_ordered(&gallery, Value::Null, "T3 T2 T1 G F E D C B A").await;
}

#[tokio::test]
async fn values_are_sorted_in_both_directions_with_nulls_on_either_side() {
    let gallery = seven().await;
    for indexed in ["false", "true"] {
        gallery.index(indexed).await;
        for field in ["price", "mood", "title", "tags", "made", "sold"] {
            for (direction, nulls, expected) in [
                ("asc", "last", "B F A D G C E"),
                ("asc", "first", "C E B F A D G"),
                ("desc", "last", "G D A F B E C"),
                ("desc", "first", "E C G D A F B"),
            ] {
                is_ordered(
                    &gallery,
                    json!([{"field": field, "direction": direction, "nulls": nulls}]),
                    expected,
                )
                .await;
            }
            // In both directions, nulls come last by default.
            is_ordered(&gallery, json!(field), "B F A D G C E").await;
            is_ordered(&gallery, json!(format!("-{field}")), "G D A F B E C").await;
            is_ordered(&gallery, json!([{"field": field}]), "B F A D G C E").await;
        }
    }
}

#[tokio::test]
async fn five_sort_fields_and_the_id_decide_the_order() {
    let gallery = Gallery::new().await;
    for number in 0..16 {
        let bit = |bit: u32| if number >> bit & 1 == 1 { json!(1) } else { Value::Null };
        let title = if number & 4 == 4 { json!("x") } else { Value::Null };
        let made = if number & 8 == 8 { json!("2024-01-01") } else { Value::Null };
        let attributes = json!({"price": bit(0), "mood": bit(1), "title": title, "made": made});
        gallery.add("works", &format!("{number:x}"), attributes).await;
    }
    for (sort, expected) in [
        (json!("price,mood"), "3 7 b f 1 5 9 d 2 6 a e 0 4 8 c"),
        (json!("price,-mood"), "f b 7 3 d 9 5 1 e a 6 2 c 8 4 0"),
        (json!([{"field": "price", "nulls": "first"}, "title"]), "4 6 c e 0 2 8 a 5 7 d f 1 3 9 b"),
        (json!("title,price,mood"), "7 f 5 d 6 e 4 c 3 b 1 9 2 a 0 8"),
        (json!("-title,-price,-mood,-made"), "f 7 d 5 e 6 c 4 b 3 9 1 a 2 8 0"),
        (json!(["title", "price", "mood", "made", "-external_key"]), "f 7 d 5 e 6 c 4 b 3 9 1 a 2 8 0"),
        (json!("price,template_slug,-template_id"), "1 3 5 7 9 b d f 0 2 4 6 8 a c e"),
        (json!("price,price,-price"), "f d b 9 7 5 3 1 e c a 8 6 4 2 0"),
    ] {
        is_ordered(&gallery, sort, expected).await;
    }
    for sort in
        [json!("price,mood,title,made,sold,id"), json!(["price", "mood", "title", "made", "sold", "id"])]
    {
        let error = gallery.error(&json!({"sort": sort})).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/sort"]));
    }
}

#[tokio::test]
async fn records_are_sorted_through_references_and_by_standard_fields() {
    let gallery = Gallery::new().await;
    let by = |key: &str| json!({"external_key": key});
    for (key, name) in [("z", "Country A"), ("y", "Country B")] {
        gallery.add("countries", key, json!({"name": name})).await;
    }
    for (key, name, country) in
        [("1", "Klee", by("y")), ("2", "Arp", by("z")), ("3", "Zorn", Value::Null), ("4", "Gone", by("z"))]
    {
        gallery.add("artists", key, json!({"name": name, "country": country})).await;
    }
    for (key, artist) in
        [("A", by("3")), ("B", by("1")), ("C", Value::Null), ("D", by("4")), ("E", by("2")), ("F", by("1"))]
    {
        gallery.add("works", key, json!({"artist": artist})).await;
    }
    gallery.session.run("select keyed.delete_record(id) from art.artists where external_key = '4'").await;
    for (sort, expected) in [
        // A reference is sorted by its target's display value.
        (json!("artist"), "E B F A C D"),
        (json!("-artist"), "A F B E D C"),
        (json!("artist.name"), "E B F A C D"),
        (json!("-artist.external_key"), "A E F B D C"),
        (json!("artist.country"), "E B F A C D"),
        (json!([{"field": "artist.country.name", "direction": "desc", "nulls": "first"}]), "D C A F B E"),
        (json!("artist.country.external_key,artist.name"), "B F E A C D"),
        (json!("external_key"), "A B C D E F"),
        (json!("-external_key"), "F E D C B A"),
        (json!("id"), "A B C D E F"),
        (json!("-created_at"), "F E D C B A"),
        (json!("deleted_at"), "A B C D E F"),
    ] {
        is_ordered(&gallery, sort, expected).await;
    }
    gallery.session.run("update art.works set price = 1 where external_key = 'C'").await;
    is_ordered(&gallery, json!("-updated_at"), "C F E D B A").await;
}

#[tokio::test]
async fn invalid_sort_is_rejected_with_its_pointer() {
    let gallery = Gallery::new().await;
    for (sort, code, pointer) in [
        (json!("nothing"), "unknown_field", "/sort"),
        (json!("+price"), "unknown_field", "/sort"),
        (json!("--price"), "unknown_field", "/sort"),
        (json!("price desc"), "unknown_field", "/sort"),
        (json!(["price", "nothing"]), "unknown_field", "/sort/1"),
        (json!([{"field": "nothing"}]), "unknown_field", "/sort/0/field"),
        (json!([{"field": "artist.nothing"}]), "unknown_field", "/sort/0/field"),
        (json!([{"field": "price", "direction": "down"}]), "invalid_value", "/sort/0/direction"),
        (json!([{"field": "price", "direction": "DESC"}]), "invalid_value", "/sort/0/direction"),
        (json!([{"field": "price", "nulls": "middle"}]), "invalid_value", "/sort/0/nulls"),
        (json!([{"field": "price", "order": "asc"}]), "unknown_field", "/sort/0/order"),
        (json!([{"field": 1}]), "invalid_value", "/sort/0/field"),
        (json!([1]), "invalid_value", "/sort/0"),
        (json!({"field": "price"}), "invalid_value", "/sort"),
        (json!(1), "invalid_value", "/sort"),
    ] {
        let error = gallery.error(&json!({"sort": sort})).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", code), vec![pointer]), "{sort}: {error}");
    }
    let error = gallery.error(&json!({"sort": [{"direction": "asc"}]})).await;
    assert!(error.pointers()[0].starts_with("/sort/0"), "{error}");
}

#[tokio::test]
async fn page_has_100_records_by_default_and_at_most_1000() {
    let gallery = Gallery::new().await;
    gallery.session.run("insert into art.works (price) select n from generate_series(1, 1001) n").await;
    let count = |page: &Value| page["records"].as_array().map(Vec::len);
    assert_eq!(count(&gallery.search(&json!({})).await), Some(100));
    assert_eq!(count(&gallery.search(&json!({"limit": 1})).await), Some(1));
    let page = gallery.search(&json!({"limit": 1000, "sort": "price"})).await;
    assert_eq!((count(&page), &page["has_more"]), (Some(1000), &json!(true)));
    let rest = gallery.search(&json!({"limit": 1000, "sort": "price", "cursor": page["next_cursor"]})).await;
    assert_eq!(
        (count(&rest), &rest["has_more"], &rest["next_cursor"]),
        (Some(1), &json!(false), &Value::Null)
    );
    assert_eq!(rest["records"][0]["attributes"]["price"], 1001);
    // If the last page ends exactly at the limit, no page follows.
    let condition = json!({"field": "price", "operator": "lte", "value": 1000});
    let page = gallery.search(&json!({"limit": 1000, "filters": [condition]})).await;
    assert_eq!((count(&page), &page["has_more"]), (Some(1000), &json!(false)));
    for limit in [
        json!(0),
        json!(-1),
        json!(1001),
        json!(1_000_000_000),
        json!(1.5),
        json!("10"),
        json!([]),
        json!(true),
    ] {
        let error = gallery.error(&json!({"limit": limit})).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/limit"]),
            "{limit}"
        );
    }
}

#[tokio::test]
async fn page_returns_requested_fields() {
    let gallery = seven().await;
    let page = gallery.search(&json!({"fields": ["price", "title"], "limit": 1})).await;
    let record = &page["records"][0];
    assert_eq!(record["attributes"], json!({"price": 3, "title": "3"}));
    let members: Vec<&str> =
        record.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    assert_eq!(members, ["attributes", "external_key", "id", "template_slug"]);
    let whole = gallery.search(&json!({"limit": 1})).await["records"][0].clone();
    let id = whole["id"].as_str().unwrap_or_default();
    assert_eq!(whole, gallery.session.json("select keyed.get_record($1)", &[id]).await);
    let verbose = gallery.search(&json!({"limit": 1, "verbose": true})).await["records"][0].clone();
    assert_eq!(verbose, gallery.session.json("select keyed.get_record($1, verbose => true)", &[id]).await);
    let error = gallery.error(&json!({"fields": ["price", "nothing"]})).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "unknown_field"), vec!["/fields/1"]));
}
