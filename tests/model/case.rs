//! A random search, and its expected results.

use super::condition::{self, Setting, Tree};
use super::order::Order;
use super::random::Random;
use super::values;
use super::world::{Template, World};
use harness::Session;
use serde_json::Value;

/// A search among things, and its expected results.
pub(crate) struct Case {
    pub(crate) query: String,
    /// The conditions, as members of the query.
    pub(crate) condition: String,
    limit: usize,
    pub(crate) expected: Vec<u128>,
}

impl Case {
    pub(crate) fn random(world: &World, random: &mut Random) -> Self {
        let setting = Setting::random(random);
        let trees = |max: usize, random: &mut Random| -> Vec<Tree> {
            (0..random.below(max + 1)).map(|_| Tree::random(world, &setting, 3, random)).collect()
        };
        let filters = trees(2, random);
        let groups: Vec<Vec<Tree>> =
            (0..random.below(3)).map(|_| trees(2, random)).filter(|group| !group.is_empty()).collect();
        let order = Order::random(world, &setting, random);
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

    /// Compares the model with the pages that the session reads and with the rows that the filter's SQL selects. The
    /// `author`, who can read all records, compiles the filter; policies limit what the session reads with it.
    pub(crate) async fn check(&self, session: &Session, author: &Session) -> Result<(), String> {
        let collected = self.read_pages(session).await?;
        if collected != self.expected {
            return Err(format!(
                "the pages hold {:#?}\nand not {:#?}",
                formatted(&collected),
                formatted(&self.expected)
            ));
        }
        let sql = author
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
        (selected == expected)
            .then_some(())
            .ok_or_else(|| format!("{sql}\nselects {:#?}", formatted(&selected)))
    }

    /// The ids on all pages.
    async fn read_pages(&self, session: &Session) -> Result<Vec<u128>, String> {
        let (mut collected, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let query = format!("{{{},\"cursor\":{cursor}}}", self.query);
            let page = session.attempt("select keyed.search('p.things', $1)", &[&query]).await;
            let page = page.map_err(|error| format!("refused with cursor {cursor}: {error}"))?;
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
            collected.extend(ids);
            if cursor.is_null() || collected.len() > self.expected.len() {
                return Ok(collected);
            }
        }
    }
}

/// Ids as text, for messages.
pub(crate) fn formatted(ids: &[u128]) -> Vec<String> {
    ids.iter().map(|id| values::write_id(*id)).collect()
}
