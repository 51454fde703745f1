//! Searches against a model: what a filter means and how a sort orders, written down a second time, without SQL.

mod condition;
mod operand;
mod order;
mod random;
mod time;
mod values;
mod world;

use condition::{Setting, Tree};
use harness::{Database, Session};
use order::Order;
use random::Random;
use serde_json::Value;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;
use world::{Template, World};

const SESSIONS: u64 = 3;
const CASES: usize = 800;
/// Set this variable to the number that a failure told, to see it again.
const SEED: &str = "KEYED_TEST_SEED";

/// A search, and what it must find.
struct Case {
    query: String,
    condition: String,
    limit: usize,
    expected: Vec<u128>,
}

impl Case {
    fn random(world: &World, random: &mut Random) -> Self {
        let setting = Setting::random(random);
        let trees = |most: usize, random: &mut Random| -> Vec<Tree> {
            (0..random.below(most + 1)).map(|_| Tree::random(world, &setting, 3, random)).collect()
        };
        let filters = trees(2, random);
        let groups: Vec<Vec<Tree>> =
            (0..random.below(3)).map(|_| trees(2, random)).filter(|group| !group.is_empty()).collect();
        let order = Order::random(world, setting.by_number, random);
        let all = |parts: &[Tree], row| parts.iter().all(|part| part.holds(world, row, setting.zone));
        let mut found: Vec<_> = world
            .rows
            .iter()
            .filter(|row| row.live && row.template == Template::Things && all(&filters, row))
            .filter(|row| groups.is_empty() || groups.iter().any(|group| all(group, row)))
            .collect();
        found.sort_by(|one, other| order.compare(world, one, other));
        let groups: Vec<String> = groups.iter().map(|group| condition::list(group)).collect();
        let condition = format!(
            r#""filters":{},"filter_groups":[{}],"time_zone":"{}","attribute_key":"{}""#,
            condition::list(&filters),
            groups.join(","),
            setting.zone.name,
            if setting.by_number { "id" } else { "slug" }
        );
        let limit = *random.pick(&[1, 2, 3, 7, 20, 53, 1000]);
        let query =
            format!(r#"{condition},"sort":{},"limit":{limit},"fields":["id"],"count":"exact""#, order.json);
        Self { query, condition, limit, expected: found.iter().map(|row| row.id).collect() }
    }

    async fn check(&self, session: &Session) -> Result<(), String> {
        let walked = self.walk(session).await?;
        if walked != self.expected {
            return Err(format!(
                "the pages hold {:#?}\nand not {:#?}",
                shown(&walked),
                shown(&self.expected)
            ));
        }
        let sql = session
            .text("select keyed.filter_sql('p.things', $1)", &[&format!("{{{}}}", self.condition)])
            .await;
        let select =
            format!("select t.id from p.things t where t.deleted_at is null and {sql} order by t.id");
        let rows = session.rows(&select, &[]).await;
        let mut selected: Vec<u128> =
            rows.iter().flatten().flatten().map(|id| values::parse_id(id)).collect();
        let mut expected = self.expected.clone();
        selected.sort_unstable();
        expected.sort_unstable();
        (selected == expected).then_some(()).ok_or_else(|| format!("{sql}\nselects {:#?}", shown(&selected)))
    }

    /// The ids on all pages.
    async fn walk(&self, session: &Session) -> Result<Vec<u128>, String> {
        let (mut walked, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let query = format!("{{{},\"cursor\":{cursor}}}", self.query);
            let page = session.attempt("select keyed.search('p.things', $1)", &[&query]).await;
            let page = page.map_err(|refusal| format!("refused with cursor {cursor}: {refusal}"))?;
            let page: Value = serde_json::from_str(page[0][0].as_deref().unwrap_or_default()).expect("JSON");
            let ids = page["records"].as_array().into_iter().flatten();
            let ids: Vec<u128> =
                ids.map(|record| values::parse_id(record["id"].as_str().unwrap_or_default())).collect();
            cursor = page["next_cursor"].clone();
            let is_full = ids.len() == self.limit || cursor.is_null() && ids.len() < self.limit;
            if page["has_more"] == cursor.is_null() || page["total"] != self.expected.len() || !is_full {
                return Err(format!(
                    "a page with cursor {cursor}, has_more {}, total {} and {} records where {} are expected in all",
                    page["has_more"],
                    page["total"],
                    ids.len(),
                    self.expected.len()
                ));
            }
            walked.extend(ids);
            if cursor.is_null() || walked.len() > self.expected.len() {
                return Ok(walked);
            }
        }
    }
}

/// Ids as texts, for messages.
fn shown(ids: &[u128]) -> Vec<String> {
    ids.iter().map(|id| values::write_id(*id)).collect()
}

/// Checks random cases; answers how many of them find some records and not all.
async fn check(session: Session, world: Arc<World>, mut random: Random, uses_indexes: bool) -> usize {
    // A plan that was forbidden what it does counts as costly, and compiling it would take longer than running it.
    session.run("set jit = off").await;
    if uses_indexes {
        // So few records would be read one by one.
        session.run("set enable_seqscan = off; set enable_sort = off").await;
    }
    let mut partly = 0;
    for number in 0..CASES {
        let case = Case::random(&world, &mut random);
        partly += usize::from((1..50).contains(&case.expected.len()));
        if let Err(fault) = case.check(&session).await {
            panic!("case {number}: {{{}}}\n{fault}", case.query);
        }
    }
    partly
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_searches_find_what_the_model_finds_in_its_order() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos() as u64;
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(now >> 10);
    println!("{SEED}={seed}");
    let database = Database::new().await;
    let world = Arc::new(World::create(&database.session().await, &mut Random::new(seed)).await);
    let mut checks = JoinSet::new();
    for number in 1..=SESSIONS {
        let random = Random::new(seed.wrapping_mul(2 * number + 1));
        checks.spawn(check(database.session().await, Arc::clone(&world), random, number % 2 == 0));
    }
    let partly: usize = checks.join_all().await.into_iter().sum();
    assert!(partly > CASES, "most filters let all or none pass: {partly}");
    database.cluster().assert_no_crash();
}
