//! Semantic search among so many vectors that it uses an index.

use harness::customers::VECTORS;
use harness::{Database, Rows, SYNTHETIC, Session};
use serde_json::{Value, json};

/// Customers with vectors, enough to make an index worthwhile. Every second is named `half`, every 200th `some`, every
/// 4000th `rare`.
async fn many() -> (Database, Session) {
    let database = Database::with_crm().await;
    let session = database.session().await;
    session.run(SYNTHETIC).await;
    session
        .run(
            &format!("set session_replication_role = replica;
             insert into crm.customers (external_key, name, visits)
               select n, case when n % 4000 = 0 then 'rare' when n % 200 = 0 then 'some' when n % 2 = 0 then 'half' end, n
               from generate_series(1, 12000) n;
             set session_replication_role = origin;
             drop index {VECTORS}_hnsw;
             insert into {VECTORS} (record_id, embedding) select id, synthetic() from crm.customers;
             set maintenance_work_mem = '256MB'"),
        )
        .await;
    (database, session)
}

/// A vector that no record has.
async fn another(session: &Session) -> Value {
    session.json("select synthetic()", &[]).await
}

fn first_column(rows: Rows) -> Vec<String> {
    rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect()
}

/// The closest ids according to the search, and according to a comparison with all vectors.
async fn found_and_true(
    session: &Session,
    asked: &Value,
    name: Option<&str>,
    limit: usize,
) -> [Vec<String>; 2] {
    let (filters, condition) = match name {
        Some(name) => {
            (json!([{"field": "name", "operator": "eq", "value": name}]), format!("c.name = '{name}'"))
        }
        None => (json!([]), "true".to_owned()),
    };
    let body =
        json!({"query_vector": asked, "template_id": "2", "limit": limit, "filters": filters}).to_string();
    let found = "select e #>> '{entity,id}' from jsonb_array_elements(keyed.semantic_search($1)) e";
    let truth = format!(
        "select c.id from {VECTORS} v join crm.customers c on c.id = v.record_id
         where c.deleted_at is null and {condition} order by v.embedding <=> $1::vector, c.id limit {limit}"
    );
    [
        first_column(session.rows(found, &[&body]).await),
        first_column(session.rows(&truth, &[&asked.to_string()]).await),
    ]
}

/// The recall over 20 searches, each of which must return as many records as exist.
async fn recall(session: &Session, name: Option<&str>, limit: usize) -> f64 {
    let (mut hits, mut total) = (0, 0);
    for _ in 0..20 {
        let [found, truth] = found_and_true(session, &another(session).await, name, limit).await;
        assert_eq!(found.len(), truth.len(), "{name:?}");
        hits += truth.iter().filter(|id| found.contains(id)).count();
        total += truth.len();
    }
    hits as f64 / total as f64
}

/// Building the index takes most of the time, so these rules share one.
#[tokio::test]
async fn index_finds_nearly_all_closest_records() {
    let (_database, session) = many().await;
    session.run("select keyed.migrate(); analyze").await;
    for (name, limit, least) in [
        (None, 10, 0.97),
        (None, 200, 0.97),
        (Some("half"), 10, 0.95),
        (Some("some"), 10, 1.0),
        (Some("rare"), 10, 1.0),
    ] {
        let recall = recall(&session, name, limit).await;
        assert!(recall >= least, "{name:?}, {limit}: {recall}");
    }
    a_threshold_ends_the_walk(&session).await;
    scores_are_those_of_full_precision(&session).await;
    what_is_far_away_is_found_as_well(&session).await;
}

async fn a_threshold_ends_the_walk(session: &Session) {
    let asked = session.json(&format!("select embedding::real[]::vector from {VECTORS} limit 1"), &[]).await;
    let truth = &format!("select count(*) from {VECTORS} where embedding <=> $1::vector < 0.4");
    let close: usize = session.text(truth, &[&asked.to_string()]).await.parse().expect("a number");
    for (threshold, count) in [(1.0, 1), (0.6, close.min(200))] {
        let body = json!({"query_vector": asked, "template_id": "2", "limit": 200, "threshold": threshold});
        let scores = "select jsonb_path_query_array(keyed.semantic_search($1), '$[*].similarity_score')";
        let scores = session.json(scores, &[&body.to_string()]).await;
        let scores: Vec<f64> = scores.as_array().expect("scores").iter().filter_map(Value::as_f64).collect();
        assert_eq!(scores.len(), count, "{threshold}: none that is similar enough is missed");
        assert!(
            scores.is_sorted_by(|a, b| a >= b) && scores.iter().all(|score| *score >= threshold),
            "{scores:?}"
        );
    }
}

async fn scores_are_those_of_full_precision(session: &Session) {
    let asked = another(session).await;
    let body = json!({"query_vector": asked, "template_id": "2", "limit": 50}).to_string();
    let worst = &format!(
        "select max(abs((e ->> 'similarity_score')::float8 - greatest(0, 1 - (v.embedding <=> $2::vector))))
                 from jsonb_array_elements(keyed.semantic_search($1)) e
                 join {VECTORS} v on v.record_id = (e #>> '{{entity,id}}')::uuid"
    );
    let worst: f64 = session.text(worst, &[&body, &asked.to_string()]).await.parse().expect("a number");
    assert!(worst < 2e-6, "{worst}");
}

/// The index reaches these last: everything else is closer to the query.
async fn what_is_far_away_is_found_as_well(session: &Session) {
    let asked = another(session).await;
    session
        .rows(
            &format!(
                "set session_replication_role = replica;
             update crm.customers c set name = 'far' from (
               select record_id from {VECTORS} order by embedding <=> $1::vector desc limit 6000) v
             where c.id = v.record_id;
             set session_replication_role = origin"
            ),
            &[&asked.to_string()],
        )
        .await;
    for limit in [10, 200] {
        let [found, truth] = found_and_true(session, &asked, Some("far"), limit).await;
        assert_eq!(found.len(), limit);
        let hits = truth.iter().filter(|id| found.contains(id)).count();
        assert!(hits * 100 >= limit * 95, "{hits} of {limit}");
    }
}

#[tokio::test]
async fn search_without_an_index_compares_all_vectors() {
    let (_database, session) = many().await;
    for name in [None, Some("half"), Some("some")] {
        let [found, truth] = found_and_true(&session, &another(&session).await, name, 10).await;
        assert_eq!(found, truth);
    }
}
