//! The embedding queue follows changes of records, definitions and vectors.

use crate::embedding::claims::{claim, embed_all, expire, inputs, store};
use harness::Gallery;
use harness::embeddings::vector;
use harness::paintings::VECTORS;
use serde_json::{Value, json};

#[tokio::test]
async fn vector_set_by_hand_stays_until_the_text_changes() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    let running = claim(&gallery.session).await;
    let numbers = vector(9).replace('[', "{").replace(']', "}");
    gallery.session.rows("select keyed.set_embedding($1::uuid, $2::real[])", &[&id, &numbers]).await;
    assert_eq!(store(&gallery.session, &running, 0, 1, "m").await, "f");
    gallery.session.run("select keyed.reembed('g.paintings'); update g.paintings set year = 1").await;
    gallery
        .session
        .rows("select keyed.delete_record($1::uuid); select keyed.restore_record($1::uuid)", &[&id])
        .await;
    assert_eq!(inputs(&claim(&gallery.session).await), []);
    assert_eq!((gallery.axis(&id).await.as_str(), &gallery.status().await["by_hand"]), ("9", &json!(1)));
    gallery.paint("K-1", "Woman").await;
    embed_all(&gallery, 2).await;
    assert_eq!(gallery.axis(&id).await, "2");
    // A vector that was removed by hand is not embedded again.
    gallery.session.rows("select keyed.set_embedding($1::uuid, null)", &[&id]).await;
    assert_eq!(inputs(&claim(&gallery.session).await), []);
    // Text and vector in one request belong together.
    let body = json!({"attributes": {"title": "Queen"}, "embedding": serde_json::from_str::<Value>(&vector(7)).expect("JSON")});
    gallery.session.rows("select keyed.patch_record($1::uuid, $2)", &[&id, &body.to_string()]).await;
    assert_eq!((inputs(&claim(&gallery.session).await).len(), gallery.axis(&id).await.as_str()), (0, "7"));
}

#[tokio::test]
async fn deleted_record_leaves_the_queue_and_returns_on_restore() {
    let gallery = Gallery::new().await;
    let (one, other) = (gallery.paint("K-1", "Girl").await, gallery.paint("K-2", "Milkmaid").await);
    embed_all(&gallery, 3).await;
    gallery.paint("K-2", "Maid").await;
    let running = claim(&gallery.session).await;
    gallery.session.run("select keyed.delete_record(id) from g.paintings").await;
    assert_eq!(store(&gallery.session, &running, 0, 1, "m").await, "f");
    let status = gallery.status().await;
    assert_eq!((&status["pending"], &status["running"], &status["done"]), (&json!(0), &json!(0), &json!(0)));
    for id in [&one, &other] {
        gallery.session.rows("select keyed.restore_record($1::uuid)", &[id]).await;
    }
    // Only the text that is not embedded yet is sent.
    assert_eq!(inputs(&claim(&gallery.session).await), [(other.clone(), "Maid".to_owned())]);
    assert_eq!(gallery.axis(&one).await, "3");
    gallery.session.run("set role keyed_owner; delete from g.paintings; reset role").await;
    assert_eq!(gallery.session.text("select count(*) from keyed_state.embedding_job", &[]).await, "0");
}

#[tokio::test]
async fn queue_follows_the_definition() {
    let gallery = Gallery::new().await;
    let id = gallery.paint("K-1", "Girl").await;
    gallery.session.run("update g.paintings set medium = '{oil}'").await;
    embed_all(&gallery, 1).await;
    let alter = async |changes: Value| {
        gallery.session.rows("select keyed.alter_template('g.paintings', $1)", &[&changes.to_string()]).await;
        inputs(&claim(&gallery.session).await).pop().map(|(_, text)| text)
    };
    assert_eq!(alter(json!({"rename": {"title": "name"}, "label": "Pictures"})).await, None);
    assert_eq!(gallery.status().await["attributes"], json!(["name", "medium"]));
    let options = json!([{"value": "oil", "label": "Oil"}, "fresco"]);
    assert_eq!(
        alter(json!({"attributes": [{"slug": "medium", "options": options}]})).await.as_deref(),
        Some("Girl\nOil")
    );
    assert_eq!(alter(json!({"embed": ["medium", "name"]})).await.as_deref(), Some("Oil\nGirl"));
    assert_eq!(alter(json!({"drop": ["medium"]})).await.as_deref(), Some("Girl"));
    assert_eq!(alter(json!({"embed": null})).await, None);
    gallery.session.rows("update g.paintings set name = 'Woman' where id = $1::uuid", &[&id]).await;
    assert_eq!((inputs(&claim(&gallery.session).await).len(), gallery.axis(&id).await.as_str()), (0, "1"));
    gallery.session.run("select keyed.drop_template('g.paintings', true)").await;
    assert_eq!(gallery.session.text("select count(*) from keyed_state.embedding_job", &[]).await, "0");
}

#[tokio::test]
async fn new_embed_queues_existing_records_except_set_vectors() {
    let gallery = Gallery::new().await;
    gallery.session.run("select keyed.alter_template('g.paintings', '{\"embed\": null}')").await;
    let (by_hand, plain) = (gallery.paint("K-1", "Girl").await, gallery.paint("K-2", "Milkmaid").await);
    let numbers = vector(9).replace('[', "{").replace(']', "}");
    gallery.session.rows("select keyed.set_embedding($1::uuid, $2::real[])", &[&by_hand, &numbers]).await;
    gallery.session.run("select keyed.alter_template('g.paintings', '{\"embed\": [\"title\"]}')").await;
    assert_eq!(inputs(&claim(&gallery.session).await), [(plain, "Milkmaid".to_owned())]);
    assert_eq!(gallery.status().await["by_hand"], 1);
}

#[tokio::test]
async fn administrator_reembeds_a_template() {
    let gallery = Gallery::new().await;
    gallery.paint("K-1", "Girl").await;
    gallery.paint("K-2", "Woman").await;
    embed_all(&gallery, 1).await;
    let waiting = async |statement: &str| gallery.session.text(statement, &[]).await;
    assert_eq!(waiting("select keyed.reembed('g.paintings', other_than => 'm')").await, "0");
    assert_eq!(waiting("select keyed.reembed('g.paintings', other_than => 'another')").await, "2");
    assert_eq!(inputs(&claim(&gallery.session).await).len(), 2, "including those of the same model");
    expire(&gallery).await;
    embed_all(&gallery, 2).await;
    gallery.session.run(&format!("delete from keyed_state.embedding_job; delete from {VECTORS}")).await;
    assert_eq!(
        waiting("select keyed.reembed('g.paintings')").await,
        "2",
        "including entries that the queue had lost"
    );
    gallery.session.run("select keyed.alter_template('g.paintings', '{\"embed\": null}')").await;
    assert_eq!(
        gallery.session.error("select keyed.reembed('g.paintings')", &[]).await.codes(),
        ("22023", "invalid_value")
    );
}
