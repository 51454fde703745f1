//! Filters through references, on references, and by attribute ids.

use crate::gallery::Gallery;
use harness::id_of;
use serde_json::{Value, json};

/// The artists of `A` and `B` are Swiss, that of `C` is Japanese. The artist of `D` has no country, `E` has no artist,
/// and that of `F` is deleted.
async fn six() -> Gallery {
    let gallery = Gallery::new().await;
    gallery.add("continents", "eu", json!({"name": "Europe"})).await;
    gallery.add("continents", "as", json!({"name": "Asia"})).await;
    let by = |key: &str| json!({"external_key": key});
    gallery.add("countries", "ch", json!({"name": "Switzerland", "continent": by("eu")})).await;
    gallery.add("countries", "jp", json!({"name": "Japan", "continent": by("as")})).await;
    for (key, name, born, country) in [
        ("klee", "Klee", json!("1879-12-18"), by("ch")),
        ("taeuber", "", json!("1889-01-19"), by("ch")),
        ("hokusai", "Hokusai", Value::Null, by("jp")),
        ("anonymous", "Anonymous", Value::Null, Value::Null),
        ("gone", "Klee", json!("1879-12-18"), by("ch")),
    ] {
        gallery.add("artists", key, json!({"name": name, "born": born, "country": country})).await;
    }
    for (key, artist) in
        [("A", "klee"), ("B", "taeuber"), ("C", "hokusai"), ("D", "anonymous"), ("E", ""), ("F", "gone")]
    {
        let artist = if artist.is_empty() { Value::Null } else { by(artist) };
        gallery.add("works", key, json!({"artist": artist})).await;
    }
    gallery.session.run("select keyed.delete_record(id) from art.artists where external_key = 'gone'").await;
    gallery
}

#[tokio::test]
async fn field_follows_up_to_three_references() {
    let gallery = six().await;
    for (field, operator, value, expected) in [
        ("artist.name", "eq", json!("Klee"), "A"),
        ("artist.name", "in", json!("Klee, Hokusai"), "A C"),
        ("artist.name", "like", json!("o"), "C D"),
        ("artist.name", "starts-with", json!("Ho"), "C"),
        ("artist.born", "lt", json!("1880-01-01"), "A"),
        ("artist.external_key", "eq", json!("taeuber"), "B"),
        ("artist.country.name", "eq", json!("Switzerland"), "A B"),
        ("artist.country.external_key", "in", json!(["jp", "xx"]), "C"),
        ("artist.country.continent.name", "eq", json!("Europe"), "A B"),
        ("artist.country.continent.name", "ilike", json!("a"), "C"),
        ("artist.country.continent.external_key", "not-empty", Value::Null, "A B C"),
        ("artist.created_at", "not-empty", Value::Null, "A B C D"),
        ("artist.template_slug", "eq", json!("artists"), "A B C D"),
        ("artist.id", "not-empty", Value::Null, "A B C D"),
    ] {
        assert_eq!(
            gallery.filtered(field, operator, value.clone()).await,
            expected,
            "{field} {operator} {value}"
        );
    }
}

#[tokio::test]
async fn missing_reference_matches_only_negations_and_empty() {
    let gallery = six().await;
    for (field, operator, value, expected) in [
        ("artist.name", "neq", json!("Klee"), "B C D E F"),
        ("artist.name", "not-in", json!("Klee,Hokusai"), "B D E F"),
        ("artist.name", "not-like", json!("K"), "B C D E F"),
        ("artist.name", "empty", Value::Null, "B E F"),
        ("artist.name", "not-empty", Value::Null, "A C D"),
        ("artist.born", "empty", Value::Null, "C D E F"),
        ("artist.id", "empty", Value::Null, "E F"),
        ("artist.template_slug", "neq", json!("artists"), "E F"),
        ("artist.country.name", "empty", Value::Null, "D E F"),
        ("artist.country.name", "neq", json!("Switzerland"), "C D E F"),
        ("artist.country.continent.name", "neq", json!("Asia"), "A B D E F"),
        ("artist.country.continent.name", "empty", Value::Null, "D E F"),
        ("artist.country.continent", "empty", Value::Null, "D E F"),
    ] {
        assert_eq!(
            gallery.filtered(field, operator, value.clone()).await,
            expected,
            "{field} {operator} {value}"
        );
        let positive = json!({"field": field, "operator": operator, "value": value});
        let rest: Vec<&str> = "A B C D E F".split(' ').filter(|key| !expected.contains(key)).collect();
        assert_eq!(
            gallery.passing(json!({"filters": [{"not": positive}]})).await,
            rest.join(" "),
            "not {positive}"
        );
    }
}

