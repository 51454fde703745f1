//! Searches that include deleted records: `include_deleted`.

use crate::gallery::{Gallery, keys};
use serde_json::{Value, json};

/// Works `A` to `E` with prices 1 to 5. `B` and then `D` are deleted, and a new work has the key `B`.
async fn five() -> Gallery {
    let gallery = Gallery::new().await;
    for (price, key) in (1..).zip(["A", "B", "C", "D", "E"]) {
        gallery.add("works", key, json!({"price": price, "title": format!("Work {key}")})).await;
    }
    for key in ["B", "D"] {
        delete(&gallery, key).await;
    }
    gallery.add("works", "B", json!({"price": 20})).await;
    gallery
}

async fn delete(gallery: &Gallery, key: &str) {
    let delete = "select keyed.delete_record(id) from art.works where external_key = $1";
    gallery.session.rows(delete, &[key]).await;
}

fn is_deleted() -> Value {
    json!({"field": "deleted_at", "operator": "not-empty"})
}

#[tokio::test]
async fn deleted_records_are_found_only_on_request() {
    let gallery = five().await;
    for no in [json!({}), json!({"include_deleted": false}), json!({"include_deleted": null})] {
        assert_eq!(gallery.keys(&no).await, "B E C A", "{no}");
    }
    let without = json!({"filters": [is_deleted()]});
    assert_eq!(gallery.keys(&without).await, "", "a filter alone does not ask");
    assert_eq!(gallery.keys(&json!({"include_deleted": true})).await, "B E D C B A");
    let only = json!({"include_deleted": true, "filters": [is_deleted()]});
    let page = gallery.search(&only).await;
    assert_eq!(keys(&page), "D B", "the newest deletion first");
    for record in page["records"].as_array().expect("records") {
        let id = record["id"].as_str().expect("an id");
        let read = gallery.session.json("select keyed.get_record($1, null, false, true)", &[id]).await;
        assert_eq!(*record, read, "as a read of it shows it");
        assert!(record["deleted_at"].is_string(), "{record}");
    }
}

#[tokio::test]
async fn deleted_records_are_filtered_and_sorted_by_their_released_key() {
    let gallery = five().await;
    let key =
        |operator: &str, value: &str| json!({"field": "external_key", "operator": operator, "value": value});
    for (filters, sort, expected) in [
        (json!([is_deleted(), key("eq", "B")]), "external_key", "B"),
        (json!([is_deleted()]), "-external_key", "D B"),
        (json!([key("eq", "B")]), "price", "B B"),
        (json!([key("in", "B,D,E")]), "external_key", "B B D E"),
        (json!([is_deleted(), {"field": "price", "operator": "gt", "value": 2}]), "price", "D"),
        (json!([is_deleted(), {"field": "title", "operator": "ilike", "value": "work b"}]), "price", "B"),
        (json!([{"field": "deleted_at", "operator": "empty"}]), "price", "A C E B"),
        (json!([{"field": "deleted_at", "operator": "gt", "value": "2001-01-01"}]), "price", "B D"),
    ] {
        let query = json!({"include_deleted": true, "filters": filters, "sort": sort, "count": "exact", "facets": ["price"]});
        let page = gallery.search(&query).await;
        assert_eq!(keys(&page), expected, "{query}");
        let total = expected.split(' ').count();
        assert_eq!(page["total"], total, "{query}");
        assert_eq!(page["facets"]["price"].as_array().map(Vec::len), Some(total), "{query}");
    }
}

#[tokio::test]
async fn pages_of_deleted_records_neither_skip_nor_repeat() {
    let gallery = Gallery::new().await;
    gallery.session.run("insert into art.works (external_key, price) select 'K' || n, n % 3 from generate_series(1, 60) n").await;
    // Many are deleted in one transaction, at the same time.
    gallery
        .session
        .run("update art.works set deleted_at = now() where substr(external_key, 2)::int <= 40")
        .await;
    gallery
        .session
        .run("update art.works set deleted_at = now() where substr(external_key, 2)::int between 41 and 50")
        .await;
    for (filters, expected) in [(json!([is_deleted()]), 50), (json!([]), 60)] {
        for sort in [
            Value::Null,
            json!("-deleted_at"),
            json!("deleted_at"),
            json!("external_key"),
            json!("price,-id"),
        ] {
            let mut query = json!({"include_deleted": true, "filters": filters, "sort": sort, "limit": 7});
            let mut met = Vec::new();
            loop {
                let page = gallery.search(&query).await;
                met.extend(keys(&page).split(' ').map(str::to_owned));
                if page["next_cursor"].is_null() {
                    break;
                }
                query["cursor"] = page["next_cursor"].clone();
            }
            met.sort();
            met.dedup_by(|a, b| {
                assert_ne!(a, b, "{query}");
                false
            });
            assert_eq!(met.len(), expected, "{query}");
        }
    }
}

#[tokio::test]
async fn cursor_of_live_records_is_rejected_for_deleted_ones() {
    let gallery = five().await;
    let live = json!({"sort": "price", "limit": 1});
    let mut query = live.clone();
    query["cursor"] = gallery.search(&live).await["next_cursor"].clone();
    query["include_deleted"] = json!(true);
    let error = gallery.error(&query).await;
    assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/cursor"]));
}

#[tokio::test]
async fn terms_and_vectors_reject_deleted_records() {
    let gallery = five().await;
    let vector = vec![1; 768];
    for query in [
        json!({"include_deleted": true, "global_search": "work"}),
        json!({"include_deleted": true, "query_vector": vector}),
    ] {
        let error = gallery.error(&query).await;
        assert_eq!((error.codes(), error.pointers()), (("22023", "invalid_value"), vec!["/include_deleted"]));
    }
    let save = "select keyed.save_view('art.works', 'all', '{\"include_deleted\": true}')";
    let error = gallery.session.error(save, &[]).await;
    assert_eq!(
        (error.codes(), error.pointers()),
        (("22023", "invalid_value"), vec!["/query/include_deleted"])
    );
    gallery.session.run("select keyed.save_view('art.works', 'dear', '{\"filters\": [{\"field\": \"price\", \"operator\": \"gt\", \"value\": 2}]}')").await;
    let within = json!({"view": "dear", "include_deleted": true, "sort": "price"});
    assert_eq!(gallery.keys(&within).await, "C D E B");
}

#[tokio::test]
async fn index_finds_the_deleted_records() {
    let gallery = Gallery::new().await;
    gallery.session.run("insert into art.works (price) select n from generate_series(1, 20000) n").await;
    gallery.session.run("update art.works set deleted_at = now() where price <= 20; analyze art.works").await;
    let only = json!({"include_deleted": true, "filters": [is_deleted()], "limit": 10});
    let plan = gallery.session.text("select keyed.explain('art.works', $1)", &[&only.to_string()]).await;
    assert!(plan.contains("works_deleted_at_idx") && !plan.contains("Seq Scan"), "{plan}");
}
