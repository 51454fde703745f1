//! Batches with many rejected operations, each in one call. The work grows linearly with the operations, whatever they
//! reference.

use harness::Database;
use serde_json::{Value, json};

use super::{pages, template};

/// The number of records.
const FEW: usize = 120;
/// The factor by which four times as many operations may cost more: where a statement is split, it is halved once more.
const MAX_FACTOR: f64 = 6.0;

/// The operations on this many records of a template, given the id of another.
type Operations = fn(template: &str, count: usize, id: &str) -> Vec<Value>;

fn create(template: &str, key: &str, within: &str) -> Value {
    json!({"op": "create", "template": format!("crm.{template}"), "external_key": key,
           "attributes": {"within": {"external_key": within}}})
}

/// Records in the order of their keys, each of which references the next; the last references a missing record.
fn chain(template: &str, count: usize) -> Vec<Value> {
    let within = |n| if n + 1 == count { "missing".to_owned() } else { format!("c{:04}", n + 1) };
    let mut operations: Vec<Value> =
        (0..count).map(|n| create(template, &format!("c{n:04}"), &within(n))).collect();
    // The last reference also waits, and is rejected late.
    operations.push(create(template, "missing", "nowhere"));
    operations
}

fn chain_beside_a_key_that_is_set(template: &str, count: usize, id: &str) -> Vec<Value> {
    let mut operations = chain(template, count);
    operations.push(json!({"op": "update", "id": id, "external_key": "zzz"}));
    operations
}

fn chain_with_second_creations(template: &str, count: usize, _: &str) -> Vec<Value> {
    let second = |n| create(template, &format!("c{n:04}"), "nowhere");
    let mut operations = chain(template, count);
    operations.extend((0..count).map(second));
    operations
}

/// A chain that alternates between both ends: from the first key to the last, to the second, to the second to last.
fn chain_to_and_fro(template: &str, count: usize, _: &str) -> Vec<Value> {
    let key = |n| if n % 2 == 0 { format!("a{n:04}") } else { format!("z{:04}", 9999 - n) };
    let mut operations: Vec<Value> = (0..count).map(|n| create(template, &key(n), &key(n + 1))).collect();
    operations.push(create(template, &key(count), "nowhere"));
    operations
}

/// The same chain in the order of the keys, in which a batch that sets keys runs.
fn chain_to_and_fro_beside_a_key_that_is_set(template: &str, count: usize, id: &str) -> Vec<Value> {
    let mut operations = chain_to_and_fro(template, count, id);
    operations.sort_by_key(|operation| operation["external_key"].to_string());
    operations.push(json!({"op": "update", "id": id, "external_key": "zzz"}));
    operations
}

/// Cycles of two records, each of which references the next one by a second, rejected creation.
fn cycles(template: &str, count: usize, _: &str) -> Vec<Value> {
    let cycle = |n: usize| {
        let (here, there) = (format!("a{n:04}"), format!("b{n:04}"));
        let beyond = if n + 1 == count / 2 { "nowhere".to_owned() } else { format!("a{:04}", n + 1) };
        [create(template, &here, &there), create(template, &there, &here), create(template, &there, &beyond)]
    };
    (0..count / 2).flat_map(cycle).collect()
}

#[tokio::test]
async fn rejected_batches_scale_linearly() {
    let shapes: [(&str, Operations); 5] = [
        ("a chain beside a key that is set", chain_beside_a_key_that_is_set),
        ("a chain with second creations", chain_with_second_creations),
        ("a chain to and fro", chain_to_and_fro),
        ("a chain to and fro beside a key that is set", chain_to_and_fro_beside_a_key_that_is_set),
        ("cycles", cycles),
    ];
    let database = Database::with_crm().await;
    let session = database.session().await;
    let mut excesses = Vec::new();
    for (number, (name, operations)) in shapes.into_iter().enumerate() {
        let mut costs = Vec::new();
        for count in [FEW, 4 * FEW] {
            let slug = format!("t{number}_{count}");
            template(&session, &slug).await;
            let insert = format!("insert into crm.{slug} (external_key) values ('other') returning id");
            let id = session.text(&insert, &[]).await;
            let batch = json!(operations(&slug, count, &id)).to_string();
            costs.push(pages(&session, &format!("select keyed.batch('{batch}', false)")).await);
        }
        let reported = format!("{name}: {costs:?} pages for {FEW} records and four times as many");
        println!("{reported}");
        if costs[1] as f64 > MAX_FACTOR * costs[0] as f64 {
            excesses.push(reported);
        }
    }
    assert!(excesses.is_empty(), "{excesses:#?}");
}
