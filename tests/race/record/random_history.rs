//! Random concurrent operations on a few keys: a key never has two holders, and the history explains every record.

use harness::customers::HISTORY;
use harness::{Database, Session, id_of};
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

const KEYS: [&str; 5] = ["A", "B", "C", "D", "E"];
const CALLERS: u64 = 8;
const WRITES: usize = 1000;

/// A small generator whose seed is printed when a test fails.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn key(&mut self) -> &'static str {
        KEYS[self.below(KEYS.len())]
    }
}

/// The results of one caller: acknowledged payloads, and rejected ones.
#[derive(Default)]
struct Outcomes {
    acknowledged: Vec<String>,
    rejected: Vec<String>,
    created: usize,
    deleted: usize,
}

/// One caller: a number of random operations with unique payloads.
async fn call(session: Session, mut random: Random, number: u64, over: Arc<AtomicBool>) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let mut known: Vec<String> = Vec::new();
    for round in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let payload = format!("caller {number} round {round}");
        let attributes = json!({"name": payload, "visits": {"$inc": 1}}).to_string();
        let key = random.key();
        let other = known.get(random.below(known.len().max(1))).cloned();
        let (statement, strings): (&str, Vec<&str>) = match (random.below(12), &other) {
            (0..=4, _) | (_, None) => (
                "select id, created from keyed.upsert_by_key('crm.customers', $1, $2)",
                vec![key, &attributes],
            ),
            (5, _) => {
                ("select keyed.create_record('crm.customers', $2, $1) ->> 'id', true", vec![key, &attributes])
            }
            (6..=7, Some(id)) => (
                "select keyed.patch_record($3, jsonb_build_object('external_key', $1::text, 'attributes', $2::jsonb)) ->> 'id', false",
                vec![key, &attributes, id],
            ),
            (8, Some(id)) => (
                "select keyed.patch_record($3, jsonb_build_object('external_key', null, 'attributes', $2::jsonb)) ->> 'id', false",
                vec![key, &attributes, id],
            ),
            (9, Some(id)) => ("select keyed.delete_record($3)", vec![key, &attributes, id]),
            (10, Some(id)) => ("select keyed.restore_record($3) ->> 'id', false", vec![key, &attributes, id]),
            _ => ("select keyed.get_by_key('crm.customers', $1) ->> 'external_key'", vec![key]),
        };
        let writes_payload = statement.contains("$2");
        match session.attempt(statement, &strings).await {
            Ok(rows) => {
                let row = rows.first().cloned().unwrap_or_default();
                if writes_payload {
                    outcomes.acknowledged.push(payload);
                    outcomes.created += usize::from(row.get(1).is_some_and(|it| it.as_deref() == Some("t")));
                    known.extend(row.first().cloned().flatten());
                } else if statement.contains("delete_record") {
                    outcomes.deleted += 1;
                } else if statement.contains("get_by_key") {
                    assert_eq!(row[0].as_deref(), Some(key), "a lookup returns the requested key");
                }
            }
            Err(error) => {
                // A key is taken, or a record is missing or not deleted. Two records that swap their keys concurrently
                // deadlock, and one operation is rejected. No other error may occur.
                let renames = statement.contains("patch_record") || statement.contains("restore_record");
                let swap = error.state == "40P01" && renames;
                assert!(swap || ["23505", "P0002"].contains(&error.state.as_str()), "{statement}: {error}");
                if writes_payload {
                    outcomes.rejected.push(payload);
                }
            }
        }
    }
    outcomes
}

/// Repeatedly counts the keys with more than one live holder.
async fn watch(session: Session, over: Arc<AtomicBool>) -> usize {
    session
        .run("set enable_indexscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off")
        .await;
    let mut looked = 0;
    while !over.load(Ordering::Relaxed) {
        let twice = "select count(*) from (select from crm.customers where deleted_at is null
                     and external_key is not null group by external_key having count(*) > 1) twice";
        assert_eq!(session.text(twice, &[]).await, "0", "a key has two live holders");
        looked += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    looked
}

