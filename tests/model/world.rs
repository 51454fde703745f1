//! The records that are searched, in the database and in memory.

use super::closest::Axes;
use super::random::Random;
use super::values::{Kind, Value, parse_id, random_value, strings, write, write_id};
use harness::Session;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// The two templates. Things refer to things and places, and places to things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Template {
    Things,
    Places,
}

/// The attributes; half of them have an index.
const THINGS: [(&str, Kind); 16] = [
    ("name", Kind::Text),
    ("note", Kind::Text),
    ("amount", Kind::Number),
    ("price", Kind::Number),
    ("mood", Kind::Double),
    ("level", Kind::Double),
    ("tags", Kind::List),
    ("tier", Kind::Options),
    ("born", Kind::Day),
    ("due", Kind::Day),
    ("seen", Kind::Time),
    ("met", Kind::Time),
    ("done", Kind::Flag),
    ("paid", Kind::Flag),
    ("parent", Kind::Reference(Template::Things)),
    ("place", Kind::Reference(Template::Places)),
];
const PLACES: [(&str, Kind); 4] = [
    ("name", Kind::Text),
    ("size", Kind::Number),
    ("opened", Kind::Time),
    ("owner", Kind::Reference(Template::Things)),
];
pub(crate) const STANDARD: [(&str, Kind); 7] = [
    ("id", Kind::Id),
    ("external_key", Kind::Key),
    ("created_at", Kind::Time),
    ("updated_at", Kind::Time),
    ("deleted_at", Kind::Time),
    ("template_slug", Kind::TemplateSlug),
    ("template_id", Kind::TemplateId),
];

const CREATE: &str = r#"
    select keyed.create_project('p');
    select keyed.create_template('p', 'places', '[
      {"slug": "name", "type": "string"},
      {"slug": "size", "type": "number", "indexed": true},
      {"slug": "opened", "type": "datetime"}
    ]');
    select keyed.create_template('p', 'things', '[
      {"slug": "name", "type": "string", "indexed": true}, {"slug": "note", "type": "string"},
      {"slug": "amount", "type": "number", "indexed": true}, {"slug": "price", "type": "number"},
      {"slug": "mood", "type": "metric", "indexed": true}, {"slug": "level", "type": "metric"},
      {"slug": "tags", "type": "list", "indexed": true},
      {"slug": "tier", "type": "list", "options": ["gold", "silver", "b,c"]},
      {"slug": "born", "type": "date", "indexed": true}, {"slug": "due", "type": "date"},
      {"slug": "seen", "type": "datetime", "indexed": true}, {"slug": "met", "type": "datetime"},
      {"slug": "done", "type": "boolean", "indexed": true}, {"slug": "paid", "type": "boolean"},
      {"slug": "parent", "type": "reference", "template": "things"},
      {"slug": "place", "type": "reference", "template": "places"}
    ]');
    select keyed.add_attribute('p.places', '{"slug": "owner", "type": "reference", "template": "things"}')"#;

impl Template {
    pub(crate) fn slug(self) -> &'static str {
        match self {
            Template::Things => "things",
            Template::Places => "places",
        }
    }

    pub(crate) fn attributes(self) -> &'static [(&'static str, Kind)] {
        match self {
            Template::Things => &THINGS,
            Template::Places => &PLACES,
        }
    }

    /// A random field, more often an attribute than a standard field.
    pub(crate) fn field(self, random: &mut Random) -> (&'static str, Kind) {
        *if random.one_in(6) { random.pick(&STANDARD) } else { random.pick(self.attributes()) }
    }

    pub(crate) fn references(self) -> Vec<(&'static str, Template)> {
        let target = |&(slug, kind): &(&'static str, Kind)| match kind {
            Kind::Reference(target) => Some((slug, target)),
            _ => None,
        };
        self.attributes().iter().filter_map(target).collect()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) template: Template,
    pub(crate) id: u128,
    pub(crate) key: Option<String>,
    pub(crate) live: bool,
    pub(crate) values: HashMap<&'static str, Value>,
}

impl Row {
    /// The value of any field.
    pub(crate) fn value(&self, field: &str) -> Option<Value> {
        match field {
            "id" => Some(Value::Id(self.id)),
            "external_key" => self.key.clone().map(Value::Text),
            _ => self.values.get(field).cloned(),
        }
    }
}

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) rows: Vec<Row>,
    pub(crate) by_id: HashMap<u128, usize>,
    pub(crate) numbers: HashMap<(Template, String), String>,
    pub(super) vectors: HashMap<u128, Axes>,
    /// The rank of each text in the collation of the template.
    order: HashMap<String, usize>,
}

impl World {
    /// Fills the database in several transactions, so that some records have the same time of creation.
    pub(crate) async fn create(session: &Session, random: &mut Random) -> Self {
        session.run(CREATE).await;
        let mut world = Self {
            rows: Vec::new(),
            by_id: HashMap::new(),
            numbers: HashMap::new(),
            vectors: HashMap::new(),
            order: order_of_texts(session).await,
        };
        for (template, count) in [(Template::Places, 9), (Template::Things, 30), (Template::Things, 30)] {
            world.add(session, template, count, random).await;
        }
        world.link(session, random).await;
        world.embed(session, random).await;
        world.delete(session).await;
        world.read_back(session).await;
        world
    }

