//! A cursor can contain any value of its records, and is valid only for its own search.

use crate::gallery::Gallery;
use harness::Session;
use serde_json::{Value, json};

/// The keys on all pages, with one record each. The response contains no number that Rust cannot represent.
async fn read_pages(session: &Session, sort: &str) -> String {
    let (mut collected, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let query = json!({"sort": sort, "limit": 1, "fields": ["title"], "cursor": cursor}).to_string();
        let page = session.json("select keyed.search('art.works', $1)", &[&query]).await;
        collected.push(page["records"][0]["external_key"].as_str().unwrap_or_default().to_owned());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return collected.join(" ");
        }
    }
}

#[tokio::test]
async fn cursor_continues_after_every_metric_value() {
    let gallery = Gallery::new().await;
    let values =
        ["-1.7976931348623157e308", "-1e101", "-0.0", "5e-324", "1e-101", "1e101", "1.7976931348623157e308"];
    for (key, value) in ["A", "B", "C", "D", "E", "F", "G"].into_iter().zip(values) {
        let attributes = format!(r#"{{"mood": {value}}}"#);
        gallery.session.rows("select keyed.create_record('art.works', $1, $2)", &[&attributes, key]).await;
    }
    assert_eq!(read_pages(&gallery.session, "mood").await, "A B C D E F G");
    assert_eq!(read_pages(&gallery.session, "-mood").await, "G F E D C B A");
}

#[tokio::test]
async fn cursor_continues_after_every_number() {
    let gallery = Gallery::new().await;
    let template = "select id from keyed_state.template where slug = 'works'";
    let template = gallery.session.text(template, &[]).await;
    let nines = "9".repeat(999);
    // Each has the maximum length of a written number, and some are longer without an exponent.
    for (key, digits) in [
        ("A", format!("-{nines}e100")),
        ("B", format!("{nines}9e-100")),
        ("C", format!("{nines}e-5")),
        ("D", format!("{nines}9")),
        ("E", format!("{nines}9e100")),
    ] {
        let body = format!(r#"{{"external_key": "{key}", "attributes": {{"price": {digits}}}}}"#);
        gallery.session.rows("select keyed_http.create_record($1, $2)", &[&template, &body]).await;
    }
    assert_eq!(read_pages(&gallery.session, "price").await, "A B C D E");
    assert_eq!(read_pages(&gallery.session, "-price").await, "E D C B A");
}

#[tokio::test]
async fn cursor_of_a_sort_through_one_reference_is_rejected_through_another() {
    let gallery = Gallery::new().await;
    let klee = gallery.add("artists", "klee", json!({"name": "Klee"})).await;
    let arp = gallery.add("artists", "arp", json!({"name": "Arp"})).await;
    gallery
        .works([
            ("A", json!({"artist": arp, "dealer": klee})),
            ("B", json!({"artist": klee, "dealer": arp})),
            ("C", json!({"artist": klee, "dealer": arp})),
        ])
        .await;
    for (sort, other) in
        [("artist", "dealer"), ("artist.name", "dealer.name"), ("artist.country.name", "dealer.country.name")]
    {
        let page = gallery.search(&json!({"sort": sort, "limit": 1})).await;
        let error = gallery.error(&json!({"sort": other, "cursor": page["next_cursor"]})).await;
        assert_eq!(
            (error.codes(), error.pointers()),
            (("22023", "invalid_value"), vec!["/cursor"]),
            "{sort}"
        );
    }
}

#[tokio::test]
async fn cursor_with_a_zero_character_in_a_list_is_rejected_as_a_cursor() {
    let gallery = Gallery::new().await;
    gallery.works([("A", json!({"tags": ["a"]})), ("B", json!({"tags": ["b"]}))]).await;
    let page = gallery.search(&json!({"sort": "tags", "limit": 1})).await;
    let forge = r#"
        select rtrim(translate(replace(encode(convert_to(replace(convert_from(decode(
          rpad(translate($1, '-_', '+/'), (length($1) + 3) / 4 * 4, '='), 'base64'), 'UTF8'), '["a"]', '["\u0000"]'),
          'UTF8'), 'base64'), e'\n', ''), '+/', '-_'), '=')"#;
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let forged = gallery.session.text(forge, &[cursor]).await;
    assert_ne!(forged, cursor);
    let error = gallery.error(&json!({"sort": "tags", "cursor": forged})).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/cursor"]), "{error}");
}