#[tokio::test]
async fn reference_is_compared_by_id_or_by_key() {
    let gallery = six().await;
    let id = async |key: &str| {
        gallery
            .session
            .text("select id from art.artists where coalesce(external_key, _released_key) = $1", &[key])
            .await
    };
    let (klee, hokusai, gone) = (id("klee").await, id("hokusai").await, id("gone").await);
    let by = |key: &str| json!({"external_key": key});
    for (operator, value, expected) in [
        ("eq", json!(klee), "A"),
        ("eq", json!(klee.to_uppercase()), "A"),
        ("eq", by("klee"), "A"),
        ("eq", by("  klee "), "A"),
        ("eq", json!(by("klee").to_string()), "A"),
        ("eq", by("nobody"), ""),
        ("neq", by("klee"), "B C D E F"),
        ("neq", by("nobody"), "A B C D E F"),
        ("in", json!([klee, by("hokusai")]), "A C"),
        ("in", json!(format!("{klee}, {hokusai}")), "A C"),
        ("in", json!(json!([klee, by("hokusai")]).to_string()), "A C"),
        ("in", json!(by("klee").to_string()), "A"),
        ("in", json!([by("klee"), by("nobody"), by("taeuber")]), "A B"),
        ("not-in", json!([klee, by("hokusai")]), "B D E F"),
        // The id stays in the record, but the key was released.
        ("eq", json!(gone), "F"),
        ("eq", by("gone"), ""),
        ("empty", Value::Null, "E"),
        ("not-empty", Value::Null, "A B C D F"),
    ] {
        assert_eq!(gallery.filtered("artist", operator, value.clone()).await, expected, "{operator} {value}");
    }
    assert_eq!(gallery.filtered("artist.country", "eq", by("ch")).await, "A B");
    assert_eq!(gallery.filtered("artist.country", "neq", by("ch")).await, "C D E F");
}

#[tokio::test]
async fn rename_and_deletion_of_a_target_apply_immediately() {
    let gallery = six().await;
    gallery.session.run("update art.artists set name = 'Paul' where external_key = 'klee'").await;
    assert_eq!(gallery.filtered("artist.name", "eq", "Klee").await, "");
    assert_eq!(gallery.filtered("artist.name", "eq", "Paul").await, "A");
    gallery.session.run("select keyed.delete_record(id) from art.countries where external_key = 'ch'").await;
    assert_eq!(gallery.filtered("artist.country.name", "not-empty", Value::Null).await, "C");
    assert_eq!(gallery.filtered("artist.country", "not-empty", Value::Null).await, "A B C");
    gallery
        .session
        .run("select keyed.restore_record(id) from art.countries where _released_key = 'ch'")
        .await;
    assert_eq!(gallery.filtered("artist.country.name", "eq", "Switzerland").await, "A B");
}

#[tokio::test]
async fn attributes_can_be_referenced_by_id() {
    let gallery = six().await;
    gallery.works([("G", json!({"title": "Water", "artist": {"external_key": "klee"}}))]).await;
    let number = async |template: &str, slug: &str| {
        let statement = "select a ->> 'id' from
            jsonb_array_elements(keyed.alter_template($1::regclass, '{}') -> 'attributes') a where a ->> 'slug' = $2";
        gallery.session.text(statement, &[template, slug]).await
    };
    let (title, artist, name) = (
        number("art.works", "title").await,
        number("art.works", "artist").await,
        number("art.artists", "name").await,
    );
    let path = format!("{artist}.{name}");
    for (field, operator, value, expected) in [
        (title.as_str(), "eq", json!("Water"), "G"),
        (path.as_str(), "eq", json!("Klee"), "A G"),
        ("external_key", "eq", json!("B"), "B"),
    ] {
        let condition = json!({"field": field, "operator": operator, "value": value});
        let query = json!({"filters": [condition], "attribute_key": "id"});
        assert_eq!(gallery.passing(query).await, expected, "{field}");
    }
    // An id survives a rename. A slug cannot be used as an id, nor an id as a slug.
    gallery.session.run(r#"select keyed.alter_template('art.works', '{"rename": {"title": "name"}}')"#).await;
    let condition = json!({"field": title, "operator": "eq", "value": "Water"});
    let by_number = json!({"filters": [condition], "attribute_key": "id", "sort": format!("-{title}")});
    assert_eq!(gallery.keys(&by_number).await, "G");
    for (field, key) in [("name", "id"), (title.as_str(), "slug"), ("012", "id"), ("999999", "id")] {
        let condition = json!({"field": field, "operator": "not-empty"});
        let error = gallery.error(&json!({"filters": [condition], "attribute_key": key})).await;
        assert_eq!(error.codes(), ("22023", "unknown_field"), "{field}");
        assert_eq!(error.pointers(), ["/filters/0/field"]);
    }
}

#[tokio::test]
async fn unreadable_template_has_no_fields() {
    let gallery = six().await;
    let role = gallery.database.create_role("reader").await;
    gallery.database.grant(&role, "art.works", "read").await;
    let reader = gallery.database.session_as(&role).await;
    let mut messages = Vec::new();
    for field in ["artist.name", "artist.nothing"] {
        let query = json!({"filters": [{"field": field, "operator": "not-empty"}]}).to_string();
        let error = reader.error("select keyed.search('art.works', $1)", &[&query]).await;
        assert_eq!(error.codes(), ("22023", "unknown_field"), "{field}");
        messages.push((error.message.replace(field, "…"), error.hint));
    }
    assert_eq!(messages[0], messages[1]);
    let sorted = reader.error("select keyed.search('art.works', '{\"sort\": \"artist.name\"}')", &[]).await;
    assert_eq!((sorted.codes(), sorted.pointers()), (("22023", "unknown_field"), vec!["/sort"]));
    // Any key gives this error, so the error does not disclose whether the key exists.
    for key in ["klee", "nobody"] {
        let condition = json!({"field": "artist", "operator": "eq", "value": {"external_key": key}});
        let query = json!({"filters": [condition]}).to_string();
        let found = reader.json("select keyed.search('art.works', $1) -> 'records'", &[&query]).await;
        assert_eq!(found, json!([]), "{key}");
    }
    let record = reader.json("select keyed.search('art.works', '{\"sort\": \"external_key\", \"verbose\": true}') #> '{records,0}'", &[]).await;
    assert_eq!(record["attribute_values"]["artist"]["display"], Value::Null, "{}", id_of(&record));
}