    async fn add(&mut self, session: &Session, template: Template, count: usize, random: &mut Random) {
        let (mut rows, mut operations) = (Vec::new(), Vec::new());
        for number in self.rows.len()..self.rows.len() + count {
            let key = (!random.one_in(4)).then(|| format!("{}:{number:02}_%", ["A", "a", "É"][number % 3]));
            let mut values = HashMap::new();
            let mut members = Vec::new();
            for &(slug, kind) in template.attributes() {
                if !matches!(kind, Kind::Reference(_)) && !random.one_in(4) {
                    let value = random_value(kind, random);
                    members.push(format!("\"{slug}\":{}", write(&value, random)));
                    values.insert(slug, value);
                }
            }
            operations.push(format!(
                r#"{{"op":"create","template":"p.{}","external_key":{},"attributes":{{{}}}}}"#,
                template.slug(),
                json!(key),
                members.join(",")
            ));
            rows.push(Row { template, id: 0, key, live: true, values });
        }
        let result = batch(session, &operations).await;
        for (mut row, result) in rows.into_iter().zip(result["results"].as_array().into_iter().flatten()) {
            row.id = parse_id(result["id"].as_str().unwrap_or_default());
            self.by_id.insert(row.id, self.rows.len());
            self.rows.push(row);
        }
    }

    /// Gives most records references, including ones to themselves and in cycles.
    async fn link(&mut self, session: &Session, random: &mut Random) {
        let mut operations = Vec::new();
        for number in 0..self.rows.len() {
            for (slug, target) in self.rows[number].template.references() {
                if random.one_in(4) {
                    continue;
                }
                let to = *random.pick(&self.ids(target));
                let (id, template) = (self.rows[number].id, self.rows[number].template.slug());
                let operation = json!({"op": "update", "template": format!("p.{template}"), "id": write_id(id),
                                       "attributes": {slug: write_id(to)}});
                operations.push(operation.to_string());
                self.rows[number].values.insert(slug, Value::Id(to));
            }
        }
        batch(session, &operations).await;
    }

    async fn delete(&mut self, session: &Session) {
        for row in self.rows.iter_mut().step_by(7) {
            row.live = false;
            session.rows("select keyed.delete_record($1)", &[&write_id(row.id)]).await;
        }
    }

    /// Reads what only the database has: times, and the ids of attributes and templates.
    async fn read_back(&mut self, session: &Session) {
        for template in [Template::Things, Template::Places] {
            let slug = template.slug();
            let micros = |column: &str| format!("(extract(epoch from {column}) * 1000000)::bigint");
            let fields = ["created_at", "updated_at", "deleted_at"];
            let times = format!("select id, {} from p.{slug}", fields.map(micros).join(", "));
            for row in session.rows(&times, &[]).await {
                let text = |column: usize| row[column].clone().unwrap_or_default();
                let known = self.by_id[&parse_id(&text(0))];
                for (column, field) in (1..).zip(fields) {
                    if let Ok(time) = text(column).parse() {
                        self.rows[known].values.insert(field, Value::Time(time));
                    }
                }
            }
            let table = format!("p.{slug}");
            let definition = session.json("select keyed.alter_template($1::regclass, '{}')", &[&table]).await;
            let text = |value: &Json| value.as_str().expect("a number as a string").to_owned();
            self.numbers.insert((template, "template_id".to_owned()), text(&definition["id"]));
            for attribute in definition["attributes"].as_array().into_iter().flatten() {
                self.numbers.insert((template, text(&attribute["slug"])), text(&attribute["id"]));
            }
        }
    }

    /// The rank of a text in the collation. Texts with the same indexed prefix have the same rank.
    pub(crate) fn rank(&self, text: &str) -> usize {
        *self.order.get(&beginning(text)).unwrap_or_else(|| panic!("{text:?} is a text of the model"))
    }

    /// The id of an attribute or template, as text.
    pub(crate) fn number(&self, template: Template, slug: &str) -> Option<&str> {
        self.numbers.get(&(template, slug.to_owned())).map(String::as_str)
    }

    pub(crate) fn ids(&self, template: Template) -> Vec<u128> {
        self.rows.iter().filter(|row| row.template == template).map(|row| row.id).collect()
    }

    /// The live record with this id.
    fn live(&self, id: u128) -> Option<&Row> {
        self.by_id.get(&id).map(|&number| &self.rows[number]).filter(|row| row.live)
    }

    /// The live record of a template with this key.
    pub(crate) fn holder(&self, template: Template, key: &str) -> Option<u128> {
        let holds = |row: &&Row| row.live && row.template == template && row.key.as_deref() == Some(key);
        self.rows.iter().find(holds).map(|row| row.id)
    }

    /// The live record at the end of the references.
    pub(crate) fn follow<'w>(&'w self, row: &'w Row, path: &[&str]) -> Option<&'w Row> {
        path.iter().try_fold(row, |row, step| match row.value(step)? {
            Value::Id(id) => self.live(id),
            _ => None,
        })
    }
}

async fn batch(session: &Session, operations: &[String]) -> Json {
    let result =
        session.json("select keyed.batch($1, true)", &[&format!("[{}]", operations.join(","))]).await;
    assert_eq!(result["errors"], false, "{result}");
    result
}

/// The prefix of a text that decides the order: its first 200 characters, as in the index.
fn beginning(text: &str) -> String {
    text.chars().take(200).collect()
}

/// Asks PostgreSQL for the order of all texts.
async fn order_of_texts(session: &Session) -> HashMap<String, usize> {
    let beginnings: Vec<String> = strings().iter().map(|text| beginning(text)).collect();
    let sql = "select distinct t collate \"und-x-icu\" from jsonb_array_elements_text($1) t order by 1";
    let rows = session.rows(sql, &[&json!(beginnings).to_string()]).await;
    rows.into_iter().flatten().flatten().zip(0..).collect()
}
