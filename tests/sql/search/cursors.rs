//! Cursors are bound to their search and opaque, and give no access.

use crate::gallery::{Gallery, keys};
use serde_json::{Value, json};

/// Works `A` to `F` with prices 1 to 6.
async fn six() -> Gallery {
    let gallery = Gallery::new().await;
    for (number, key) in (1..).zip(["A", "B", "C", "D", "E", "F"]) {
        let time = format!("2024-01-01T00:00:0{number}Z");
        let attributes = json!({"price": number, "mood": number, "title": key, "tags": [key], "made": time[..10], "sold": time});
        gallery.add("works", key, attributes).await;
    }
    gallery
}

async fn is_rejected(gallery: &Gallery, query: &Value) {
    let error = gallery.error(query).await;
    assert_eq!(
        (error.codes(), error.pointers()),
        (("22023", "invalid_value"), vec!["/cursor"]),
        "{query:.300}"
    );
}

#[tokio::test]
async fn cursor_of_another_search_is_rejected() {
    let gallery = six().await;
    let above = |price: i32| json!({"field": "price", "operator": "gt", "value": price});
    let day = json!({"field": "sold", "operator": "gte", "value": "2024-01-01"});
    let searches = [
        json!({}),
        json!({"sort": "price"}),
        json!({"sort": "-price"}),
        json!({"sort": [{"field": "price", "nulls": "first"}]}),
        json!({"sort": "mood"}),
        json!({"sort": "price,mood"}),
        json!({"sort": "mood,price"}),
        json!({"sort": "artist.name"}),
        json!({"filters": [above(0)], "sort": "price"}),
        json!({"filters": [above(-1)], "sort": "price"}),
        json!({"filters": [{"not": above(9)}], "sort": "price"}),
        json!({"filters": [day], "sort": "price"}),
        json!({"filters": [day], "sort": "price", "time_zone": "Pacific/Auckland"}),
        json!({"filter_groups": [[above(0)], [above(1)]], "sort": "price"}),
    ];
    let mut cursors = Vec::new();
    for search in &searches {
        let mut query = search.clone();
        query["limit"] = json!(2);
        cursors.push(gallery.search(&query).await["next_cursor"].clone());
    }
    for (from, cursor) in cursors.iter().enumerate() {
        assert!(cursor.is_string(), "{}", searches[from]);
        for (to, search) in searches.iter().enumerate() {
            let mut query = search.clone();
            query["cursor"] = cursor.clone();
            if from == to {
                assert_eq!(gallery.keys(&query).await.split(' ').count(), 4, "{query}");
            } else {
                is_rejected(&gallery, &query).await;
            }
        }
    }
    // The cursor is also rejected for another template, even with the same request.
    gallery
        .session
        .run(r#"select keyed.create_template('art', 'copies', '[{"slug": "price", "type": "number"}]')"#)
        .await;
    let query = json!({"sort": "price", "cursor": cursors[1]}).to_string();
    let error = gallery.session.error("select keyed.search('art.copies', $1)", &[&query]).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/cursor"]));
}

#[tokio::test]
async fn options_without_effect_on_the_order_can_change_between_pages() {
    let gallery = six().await;
    let cursor = gallery.search(&json!({"sort": "price", "limit": 2})).await["next_cursor"].clone();
    for change in [
        json!({"limit": 3}),
        json!({"fields": ["title"]}),
        json!({"verbose": true}),
        json!({"count": "exact"}),
        json!({"facets": ["tier"]}),
        json!({"time_zone": "Europe/Zurich"}),
        json!({"filters": [], "filter_groups": null}),
        json!({"sort": [{"direction": "asc", "nulls": "last", "field": "price"}]}),
    ] {
        let mut query = json!({"sort": "price", "cursor": cursor});
        query.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        assert!(gallery.keys(&query).await.starts_with("C D E"), "{change}");
    }
}

#[tokio::test]
async fn cursor_continues_after_a_deleted_record() {
    let gallery = six().await;
    for (sort, rest) in [("price", "C D E F"), ("-price", "D C B A"), ("mood,price", "C D E F")] {
        let session = &gallery.session;
        let first = gallery.search(&json!({"sort": sort, "limit": 2})).await;
        let last = first["records"][1]["id"].as_str().unwrap_or_default();
        let next = json!({"sort": sort, "cursor": first["next_cursor"]});
        session.run("begin").await;
        session.rows("select keyed.delete_record($1)", &[last]).await;
        assert_eq!(gallery.keys(&next).await, rest, "after a delete");
        session.run("rollback; begin").await;
        session.rows("update art.works set price = 99, mood = 99 where id = $1", &[last]).await;
        let moved = if sort.starts_with('-') { rest.to_owned() } else { format!("{rest} B") };
        assert_eq!(gallery.keys(&next).await, moved, "after a move");
        session.run("rollback; begin; delete from art.works").await;
        let page = gallery.search(&next).await;
        assert_eq!(
            (keys(&page), &page["has_more"], &page["next_cursor"]),
            (String::new(), &json!(false), &Value::Null),
            "an empty result"
        );
        session.run("rollback").await;
    }
}

#[tokio::test]
async fn invalid_cursor_is_rejected() {
    let gallery = six().await;
    let cursor = gallery.search(&json!({"sort": "price", "limit": 2})).await["next_cursor"].clone();
    let cursor = cursor.as_str().expect("a cursor").to_owned();
    let mut broken: Vec<String> = vec![
        String::new(),
        " ".to_owned(),
        "null".to_owned(),
        "%".to_owned(),
        "é".to_owned(),
        format!("{cursor}="),
        format!("{cursor} "),
        format!(" {cursor}"),
        format!("{cursor}{cursor}"),
        cursor.to_lowercase(),
        cursor.chars().rev().collect(),
        "A".repeat(10),
        "A".repeat(5_000_000),
        "W1tb".repeat(200_000),
        "'; drop table art.works; --".to_owned(),
    ];
    broken.extend((0..cursor.len()).map(|length| cursor[..length].to_owned()));
    for text in &broken {
        is_rejected(&gallery, &json!({"sort": "price", "cursor": text})).await;
    }
    for other in [json!(1), json!([]), json!({}), json!(true)] {
        is_rejected(&gallery, &json!({"sort": "price", "cursor": other})).await;
    }
    // A changed character gives another position or a rejected cursor, but no internal error.
    for position in 0..cursor.len() {
        for replacement in ["A", "x", "7", "-", "_"] {
            let mut changed = cursor.clone();
            changed.replace_range(position..=position, replacement);
            let query = json!({"sort": "price", "cursor": changed}).to_string();
            if let Err(error) =
                gallery.session.attempt("select keyed.search('art.works', $1)", &[&query]).await
            {
                assert_eq!(
                    (error.codes(), error.pointers()),
                    (("22023", "invalid_value"), vec!["/cursor"]),
                    "{changed}"
                );
            }
        }
    }
    gallery.database.cluster().assert_no_crash();
}

#[tokio::test]
async fn forged_cursor_is_validated_like_the_rest_of_a_request() {
    let gallery = six().await;
    let session = &gallery.session;
    let encode = "select rtrim(translate(replace(encode(convert_to($1, 'UTF8'), 'base64'), e'\\n', ''), '+/', '-_'), '=')";
    let decode = "select convert_from(decode(rpad(translate($1, '-_', '+/'), (length($1) + 3) / 4 * 4, '='), 'base64'), 'UTF8')";
    let id = "00000000-0000-8000-8000-000000000000";
    let hostile = ["'", "''", "\\", "\\'", "'; drop table art.works; --", "%", "$1", "\u{1}", "😀"];
    for sort in [
        "price",
        "mood",
        "title",
        "tags",
        "made",
        "sold",
        "artist",
        "external_key",
        "id",
        "created_at",
        "price,title",
    ] {
        let cursor = gallery.search(&json!({"sort": sort, "limit": 2})).await["next_cursor"].clone();
        let text = session.text(decode, &[cursor.as_str().expect("a cursor")]).await;
        let parts: Vec<Value> = serde_json::from_str(&text).expect("a cursor of today is a JSON array");
        let mut values: Vec<Value> = hostile.iter().map(|text| json!(text)).collect();
        values.extend(hostile.iter().map(|text| json!([text])));
        values.extend([
            json!(null),
            json!(true),
            json!({}),
            json!([]),
            json!([[]]),
            json!([1]),
            json!(-1),
            json!(1e300),
        ]);
        values.extend(
            ["infinity", "NaN", "2024-02-30", "today", "24:00", "99999-01-01", id].map(|text| json!(text)),
        );
        let mut bodies: Vec<Vec<Value>> = Vec::new();
        for value in &values {
            for position in 0..parts.len() {
                let mut changed = parts.clone();
                changed[position] = value.clone();
                bodies.push(changed);
            }
            let mut more = parts.clone();
            more.push(value.clone());
            bodies.push(more);
        }
        bodies.extend((0..parts.len()).map(|length| parts[..length].to_vec()));
        for body in bodies {
            let forged = session.text(encode, &[&json!(body).to_string()]).await;
            let query = json!({"sort": sort, "cursor": forged}).to_string();
            if let Err(error) = session.attempt("select keyed.search('art.works', $1)", &[&query]).await {
                assert_eq!(
                    (error.codes(), error.pointers()),
                    (("22023", "invalid_value"), vec!["/cursor"]),
                    "{body:?}: {error}"
                );
            }
        }
    }
    assert_eq!(session.text("select count(*) from art.works", &[]).await, "6");
    gallery.database.cluster().assert_no_crash();
}
