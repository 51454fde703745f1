//! Vectors: the closest of a hundred thousand, of all and of subsets.

use super::{OURS, Run, THEIRS};
use crate::load::{Load, Sql};
use crate::report::Figure;
use crate::rounds::{Claim, Contender, Quantity, READS, Workload};
use harness::{Database, SYNTHETIC};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Instant;
use tokio_postgres::Client;

/// A caller that compares every record found by an index on a number.
const COMPARING: &str = "comparing by hand";

/// The attribute and its upper bound; none for all.
type Part = Option<(&'static str, u32)>;

/// Subsets of the records, each with its claimed recall.
const PARTS: [(&str, Part, f64); 5] = [
    ("all", None, 0.97),
    ("50 %", Some(("part", 5000)), 0.95),
    ("5 %", Some(("part", 500)), 0.95),
    ("0.5 %", Some(("part", 50)), 0.95),
    ("0.01 %", Some(("part", 1)), 0.95),
];

pub(super) async fn run(run: &mut Run<'_>) {
    let database = filled(run).await;
    let client = database.client().await;
    let key = database.api_key("keyed_admin", &["bench"]).await;
    for (name, part, gate) in PARTS {
        recall(run, &client, name, part, gate).await;
    }
    let role = database.create_role("hundredth").await;
    let scope = json!({ "field": "share", "operator": "lt", "value": 100 });
    database.grant_within(&role, "bench.items", "read", &scope).await;
    let scoped_key = database.api_key(&role, &["bench"]).await;

    let ours = |key: &str, filter: &str| {
        let hash = format!("sha256('{key}')");
        let script = include_str!("../scripts/semantic_proxy.sql");
        asking(&database, script.replace(":hash", &hash).replace(":filter", filter))
    };
    let plain_sql = |condition: &str, cast: &str| {
        let script = include_str!("../scripts/semantic_plain.sql");
        asking(&database, script.replace(":condition", condition).replace(":cast", cast))
    };
    let claim =
        |against, quantity, gate, aim| Claim { about: OURS, against, quantity, gate: Some(gate), aim };
    // Parsing the query and formatting the result take time that does not depend on the search.
    let like_plain_sql = claim(THEIRS, Quantity::LatencyBut(0.3), 1.3, Some(1.1));
    let half = r#"{"field": "part", "operator": "lt", "value": 5000}"#;
    run.measure(&Workload {
        name: "the 10 closest of 100,000",
        commits: READS,
        contenders: vec![
            Contender::new(OURS, ours(&key, "")),
            Contender::new(THEIRS, plain_sql("true", "::halfvec(768)")),
        ],
        claims: vec![like_plain_sql.clone()],
    });
    run.measure(&Workload {
        name: "the 10 closest of half of them, by a filter",
        commits: READS,
        contenders: vec![
            Contender::new(OURS, ours(&key, half)),
            Contender::new(THEIRS, plain_sql("part < 5000", "::halfvec(768)")),
        ],
        claims: vec![like_plain_sql],
    });
    run.measure(&Workload {
        name: "the 10 closest within a scope of 1 %",
        commits: READS,
        contenders: vec![
            Contender::new(OURS, ours(&scoped_key, "")),
            Contender::new(COMPARING, plain_sql("share < 100", "")),
            Contender::new(THEIRS, plain_sql("share < 100", "::halfvec(768)")),
        ],
        claims: vec![claim(COMPARING, Quantity::Latency, 2.0, Some(1.2))],
    });
}

/// A separate database with the vectors; filling it does not count.
async fn filled(run: &Run<'_>) -> Database {
    eprintln!("Making 100,000 vectors and their index …");
    let began = Instant::now();
    let database = Database::new_in(&run.bed.cluster).await;
    let sql = |statements: &str| run.bed.cluster.sql(database.name(), statements);
    sql(SYNTHETIC);
    sql(include_str!("../semantic.sql"));
    sql("vacuum analyze");
    sql("checkpoint");
    // Handwritten SQL gets the settings with which it has the same recall as keyed.
    for setting in ["hnsw.ef_search = 120", "hnsw.iterative_scan = relaxed_order", "jit = off"] {
        sql(&format!("alter database {} set {setting}", database.name()));
    }
    eprintln!("That took {:.0} s.", began.elapsed().as_secs_f64());
    database
}

fn asking(database: &Database, script: String) -> Load {
    Load::Sql(Sql::new(script, database.name()))
}

/// The recall of the ten closest records, over a hundred queries. Each must return as many records as exist.
async fn recall(run: &mut Run<'_>, client: &Client, name: &str, part: Part, gate: f64) {
    let (mut hits, mut total) = (0, 0);
    for number in 1..=100 {
        let (filter, condition) = match part {
            Some((slug, below)) => {
                (json!([{ "field": slug, "operator": "lt", "value": below }]), format!("{slug} < {below}"))
            }
            None => (json!([]), "true".to_owned()),
        };
        let found = format!(
            "select jsonb_path_query_array(keyed.semantic_search(( \
             (select body from question where n = {number}) || ',\"filters\":{filter}}}')::jsonb), '$[*].entity.id')"
        );
        let truth = format!(
            "select json_agg(id) from (select t.id from keyed_state.vector_1 v join bench.items t on t.id = v.record_id \
             where deleted_at is null and {condition} \
             order by embedding <=> (select v from question where n = {number}), t.id limit 10) c"
        );
        let found = ids(client, &found).await;
        let truth = ids(client, &truth).await;
        if found.len() != truth.len() {
            let (found, truth) = (found.len(), truth.len());
            run.report.fail(&format!("of {name}, {found} records are found where there are {truth}"));
        }
        hits += truth.intersection(&found).count();
        total += truth.len();
    }
    run.report.add_figure(&Figure {
        name: format!("recall of the 10 closest, of {name}"),
        value: hits as f64 / total.max(1) as f64,
        unit: "",
        related: Vec::new(),
        more_is_better: true,
        gate: Some(gate),
        aim: Some(0.98),
    });
}

async fn ids(client: &Client, statement: &str) -> HashSet<String> {
    let row = client.query_one(&format!("select ({statement})::text"), &[]).await.expect("a response");
    let ids: Value = serde_json::from_str(row.try_get(0).unwrap_or("[]")).expect("JSON");
    ids.as_array().into_iter().flatten().filter_map(|id| id.as_str().map(str::to_owned)).collect()
}
