//! Random sorts, as JSON and evaluated in memory.

use super::condition::{Place, Setting};
use super::random::Random;
use super::values::{Kind, Value};
use super::world::{Row, World};
use serde_json::json;
use std::cmp::Ordering;

pub(crate) struct Key {
    path: Vec<&'static str>,
    field: &'static str,
    descending: bool,
    nulls_first: bool,
    json: String,
}

pub(crate) struct Order {
    keys: Vec<Key>,
    pub(crate) json: String,
}

impl Key {
    fn random(world: &World, setting: &Setting, random: &mut Random) -> Self {
        let Place { mut path, mut field, kind, name, .. } = Place::random(world, setting, random);
        // A reference is sorted by its target's display value.
        if matches!(kind, Kind::Reference(_)) {
            path.push(field);
            field = "name";
        }
        let (descending, nulls_first) = (random.one_in(2), random.one_in(3));
        let minus = if descending { "-" } else { "" };
        let mut json = json!(format!("{minus}{name}"));
        if nulls_first || random.one_in(3) {
            json = json!({"field": name});
            if descending || random.one_in(2) {
                json["direction"] = json!(if descending { "desc" } else { "asc" });
            }
            if nulls_first || random.one_in(2) {
                json["nulls"] = json!(if nulls_first { "first" } else { "last" });
            }
        }
        Self { path, field, descending, nulls_first, json: json.to_string() }
    }

    /// All records have the same template, so it does not affect the order.
    fn counts(&self) -> bool {
        !self.field.starts_with("template_")
    }

    fn compare(&self, world: &World, one: &Row, other: &Row) -> Ordering {
        let value = |row| world.follow(row, &self.path).and_then(|target| target.value(self.field));
        let nulls = if self.nulls_first { Ordering::Less } else { Ordering::Greater };
        match (value(one), value(other)) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => nulls,
            (Some(_), None) => nulls.reverse(),
            (Some(one), Some(other)) => {
                let order = match (&one, &other) {
                    (Value::Text(one), Value::Text(other)) if self.field != "external_key" => {
                        world.rank(one).cmp(&world.rank(other))
                    }
                    (Value::List(one), Value::List(other)) => {
                        let ranks =
                            |list: &[String]| list.iter().map(|it| world.rank(it)).collect::<Vec<_>>();
                        ranks(one).cmp(&ranks(other))
                    }
                    _ => compare(&one, &other),
                };
                if self.descending { order.reverse() } else { order }
            }
        }
    }
}

fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        // Keys are ordered by bytes.
        (Value::Text(one), Value::Text(other)) => one.cmp(other),
        (Value::Number(one), Value::Number(other)) => one.cmp(other),
        (Value::Double(one), Value::Double(other)) => one.partial_cmp(other).expect("finite numbers"),
        (Value::Day(one), Value::Day(other)) | (Value::Time(one), Value::Time(other)) => one.cmp(other),
        (Value::Flag(one), Value::Flag(other)) => one.cmp(other),
        (Value::Id(one), Value::Id(other)) => one.cmp(other),
        _ => panic!("{one:?} and {other:?} are values of one field"),
    }
}

impl Order {
    pub(crate) fn random(world: &World, setting: &Setting, random: &mut Random) -> Self {
        let count = *random.pick(&[0, 1, 1, 1, 2, 2, 3, 5]);
        let keys: Vec<Key> = (0..count).map(|_| Key::random(world, setting, random)).collect();
        let names: Option<Vec<String>> =
            keys.iter().map(|key| serde_json::from_str(&key.json).ok()).collect();
        let json = match names {
            Some(names) if random.one_in(2) => json!(names.join(",")).to_string(),
            _ => format!("[{}]", keys.iter().map(|key| key.json.as_str()).collect::<Vec<_>>().join(",")),
        };
        Self { keys, json }
    }

    /// The id breaks ties, in the direction of the last sort key. Without a sort, the newest records come first.
    pub(crate) fn compare(&self, world: &World, one: &Row, other: &Row) -> Ordering {
        let keys = self.keys.iter().filter(|key| key.counts());
        let descending = keys.clone().next_back().is_none_or(|key| key.descending);
        let ids = if descending { other.id.cmp(&one.id) } else { one.id.cmp(&other.id) };
        keys.fold(Ordering::Equal, |order, key| order.then_with(|| key.compare(world, one, other))).then(ids)
    }
}
