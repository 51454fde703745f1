//! The operations of a worker, for tests of the embedding queue.

use harness::embeddings::vector;
use harness::{Gallery, Session};
use serde_json::Value;

pub(crate) const CLAIM: &str = "select keyed_http.claim_embeddings($1, 10, 60)";

pub(crate) async fn claim(session: &Session) -> Value {
    session.json(CLAIM, &["m"]).await
}

/// The ids and texts of a claim.
pub(crate) fn inputs(claim: &Value) -> Vec<(String, String)> {
    let entries = claim["entries"].as_array().expect("entries");
    let text = |entry: &Value, name: &str| entry[name].as_str().expect("a text").to_owned();
    let mut inputs: Vec<_> =
        entries.iter().map(|entry| (text(entry, "record"), text(entry, "text"))).collect();
    inputs.sort();
    inputs
}

/// Stores a vector for an entry of a claim: 1 at this index.
pub(crate) async fn store(
    session: &Session,
    claim: &Value,
    entry: usize,
    axis: usize,
    model: &str,
) -> String {
    let entry = &claim["entries"][entry];
    let word = |value: &Value| value.as_str().expect("a text").to_owned();
    let numbers = vector(axis).replace('[', "{").replace(']', "}");
    let arguments = [&word(&claim["claim"]), &word(&entry["record"]), &word(&entry["hash"]), model, &numbers];
    session
        .text(
            "select keyed_http.store_embedding($1, $2, $3, $4, $5::real[])",
            &arguments.map(|it| it as &str),
        )
        .await
}

pub(crate) async fn embed_all(gallery: &Gallery, axis: usize) {
    let claimed = claim(&gallery.session).await;
    for entry in 0..inputs(&claimed).len() {
        assert_eq!(store(&gallery.session, &claimed, entry, axis, "m").await, "t");
    }
}

/// Makes all claims expire.
pub(crate) async fn expire(gallery: &Gallery) {
    gallery.session.run("update keyed_state.embedding_job set due_at = now()").await;
}
