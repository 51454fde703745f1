//! A copy that only the feed updates ends equal to a search, whatever writers do concurrently. This includes callers
//! with scopes, on a record itself and through references.

use harness::{Database, Session};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::task::JoinSet;

const WRITERS: u64 = 4;
const TRANSACTIONS: usize = 300;
const TEMPLATES: [&str; 3] = ["regions", "companies", "customers"];

const DEFINITIONS: &str = r#"
    select keyed.create_project('m', 'Mirror');
    select keyed.create_template('m', 'regions', '[{"slug": "zone", "type": "string"}]');
    select keyed.create_template('m', 'companies', '[
      {"slug": "size", "type": "number"}, {"slug": "region", "type": "reference", "template": "regions"}]');
    select keyed.create_template('m', 'customers', '[
      {"slug": "visits", "type": "number"}, {"slug": "note", "type": "string"},
      {"slug": "company", "type": "reference", "template": "companies"}]');
    select keyed.upsert_by_key('m.regions', 'r' || n, '{"zone": "a"}') from generate_series(0, 2) n;
    select keyed.upsert_by_key('m.companies', 'c' || n, format('{"size": %s, "region": {"external_key": "r%s"}}', n, n % 3)::jsonb)
      from generate_series(0, 4) n"#;

/// Roles, each with its scope on customers. None can read companies and regions.
const READERS: [(&str, Option<&str>); 8] = [
    ("all", None),
    ("own", Some(r#"{"filters": [{"field": "visits", "operator": "gt", "value": 5}]}"#)),
    (
        "two_own",
        Some(
            r#"{"filter_groups": [[{"field": "visits", "operator": "gt", "value": 5}, {"field": "external_key", "operator": "like", "value": "1"}],
                 [{"field": "note", "operator": "empty"}, {"field": "visits", "operator": "lt", "value": 3}]]}"#,
        ),
    ),
    ("behind", Some(r#"{"filters": [{"field": "company.size", "operator": "gt", "value": 5}]}"#)),
    (
        "far_behind",
        Some(r#"{"filters": [{"field": "company.region.zone", "operator": "eq", "value": "a"}]}"#),
    ),
    (
        "not_behind",
        Some(r#"{"filters": [{"not": {"field": "company.size", "operator": "gt", "value": 5}}]}"#),
    ),
    (
        "mixed",
        Some(
            r#"{"filter_groups": [[{"field": "company.region.zone", "operator": "neq", "value": "b"}, {"field": "visits", "operator": "gt", "value": 4}],
                 [{"field": "company.external_key", "operator": "like", "value": "c1"}]]}"#,
        ),
    ),
    (
        "by_key",
        Some(
            r#"{"filters": [{"field": "company", "operator": "in", "value": [{"external_key": "c1"}, {"external_key": "c2"}]}]}"#,
        ),
    ),
];

/// A small generator whose seed is printed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }
}

/// A random change; some change no row or are rejected.
fn change(random: &mut Random) -> String {
    let (key, company, region) = (random.below(12), random.below(5), random.below(3));
    let number = random.below(10);
    let zone = ["a", "b"][random.below(2)];
    let live = |template: &str| {
        format!("m.{template} where deleted_at is null order by md5(id::text || {number}) limit 1")
    };
    match random.below(20) {
        0..=4 => format!(
            r#"select keyed.upsert_by_key('m.customers', 'k{key}', '{{"visits": {number}, "company": {{"external_key": "c{company}"}}}}')"#
        ),
        5..=7 => format!(r#"select keyed.upsert_by_key('m.customers', 'k{key}', '{{"visits": {number}}}')"#),
        8 => format!(
            r#"select keyed.upsert_by_key('m.customers', 'k{key}', '{{"note": {}}}')"#,
            ["null", "\"x\""][number % 2]
        ),
        9 => format!(
            r#"select keyed.patch_record(id, '{{"external_key": "k{key}"}}') from {}"#,
            live("customers")
        ),
        10 => format!("select keyed.delete_record(id) from {}", live("customers")),
        11 => format!(
            "select keyed.restore_record(id, '{{\"external_key\": \"k{key}\"}}') from m.customers where deleted_at is not null order by random() limit 1"
        ),
        12 => format!(
            "update m.customers set visits = {number}, deleted_at = now() where external_key = 'k{key}'"
        ),
        13..=14 => {
            format!(r#"select keyed.upsert_by_key('m.companies', 'c{company}', '{{"size": {number}}}')"#)
        }
        15 => format!(
            r#"select keyed.upsert_by_key('m.companies', 'c{company}', '{{"region": {{"external_key": "r{region}"}}}}')"#
        ),
        16 => format!("select keyed.delete_record(id) from {}", live("companies")),
        17 => format!(
            "select keyed.restore_record(id, '{{\"external_key\": \"c{company}\"}}') from m.companies where deleted_at is not null order by random() limit 1"
        ),
        18 => format!(r#"select keyed.upsert_by_key('m.regions', 'r{region}', '{{"zone": "{zone}"}}')"#),
        _ => format!(
            r#"select keyed.patch_record(id, '{{"external_key": "c{company}"}}') from {}"#,
            live("companies")
        ),
    }
}

async fn write(session: Session, mut random: Random) {
    for _ in 0..TRANSACTIONS {
        let mut statements = vec!["begin".to_owned()];
        statements.extend((0..1 + random.below(4)).map(|_| change(&mut random)));
        let is_committed = random.below(8) > 0;
        statements.push(if is_committed { "commit" } else { "rollback" }.to_owned());
        for statement in statements {
            // A separate statement, so that other writers come in between.
            if session.attempt(&statement, &[]).await.is_err() {
                session.run("rollback").await;
                break;
            }
        }
    }
}

/// A copy built from the feed.
#[derive(Default)]
struct Copy {
    records: BTreeMap<String, Value>,
    /// Every id in the feed.
    named: HashSet<String>,
    gone: usize,
    /// The operations on each record, in the order of the feed.
    reported: HashMap<String, Vec<String>>,
}

impl Copy {
    fn apply(&mut self, entry: &Value) {
        let id = entry["id"].as_str().expect("an id").to_owned();
        self.named.insert(id.clone());
        let operation = entry["operation"].as_str().expect("an operation");
        self.reported.entry(id.clone()).or_default().push(operation.to_owned());
        match (operation, entry.get("record")) {
            ("gone" | "delete", None) => {
                self.gone += usize::from(operation == "gone");
                self.records.remove(&id);
            }
            (_, Some(record)) => {
                self.records.insert(id, record.clone());
            }
            // The record has been deleted since, which a later entry reports.
            (_, None) => {}
        }
    }
}

/// Reads the feed until the writers are done and it is empty.
async fn follow(
    session: Session,
    template: Option<&str>,
    mut random: Random,
    is_over: Arc<AtomicBool>,
) -> Copy {
    let (mut copy, mut cursor) = (Copy::default(), "start".to_owned());
    let template = template.map_or("null".to_owned(), |template| format!("'m.{template}'"));
    loop {
        let was_over = is_over.load(Ordering::SeqCst);
        let sql = format!("select keyed.changes('m', {template}, $1, {}, true)", 1 + random.below(9));
        let page = session.json(&sql, &[&cursor]).await;
        page["changes"].as_array().expect("changes").iter().for_each(|entry| copy.apply(entry));
        cursor = page["next_cursor"].as_str().expect("a cursor").to_owned();
        if was_over && page["has_more"] == false {
            return copy;
        }
    }
}

/// The records of a template that a session finds.
async fn found(session: &Session, template: &str) -> BTreeMap<String, Value> {
    let sql = format!("select keyed.search('m.{template}', '{{\"limit\": 1000}}') -> 'records'");
    let records = session.json(&sql, &[]).await;
    let records = records.as_array().expect("records").iter();
    records.map(|record| (record["id"].as_str().expect("an id").to_owned(), record.clone())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copy_built_from_the_feed_equals_a_search() {
    let seed = u64::from(std::process::id()) << 16 | 1;
    println!("seed {seed}");
    let database = Database::new().await;
    let admin = database.session().await;
    admin.run(DEFINITIONS).await;
    let mut readers = Vec::new();
    for (name, scope) in READERS {
        let role = database.create_role(&format!("mirror_{name}")).await;
        admin.run(&format!("grant usage on schema m to {role}")).await;
        match scope {
            Some(scope) => {
                let grant = "select keyed.grant_access($1, 'm.customers', '{read}', $2)";
                admin.rows(grant, &[&role, scope]).await;
            }
            None => {
                admin.rows("select keyed.grant_access($1, 'm', '{read}')", &[&role]).await;
            }
        }
        readers.push(role);
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let mut copies = JoinSet::new();
    for (number, role) in readers.iter().enumerate() {
        let (session, is_over) = (database.session_as(role).await, Arc::clone(&is_over));
        let template = (number % 2 == 1).then_some("customers");
        let random = Random(seed.wrapping_mul(number as u64 + 3));
        copies.spawn(async move { (number, follow(session, template, random, is_over).await) });
    }
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        writers.spawn(write(database.session().await, Random(seed.wrapping_mul(2 * number + 101))));
    }
    writers.join_all().await;
    is_over.store(true, Ordering::SeqCst);
    let mut copies = copies.join_all().await;
    copies.sort_by_key(|copy| copy.0);
    let (_, whole) = &copies[0];
    for ((number, copy), role) in copies.iter().zip(&readers) {
        let session = database.session_as(role).await;
        let mut expected = BTreeMap::new();
        for template in if *number == 0 { &TEMPLATES[..] } else { &TEMPLATES[2..] } {
            expected.extend(found(&session, template).await);
        }
        println!("{role}: {} records, {} named, {} gone", copy.records.len(), copy.named.len(), copy.gone);
        assert_eq!(copy.records, expected, "{role}");
        assert!(*number == 0 || copy.gone > 0, "{role} has lost no record");
    }
    assert_eq!(
        operations_of_history(&admin).await,
        whole.reported,
        "each change once, in the order of its record"
    );
    let ever = ever_with_visits(&admin).await;
    let unreadable: Vec<&String> = copies[1].1.named.difference(&ever).collect();
    assert!(unreadable.is_empty(), "a caller got ids that it could never read: {unreadable:?}");
    assert!(ever.len() < whole.named.len(), "every record was visible");
    database.cluster().assert_no_crash();
}

/// The operations on each record, by version.
async fn operations_of_history(admin: &Session) -> HashMap<String, Vec<String>> {
    let mut reported: HashMap<String, Vec<String>> = HashMap::new();
    for template in TEMPLATES {
        let number = admin.text("select id from keyed_state.template where slug = $1", &[template]).await;
        let sql = format!(
            "select record_id, operation from keyed_state.history_{number} order by record_id, version"
        );
        for row in admin.rows(&sql, &[]).await {
            let [Some(id), Some(operation)] = &row[..] else { panic!("{row:?}") };
            reported.entry(id.clone()).or_default().push(operation.clone());
        }
    }
    reported
}

/// The customers that had more than five visits at some time. The scope shows deleted ones, too.
async fn ever_with_visits(admin: &Session) -> HashSet<String> {
    let number = admin.text("select id from keyed_state.template where slug = 'customers'", &[]).await;
    let sql = format!(
        "select record_id, changes -> 'visits' -> 'new' from keyed_state.history_{number} order by record_id, version"
    );
    let (mut ever, mut visits, mut record) = (HashSet::new(), json!(null), String::new());
    for row in admin.rows(&sql, &[]).await {
        let [Some(id), new] = &row[..] else { panic!("{row:?}") };
        if *id != record {
            (record, visits) = (id.clone(), json!(null));
        }
        if let Some(new) = new {
            visits = serde_json::from_str(new).expect("a number");
        }
        if visits.as_f64().is_some_and(|visits| visits > 5.0) {
            ever.insert(id.clone());
        }
    }
    ever
}