/// Applies the changes of a record's history, oldest first.
fn replay(entries: &[Value]) -> (Map<String, Value>, Value, bool) {
    let (mut attributes, mut key, mut live) = (Map::new(), Value::Null, true);
    for (position, entry) in entries.iter().enumerate() {
        assert_eq!(entry["version"], position + 1, "versions have no gaps: {entries:?}");
        for (slug, change) in entry["changes"].as_object().into_iter().flatten() {
            let before = if slug == "external_key" {
                key.clone()
            } else {
                attributes.get(slug).cloned().unwrap_or(Value::Null)
            };
            assert_eq!(change["old"], before, "{slug} of {entry} does not follow from the entry before it");
            match slug.as_str() {
                "external_key" => key = change["new"].clone(),
                _ => drop(attributes.insert(slug.clone(), change["new"].clone())),
            }
        }
        match entry["operation"].as_str() {
            Some("create") => key = entry["external_key"].clone(),
            Some("delete") => live = false,
            Some("restore") => live = true,
            _ => {}
        }
        assert_eq!(entry["external_key"], key, "{entry}");
    }
    (attributes, key, live)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_history_keeps_keys_unique_and_replays() {
    static SEED: AtomicUsize = AtomicUsize::new(0);
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_nanos()
        as u64;
    let seed = seed.wrapping_add(SEED.fetch_add(1, Ordering::Relaxed) as u64) | 1;
    println!("seed {seed}");
    let database = Database::with_crm().await;
    let over = Arc::new(AtomicBool::new(false));
    let watcher = tokio::spawn(watch(database.session().await, Arc::clone(&over)));
    let mut callers = JoinSet::new();
    for number in 0..CALLERS {
        let random = Random(seed.wrapping_mul(number + 1) | 1);
        callers.spawn(call(database.session().await, random, number, Arc::clone(&over)));
    }
    let enough = format!("select count(*) >= {WRITES} from {HISTORY}");
    database.session().await.until(&enough, "t").await;
    over.store(true, Ordering::Relaxed);
    let outcomes = callers.join_all().await;
    assert!(watcher.await.expect("the watcher") > 0, "the watcher never checked");

    let session = database.session().await;
    let (mut written, mut creates, mut deletes) = (HashMap::<String, usize>::new(), 0, 0);
    for row in session.rows("select id from crm.customers", &[]).await {
        let id = row[0].clone().unwrap_or_default();
        let record = session.json("select keyed.get_record($1, include_deleted => true)", &[&id]).await;
        let entries = session
            .json("select jsonb_agg(to_jsonb(h) order by version) from keyed.history($1) h", &[&id])
            .await;
        let entries = entries.as_array().cloned().unwrap_or_default();
        let (attributes, key, live) = replay(&entries);
        assert_eq!(
            (&record["external_key"], record["deleted_at"].is_null()),
            (&key, live),
            "{}",
            id_of(&record)
        );
        for (slug, value) in record["attributes"].as_object().into_iter().flatten() {
            assert_eq!(attributes.get(slug).unwrap_or(&Value::Null), value, "{slug} of {}", id_of(&record));
        }
        creates += entries.iter().filter(|entry| entry["operation"] == "create").count();
        deletes += entries.iter().filter(|entry| entry["operation"] == "delete").count();
        for entry in &entries {
            if let Some(name) = entry["changes"]["name"]["new"].as_str() {
                *written.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
    let acknowledged: HashSet<&String> =
        outcomes.iter().flat_map(|outcomes| &outcomes.acknowledged).collect();
    for payload in &acknowledged {
        let times = written.get(*payload).copied().unwrap_or_default();
        assert_eq!(times, 1, "an acknowledged write, {payload}, is there {times} times");
    }
    assert_eq!(written.len(), acknowledged.len(), "a write exists that was not acknowledged");
    let rejected = outcomes
        .iter()
        .flat_map(|outcomes| &outcomes.rejected)
        .filter(|payload| written.contains_key(*payload));
    assert_eq!(rejected.count(), 0, "a rejected write exists");
    assert_eq!(
        creates,
        outcomes.iter().map(|outcomes| outcomes.created).sum::<usize>(),
        "as many creations as acknowledged"
    );
    assert_eq!(
        deletes,
        outcomes.iter().map(|outcomes| outcomes.deleted).sum::<usize>(),
        "as many deletions as acknowledged"
    );
    session.run("reindex table crm.customers").await;
    database.cluster().assert_no_crash();
}
